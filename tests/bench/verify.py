"""Verify: hash chain, signatures and replay of a journal, against the bare hash chain over the same bytes.

The floor reads every row from SQLite, hashes it, compares hash and link, and does nothing else, in one process, since
a chain is followed link by link. `verify` checks signatures besides, replays every input through the session and
compares the facts byte by byte; as a command it uses a process for each core, because every shoe begins with all that
a replay needs. Speeds are entries a second.
"""

import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

from shoe_controller.journal import chain, layout
from shoe_controller.journal.rows import COLUMNS
from shoe_controller.journal.verification import verify
from shoe_controller.journal.volumes import files_of
from tests.bench.figures import PROCESSOR, Figure, Options, at_least, interleaved, no_more_than, ratio
from tests.bench.journals import played

ROUNDS = 20_000
COMMAND_ROUNDS = 50_000
FULL_ROUNDS = 1_000_000
MOST_SECONDS = 120


def bare_chain(files: list[Path]) -> int:
    """Check hashes and links of every entry, and nothing else."""
    link, entries = b"", 0
    for path in files:
        connection = layout.open_reader(path)
        # fmt: off
        for (
            seq, count, boot, mono_ns, wall_ns, synced, source, session, number, kind, body, facts, raw,
            prev, own, signature,
        ) in connection.execute(f"SELECT {COLUMNS} FROM entries ORDER BY seq"):
            found = sha256(chain.contents(
                prev, boot, seq, count, mono_ns, wall_ns, synced, session, number, kind, source, body, facts, raw,
            )).digest()
            # fmt: on
            if found != own or (link and link != prev):
                raise AssertionError(f"entry {seq} is not sound")
            link = own if signature is None else sha256(own + signature).digest()
            entries += 1
        connection.close()
    return entries


def sound(files: list[Path], jobs: int | None) -> None:
    outcome = verify(files, jobs=jobs)
    if not outcome.ok:
        raise AssertionError(str(outcome.problems[0]))


def command(folder: Path) -> tuple[float, float, float, int]:
    """Run the command as a person does; return seconds, those of processors, the largest process in MB, and rounds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    answer = subprocess.run(
        [Path(sys.executable).with_name("shoe-controller"), "verify", folder],
        capture_output=True,
        text=True,
        check=True,
    )
    taken = time.perf_counter() - start
    rounds = re.search(r"([\d,]+) rounds announced", answer.stdout)
    assert rounds, answer.stdout
    # The kernel keeps the maximum of all children so far: it tells ours as long as sizes are asked for in order.
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken, used, after.ru_maxrss / 1024, int(rounds[1].replace(",", ""))


def measure(options: Options) -> Iterator[Figure]:
    for name, rounds, jobs, clock, target in (
        ("one process", ROUNDS, 1, PROCESSOR, at_least(0.6)),
        # More rounds, since starting processes costs as much as some thousand of them.
        ("all cores", COMMAND_ROUNDS, len(os.sched_getaffinity(0)), time.perf_counter, at_least(0.6)),
    ):
        files = files_of([played(rounds)])
        entries = bare_chain(files)
        taken = interleaved({"floor": partial(bare_chain, files), "ours": partial(sound, files, jobs)}, clock=clock)
        speeds = {kind: entries / statistics.median(times) for kind, times in taken.items()}
        share = ratio(taken["floor"], taken["ours"])
        note = f"{rounds:,} rounds"
        yield Figure(f"verify, {name}", "entries/s", speeds["ours"], speeds["floor"], share, target, note)
    sizes = (COMMAND_ROUNDS, FULL_ROUNDS) if options.full else (COMMAND_ROUNDS // 10, COMMAND_ROUNDS)
    memory = []
    for size in sizes:
        seconds, used, megabytes, rounds = command(played(size))
        memory.append(megabytes)
        yield Figure(f"the command, {rounds:,} rounds", "s", seconds, target=no_more_than(MOST_SECONDS))
        yield Figure("its processor time, all cores together", "s", used)
    growth = memory[1] / memory[0]
    yield Figure(f"memory, {sizes[1]:,} rounds", "MB", memory[1], memory[0], growth, note=f"floor: {sizes[0]:,} rounds")
