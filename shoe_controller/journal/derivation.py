"""Re-derivation: the recorded inputs, replayed, must give the recorded facts."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from shoe_controller.journal.codec import decode_facts, decode_input, encode_facts, encode_lines
from shoe_controller.journal.rows import BODY, COUNT, FACTS, Row
from shoe_controller.session.facts import AnyFact, ShoeLoaded
from shoe_controller.session.inputs import AnyInput, LoadShoe
from shoe_controller.session.session import Session

Handle = Callable[[AnyInput], Sequence[AnyFact]]


def begin() -> Handle:
    """Return a session of a table at which nothing has happened yet."""
    return Session(engine="table").handle


def resume(body: bytes, facts: bytes) -> Handle | None:
    """Return a session as it was after the entry in which a shoe came into play, None if the entry is not such."""
    try:
        load, loaded = decode_input(body), [fact for fact in decode_facts(facts) if isinstance(fact, ShoeLoaded)]
    except msgspec.DecodeError:
        return None
    if not isinstance(load, LoadShoe) or not loaded:
        return None
    return Session.resume(load, loaded[-1], engine="table").handle


class Replayed:
    """What a session says of the inputs of many entries, for one comparison with all that is recorded of them."""

    def __init__(self, handle: Handle, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._facts: list[Sequence[AnyFact]] = []
        self._lines = b""
        self._error: Exception | None = None
        decode, append = decode_input, self._facts.append
        try:
            for row in rows:
                append(handle(decode(row[BODY])))
            self._lines = encode_lines(self._facts)
        except Exception as error:  # noqa: BLE001 - whatever an input of a changed journal makes a session raise
            self._error = error
        self._left = iter(self._facts)

    def is_as_recorded(self) -> bool:
        """Tell whether every entry has exactly the facts that its input gives.

        JSON as it is written here has no line feeds, so that lines are equal if and only if each of them is.
        """
        rows = self._rows
        return (
            self._error is None
            and self._lines == b"\n".join([*[row[FACTS] for row in rows], b""])
            and list(map(len, self._facts)) == [row[COUNT] for row in rows]
        )

    def again(self, _happened: AnyInput) -> Sequence[AnyFact]:
        """Say the same once more, entry by entry, for a look at where it differs."""
        for facts in self._left:
            return facts
        assert self._error is not None, "more was asked for than was replayed"
        raise self._error


def equal_in_meaning(derived: Sequence[AnyFact], facts: bytes) -> bool:
    """Tell whether recorded facts differ only by fields that another version of the program has or has not."""
    try:
        return decode_facts(facts) == list(derived)
    except msgspec.DecodeError:
        return False


def difference(derived: Sequence[AnyFact], facts: bytes) -> str:
    """Say in which fact and fields the replay and the record differ."""
    try:
        recorded = msgspec.json.decode(facts, type=list[dict[str, Any]])
    except msgspec.DecodeError:
        return "its facts are not a list of facts in JSON"
    replayed = msgspec.json.decode(encode_facts(derived), type=list[dict[str, Any]])
    for ours, theirs in zip(replayed, recorded, strict=False):
        if ours.get("type") != theirs.get("type"):
            return f"replaying its input gives a fact {ours.get('type')!r}, recorded is {theirs.get('type')!r}"
        fields = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
        if fields:
            pairs = "; ".join(f"{name} {_json(ours, name)}, recorded is {_json(theirs, name)}" for name in fields[:3])
            return f"replaying its input gives a fact {ours['type']!r} with {pairs}"
    if len(replayed) != len(recorded):
        return f"replaying its input gives {len(replayed)} facts, recorded are {len(recorded)}"
    return "its facts are written in another way than this program writes them, or their count is wrong"


def _json(fact: dict[str, Any], name: str) -> str:
    return msgspec.json.encode(fact[name]).decode() if name in fact else "absent"
