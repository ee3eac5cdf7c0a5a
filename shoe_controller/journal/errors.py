"""What can go wrong with the journal.

JournalError               anything wrong with the journal, in one sentence
├── JournalFullError       no space left (also OSError)
├── JournalReadOnlyError   file, folder or file system cannot be read or written (also PermissionError)
├── JournalDeviceError     the disk reported an error (also OSError)
├── JournalBusyError       another process writes to this journal (also BlockingIOError)
├── JournalDamagedError    the contents are not what was written (also ValueError)
├── JournalFormatError     not a journal, or of a version that this program does not know (also ValueError)
├── JournalMissingError    a file that belongs to the journal is not there (also FileNotFoundError)
├── DuplicateEventError    an event of the shoe that the journal has already (also ValueError)
└── KeyFileError           the signing key cannot be used as it is (also PermissionError)
"""

import errno
import os
import sqlite3
from pathlib import Path

from shoe_controller.errors import ControllerError


class JournalError(ControllerError):
    """Anything wrong with the journal; after it, nothing of what was to be appended is visible."""


class JournalFullError(JournalError, OSError):
    """There is no space left for the journal."""


class JournalReadOnlyError(JournalError, PermissionError):
    """The journal cannot be written, or not even read."""


class JournalDeviceError(JournalError, OSError):
    """The disk reported an error."""


class JournalBusyError(JournalError, BlockingIOError):
    """Another process writes to this journal."""


class JournalDamagedError(JournalError, ValueError):
    """The journal is not as it was written; `seq` names the entry where that is known."""

    def __init__(self, message: str, seq: int | None = None) -> None:
        super().__init__(message)
        self.seq = seq


class JournalFormatError(JournalError, ValueError):
    """The file is no journal, or of a version that this program does not know."""


class JournalMissingError(JournalError, FileNotFoundError):
    """A file that belongs to the journal is not there."""


class DuplicateEventError(JournalError, ValueError):
    """The journal has this event of the shoe already."""


class KeyFileError(JournalError, PermissionError):
    """The signing key cannot be used as it is."""


def from_sqlite(error: sqlite3.Error, path: Path, doing: str) -> JournalError:
    """Turn an error of SQLite into a sentence that says what happened, where, and what to do."""
    name = str(getattr(error, "sqlite_errorname", ""))
    text = f"{doing} {path} failed: {error}"
    if name == "SQLITE_FULL" or (name.startswith("SQLITE_IOERR") and _no_space(path)):
        return JournalFullError(f"{doing} {path} failed: no space left on the disk; make room, then start again")
    if name.startswith(("SQLITE_READONLY", "SQLITE_PERM")):
        return JournalReadOnlyError(f"{text}; make the file and its folder writable, then start again")
    if name.startswith("SQLITE_CANTOPEN"):
        return _cannot_open(path, doing)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return JournalBusyError(f"{text}; another program holds the journal")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return JournalDamagedError(f"{text}; keep the file and run 'shoe-controller doctor'")
    if name.startswith("SQLITE_IOERR"):
        return JournalDeviceError(f"{text}; check the disk and the system log")
    return JournalError(text)


def _cannot_open(path: Path, doing: str) -> JournalError:
    if not path.exists():
        return JournalMissingError(f"{doing} {path} failed: there is no such file")
    if not os.access(path, os.R_OK):
        return JournalReadOnlyError(f"{doing} {path} failed: this user may not read it")
    return JournalReadOnlyError(f"{doing} {path} failed: its folder must be writable for this user while it is in use")


def _no_space(path: Path) -> bool:
    try:
        space = os.statvfs(path.parent)
    except OSError as error:
        return error.errno == errno.ENOSPC
    return space.f_bavail * space.f_frsize < 64 * 1024
