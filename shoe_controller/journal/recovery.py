"""Recovery: what the daemon replays at start, and where the shoe's events stand."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from shoe_controller.journal import layout, reading, volumes
from shoe_controller.journal.codec import split_facts
from shoe_controller.journal.entry import Entry
from shoe_controller.journal.errors import from_sqlite


def entries_since_last_shoe(folder: Path) -> Iterator[Entry]:
    """Yield the entry in which the last shoe came into play and all after it.

    Without a shoe in this chain, all entries of the chain. An older chain, set aside as damaged, is never replayed.
    """
    start = 1
    for path in reversed(volumes.volume_paths(folder)):
        connection = layout.open_reader(path)
        try:
            volume = volumes.read_volume(connection, path)
            start = volume.first_seq
            loaded = last_shoe_loaded(connection)
        except sqlite3.Error as error:
            raise from_sqlite(error, path, "reading the journal") from error
        finally:
            connection.close()
        if loaded is not None:
            start = loaded
            break
        if volume.starts_chain:
            break
    yield from reading.entries(folder, start)


def last_shoe_loaded(connection: sqlite3.Connection) -> int | None:
    """Return the newest entry of a volume in which a shoe came into play."""
    for seq, facts in connection.execute("SELECT seq, facts FROM entries WHERE kind = 'shoe' ORDER BY seq DESC"):
        if loads_shoe(facts):
            return int(seq)
    return None


def loads_shoe(facts: bytes) -> bool:
    """Tell whether a shoe came into play with these facts (a JSON array)."""
    return any(fact.startswith(b'{"type":"shoe_loaded"') for fact in split_facts(facts))


def last_device_event(folder: Path) -> tuple[int, int] | None:
    """Return session and number of the newest event of the shoe, None if there is none in any volume."""
    for path in reversed(volumes.volume_paths(folder)):
        connection = layout.open_reader(path)
        try:
            row: tuple[int, int] | None = connection.execute(
                "SELECT dev_session, dev_event FROM entries WHERE dev_session IS NOT NULL ORDER BY seq DESC LIMIT 1"
            ).fetchone()
        except sqlite3.Error as error:
            raise from_sqlite(error, path, "reading the journal") from error
        finally:
            connection.close()
        if row is not None:
            return row
    return None
