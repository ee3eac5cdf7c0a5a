"""The file: tables, triggers and settings of one volume of the journal, a SQLite database.

A volume is never renamed or rewritten once entries are in it, since SQLite pairs a database with its write-ahead
log by name: archiving finishes a volume (the `seal`) and begins the next.
"""

import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from shoe_controller.journal.errors import JournalFormatError, JournalReadOnlyError, from_sqlite

APPLICATION_ID = 0x53484F45  # "SHOE"
VERSION = 1
# Each commit writes whole pages, and a card touches two (its entry and the index of device events): small pages
# halve what an SD card has to take. tests/bench/journal.py measures it.
PAGE_SIZE = 1024
# A checkpoint after this many pages (4 MB) if `Journal.tidy` was not called in a quiet moment before.
AUTOCHECKPOINT_PAGES = 4096

_REFUSE = "CREATE TRIGGER {0}_{1} BEFORE {2} ON {0} BEGIN SELECT RAISE(ABORT, '{0} are never {3}'); END"

SCHEMA: tuple[str, ...] = (
    """CREATE TABLE meta (
  name TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE keys (
  id BLOB PRIMARY KEY NOT NULL,
  public BLOB NOT NULL
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE earlier_events (
  session INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (session, first)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE entries (
  seq INTEGER PRIMARY KEY NOT NULL,
  count INTEGER NOT NULL CHECK (count > 0),
  boot BLOB NOT NULL,
  mono_ns INTEGER NOT NULL,
  wall_ns INTEGER NOT NULL,
  synced INTEGER NOT NULL,
  source TEXT NOT NULL,
  dev_session INTEGER,
  dev_event INTEGER,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  facts TEXT NOT NULL,
  raw BLOB NOT NULL,
  prev BLOB NOT NULL,
  hash BLOB NOT NULL,
  signature BLOB,
  CHECK ((dev_session IS NULL) = (dev_event IS NULL))
) STRICT""",
    "CREATE UNIQUE INDEX device_events ON entries (dev_session, dev_event) WHERE dev_session IS NOT NULL",
    "CREATE INDEX shoes ON entries (seq) WHERE kind = 'shoe'",
    """CREATE TABLE seal (
  next_seq INTEGER PRIMARY KEY NOT NULL,
  link BLOB NOT NULL,
  signature BLOB
) STRICT""",
    """CREATE TABLE cursors (
  sink TEXT PRIMARY KEY NOT NULL,
  seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID""",
    # An INSERT OR REPLACE deletes without asking the DELETE trigger, hence the order is guarded at INSERT as well.
    """CREATE TRIGGER entries_in_order BEFORE INSERT ON entries
WHEN NEW.seq <> coalesce(
  (SELECT seq + count FROM entries ORDER BY seq DESC LIMIT 1),
  (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'first_seq'))
BEGIN SELECT RAISE(ABORT, 'entries are only appended, without gaps'); END""",
    """CREATE TRIGGER entries_not_after_seal BEFORE INSERT ON entries WHEN EXISTS (SELECT 1 FROM seal)
BEGIN SELECT RAISE(ABORT, 'this file of the journal is finished'); END""",
    """CREATE TRIGGER entries_event_once BEFORE INSERT ON entries
WHEN NEW.dev_event <= (SELECT last FROM earlier_events
  WHERE session = NEW.dev_session AND first <= NEW.dev_event ORDER BY first DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'device event recorded before'); END""",
    _REFUSE.format("entries", "stay", "DELETE", "deleted"),
    _REFUSE.format("entries", "stand", "UPDATE", "changed"),
    _REFUSE.format("seal", "stays", "DELETE", "deleted"),
    _REFUSE.format("seal", "stands", "UPDATE", "changed"),
    _REFUSE.format("keys", "stay", "DELETE", "deleted"),
    _REFUSE.format("keys", "stand", "UPDATE", "changed"),
    _REFUSE.format("meta", "stays", "DELETE", "deleted"),
    _REFUSE.format("meta", "stands", "UPDATE", "changed"),
)


def create(
    path: Path,
    meta: Mapping[str, str],
    *,
    earlier_events: Sequence[tuple[int, int, int]] = (),
    cursors: Mapping[str, int] | None = None,
) -> None:
    """Make a new volume without entries, durable on disk when this returns. The path must not exist."""
    if path.exists():
        raise FileExistsError(path)
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            connection.execute("PRAGMA auto_vacuum = NONE")
            # Not WAL yet: closing would have to empty the log into the file, and a disk that is full then leaves
            # half of a new volume in a log that does not follow it to its final name.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            connection.executemany("INSERT INTO earlier_events VALUES (?, ?, ?)", earlier_events)
            connection.executemany("INSERT INTO cursors VALUES (?, ?)", (cursors or {}).items())
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise from_sqlite(error, path, "creating the journal") from error
    sync_folder(path.parent)


def open_writer(path: Path) -> sqlite3.Connection:
    """Open an existing volume for appending."""
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = bytes
        try:
            _check_identity(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute(f"PRAGMA wal_autocheckpoint = {AUTOCHECKPOINT_PAGES}")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise from_sqlite(error, path, "opening the journal") from error
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """Open a volume for reading, also while another process appends to it, also on a read-only medium."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        return _connect_reader(uri, path)
    except JournalReadOnlyError:
        # SQLite wants to write beside a database in WAL mode. Where nothing waits in the log, the file alone is
        # complete and may be read as one that nobody changes.
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise
        return _connect_reader(f"{uri}&immutable=1", path)


def _connect_reader(uri: str, path: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        connection.text_factory = bytes
        try:
            _check_identity(connection, path)
            connection.execute("PRAGMA trusted_schema = OFF")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise from_sqlite(error, path, "opening the journal") from error
    return connection


def _check_identity(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise JournalFormatError(f"{path} is a database, but not a journal of this program")
    if version != VERSION:
        raise JournalFormatError(f"{path} is a journal of version {version}; this program knows version {VERSION}")


def schema_changes(connection: sqlite3.Connection) -> list[str]:
    """Return what differs from the tables, indexes and triggers that a volume is made with."""
    found = {
        bytes(sql).decode(errors="replace")
        for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
    }
    expected = set(SCHEMA)
    missing = [f"missing: {_first_words(sql)}" for sql in SCHEMA if sql not in found]
    return missing + [f"added: {_first_words(sql)}" for sql in sorted(found - expected)]


def _first_words(sql: str) -> str:
    return " ".join(sql.split()[1:3]).removesuffix("(").lower()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
