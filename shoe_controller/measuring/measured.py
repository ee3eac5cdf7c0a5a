"""What was measured: a name that a technician understands, a value and its unit."""

import msgspec


class Measured(msgspec.Struct, frozen=True):
    """One figure. `most` is what it should be at most on a table's machine, where there is such a limit."""

    name: str
    value: float
    unit: str
    most: float | None = None

    @property
    def fine(self) -> bool:
        """Tell whether the value keeps its limit."""
        return self.most is None or self.value <= self.most


def percentile(values: list[float], part: float) -> float:
    """Return the value below which this part of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
