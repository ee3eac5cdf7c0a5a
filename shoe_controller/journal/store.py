"""The journal as the daemon writes it: entries are appended, committed together, and never change.

One process writes (a lock file beside the volumes sees to it) and calls `append` from one thread at a time. Any
number of readers, in this process or others, read through connections of their own.
"""

import os
import secrets
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock, RLock
from types import TracebackType
from typing import Literal, Self

from shoe_controller.journal import archive, chain, layout, volumes
from shoe_controller.journal.codec import join_facts
from shoe_controller.journal.entry import NewEntry
from shoe_controller.journal.errors import (
    DuplicateEventError,
    JournalDamagedError,
    JournalDeviceError,
    JournalError,
    JournalReadOnlyError,
    from_sqlite,
)
from shoe_controller.journal.lock import lock_folder
from shoe_controller.journal.rows import INSERT, Row, entries_backwards
from shoe_controller.journal.signing import Signer

ArchivePolicy = Literal["never", "shoe"] | int
"""When the live volume is finished and the next begun: with each shoe, or with the first shoe after so many bytes."""

DEFAULT_ARCHIVE_BYTES = 64 * 1024 * 1024
# About 2,000 pages in the write-ahead log: `tidy` then moves them into the database in a quiet moment.
TIDY_AFTER_ENTRIES = 500
# Sinks' places are saved with the end of a round; one that moved further than this since is saved earlier.
CURSOR_STRIDE = 1000

Listener = Callable[[int, Sequence[NewEntry]], None]


class Journal:
    """The journal of one table, open for appending."""

    def __init__(
        self, folder: Path, live: Path, lock_handle: int, *, signer: Signer | None, archive_policy: ArchivePolicy
    ) -> None:
        self.folder = folder
        self._signer = signer
        self._policy = archive_policy
        self._lock_handle = lock_handle
        self._lock = RLock()
        self._cursor_lock = Lock()
        self._listeners: list[Listener] = []
        self._boots: dict[str, bytes] = {}
        self._cursors_far = False  # one moved further than a stride since it was saved
        self._untidy = 0
        self._broken: JournalError | None = None
        self._attach(live)

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        table: str = "",
        signer: Signer | None = None,
        archive_policy: ArchivePolicy = DEFAULT_ARCHIVE_BYTES,
    ) -> "Journal":
        """Open the journal in a folder for appending; begin a chain if the folder holds none.

        An archiving that a crash interrupted is brought to its end. Contents are not checked here: see `check`.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JournalReadOnlyError(f"the folder {folder} cannot be made: {error.strerror}") from error
        handle = lock_folder(folder)
        try:
            with archive.settled(folder) as found:
                live = found or _begin_chain(folder, table)
                return cls(folder, live, handle, signer=signer, archive_policy=archive_policy)
        except BaseException:
            os.close(handle)
            raise

    def _attach(self, live: Path) -> None:
        self.live = live
        self._connection = layout.open_writer(live)
        try:
            self.volume = volumes.read_volume(self._connection, live)
            last = next(entries_backwards(self._connection), None)
            self._next_seq = self.volume.first_seq if last is None else last.seq + last.count
            self._head = self.volume.prev if last is None else chain.link(last.hash, last.signature)
            saved = self._connection.execute("SELECT sink, seq FROM cursors").fetchall()
            self._saved_cursors = {bytes(sink).decode(): int(seq) for sink, seq in saved}
            self._cursors = dict(self._saved_cursors)
            if self._signer:
                self._connection.execute(
                    "INSERT INTO keys SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM keys WHERE id = ?1)",
                    (self._signer.key_id, self._signer.public),
                )
        except sqlite3.Error as error:
            self._connection.close()
            raise from_sqlite(error, live, "reading the journal") from error
        except BaseException:
            self._connection.close()
            raise

    @property
    def chain_id(self) -> str:
        """The id of the chain that is being written."""
        return self.volume.chain

    @property
    def last_seq(self) -> int:
        """The number of the newest committed fact, 0 if there is none."""
        return self._next_seq - 1

    @property
    def head(self) -> bytes:
        """What the next entry will carry as `prev`."""
        return self._head

    def listen(self, listener: Listener) -> None:
        """Have a function called with (seq, batch) after each commit, in the thread that appends."""
        self._listeners.append(listener)

    def append(self, batch: Sequence[NewEntry]) -> list[int]:
        """Commit entries together and return their seqs; on any error nothing of the batch is visible."""
        if not batch:
            return []
        with self._lock:
            self._usable()
            if self._archive_due(batch):
                self.archive()
            first, seq, head = self._next_seq, self._next_seq, self._head
            rows: list[Row] = []
            for entry in batch:
                row, head = self._row(seq, head, entry)
                rows.append(row)
                seq += len(entry.facts)
            round_ended = any(entry.signed for entry in batch)
            cursors = self._moved_cursors() if round_ended or self._cursors_far else {}
            self._commit(rows, cursors)
            self._next_seq, self._head = seq, head
            self._untidy += len(rows)
            for listener in self._listeners:
                listener(first, batch)
        return [row[0] for row in rows]

    def _usable(self) -> None:
        if self._broken:
            raise self._broken

    def _row(self, seq: int, prev: bytes, entry: NewEntry) -> tuple[Row, bytes]:
        if not entry.facts:
            raise ValueError(f"an entry of kind {entry.kind} without facts: every input causes at least one")
        stamp = entry.stamp
        source = _plain(entry.source)
        boot = self._boots.get(stamp.boot)
        if boot is None:
            boot = self._boots[stamp.boot] = bytes.fromhex(stamp.boot)
        session, number = entry.device or (None, None)
        facts = join_facts(entry.facts)
        count = len(entry.facts)
        # fmt: off
        own = chain.digest(chain.contents(
            prev, boot, seq, count, stamp.mono_ns, stamp.wall_ns, stamp.synced, session, number,
            entry.kind.encode(), source.encode(), entry.body, facts, entry.raw,
        ))
        signature = None
        if entry.signed and self._signer:
            signature = self._signer.sign(chain.entry_statement(self.volume.chain, seq, own))
        row = (
            seq, count, boot, stamp.mono_ns, stamp.wall_ns, int(stamp.synced), source, session, number,
            entry.kind, entry.body.decode(), facts.decode(), entry.raw, prev, own, signature,
        )
        # fmt: on
        return row, chain.link(own, signature)

    def _commit(self, rows: list[Row], cursors: dict[str, int]) -> None:
        connection = self._connection
        try:
            if len(rows) == 1 and not cursors:
                connection.execute(INSERT, rows[0])  # a transaction of its own
            else:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(INSERT, rows)
                _save_cursors(connection, cursors)
                connection.execute("COMMIT")
                self._saved_cursors.update(cursors)
                self._cursors_far = False
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _failed(self, error: sqlite3.Error) -> JournalError:
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error as second:
                self._broken = from_sqlite(second, self.live, "taking back an entry in")
        if isinstance(error, sqlite3.IntegrityError):
            if error.sqlite_errorname == "SQLITE_CONSTRAINT_UNIQUE" or "device event" in str(error):
                return DuplicateEventError(f"{self.live}: the journal has this event of the shoe already")
            return JournalError(f"appending to {self.live} failed: {error}")
        problem = from_sqlite(error, self.live, "appending to")
        # After a failed write or flush the kernel may have dropped the pages: only a fresh start knows what is there.
        if isinstance(problem, JournalDeviceError | JournalDamagedError):
            self._broken = problem
        return problem

    def has_event(self, session: int, number: int) -> bool:
        """Tell whether an event of the shoe is in the journal, archived volumes included."""
        found = self._query(
            "SELECT EXISTS (SELECT 1 FROM entries WHERE dev_session = ?1 AND dev_event = ?2) OR ?2 <= coalesce("
            "(SELECT last FROM earlier_events WHERE session = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1), -1)",
            (session, number),
        )
        return bool(found)

    def last_event(self, session: int) -> int | None:
        """Return the highest event number of a session of the shoe, None if there is none."""
        found = self._query(
            "SELECT max(number) FROM (SELECT max(dev_event) AS number FROM entries WHERE dev_session = ?1 "
            "UNION ALL SELECT max(last) FROM earlier_events WHERE session = ?1)",
            (session,),
        )
        return None if found is None else int(str(found))

    def _query(self, sql: str, parameters: tuple[int, ...]) -> object:
        with self._lock:
            self._usable()
            try:
                row: tuple[object] = self._connection.execute(sql, parameters).fetchone()
            except sqlite3.Error as error:
                raise from_sqlite(error, self.live, "reading the journal") from error
        return row[0]

    def cursor(self, sink: str) -> int:
        """Return the seq up to which the sink is done; 0 at first."""
        with self._cursor_lock:
            return self._cursors.get(sink, 0)

    def move_cursor(self, sink: str, seq: int) -> None:
        """Record that the sink is done up to seq.

        It is written with one of the next commits, not by itself: after a crash a sink may begin a little earlier,
        which its readers recognise by seq, and the SD card is spared.
        """
        with self._cursor_lock:
            self._cursors[sink] = seq
            if seq - self._saved_cursors.get(sink, 0) > CURSOR_STRIDE:
                self._cursors_far = True

    def save_cursors(self) -> None:
        """Write the places of all sinks now."""
        with self._lock:
            cursors = self._moved_cursors()
            if cursors:
                self._commit([], cursors)

    def _moved_cursors(self) -> dict[str, int]:
        with self._cursor_lock:
            return {sink: seq for sink, seq in self._cursors.items() if self._saved_cursors.get(sink) != seq}

    def tidy(self) -> None:
        """Do in a quiet moment what would else delay a card: move the write-ahead log into the database."""
        with self._lock:
            self._usable()
            if self._untidy < TIDY_AFTER_ENTRIES:
                return
            try:
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            except sqlite3.Error as error:
                raise self._failed(error) from error
            self._untidy = 0

    def _archive_due(self, batch: Sequence[NewEntry]) -> bool:
        if self._policy == "never" or self._next_seq == self.volume.first_seq:
            return False
        if not any(fact.startswith(b'{"type":"shoe_loaded"') for entry in batch for fact in entry.facts):
            return False
        return self._policy == "shoe" or self.size() >= self._policy

    def size(self) -> int:
        """Return the bytes that the live volume holds."""
        return int(str(self._query("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", ())))

    def archive(self) -> Path:
        """Seal the live volume and go on in a new one; return the sealed one."""
        with self._lock:
            self._usable()
            self.save_cursors()
            finished = self.live
            successor = archive.prepare_successor(self._connection, self.volume, self._next_seq, self._head)
            signature = None
            if self._signer:
                signature = self._signer.sign(chain.seal_statement(self.volume.chain, self._next_seq, self._head))
            try:
                self._connection.execute("INSERT INTO seal VALUES (?, ?, ?)", (self._next_seq, self._head, signature))
            except sqlite3.Error as error:
                raise self._failed(error) from error
            self._connection.close()
            archive.make_plain(finished)
            try:
                self._attach(archive.reveal(successor))
            except JournalError as error:
                self._broken = error  # the next start goes on in the new volume
                raise
            self._untidy = 0
        return finished

    def close(self) -> None:
        """Save the sinks' places and let go of the files."""
        with self._lock:
            if self._lock_handle < 0:
                return
            try:
                if self._broken is None:
                    self.save_cursors()
            finally:
                self._connection.close()
                os.close(self._lock_handle)
                self._lock_handle = -1
                self._broken = JournalError(f"the journal in {self.folder} is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _begin_chain(folder: Path, table: str) -> Path:
    return archive.publish_volume(folder, volumes.new_chain_meta(secrets.token_hex(16), table))


def _plain(source: str) -> str:
    if "," in source or not source.isprintable():
        raise ValueError(f"a source may not contain commas or control characters: {source!r}")
    return source


def _save_cursors(connection: sqlite3.Connection, cursors: dict[str, int]) -> None:
    connection.executemany(
        "INSERT INTO cursors VALUES (?, ?) ON CONFLICT (sink) DO UPDATE SET seq = excluded.seq", cursors.items()
    )
