"""Daemon: start, memory, processor and what an SD card must bear, as `shoe-controller bench` measures them on a Pi.

The daemon runs as systemd starts it, with a simulated shoe, its display page and a journal; the floor of a start is a
Python that does nothing. While dealing it is the demo that runs, one round in a quarter of a minute, with its simulated
shoe, dealer and supervisor in the same process.
"""

import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from shoe_controller.measuring.daemon import measure_daemon, measure_dealing, measure_start
from shoe_controller.measuring.disk import measure_disk
from tests.bench.figures import BUILD, PAIRS, Figure, Options, no_more_than, seconds


def measure(options: Options) -> Iterator[Figure]:
    BUILD.mkdir(exist_ok=True)
    bare = median(seconds(lambda: subprocess.run([sys.executable, "-c", ""], check=True)) for _ in range(PAIRS))
    floors = {"ms": bare * 1000, "s": bare}
    window = 60.0 if options.full else 15.0
    starts = [*measure_start(PAIRS), *measure_daemon(BUILD, PAIRS, window)]
    for one in [*starts, *measure_dealing(BUILD, window), *measure_disk(BUILD, 1000, 2000)]:
        floor = floors.get(one.unit) if one in starts else None
        share = one.value / floor if floor else None
        target = None if one.most is None else no_more_than(one.most)
        yield Figure(one.name, one.unit, one.value, floor, share, target)
