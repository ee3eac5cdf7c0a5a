"""A process that is watched while the fleet plays: how much processor time and memory it needs."""

import os
from pathlib import Path

import msgspec

from shoe_controller.errors import UsageError


class Used(msgspec.Struct, frozen=True):
    """What a process used between two looks."""

    cpu_seconds: float
    memory_mb: float


class Watched:
    """A process by its id, from Linux' own files; with its threads, without its children."""

    def __init__(self, pid: int, proc: Path = Path("/proc")) -> None:
        self._folder = proc / str(pid)
        self._pid = pid
        self._cpu = self._cpu_seconds()

    def begin(self) -> None:
        """Count from here."""
        self._cpu = self._cpu_seconds()

    def used(self) -> Used:
        """Return what was used since `begin`."""
        pages = int(self._read("statm").split()[1])
        return Used(self._cpu_seconds() - self._cpu, pages * os.sysconf("SC_PAGE_SIZE") / 1e6)

    def _cpu_seconds(self) -> float:
        # The name of the program stands in brackets and may hold anything.
        words = self._read("stat").rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def _read(self, name: str) -> str:
        try:
            return (self._folder / name).read_text()
        except OSError as error:
            raise UsageError(f"there is no process {self._pid} to watch ({error.strerror})") from error
