"""Who has a serial port open: the kernel's console, a program with a lock file, or any program that we may see.

Programs that lock the port as we do (flock) are found out when it is opened. Others are not, and two programs that read
one port each get a part of the bytes: a card would be lost.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
LOCKS = Path("/run/lock")
_PTY_MASTER = os.makedev(5, 2)
_PTY_MAJORS = range(136, 144)


def holder(path: str, *, proc: Path = PROC, locks: Path = LOCKS) -> str | None:
    """Return who holds the port, as in `minicom (process 812)`, or None. Only root sees the programs of all users."""
    try:
        status = Path(path).stat()
    except OSError:
        return None  # whoever opens it gets the sentence for that
    if not stat.S_ISCHR(status.st_mode):
        return None
    if f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}" in _consoles(proc):
        return "the kernel's console"
    locked_by = _lock(Path(path).resolve().name, proc, locks)
    return locked_by or next(_programs(status.st_rdev, proc), None)


def _consoles(proc: Path) -> set[str]:
    with suppress(OSError):
        return {line.split()[-1] for line in (proc / "consoles").read_text("ascii").splitlines() if line.strip()}
    return set()


def _lock(name: str, proc: Path, locks: Path) -> str | None:
    """Return the owner of the lock file that minicom, gammu and others make."""
    with suppress(OSError, ValueError):
        owner = int((locks / f"LCK..{name}").read_text("ascii"))
        if owner != os.getpid() and (proc / str(owner)).is_dir():
            return _program(owner, proc)
    return None


def _programs(device: int, proc: Path) -> Iterator[str]:
    for process in proc.iterdir():
        if not process.name.isdecimal() or int(process.name) == os.getpid():
            continue
        held = set(_devices(process / "fd"))
        # Whoever has the other end of a pty may have this end open too, to keep it: a simulated shoe does.
        if device in held and not (os.major(device) in _PTY_MAJORS and _PTY_MASTER in held):
            yield _program(int(process.name), proc)


def _devices(descriptors: Path) -> Iterator[int]:
    with suppress(OSError):  # not ours to look into, or ended meanwhile
        for descriptor in descriptors.iterdir():
            with suppress(OSError):
                status = descriptor.stat()
                if stat.S_ISCHR(status.st_mode):
                    yield status.st_rdev


def _program(process: int, proc: Path) -> str:
    name = "a program"
    with suppress(OSError):
        name = (proc / str(process) / "comm").read_text("utf-8", "replace").strip()
    return f"{name} (process {process})"
