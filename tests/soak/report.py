"""What a campaign says while it runs, and what the table at the end says of it."""

import sys
import time


class Report:
    """Given to each campaign: its seed and size go in, words, figures and faults come out."""

    def __init__(self, name, *, seed=1, size=1.0, out=None):
        self.name = name
        self.seed = seed
        self.size = size
        self.figures = {}
        self.faults = []
        self._out = out or sys.stdout
        self._start = time.perf_counter()

    @property
    def seconds(self):
        return time.perf_counter() - self._start

    def sized(self, count):
        return max(1, round(count * self.size))

    def say(self, text):
        print(f"[{self.name} {self.seconds:6.1f} s] {text}", file=self._out, flush=True)

    def fault(self, text):
        self.faults.append(text)
        self.say(f"FAULT: {text}")

    def figure(self, name, value):
        self.figures[name] = value
        self.say(f"{name}: {written(value)}")


def written(value):
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
