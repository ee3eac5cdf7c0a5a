"""The daemon as a process of its own, with fingers on its buttons: `python -m tests.system.rigged_daemon CONFIG`.

It is the production controller. What is added stands outside of it: lines on standard input press buttons of the panel
on mock pins or set the wall clock, and `--die POINT N` kills the process with SIGKILL the Nth time that the path of an
input passes that point.
"""

import argparse
import asyncio
import os
import signal
import sys
import time
from pathlib import Path

from drivers.panel.functions import Button, Pressed
from drivers.reconnect import ShoeConnection
from shoe_controller import logs
from shoe_controller.app import controller as parts
from shoe_controller.app.controller import Controller
from shoe_controller.app.litter import Litter
from shoe_controller.app.play import Play
from shoe_controller.config import load
from shoe_controller.journal.errors import JournalError
from shoe_controller.service.table import Table

# Where it may die: in the middle of the named method, before its work or after it.
POINTS = {
    "before-commit": (Table, "_commit", "before"),
    "after-commit": (Table, "_confirm", "before"),
    "after-feeds": (Play, "_publish", "before"),
    "before-ack": (ShoeConnection, "_send_receipts", "before"),
    "after-ack": (ShoeConnection, "_send_receipts", "after"),
}


def die_at(point: str, times: int) -> None:
    """Have the process killed when it passes a point for the Nth time."""
    owner, name, when = POINTS[point]
    passed = getattr(owner, name)
    left = times

    def deadly(self, *args):
        nonlocal left
        left -= 1
        if left == 0:
            if when == "after":
                passed(self, *args)
            os.kill(os.getpid(), signal.SIGKILL)
        return passed(self, *args)

    setattr(owner, name, deadly)


class Wall:
    """A wall clock that can be set."""

    def __init__(self):
        self.step_ns = 0

    def __call__(self):
        return time.time_ns() + self.step_ns


def opens_after(path: Path, open_table):
    """Let the opening of the journal wait until a file is gone; one with the ending `.waits` says that it does."""

    def opening(*args):
        path.with_suffix(".waits").touch()
        while path.exists():
            time.sleep(0.005)
        return open_table(*args)

    return opening


async def play(config_file: Path) -> int:
    controller = Controller(load(config_file), litter=Litter())
    wall = Wall()
    controller.clock._wall = wall
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, controller.stop)

    def read() -> None:
        for line in sys.stdin.buffer.readline().decode().split(";"):
            match line.split():
                case ["press", button]:
                    controller._on_panel(Pressed(Button(button), loop.time()))
                case ["wall", seconds]:
                    wall.step_ns += int(float(seconds) * 1e9)
                case ["break-journal"]:
                    controller.play.table._fail(JournalError("broken by a test"))
                case ["lose-panel"]:
                    controller.panel.panel.factory.close()
                case ["hang"]:
                    controller.play.table._busy = True  # a commit that never comes to an end
                case ["open-after", path]:
                    parts.open_table = opens_after(Path(path), parts.open_table)
                case ["defect"]:
                    loop.call_soon(lambda: 1 / 0)
                case []:
                    # The end of the input ends the process as the end of its test does.
                    loop.remove_reader(sys.stdin.fileno())
                    controller.stop()

    os.set_blocking(sys.stdin.fileno(), True)
    loop.add_reader(sys.stdin.fileno(), read)
    return await controller.run()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("config", type=Path)
    parser.add_argument("--die", nargs=2, metavar=("POINT", "N"))
    args = parser.parse_args()
    if args.die:
        die_at(args.die[0], int(args.die[1]))
    logs.setup("info")
    return asyncio.run(play(args.config))


if __name__ == "__main__":
    sys.exit(main())
