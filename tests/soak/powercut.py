"""Power cuts on a real ext4: 500 states of the disk after a cut, and no card that was acknowledged is lost in any."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

from shoe_controller.app.opening import open_table
from shoe_controller.config import load
from shoe_controller.errors import ControllerError
from shoe_controller.journal.layout import open_reader
from shoe_controller.journal.rows import entries_backwards
from shoe_controller.journal.verification import verify
from shoe_controller.journal.volumes import files_of
from shoe_controller.service.clock import TableClock
from tests.soak.disk_writer import TABLE
from tests.soak.logged_disk import CrashStates, LoggedDisk, mounted, read_log

NAME = "powercut"
STATES = 500
CONTROL_STATES = 100
ENTRIES = 1_500  # that the writer makes
AT_NEW_VOLUMES = 0.2  # of the cuts: there are few such moments, and they are the most delicate
ROOM = 256 << 20
CONTROL_LOSES = 0.2  # at least this part of the control's states must lose something
PROJECT = Path(__file__).parents[2]
SITE, NAME_OF_TABLE = TABLE.split("/")
CONFIG = """\
[table]
site = "{site}"
name = "{name}"
game = "no-commission"
[shoe]
protocol = "simulated"
[panel]
factory = "mock"
[journal]
directory = "{disk}/journal"
signing_key_file = "{disk}/signing.key"
archive = "shoe"
min_free_megabytes = 16
"""


class Ack(NamedTuple):
    """A commit that returned: where the log ended then, the last seq, the chain's head, and the volume."""

    position: int
    seq: int
    head: str
    volume: str


class Cut(NamedTuple):
    """A moment: so many writes were made, and this much was acknowledged."""

    writes: int
    acks: int


def run(report):
    if os.getuid() != 0:
        report.fault("only root can mount the disk whose power is cut")
        return False
    with tempfile.TemporaryDirectory(dir=quick_folder()) as name:
        folder = Path(name)
        real = campaign(report, folder / "real", report.sized(STATES), careless=False)
        for problem in real.problems:
            report.fault(problem)
        control = campaign(report, folder / "control", report.sized(CONTROL_STATES), careless=True)
    for words, value in (
        ("commits", real.commits),
        ("facts acknowledged", real.acknowledged),
        ("crash states", real.states),
        ("of these while a volume is made or finished", real.at_new_volumes),
        ("with a loss", len(real.problems)),
        ("milliseconds a state", real.milliseconds),
        ("control without fsync: crash states", control.states),
        ("control: with a loss", len(control.problems)),
    ):
        report.figure(words, value)
    if len(control.problems) < CONTROL_LOSES * control.states:
        report.fault("the control lost next to nothing: these power cuts prove nothing")
    return True


def quick_folder():
    """Return a folder in memory if there is one with room: this machine's own disk is not what is tested."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > ROOM else None


class Found(NamedTuple):
    commits: int
    acknowledged: int
    states: int
    at_new_volumes: int
    problems: list[str]
    milliseconds: float


def campaign(report, folder, states, *, careless):
    """Write, cut the power at so many moments and look at each state."""
    folder.mkdir()
    chance = random.Random(report.seed)
    record = folder / "record"
    with LoggedDisk(folder / "disk") as disk:
        begun = disk.position
        arguments = [disk.mounted, disk.log, record, ENTRIES, report.seed] + ["--careless"] * careless
        writer = [sys.executable, "-m", "tests.soak.disk_writer", *map(str, arguments)]
        subprocess.run(writer, check=True, cwd=PROJECT)
        ended = disk.position
        writes = read_log(disk.log)
    acks = [
        Ack(int(position), int(seq), head, volume)
        for position, seq, head, volume in (line.split() for line in record.read_text().splitlines())
    ]
    report.say(f"{len(acks):,} commits{' without fsync' if careless else ''}, {len(writes):,} writes and flushes")
    possible = moments(writes, acks, begun, ended)
    delicate = [cut for cut in possible if new_volume(cut, acks)]
    cuts = sorted(chance.choice(delicate if chance.random() < AT_NEW_VOLUMES else possible) for _ in range(states))
    image, place = folder / "state", folder / "mounted"
    place.mkdir()
    config_file = folder / "table.toml"
    config_file.write_text(CONFIG.format(site=SITE, name=NAME_OF_TABLE, disk=place))
    config = load(config_file)
    crashes = CrashStates(writes, image)
    problems, start = [], time.perf_counter()
    for number, cut in enumerate(cuts):
        crashes.build(cut.writes, chance)
        with mounted(image, place):
            problem = look(config, acks, cut.acks)
        if problem:
            problems.append(f"state {number}, a cut after write {cut.writes:,} and commit {cut.acks:,}: {problem}")
    spent = (time.perf_counter() - start) * 1000 / states
    return Found(len(acks), acks[-1].seq, states, sum(new_volume(cut, acks) for cut in cuts), problems, spent)


def moments(writes, acks, begun, ended):
    """Return every moment between two things that happened: a write, a flush, a commit that returned."""
    ends = [write.end for write in writes]
    positions = [ack.position for ack in acks]
    by_write = [
        Cut(number, bisect_right(positions, end)) for number, end in enumerate(ends, 1) if begun <= end <= ended
    ]
    return by_write + [Cut(bisect_right(ends, ack.position), number) for number, ack in enumerate(acks, 1)]


def new_volume(cut, acks):
    """Tell whether the journal, a volume or its end was being made at that moment."""
    if cut.acks == len(acks):
        return False
    return cut.acks == 0 or acks[cut.acks].volume != acks[cut.acks - 1].volume


def look(config, acks, count):
    """Start as the daemon does on what the cut left; return what is wrong, in words."""
    folder = Path(config.journal.directory)
    try:
        opened = open_table(config, TableClock("00" * 16))
        live = opened.journal.live
        opened.journal.close()
    except ControllerError as error:
        return str(error)
    connection = open_reader(live)
    try:
        start = next(entries_backwards(connection))  # what the daemon wrote first
    finally:
        connection.close()
    acknowledged = acks[count - 1].seq if count else 0
    found = start.seq - 1
    if found < acknowledged:
        return f"fact {acknowledged} was acknowledged, the journal ends with {found}"
    if found and start.prev.hex() not in {ack.head for ack in acks if ack.seq == found}:
        return f"fact {found} is not what was written"
    proved = verify(files_of([folder]), jobs=1)
    return "" if proved.ok else str(proved.problems[0])
