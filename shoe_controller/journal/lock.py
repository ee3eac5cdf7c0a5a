"""The lock that lets one process write to a journal."""

import fcntl
import os
from pathlib import Path

from shoe_controller.journal.errors import JournalBusyError, JournalReadOnlyError


def lock_folder(folder: Path) -> int:
    """Return a handle that holds the lock until it is closed."""
    # The lock is on a file of its own: opening and closing a database file would drop SQLite's locks on it.
    try:
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise JournalReadOnlyError(f"the journal folder {folder} cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise JournalBusyError(f"another process writes to the journal in {folder}; stop it first") from error
    return handle
