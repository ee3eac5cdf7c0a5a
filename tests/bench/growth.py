"""Growth: the same daemon at round 1 and far into one journal: latency, memory and start must stay flat.

A journal is played first, then a daemon is started on it, and cards go to its subscriber as in "Card's way". The floor
is a daemon whose journal has just begun, measured in turn with the other, card by card.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import msgspec

from shoe_controller.measuring.daemon import memory_mb
from tests.bench.bench_table import BenchTable, bench_table
from tests.bench.figures import BUILD, Figure, Options, at_most, percentile
from tests.bench.journals import played
from tests.broker import Mosquitto

ROUNDS = 20_000
FULL_ROUNDS = 100_000
CARDS = 300
WARM = 40
MOST = 1.25  # of what it was at the beginning; noise of two medians on a busy machine is less


def measure(options: Options) -> Iterator[Figure]:
    rounds = FULL_ROUNDS if options.full else ROUNDS
    journal = played(rounds)
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as name, bench_table(Path(name)) as (young, broker):
        old, started = _grown(Path(name) / "old", broker, journal)
        try:
            young.settle()
            old.settle()
            late, early = _cards(old, young)
            memory = memory_mb(old.pid), memory_mb(young.pid)
        finally:
            old.close()
    note = f"round {rounds:,} against round 1"
    yield Figure(
        "card to subscriber, p50", "ms", median(late), median(early), median(late) / median(early), at_most(MOST), note
    )
    tail = percentile(late, 0.99), percentile(early, 0.99)
    yield Figure("card to subscriber, p99", "ms", *tail, tail[0] / tail[1])
    yield Figure("memory", "MB", *memory, memory[0] / memory[1], at_most(MOST))
    yield Figure("start until it plays, feed and shoe connected", "s", started)


def _grown(folder: Path, broker: Mosquitto, journal: Path) -> tuple[BenchTable, float]:
    """Start a daemon on a copy of a long journal; return it and how long that took."""
    folder.mkdir()
    shutil.copytree(journal, folder / "journal")
    shutil.copy(journal.parent / "table.pem", folder / "signing.key")
    table = BenchTable(folder, broker, name="b8")
    # What a feed has not sent yet it would send now, all of it: its place is said to be the end of the journal.
    table.begin_feed_at_the_end()
    start = time.perf_counter()
    table.start()
    return table, time.perf_counter() - start


def _cards(old: BenchTable, young: BenchTable) -> tuple[list[float], list[float]]:
    taken: tuple[list[float], list[float]] = [], []
    for _ in range(CARDS + WARM):
        for table, times in ((old, taken[0]), (young, taken[1])):
            uid = next(table.cards)
            written = table.shoe.draw(uid)
            payload = table.subscriber.take()
            times.append((time.perf_counter() - written) * 1000)
            card = msgspec.json.decode(payload)
            assert card["type"] == "card", card
            table.complete = card["complete"]
    return taken[0][WARM:], taken[1][WARM:]
