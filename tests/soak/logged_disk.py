"""A real ext4 on a disk that logs every write and flush, and the states in which a power cut can leave that disk.

The disk is a file exported by qemu-storage-daemon, whose `blklogwrites` driver keeps a log in the format of the
kernel's dm-log-writes: a superblock, then for each write a header in a sector of its own and the data.
"""

import contextlib
import random
import struct
import subprocess
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Self

from tests.broker import wait_for

MAGIC = 0x6A736677736872
SUPERBLOCK = struct.Struct("<QQQI")  # magic, version, entries, sector size
HEADER = struct.Struct("<QQQ")  # first sector, sectors, flags
FLUSH, DISCARD = 1, 4
SECTOR = 512
MEGABYTES = 32
HOLE = bytes(1 << 16)  # what need not be written
TORN = 0.2  # of the writes that reached the medium without a flush: only their beginning did
TOOLS = ("qemu-storage-daemon=qemu-system-common", "fusermount3=fuse3", "mke2fs=e2fsprogs")
PROJECT = Path(__file__).parents[2]


class Write(NamedTuple):
    """One entry of the log: data for the disk, or a flush of what was written before."""

    place: int  # on the disk, in bytes
    data: bytes
    flush: bool
    end: int  # of this entry in the log


class LoggedDisk:
    """A fresh disk with an ext4 on it, mounted; its log is there to be read when it is closed."""

    def __init__(self, folder: Path) -> None:
        system(PROJECT / ".ci" / "system-packages", *TOOLS)
        folder.mkdir()
        self.image, self.log, self.exported = (folder / name for name in ("disk", "log", "exported"))
        self.mounted = folder / "mounted"
        self._qemu: subprocess.Popen | None = None

    @property
    def position(self) -> int:
        """Where the log ends now: everything that was flushed before lies before it."""
        return self.log.stat().st_size

    def __enter__(self) -> Self:
        for path in (self.image, self.log, self.exported):
            path.touch()
        with self.image.open("r+b") as file:
            file.truncate(MEGABYTES << 20)
        self.mounted.mkdir()
        # The host's own disk need not flush: it is the log that says what a flush made safe.
        stored = "driver=file,cache.no-flush=on"
        options = (
            ("--blockdev", f"{stored},node-name=disk,filename={self.image}"),
            ("--blockdev", f"{stored},node-name=log,filename={self.log}"),
            ("--blockdev", "driver=blklogwrites,node-name=logged,file=disk,log=log"),
            ("--export", f"type=fuse,id=disk,node-name=logged,mountpoint={self.exported},writable=on"),
        )
        self._qemu = subprocess.Popen(["qemu-storage-daemon", *chain.from_iterable(options)])
        try:
            wait_for(lambda: self.exported.stat().st_size, "qemu-storage-daemon exports its disk")
            system("mke2fs", "-q", "-F", "-t", "ext4", "-b", "4096", "-E", "nodiscard", self.exported)
            # As a long-running system does, in less time: what nobody flushes is written after a second.
            mount(self.exported, self.mounted, "commit=1")
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        unmount(self.mounted)
        self._stop()

    def _stop(self) -> None:
        self._qemu.terminate()
        self._qemu.wait()


def read_log(path: Path) -> list[Write]:
    """Return what was written to a disk, in order."""
    raw = path.read_bytes()
    magic, _, _, sector = SUPERBLOCK.unpack_from(raw)
    assert (magic, sector) == (MAGIC, SECTOR), f"{path} is not a log of writes"
    writes, offset = [], SECTOR
    while offset + SECTOR <= len(raw):
        first, sectors, flags = HEADER.unpack_from(raw, offset)
        size = sectors * SECTOR
        if flags & DISCARD:  # has no data in the log; this disk reads zeros there
            data, offset = bytes(size), offset + SECTOR
        else:
            data, offset = raw[offset + SECTOR : offset + SECTOR + size], offset + SECTOR + size
        writes.append(Write(first * SECTOR, data, bool(flags & FLUSH), offset))
    return writes


class CrashStates:
    """Builds what a cut after so many writes may leave: all before the last flush, of the later ones a random half."""

    def __init__(self, writes: list[Write], image: Path) -> None:
        self._writes = writes
        self._image = image
        self._sure = bytearray(MEGABYTES << 20)
        self._done = 0

    def build(self, count: int, chance: random.Random) -> Path:
        """Make the disk as a cut after `count` writes leaves it; counts come in ascending order."""
        flushed = max((n for n in range(self._done, count) if self._writes[n].flush), default=self._done)
        for write in self._writes[self._done : flushed]:
            self._sure[write.place : write.place + len(write.data)] = write.data
        self._done = flushed
        with self._image.open("wb") as file:
            file.truncate(len(self._sure))
            for place in range(0, len(self._sure), len(HOLE)):
                chunk = self._sure[place : place + len(HOLE)]
                if chunk != HOLE:
                    file.seek(place)
                    file.write(chunk)
            for write in self._writes[flushed:count]:
                if chance.random() < 0.5:
                    file.seek(write.place)
                    file.write(write.data[: _kept(len(write.data), chance)])
        return self._image


def _kept(size: int, chance: random.Random) -> int:
    return chance.randrange(0, size, SECTOR) if size and chance.random() < TORN else size


def mount(device: Path, place: Path, *options: str) -> None:
    system("mount", "-t", "ext4", "-o", ",".join(("loop", *options)), device, place)


def unmount(place: Path) -> None:
    system("umount", place)


@contextlib.contextmanager
def mounted(device: Path, place: Path):
    """Have a disk mounted, its own log replayed as after any power cut."""
    mount(device, place)
    try:
        yield place
    finally:
        unmount(place)


def system(*words) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words[0]} failed: {done.stderr.strip()}"
