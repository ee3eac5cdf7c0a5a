"""The journal's integrity, and what a technician can do if it is damaged."""

import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from shoe_controller.config import Config
from shoe_controller.doctor.findings import Finding, fail, ok, warn
from shoe_controller.journal import archive, volumes
from shoe_controller.journal.check import check_end
from shoe_controller.journal.errors import JournalError

AFTER_DAMAGE = (
    "keep the damaged file: copy the whole folder {folder} to another medium before anything else",
    "find out what is wrong and from which entry on:  shoe-controller verify {folder}",
    "then start a new chain that names the old head; the damaged file stays as it is:",
    "  sudo systemctl stop shoe-controller && sudo shoe-controller doctor --new-chain",
)


def daemon_runs(folder: Path) -> bool:
    """Tell whether a daemon has this journal open for writing."""
    try:
        handle = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno == errno.EWOULDBLOCK
    finally:
        os.close(handle)
    return False


def damage(folder: Path) -> str:
    """Return in a sentence what keeps the daemon from going on in this journal; empty if nothing does."""
    everything = volumes.all_volume_paths(folder)
    if not everything:
        return ""
    try:
        name = _missing_successor(everything[-1])
    except JournalError as error:
        return str(error)
    if name:
        return f"the journal goes on after {everything[-1].name} in {name}, which is not there"
    if not volumes.volume_paths(folder):  # set aside, and the new one waits for its name: the next start gives it
        return ""
    problems = check_end(folder).problems
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}" if problems else ""


def _missing_successor(last: Path) -> str:
    """Return the volume that must follow the last one and does not, also not as one that a crash left unnamed."""
    note = volumes.note_path(last)
    if note.exists():
        name = archive.noted_successor(note)
    else:
        sealed = volumes.look_at(last).sealed
        name = volumes.name_for(sealed[0]) if sealed else ""
    # By its exact names: SQLite's companion files may lie there without the volume.
    there = any((last.parent / (name + ending)).exists() for ending in ("", archive.HIDDEN))
    return "" if not name or there else name


def check_journal(config: Config) -> Iterator[Finding]:
    """Check the end of the journal as the daemon does when it starts."""
    folder = Path(config.journal.directory)
    try:
        everything = volumes.all_volume_paths(folder)
    except JournalError as error:
        yield fail(
            "journal",
            str(error),
            "sudo shoe-controller doctor   (as the daemon's user)",
            f"sudo chown -R shoe-controller:shoe-controller {folder}",
        )
        return
    if not everything:
        yield ok("journal", f"none yet; the daemon begins one in {folder}")
        return
    if found := damage(folder):
        yield fail("journal", found, *(line.format(folder=folder) for line in AFTER_DAMAGE))
        return
    yield ok("journal", _sound(folder, len(everything)))
    aside = [path.name for path in everything if volumes.note_path(path).exists()]
    if aside:
        yield warn(
            "journal",
            f"set aside as damaged: {', '.join(aside)}",
            "keep a copy of it with the incident's papers; it may then be moved to another medium",
        )


def _sound(folder: Path, count: int) -> str:
    if not volumes.volume_paths(folder):
        return "a new chain waits for the daemon"
    result = check_end(folder)
    last = "no entry yet" if result.last_seq is None else f"{result.entries} last entries up to {result.last_seq} sound"
    files = f"{count} file{'s' if count > 1 else ''}"
    return f"{files}, {last}; 'shoe-controller verify {folder}' checks everything"
