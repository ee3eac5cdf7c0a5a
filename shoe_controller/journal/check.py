"""The check at start: the last entries, and the chain from the last signed point.

It costs the same however long the journal is. `verification` checks everything.
"""

import sqlite3
from pathlib import Path

import msgspec

from shoe_controller.journal import chain, layout, volumes
from shoe_controller.journal.entry import Entry
from shoe_controller.journal.errors import JournalDamagedError, JournalError, JournalMissingError
from shoe_controller.journal.rows import entries_backwards
from shoe_controller.journal.signing import KEY_ID_SIZE, checker, good_signature
from shoe_controller.journal.volumes import Volume

LAST_ENTRIES = 64


class Problem(msgspec.Struct, frozen=True):
    """Something in a journal that is not as it was written."""

    volume: str
    seq: int | None  # the entry, None if it is about the file as a whole
    kind: str  # file, schema, hash, link, gap, signature, seal, origin, facts
    what: str

    def __str__(self) -> str:
        place = self.volume if self.seq is None else f"{self.volume}, entry {self.seq}"
        return f"{place}: {self.what}"


class CheckResult(msgspec.Struct, frozen=True):
    """What the check at start looked at and found."""

    volume: str
    entries: int  # how many were checked
    first_seq: int | None  # the oldest of them
    last_seq: int | None
    signed_seq: int | None  # the newest signed entry, None if there is none in this volume
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Tell whether nothing is wrong."""
        return not self.problems

    def raise_if_damaged(self) -> None:
        """Raise JournalDamagedError that says what is wrong and where, if anything is."""
        if self.problems:
            first = self.problems[0]
            more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
            raise JournalDamagedError(
                f"the journal is damaged: {first}{more}; it is left as it is, and no card is accepted. "
                "'shoe-controller doctor' tells what a technician can do",
                first.seq,
            )


def check_end(folder: Path) -> CheckResult:
    """Check the end of the journal in a folder, also while it is open for appending."""
    paths = volumes.volume_paths(folder)
    if not paths:
        raise JournalMissingError(f"{folder} holds no journal")
    path = paths[-1]
    try:
        connection = layout.open_reader(path)
        try:
            return _check_volume(connection, path)
        finally:
            connection.close()
    except JournalError as error:
        problem = Problem(path.name, getattr(error, "seq", None), "file", str(error))
    except sqlite3.Error as error:
        problem = Problem(path.name, None, "file", f"SQLite cannot read it: {error}")
    return CheckResult(path.name, 0, None, None, None, (problem,))


def _check_volume(connection: sqlite3.Connection, path: Path) -> CheckResult:
    problems = [Problem(path.name, None, "schema", change) for change in layout.schema_changes(connection)]
    volume = volumes.read_volume(connection, path)
    signed_seq: int | None = None
    newest: Entry | None = None
    later: Entry | None = None
    number = 0
    for number, entry in enumerate(entries_backwards(connection), 1):
        newest = newest or entry
        problems += _entry_problems(path, entry, later)
        later = entry
        if signed_seq is None and entry.signature:
            signed_seq = entry.seq
            problems += _signature_problems(connection, volume, entry)
        if signed_seq is not None and number >= LAST_ENTRIES:
            break
    else:
        problems += _start_problems(volume, later)
    return CheckResult(
        volume=path.name,
        entries=number,
        first_seq=later.seq if later else None,
        last_seq=newest.seq if newest else None,
        signed_seq=signed_seq,
        problems=tuple(sorted(problems, key=lambda problem: problem.seq or 0)),
    )


def _entry_problems(path: Path, entry: Entry, later: Entry | None) -> list[Problem]:
    found: list[Problem] = []
    if own_hash(entry) != entry.hash:
        found.append(Problem(path.name, entry.seq, "hash", "its contents do not give its hash"))
    if later is None:
        return found
    if entry.seq + entry.count != later.seq:
        found.append(
            Problem(path.name, later.seq, "gap", f"fact {entry.seq + entry.count} should come next, not {later.seq}")
        )
    elif not found and chain.link(entry.hash, entry.signature) != later.prev:
        found.append(Problem(path.name, later.seq, "link", f"it does not follow entry {entry.seq} in the hash chain"))
    return found


def own_hash(entry: Entry) -> bytes:
    """Return the hash that the contents of an entry give."""
    session, number = entry.device or (None, None)
    stamp = entry.stamp
    # fmt: off
    return chain.digest(chain.contents(
        entry.prev, bytes.fromhex(stamp.boot), entry.seq, entry.count, stamp.mono_ns, stamp.wall_ns, stamp.synced,
        session, number, entry.kind.encode(), entry.source.encode(), entry.body, entry.facts, entry.raw,
    ))
    # fmt: on


def _signature_problems(connection: sqlite3.Connection, volume: Volume, entry: Entry) -> list[Problem]:
    assert entry.signature
    row = connection.execute("SELECT public FROM keys WHERE id = ?", (entry.signature[:KEY_ID_SIZE],)).fetchone()
    if row is None:
        what = f"it is signed with the key {entry.signature[:KEY_ID_SIZE].hex()}, which this journal does not list"
    elif not good_signature(
        checker(row[0]), chain.entry_statement(volume.chain, entry.seq, entry.hash), entry.signature
    ):
        what = "its signature is not good"
    else:
        return []
    return [Problem(volume.path.name, entry.seq, "signature", what)]


def _start_problems(volume: Volume, first: Entry | None) -> list[Problem]:
    """Return what is wrong with the beginning of a volume, which was reached."""
    name = volume.path.name
    found: list[Problem] = []
    if volume.starts_chain:
        if chain.genesis(volume.origin) != volume.prev:
            found.append(Problem(name, None, "origin", "the text that the chain begins with was changed"))
    else:
        before = volume.path.with_name(volume.predecessor)
        sealed = volumes.look_at(before).sealed if before.exists() else None
        if before.exists() and (sealed is None or sealed[:2] != (volume.first_seq, volume.prev)):
            found.append(Problem(name, None, "seal", f"it does not go on where {volume.predecessor} ends"))
    if first is not None and first.seq != volume.first_seq:
        found.append(Problem(name, first.seq, "gap", f"fact {volume.first_seq} should be the first of this volume"))
    elif first is not None and first.prev != volume.prev:
        found.append(Problem(name, first.seq, "link", "it does not follow what came before this volume"))
    return found
