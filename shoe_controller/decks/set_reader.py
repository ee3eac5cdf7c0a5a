"""Reading a set card by card through a shoe, to register it.

A hybrid shoe sees id and face of each card, an optical shoe the face and the number of the set. An RFID shoe sees the
id alone: there the cards are drawn in the order of a new deck, and the person who draws compares each card with what
is said. In doubt a card is not counted, and it is said which card is to come.
"""

from collections import Counter
from collections.abc import Sequence

from firmware_protocol.events import (
    Card,
    CardDrawn,
    CardForeign,
    CardReturned,
    CardsTogether,
    CardUnreadable,
    FaultChanged,
    Happening,
    ShoeEmptied,
)
from shoe_controller.cards import Deck, is_code, spoken
from shoe_controller.decks.deck_set import wrong_faces
from shoe_controller.decks.errors import RegisterError

# Happenings that mean that a card left the shoe or went back: they belong to the record of a table.
CARD_HAPPENINGS = (CardDrawn, CardsTogether, CardReturned, CardUnreadable, CardForeign)


def new_deck_order(deck: Deck, decks: int, *, suits: str = "", ranks: str = "") -> tuple[str, ...]:
    """Return the codes of new decks, one after the other, or raise RegisterError.

    `suits` and `ranks` give the order within one deck; by default suit by suit as the deck has them, ace first.
    """
    for given, wanted, what in ((suits, deck.suits, "suits"), (ranks, deck.ranks, "ranks")):
        if given and sorted(given) != sorted(wanted):
            raise RegisterError(f"the order of the {what}, {given!r}, must have each of {wanted!r} once")
    return tuple(rank + suit for suit in suits or deck.suits for rank in ranks or deck.ranks) * decks


class SetReader:
    """Takes what the shoe tells and gathers the cards. `order` is given for a shoe that sees no faces."""

    def __init__(self, deck: Deck, decks: int, order: Sequence[str] | None = None) -> None:
        self.size = deck.size * decks
        self._deck = deck
        self._decks = decks
        self._order = order
        self._read: list[tuple[bytes | None, str]] = []
        self._numbers: set[int] = set()

    @property
    def count(self) -> int:
        """How many cards are counted."""
        return len(self._read)

    @property
    def in_order(self) -> bool:
        """Whether the cards must come in the order of new decks."""
        return self._order is not None

    @property
    def is_whole(self) -> bool:
        """Whether there are as many cards as a set has."""
        return len(self._read) >= self.size

    @property
    def cards(self) -> list[tuple[bytes, str]]:
        """The cards that have ids."""
        return [(uid, code) for uid, code in self._read if uid is not None]

    @property
    def optical(self) -> int | None:
        """The number of the set, where the shoe sees one; raise RegisterError if the cards have several."""
        if len(self._numbers) > 1:
            numbers = ", ".join(map(str, sorted(self._numbers)))
            raise RegisterError(f"these cards belong to several sets, their codes have the numbers {numbers}")
        return next(iter(self._numbers), None)

    def wrong(self) -> tuple[str, ...]:
        """Say which faces are too few or too many."""
        return tuple(wrong_faces(Counter(code for _, code in self._read), self._deck, self._decks))

    def take(self, happening: Happening) -> str:
        """Take in what happened; return a sentence for the person at the shoe, empty where there is nothing to say."""
        match happening:
            case CardDrawn(card):
                return self._take(card)
            case CardsTogether(cards, order_known):
                if order_known or self._order is None:
                    return "; ".join(self._take(card) for card in cards)
                return f"cards came together and are not counted: draw them again one by one{self._next()}"
            case CardReturned(card):
                return self._put_back(card)
            case CardUnreadable():
                return f"a card was not read: draw it again{self._next()}"
            case CardForeign():
                return f"the shoe itself refused a card: take it out{self._next()}"
            case ShoeEmptied() if not self.is_whole:
                return f"the shoe is empty, {self.size - self.count} cards are still to come: fill it again"
            case FaultChanged(fault, active):
                return f"the shoe reports a fault: {fault}" if active else f"the fault {fault} is over"
            case _:
                return ""

    def _take(self, card: Card) -> str:
        if self.is_whole:
            return "a card too many: it is not counted"
        uid = card.uid
        if uid is not None and any(uid == other for other, _ in self._read):
            return f"this card, or one with the same id {uid.hex().upper()}, was read before: not counted"
        if self._order is not None and uid is not None:
            code = self._order[self.count]
        elif self._order is None and card.rank is not None and card.suit is not None:
            code = card.rank + card.suit
        else:
            return f"a card was not read in full: draw it again{self._next()}"
        if card.deck_set is not None:
            self._numbers.add(card.deck_set)
        self._read.append((uid, code))
        return f"{self.count} of {self.size}: {_named(code)}"

    def _put_back(self, card: Card | None) -> str:
        last = self._read[-1] if self._read else None
        if card is not None and last is not None:
            same = card.uid == last[0] if card.uid is not None else f"{card.rank}{card.suit}" == last[1]
            if same:
                self._read.pop()
                return f"{_named(last[1])} was put back and is not counted any more{self._next()}"
        raise RegisterError("a card was put back, and nobody can tell which: begin again with the whole set")

    def _next(self) -> str:
        """Name the card that must come next, where the order matters."""
        return "" if self._order is None or self.is_whole else f"; next must be {_named(self._order[self.count])}"


def _named(code: str) -> str:
    return spoken(code) if is_code(code) else code
