"""What a bench says: figures with a unit, a floor measured in the same run, and the target that they are held to."""

import gc
import operator
import statistics
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Literal

import msgspec

PAIRS = 9  # an odd number of interleaved runs, so that a median is one of them
BUILD = Path(__file__).parents[2] / "build"

_COMPARE = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
_SIGNS = {"<=": "≤", ">=": "≥", "<": "<", ">": ">"}


class Target(msgspec.Struct, frozen=True):
    """What a figure, or its ratio to the floor, must be."""

    of: Literal["ratio", "ours"]
    sign: Literal["<=", ">=", "<", ">"]
    value: float

    def __str__(self) -> str:
        times = " ×" if self.of == "ratio" else ""
        return f"{_SIGNS[self.sign]} {self.value:g}{times}"


class Figure(msgspec.Struct, frozen=True):
    """One line of the table."""

    name: str
    unit: str
    ours: float
    floor: float | None = None
    ratio: float | None = None
    target: Target | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Tell whether the target is met, None if there is none."""
        if self.target is None:
            return None
        value = self.ratio if self.target.of == "ratio" else self.ours
        assert value is not None, f"{self.name} has a target for a ratio, but no floor"
        return bool(_COMPARE[self.target.sign](value, self.target.value))


class Options(msgspec.Struct, frozen=True):
    """How long a bench may take: `full` is what the documentation is written from."""

    full: bool = False


Bench = Callable[[Options], Iterator[Figure]]
Clock = Callable[[], float]
# For work that only computes, in one process: other work on the machine is not counted.
PROCESSOR: Clock = process_time


def seconds(work: Callable[[], Any], clock: Clock = perf_counter) -> float:
    """Return how long something takes, with the garbage of whatever ran before out of the way."""
    gc.collect()
    start = clock()
    work()
    return clock() - start


def interleaved(
    works: Mapping[str, Callable[[], Any]], pairs: int = PAIRS, clock: Clock = perf_counter
) -> dict[str, list[float]]:
    """Run each work so many times in turn: a slow moment of the machine hits all of them alike."""
    for work in works.values():
        work()  # once for nothing: imports, caches, files
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(pairs):
        for name, work in works.items():
            taken[name].append(seconds(work, clock))
    return taken


def ratio(ours: list[float], floor: list[float]) -> float:
    """Return the median of the ratios within each pair."""
    return statistics.median(one / other for one, other in zip(ours, floor, strict=True))


def percentile(values: list[float], part: float) -> float:
    """Return the value below which this part of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def at_most(value: float) -> Target:
    """The ratio to the floor is at most this."""
    return Target("ratio", "<=", value)


def at_least(value: float) -> Target:
    """The ratio to the floor is at least this."""
    return Target("ratio", ">=", value)


def no_more_than(value: float) -> Target:
    """Our own figure is at most this."""
    return Target("ours", "<=", value)
