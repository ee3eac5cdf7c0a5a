"""Facts in the words of an Angel Eye II-EX shoe, so that existing scoreboards and bridges work unchanged.

The format knows one table, 52-card decks and standard results. What it has no word for (wagers, clauses, names,
times) is left out; cards of 65-card decks are carried as `carried_as` says, each as another card and none twice.
"""

from collections.abc import Callable, Iterable

import msgspec

from firmware_protocol.angel_eye_messages import (
    CuttingCard,
    ErrorChanged,
    GameCard,
    GameResult,
    Message,
    Outside,
    OutsideCard,
    Standby,
    Started,
)
from firmware_protocol.angel_eye_sender import AngelEyeSender, carried_as
from firmware_protocol.events import Card, Target
from shoe_controller.cards import is_code
from shoe_controller.journal.entry import FactRecord
from shoe_controller.session import facts as f

_HANDS = {"player": Target.PLAYER, "banker": Target.BANKER}
# Our irregularities as errors of that shoe; the others have no counterpart there.
ERRORS = {
    "unreadable_card": 1,
    "wrong_number": 2,
    "early_draw": 2,
    "order_altered": 4,
    "foreign_card": 6,
    "duplicate_card": 6,
    "over_count": 6,
}
_SPOKEN = frozenset({"shoe_loaded", "burned", "betting", "card", "round", "irregularity", "resolved", "cut"})
_DECODER: msgspec.json.Decoder[f.AnyFact] = msgspec.json.Decoder(f.AnyFact)


class AngelEyeWords:
    """Turns facts into frames; remembers which errors it has told and not yet cancelled."""

    def __init__(self) -> None:
        self._sender = AngelEyeSender()
        self._errors: dict[int, int] = {}  # id of the irregularity -> error code
        self._tellers: dict[type[f.Fact], Callable[..., Iterable[Message]]] = {
            f.ShoeLoaded: self._shoe_loaded,
            f.Burned: _burned,
            f.BettingOpened: self._betting,
            f.CardDealt: _card,
            f.Round: _round,
            f.Irregularity: self._irregularity,
            f.Resolved: self._resolved,
            f.CutCardSeen: lambda _: [CuttingCard()],
        }

    def encode(self, record: FactRecord) -> bytes:
        """Return the frames of one fact, each three times; empty if the format has no word for it."""
        return b"".join(self._sender.say(message) for message in self.messages(record))

    def messages(self, record: FactRecord) -> list[Message]:
        """Return what such a shoe would say."""
        if record.type not in _SPOKEN:
            return []
        fact = _DECODER.decode(record.fact)
        return list(self._tellers[type(fact)](fact))

    def _shoe_loaded(self, _fact: f.ShoeLoaded) -> Iterable[Message]:
        self._errors.clear()
        return [Started()]

    def _betting(self, _fact: f.BettingOpened) -> Iterable[Message]:
        # An open decision blocks "Place your bets": what is still lit here was voided or only noted.
        yield from self._cancel(tuple(self._errors))
        yield Standby()

    def _irregularity(self, fact: f.Irregularity) -> Iterable[Message]:
        code = ERRORS.get(fact.kind)
        if code is not None and fact.effect in {"void", "decision"}:
            self._errors[fact.id] = code
            yield ErrorChanged(code, active=True, error_mode=fact.effect == "decision")

    def _resolved(self, fact: f.Resolved) -> Iterable[Message]:
        return self._cancel(fact.ids)

    def _cancel(self, ids: Iterable[int]) -> Iterable[Message]:
        for number in ids:
            code = self._errors.pop(number, None)
            if code is not None:
                yield ErrorChanged(code, active=False, error_mode=bool(self._errors))


def _burned(fact: f.Burned) -> Iterable[Message]:
    if fact.card is not None and is_code(fact.card):
        yield GameCard(Target.BURN, 0, _carried(fact.card))


def _card(fact: f.CardDealt) -> Iterable[Message]:
    if not is_code(fact.card):
        return  # a foreign card without a face
    if fact.hand is None:
        yield OutsideCard(Outside.ERROR, _carried(fact.card))
    else:
        yield GameCard(_HANDS[fact.hand], fact.position, _carried(fact.card))


def _round(fact: f.Round) -> Iterable[Message]:
    if fact.winner is None:
        yield GameResult(None)
    else:
        yield GameResult(fact.winner, player_pair=_pair(fact.player), banker_pair=_pair(fact.banker))


def _pair(hand: tuple[str, ...]) -> bool:
    return len(hand) > 1 and hand[0][0] == hand[1][0]


def _carried(code: str) -> Card:
    return carried_as(Card(rank=code[0], suit=code[1]))
