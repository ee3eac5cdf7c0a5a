"""Recovery: the table as the journal left it, by replay from the last shoe."""

from collections import deque
from pathlib import Path

import msgspec

from shoe_controller.journal.check import check_end
from shoe_controller.journal.codec import decode_facts, decode_input
from shoe_controller.journal.derivation import difference, equal_in_meaning
from shoe_controller.journal.entry import Entry
from shoe_controller.journal.errors import JournalDamagedError
from shoe_controller.journal.recovery import entries_since_last_shoe
from shoe_controller.session.facts import ShoeLoaded
from shoe_controller.session.inputs import LoadShoe
from shoe_controller.session.session import Session

# An Angel Eye sends each event three times; of so many events copies may still be on their way after a restart.
LAST_FRAMES = 8


class Recovered(msgspec.Struct, frozen=True):
    """The session, and the frames that the shoe told last."""

    session: Session
    frames: tuple[bytes, ...]
    entries: int


def rebuild(folder: Path) -> Recovered:
    """Check the journal's end and replay it; raise JournalDamagedError with what is wrong and where."""
    check_end(folder).raise_if_damaged()
    session: Session | None = None
    frames: deque[bytes] = deque(maxlen=LAST_FRAMES)
    entries = 0
    for entry in entries_since_last_shoe(folder):
        if entry.raw:
            frames.append(entry.raw)
        entries += 1
        if session is None:
            session = _first(entry)
        else:
            _again(session, entry)
    return Recovered(session or Session(), tuple(frames), entries)


def _first(entry: Entry) -> Session:
    load = decode_input(entry.body)
    loaded = [fact for fact in decode_facts(entry.facts) if isinstance(fact, ShoeLoaded)]
    if isinstance(load, LoadShoe) and loaded:
        return Session.resume(load, loaded[-1])
    session = Session()
    _again(session, entry)
    return session


def _again(session: Session, entry: Entry) -> None:
    facts = session.handle(decode_input(entry.body))
    if not equal_in_meaning(facts, entry.facts):
        raise JournalDamagedError(
            f"entry {entry.seq} of the journal cannot be right: {difference(facts, entry.facts)}; if the program was "
            "changed during a shoe, go back to the earlier version until the shoe has ended",
            entry.seq,
        )
