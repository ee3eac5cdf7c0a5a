"""Facts for displays: which facts leave the table by the event stream, and with which fields.

Displays are looked at by players. Wagers and settlements are the players' own affair; devices, refusals and staff
names are the house's; faces of burned cards and of cards that were never dealt are nobody's. All that stays out at
every table. At a squeeze table (`reveal = "on-result"`) a card fact says only where a card went, and a round shows
its cards only once it was announced.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.json import Decoder

from shoe_controller.config.table import Reveal
from shoe_controller.journal.entry import FactRecord
from shoe_controller.messages import rfc3339
from shoe_controller.session import facts
from shoe_controller.web.state import backs

replace = msgspec.structs.replace


def _shoe_loaded(fact: facts.ShoeLoaded) -> facts.Fact:
    return replace(fact, deck_set="", faults={}, unacknowledged=())


def _burned(fact: facts.Burned) -> facts.Fact:
    return replace(fact, card=None)


def _irregularity(fact: facts.Irregularity) -> facts.Fact:
    return replace(fact, uids=(), detail="", waits_for="")


def _resolved(fact: facts.Resolved) -> facts.Fact:
    return replace(fact, by="", reason="")


def _acknowledged(fact: facts.Acknowledged) -> facts.Fact:
    return replace(fact, by="")


def _round(fact: facts.Round) -> facts.Fact:
    return replace(fact, void_reason="")


def _shoe_ended(fact: facts.ShoeEnded) -> facts.Fact:
    return replace(fact, missing={}, extra={})


def _card(fact: facts.CardDealt) -> facts.Fact:
    return replace(fact, uid="")


def _fault(fact: facts.Fault) -> facts.Fact:
    return replace(fact, detail="")


def _started(fact: facts.Started) -> facts.Fact:
    return replace(fact, detail="", config_hash="")


def _as_it_is(fact: facts.Fact) -> facts.Fact:
    return fact


# What is not named here is not for displays.
SHOWN: dict[str, tuple[Decoder[Any], Callable[[Any], facts.Fact]]] = {
    "shoe_loaded": (Decoder(facts.ShoeLoaded), _shoe_loaded),
    "burned": (Decoder(facts.Burned), _burned),
    "betting": (Decoder(facts.BettingOpened), _as_it_is),
    "closed": (Decoder(facts.BettingClosed), _as_it_is),
    "card": (Decoder(facts.CardDealt), _card),
    "round": (Decoder(facts.Round), _round),
    "irregularity": (Decoder(facts.Irregularity), _irregularity),
    "resolved": (Decoder(facts.Resolved), _resolved),
    "acknowledged": (Decoder(facts.Acknowledged), _acknowledged),
    "cut": (Decoder(facts.CutCardSeen), _as_it_is),
    "shoe": (Decoder(facts.ShoeEnded), _shoe_ended),
    "fault": (Decoder(facts.Fault), _fault),
    "started": (Decoder(facts.Started), _started),
}


def _squeeze_card(fact: facts.CardDealt) -> facts.Fact:
    place = "hand" if fact.hand else "aside"
    return replace(
        fact, card="", player_total=None, banker_total=None, next=None, complete=False, place=place, keyed=False
    )


def _squeeze_closed(fact: facts.BettingClosed) -> facts.Fact:
    return replace(fact, next=None)


def _squeeze_round(fact: facts.Round) -> facts.Fact:
    if fact.status == "complete" or fact.revision > 1:
        return fact
    return replace(
        fact,
        player=backs(fact.player),
        banker=backs(fact.banker),
        player_total=None,
        banker_total=None,
        natural=False,
        unassigned=backs(fact.unassigned),
        keyed=(),
    )


def _squeeze_irregularity(fact: facts.Irregularity) -> facts.Fact:
    return replace(fact, cards=backs(fact.cards))


def _squeeze_resolved(fact: facts.Resolved) -> facts.Fact:
    return replace(fact, cards=backs(fact.cards))


SQUEEZED: dict[str, Callable[[Any], facts.Fact]] = {
    "closed": _squeeze_closed,
    "card": _squeeze_card,
    "round": _squeeze_round,
    "irregularity": _squeeze_irregularity,
    "resolved": _squeeze_resolved,
}


def public_fact(record: FactRecord, reveal: Reveal) -> bytes | None:
    """Return a fact as displays get it, as JSON with `seq`, `boot`, `time` and `synced`; None if it is not for them."""
    if record.type not in SHOWN:
        return None
    reader, trim = SHOWN[record.type]
    fact = trim(reader.decode(record.fact))
    if reveal == "on-result" and record.type in SQUEEZED:
        fact = SQUEEZED[record.type](fact)
    stamp = record.stamp
    return b'{"seq":%d,%b,"boot":"%b","time":"%b","synced":%b}' % (
        record.seq,
        msgspec.json.encode(fact)[1:-1],
        stamp.boot.encode(),
        rfc3339(stamp.wall_ns).encode(),
        b"true" if stamp.synced else b"false",
    )
