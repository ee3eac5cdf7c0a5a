"""Hands as far as the wagers of one game can tell them apart, so that each outcome is worked out once.

Which cards are equal depends on what the game's conditions look at (`Sight`): to `no-commission` two queens are the
same as two kings, `sands-super` asks for their colour, `six-star` for their suit. A class is found by walking a hand
card by card through dictionaries that fill themselves when a class is first met, from the same traits and conditions
that work out the outcome.
"""

from collections.abc import Iterable

from shoe_controller.rules.play import Hand
from shoe_controller.rules.predicates import Condition, Sight
from shoe_controller.rules.traits import STARS, traits

_PAIRS = (Sight.PLAYER_PAIR, Sight.BANKER_PAIR)
_FIRE = {Sight.PLAYER_FIRE, Sight.BANKER_FIRE, Sight.BOTH_FIRE}


class HandClass(dict[str, "HandClass"]):
    """All hands that a game's wagers take for the same; `hand_class[card]` is the class with one card more."""

    __slots__ = ("_classes", "example", "number")

    def __init__(self, classes: "HandClasses", number: int, example: Hand) -> None:
        self._classes = classes
        self.number = number
        self.example = example

    def __missing__(self, card: str) -> "HandClass":
        found = self[card] = self._classes.of((*self.example, card))
        return found


class HandClasses:
    """The classes of hands of one game, made when they are first met."""

    def __init__(self, conditions: Iterable[Condition]) -> None:
        conditions = tuple(conditions)
        self._pair_conditions = tuple(one for one in conditions if one.sight in _PAIRS)
        self._sights = {one.sight for one in conditions}
        self._known: dict[object, HandClass] = {}
        self.no_cards = self.of(())

    def of(self, hand: Hand) -> HandClass:
        """Return the class of a hand of up to three cards."""
        seen = self._seen(hand) if len(hand) >= 2 else hand
        found = self._known.get(seen)
        if found is None:
            found = self._known[seen] = HandClass(self, len(self._known), hand)
        return found

    def _seen(self, hand: Hand) -> object:
        """Return all that a condition of this game can see of a hand, now or with one card more."""
        both = traits(hand, hand)
        suits = {card[1] for card in hand}
        ranks = frozenset(card[0] for card in hand)
        return (
            len(hand),
            both.player_total,
            tuple(one.holds(both) for one in self._pair_conditions),
            bool(self._sights & _FIRE) and both.player_flaming,
            min(suits) if Sight.ONE_SUIT in self._sights and len(suits) == 1 else "",
            ranks if Sight.STARS in self._sights and ranks <= STARS else None,
        )
