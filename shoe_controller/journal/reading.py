"""Reading entries and facts in order, from whichever volume holds them."""

import sqlite3
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from shoe_controller.journal import layout, volumes
from shoe_controller.journal.entry import Entry, FactRecord
from shoe_controller.journal.errors import JournalMissingError, from_sqlite
from shoe_controller.journal.rows import entries_from, records_of


class Reader:
    """A reader of all volumes in a folder. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._open: tuple[Path, sqlite3.Connection] | None = None

    def facts(self, after: int, limit: int) -> list[FactRecord]:
        """Return up to `limit` facts with seq > after, in order, without gaps.

        The only gap there can be is one that a technician made by starting a new chain after a damaged volume.
        """
        records: list[FactRecord] = []
        wanted = after + 1
        with self._lock:
            while len(records) < limit:
                found = self._facts_of_volume(_path_for(self._folder, wanted), wanted, limit - len(records))
                records += found
                following = records[-1].seq + 1 if found else _next_chain(self._folder, wanted)
                if following is None:
                    break
                wanted = following
        return records

    def _facts_of_volume(self, path: Path, wanted: int, limit: int) -> list[FactRecord]:
        records: list[FactRecord] = []
        try:
            for entry in entries_from(self._connection(path), wanted, limit):
                records += [record for record in records_of(entry) if record.seq >= wanted]
                if len(records) >= limit:
                    break
        except sqlite3.Error as error:
            raise from_sqlite(error, path, "reading the journal") from error
        return records[:limit]

    def _connection(self, path: Path) -> sqlite3.Connection:
        if self._open is None or self._open[0] != path:
            self._close()
            self._open = (path, layout.open_reader(path))
        return self._open[1]

    def _close(self) -> None:
        if self._open:
            self._open[1].close()
            self._open = None

    def close(self) -> None:
        """Let go of the open volume."""
        with self._lock:
            self._close()


def entries(folder: Path, from_seq: int) -> Iterator[Entry]:
    """Yield the entry that holds fact number `from_seq` and all after it, up to the newest at this moment."""
    wanted = from_seq
    path = _path_for(folder, wanted)
    while True:
        connection = layout.open_reader(path)
        try:
            for entry in entries_from(connection, wanted):
                yield entry
                wanted = entry.seq + entry.count
        except sqlite3.Error as error:
            raise from_sqlite(error, path, "reading the journal") from error
        finally:
            connection.close()
        following = _path_for(folder, wanted)
        if following == path:
            begins = _next_chain(folder, wanted)
            if begins is None:
                return
            following = _path_for(folder, begins)
        path = following


def _path_for(folder: Path, seq: int) -> Path:
    paths = volumes.volume_paths(folder)
    place = bisect_right([volumes.first_seq_of(path) for path in paths], seq) - 1
    if place < 0:
        raise _moved_away(folder, seq)
    return paths[place]


def _next_chain(folder: Path, seq: int) -> int | None:
    """Return where the journal goes on if no volume has fact `seq`; None if that fact is still to come."""
    later = [path for path in volumes.volume_paths(folder) if volumes.first_seq_of(path) > seq]
    if not later:
        return None
    if volumes.look_at(later[0]).starts_chain:
        return volumes.first_seq_of(later[0])
    raise _moved_away(folder, seq)


def _moved_away(folder: Path, seq: int) -> JournalMissingError:
    return JournalMissingError(
        f"fact {seq} is in an archived volume that is not in {folder} any more; put it back, "
        "or let the feed begin later"
    )
