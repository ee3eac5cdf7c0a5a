"""Re-derivation: the recorded inputs, replayed, must give the recorded facts."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from shoe_controller.journal.codec import decode_facts, decode_input, encode_facts
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
