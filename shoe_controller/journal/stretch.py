"""Verification of one stretch of the journal: chain, signatures, and that its inputs give its facts.

A stretch begins after an entry in which a shoe came into play, since such an entry carries all that outlives a shoe,
and ends with another; stretches are therefore verified independently of each other, on all cores.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from shoe_controller.journal import chain, layout
from shoe_controller.journal.check import Problem
from shoe_controller.journal.codec import decode_input, encode_facts
from shoe_controller.journal.derivation import Handle, Replayed, begin, difference, equal_in_meaning, resume
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.recovery import loads_shoe
from shoe_controller.journal.rows import BODY, COLUMNS, COUNT, FACTS, KIND, SEQ, Row
from shoe_controller.journal.signing import KEY_ID_SIZE, checker, good_signature
from shoe_controller.session.facts import AnyFact

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_SELECT = f"SELECT {COLUMNS} FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq"  # noqa: S608 - constant text
_SELECT_ONE = f"SELECT {COLUMNS} FROM entries WHERE seq = ?"  # noqa: S608 - constant text
_SELECT_SIGNED = "SELECT seq, hash, signature FROM entries WHERE seq > ? AND seq <= ? AND signature IS NOT NULL"
BEFORE_ALL = -(2**63)
BATCH = 128  # entries


class Piece(msgspec.Struct, frozen=True):
    """The part of a stretch that is in one volume: entries with after < seq <= to."""

    path: Path
    after: int
    to: int
    seal: tuple[int, bytes] | None = None  # next seq and link that must be reached, where a sealed volume ends


class Stretch(msgspec.Struct, frozen=True):
    """What one worker verifies. `prev` and `first_seq` are None if entry `after` of the first piece tells them."""

    chain: str
    pieces: tuple[Piece, ...]
    prev: bytes | None = None
    first_seq: int | None = None
    from_start: bool = False  # the chain begins here, so the table is known: nothing happened yet


class Plan(msgspec.Struct, frozen=True):
    """What holds for all stretches."""

    keys: dict[bytes, bytes]  # key id: public key
    all_signatures: bool = False
    derive: bool = True
    limit: int = 20  # problems told in full


class Result(msgspec.Struct):
    """What was found in a stretch."""

    entries: int = 0
    facts: int = 0
    rounds: int = 0
    signatures: int = 0
    signatures_checked: int = 0
    last_signed: int = 0  # the last fact of the newest signed entry
    underived: int = 0
    other_version: int = 0
    keys: set[bytes] = msgspec.field(default_factory=set)
    problems: list[Problem] = msgspec.field(default_factory=list)
    problem_count: int = 0
    problem_kinds: set[str] = msgspec.field(default_factory=set)


def verify_stretch(stretch: Stretch, plan: Plan) -> Result:
    """Verify a stretch and tell what was found."""
    return _Walk(stretch, plan).run()


class _Walk:
    """The state while one walks along a stretch."""

    def __init__(self, stretch: Stretch, plan: Plan) -> None:
        self.stretch = stretch
        self.plan = plan
        self.result = Result()
        self.piece = stretch.pieces[0]
        self.checkers: dict[bytes, Ed25519PublicKey] = {}
        self.link = stretch.prev or b""
        self.next_seq = stretch.first_seq or 0
        self.handle: Handle | None = begin() if stretch.from_start and plan.derive else None
        self.connection: sqlite3.Connection
        # The newest signature that has not been checked, and the seq up to which signatures are known to be good.
        self.unchecked: tuple[int, bytes, bytes] | None = None
        self.vouched = self.piece.after
        self.last_sound = True

    def run(self) -> Result:
        for place, piece in enumerate(self.stretch.pieces):
            self.piece = piece
            try:
                self.connection = layout.open_reader(piece.path)
                try:
                    if place > 0 or self.stretch.prev is not None or self._start():
                        self._walk()
                finally:
                    self.connection.close()
            except (JournalError, sqlite3.Error) as error:
                self._problem(None, "file", f"it cannot be read after fact {self.next_seq - 1}: {error}")
        return self.result

    def _problem(self, seq: int | None, kind: str, what: str) -> None:
        self.result.problem_count += 1
        self.result.problem_kinds.add(kind)
        if len(self.result.problems) < self.plan.limit:
            self.result.problems.append(Problem(self.piece.path.name, seq, kind, what))

    def _start(self) -> bool:
        """Learn from the entry before the stretch, which the stretch before verifies, where it begins."""
        row = self.connection.execute(_SELECT_ONE, (self.piece.after,)).fetchone()
        if row is None:
            self._problem(self.piece.after, "gap", "it is in the index of shoes, but not among the entries")
            return False
        seq, count, *_, body, facts, _, _, own, signature = row
        self.next_seq = seq + count
        self.link = chain.link(own, signature)
        if self.plan.derive:
            self.handle = resume(body, facts)
        return True

    def _walk(self) -> None:
        piece = self.piece
        self.last_sound = True
        for rows in self._batches():
            unusable = self._check_chain(rows)
            if self.plan.derive:
                self._derive(rows, unusable)
        self._check_unchecked()
        if piece.seal is not None and piece.seal != (self.next_seq, self.link):
            self._problem(None, "seal", f"it was sealed before fact {piece.seal[0]}, but ends before {self.next_seq}")
            # The next volume is judged by the seal, so that what is wrong here is not told of it as well.
            self.next_seq, self.link = piece.seal
            self.handle = None

    def _batches(self) -> Iterator[list[Row]]:
        """Yield the rows of the piece, many at a time: row by row, verification took a tenth longer."""
        after, to = self.piece.after, self.piece.to
        cursor = self.connection.execute(_SELECT, (after, to))
        try:
            while rows := cursor.fetchmany(BATCH):
                after = rows[-1][0]
                yield rows
        except sqlite3.Error:
            # What stands before the damage can still be read, one by one.
            for row in self.connection.execute(_SELECT, (after, to)):
                yield [row]
            raise

    def _check_chain(self, rows: list[Row]) -> set[int]:
        """Check hashes and links, and return the entries with columns that cannot even be hashed."""
        contents, hashed = chain.contents, sha256
        next_seq, link, last_sound = self.next_seq, self.link, self.last_sound
        result, facts_seen, unusable = self.result, 0, set()
        # fmt: off
        for (
            seq, count, boot, mono_ns, wall_ns, synced, source, session, number, kind, body, facts, raw,
            prev, own, signature,
        ) in rows:
            try:
                sound = own == hashed(contents(
                    prev, boot, seq, count, mono_ns, wall_ns, synced, session, number, kind, source, body, facts, raw,
                )).digest()
                # fmt: on
                if seq != next_seq or prev != link or not sound:
                    self.next_seq, self.link = next_seq, link
                    self._broken(seq, prev, sound=sound, last_sound=last_sound)
                next_seq = seq + count
                link = own
                if signature is not None:
                    link = hashed(own + signature).digest()
                    self._signed(seq, own, signature, next_seq - 1)
            except TypeError:
                self._problem(seq, "hash", "a column has a value of the wrong kind")
                last_sound = False
                unusable.add(seq)
                continue
            last_sound = sound
            facts_seen += count
            if kind == b"result":
                result.rounds += facts.startswith(b'[{"type":"round"')
            elif kind == b"shoe" and _loads(facts):
                self._check_unchecked()
        self.next_seq, self.link, self.last_sound = next_seq, link, last_sound
        result.entries += len(rows)
        result.facts += facts_seen
        return unusable

    def _derive(self, rows: list[Row], unusable: set[int]) -> None:
        """Replay inputs and compare what they give with what is recorded, all at once while nothing is wrong."""
        session = self.handle
        if session is None or unusable:
            self.handle = self._derive_each(rows, unusable, session)
            return
        replayed = Replayed(session, rows)
        if not replayed.is_as_recorded():
            again = replayed.again
            handle = self._derive_each(rows, unusable, again)
            self.handle = session if handle is again else handle

    def _derive_each(self, rows: list[Row], unusable: set[int], handle: Handle | None) -> Handle | None:
        """Replay and compare entry by entry, and return the session as it is then."""
        for row in rows:
            if unusable and row[SEQ] in unusable:
                handle = None
                continue
            if handle is not None:
                try:
                    derived = handle(decode_input(row[BODY]))
                    if encode_facts(derived) != row[FACTS] or len(derived) != row[COUNT]:
                        handle = self._differs(row[SEQ], row[COUNT], derived, row[FACTS], handle)
                except Exception as error:  # noqa: BLE001 - whatever an input of a changed journal makes a session raise
                    self._problem(row[SEQ], "facts", f"its input cannot be replayed: {type(error).__name__}: {error}")
                    handle = None
            else:
                self.result.underived += 1
            if handle is None and row[KIND] == b"shoe" and _loads(row[FACTS]):
                handle = resume(row[BODY], row[FACTS])
        return handle

    def _broken(self, seq: int, prev: bytes, *, sound: bool, last_sound: bool) -> None:
        if not sound:
            self._problem(seq, "hash", "its contents do not give its hash")
        if seq != self.next_seq:
            self._problem(seq, "gap", f"fact {self.next_seq} should come next, not {seq}")
        elif sound and last_sound and prev != self.link and not self._blame_signature():
            self._problem(seq, "link", "it does not follow the entry before it: one of the two was replaced")

    def _blame_signature(self) -> bool:
        """Tell whether the link is broken since the signature before it was changed; say so then."""
        if self.unchecked is None:
            return False
        problems = self.result.problem_count
        self._check_signature(*self.unchecked)
        self.unchecked = None
        return self.result.problem_count > problems

    def _signed(self, seq: int, own: bytes, signature: bytes, last_fact: int) -> None:
        self.result.signatures += 1
        self.result.last_signed = last_fact
        if self.plan.all_signatures:
            self._check_unchecked()
        self.unchecked = (seq, own, signature)

    def _check_unchecked(self) -> None:
        if self.unchecked is None:
            return
        seq, own, signature = self.unchecked
        self.unchecked = None
        problems = self.result.problem_count
        self._check_signature(seq, own, signature)
        if self.result.problem_count == problems:
            self.vouched = seq
            return
        # A later signature vouches for all before it, and this one does not: find where it begins.
        for earlier in self.connection.execute(_SELECT_SIGNED, (max(self.vouched, self.piece.after), seq - 1)):
            self._check_signature(*earlier)
        self.vouched = seq

    def _check_signature(self, seq: int, own: bytes, signature: bytes) -> None:
        name = signature[:KEY_ID_SIZE]
        self.result.keys.add(name)
        self.result.signatures_checked += 1
        key = self.checkers.get(name)
        if key is None:
            public = self.plan.keys.get(name)
            if public is None:
                self._problem(seq, "signature", f"it is signed with the key {name.hex()}, which is not known here")
                return
            key = self.checkers[name] = checker(public)
        if not good_signature(key, chain.entry_statement(self.stretch.chain, seq, own), signature):
            self._problem(seq, "signature", "its signature is not good")

    def _differs(self, seq: int, count: int, derived: Sequence[AnyFact], facts: bytes, handle: Handle) -> Handle | None:
        if len(derived) == count and equal_in_meaning(derived, facts):
            self.result.other_version += 1
            return handle
        self._problem(seq, "facts", difference(derived, facts))
        # What follows in this shoe would differ as well and tell nothing new.
        return None


def _loads(facts: bytes) -> bool:
    """Tell whether a shoe came into play, also where facts may be anything."""
    try:
        return loads_shoe(facts)
    except msgspec.DecodeError:
        return False
