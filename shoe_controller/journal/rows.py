"""Rows of the `entries` table as values, and back."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from shoe_controller.journal.codec import fact_type, split_facts
from shoe_controller.journal.entry import Entry, FactRecord, NewEntry, Stamp
from shoe_controller.journal.errors import JournalDamagedError

COLUMNS = (
    "seq, count, boot, mono_ns, wall_ns, synced, source, dev_session, dev_event, kind, body, facts, raw, "
    "prev, hash, signature"
)
INSERT = f"INSERT INTO entries ({COLUMNS}) VALUES ({', '.join('?' * 16)})"  # noqa: S608 - constant text
# The entry that holds fact number ?, and all after it.
_SELECT_FROM = (
    f"SELECT {COLUMNS} FROM entries "  # noqa: S608 - constant text
    "WHERE seq >= coalesce((SELECT max(seq) FROM entries WHERE seq <= ?), 0) ORDER BY seq LIMIT ?"
)
_SELECT_BACKWARDS = f"SELECT {COLUMNS} FROM entries ORDER BY seq DESC"  # noqa: S608 - constant text

Row = tuple[Any, ...]
SEQ, COUNT, KIND, BODY, FACTS = map(COLUMNS.split(", ").index, ("seq", "count", "kind", "body", "facts"))


def entry_of(row: Row) -> Entry:
    """Return a row in the order of COLUMNS as an entry."""
    seq, count, boot, mono, wall, synced, source, session, number, kind, body, facts, raw, prev, own, signature = row
    try:
        return Entry(
            seq=seq,
            count=count,
            stamp=Stamp(boot=boot.hex(), mono_ns=mono, wall_ns=wall, synced=bool(synced)),
            source=source.decode(errors="replace"),
            kind=kind.decode(errors="replace"),
            body=bytes(body),
            facts=bytes(facts),
            device=None if session is None else (session, number),
            raw=bytes(raw),
            prev=bytes(prev),
            hash=bytes(own),
            signature=signature,
        )
    except (AttributeError, TypeError) as error:
        raise JournalDamagedError(f"entry {seq} has a column with a value of the wrong kind", seq) from error


def entries_from(connection: sqlite3.Connection, seq: int, limit: int = -1) -> Iterator[Entry]:
    """Yield the entry that holds fact number `seq` and those after it."""
    for row in connection.execute(_SELECT_FROM, (seq, limit)):
        yield entry_of(row)


def entries_backwards(connection: sqlite3.Connection) -> Iterator[Entry]:
    """Yield the entries, the newest first."""
    for row in connection.execute(_SELECT_BACKWARDS):
        yield entry_of(row)


def records_of(entry: Entry) -> list[FactRecord]:
    """Return the facts of an entry as sinks see them."""
    return _records(entry.seq, entry.stamp, entry.source, entry.raw, split_facts(entry.facts))


def records_of_new(seq: int, entry: NewEntry) -> list[FactRecord]:
    """Return the facts of an entry that was just committed at `seq`."""
    return _records(seq, entry.stamp, entry.source, entry.raw, entry.facts)


def _records(
    seq: int, stamp: Stamp, source: str, raw: bytes, facts: list[bytes] | tuple[bytes, ...]
) -> list[FactRecord]:
    return [
        FactRecord(seq=number, fact=fact, type=fact_type(fact), stamp=stamp, source=source, raw=raw)
        for number, fact in enumerate(facts, seq)
    ]
