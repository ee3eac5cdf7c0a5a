"""Archiving: finish a volume and go on in the next, so that a crash at any step loses nothing.

1. The next volume is made complete, but under a hidden name (`….db.new`).
2. The live volume is sealed: from this commit on, the chain continues elsewhere.
3. The hidden name becomes the real one.

A crash before 2 leaves a hidden volume without entries, which is removed at the next start; one after 2 is finished
at the next start. A sealed volume whose successor is neither there nor hidden means that a file was taken away:
to begin a second continuation would fork the chain, so that is refused.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from shoe_controller.journal import layout, volumes
from shoe_controller.journal.errors import (
    JournalDeviceError,
    JournalMissingError,
    JournalReadOnlyError,
    from_sqlite,
)
from shoe_controller.journal.volumes import Volume

HIDDEN = ".new"
# Device events that are recorded, as ranges: sessions count up without gaps, so a range is mostly a whole session.
_EVENT_RANGES = """
WITH events AS (
  SELECT dev_session AS session, dev_event AS first, dev_event AS last FROM entries WHERE dev_session IS NOT NULL
  UNION SELECT session, first, last FROM earlier_events
), starts AS (
  SELECT session, first, last, coalesce(first > 1 + max(last) OVER (
    PARTITION BY session ORDER BY first, last ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 1) AS begins
  FROM events
), islands AS (
  SELECT session, first, last, sum(begins) OVER (
    PARTITION BY session ORDER BY first, last ROWS UNBOUNDED PRECEDING) AS island
  FROM starts
)
SELECT session, min(first), max(last) FROM islands GROUP BY session, island"""


def publish_volume(
    folder: Path,
    meta: Mapping[str, str],
    *,
    earlier_events: Sequence[tuple[int, int, int]] = (),
    cursors: Mapping[str, int] | None = None,
) -> Path:
    """Make a volume that appears under its name only when it is complete."""
    return reveal(hide_volume(folder, meta, earlier_events, cursors or {}))


def prepare_successor(connection: sqlite3.Connection, volume: Volume, next_seq: int, head: bytes) -> Path:
    """Make the volume that goes on after `volume`, under its hidden name; return that."""
    try:
        events = event_ranges(connection)
        cursors = connection.execute("SELECT sink, seq FROM cursors").fetchall()
    except sqlite3.Error as error:
        raise from_sqlite(error, volume.path, "reading the journal") from error
    meta = volumes.successor_meta(volume, next_seq, head)
    return hide_volume(volume.path.parent, meta, events, {bytes(sink).decode(): seq for sink, seq in cursors})


def event_ranges(connection: sqlite3.Connection) -> list[tuple[int, int, int]]:
    """Return the device events that a volume knows as (session, first, last)."""
    return connection.execute(_EVENT_RANGES).fetchall()


def hide_volume(
    folder: Path, meta: Mapping[str, str], events: Sequence[tuple[int, int, int]], cursors: Mapping[str, int]
) -> Path:
    """Make a volume without entries under its hidden name; return that."""
    hidden = folder / (volumes.name_for(int(meta["first_seq"])) + HIDDEN)
    _remove(hidden)
    layout.create(hidden, meta, earlier_events=events, cursors=cursors)
    return hidden


def reveal(hidden: Path) -> Path:
    """Give a hidden volume its name; return that."""
    path = hidden.with_name(hidden.name.removesuffix(HIDDEN))
    try:
        hidden.rename(path)
        layout.sync_folder(path.parent)
    except OSError as error:
        raise JournalReadOnlyError(f"{path} cannot be made: {error.strerror}") from error
    return path


@contextmanager
def settled(folder: Path) -> Iterator[Path | None]:
    """Finish or undo what a crash interrupted; give the live volume, None if the folder has none.

    It stays open for reading meanwhile, so that its write-ahead log is not gone through anew by who opens it next.
    """
    hidden = {path.name: path for path in folder.glob(f"{volumes.PREFIX}*{volumes.SUFFIX}{HIDDEN}")}
    with ExitStack() as reading:
        live = _live_volume(folder, hidden, reading)
        for path in hidden.values():
            _remove(path)
        if live is not None:
            # A start that ended between giving a volume its name and making it durable left that to us.
            _sync(folder)
        yield live


def _sync(folder: Path) -> None:
    try:
        layout.sync_folder(folder)
    except OSError as error:
        raise JournalDeviceError(f"the folder {folder} cannot be made durable: {error.strerror}") from error


def _live_volume(folder: Path, hidden: dict[str, Path], reading: ExitStack) -> Path | None:
    everything = volumes.all_volume_paths(folder)
    if not everything:
        return None
    if volumes.note_path(everything[-1]).exists():
        # Set aside as damaged, but the volume of the new chain has not got its name yet.
        name = noted_successor(volumes.note_path(everything[-1]))
    else:
        last = reading.enter_context(volumes.looking_at(everything[-1]))
        if last.sealed is None:
            return last.path
        reading.close()
        make_plain(last.path)
        name = volumes.name_for(last.sealed[0])
    if name + HIDDEN not in hidden:
        raise JournalMissingError(
            f"the journal goes on after {everything[-1]} in {name}, which is not there; put it back, "
            "or let a technician start a new chain ('shoe-controller doctor' tells how)"
        )
    return reveal(hidden.pop(name + HIDDEN))


def write_note(path: Path, text: str) -> None:
    """Write a small file that is there either whole or not at all."""
    part = path.with_name(path.name + ".part")
    with part.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)
    layout.sync_folder(path.parent)


def noted_successor(note: Path) -> str:
    """Return the name of the volume that a note about a damaged one says to go on in."""
    return note.read_text().split()[-1]


def make_plain(path: Path) -> bool:
    """Turn a sealed volume into one file without companions, if no reader has it open at the moment."""
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=0.1)
        try:
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        finally:
            connection.close()
    except sqlite3.OperationalError:
        # Somebody reads it. It stays in WAL mode, complete and readable.
        return False
    return True


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
