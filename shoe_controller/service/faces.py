"""The faces of cards: RFID ids by the registered decks, optical codes by their deck set, or as the shoe says."""

from firmware_protocol.events import Card
from shoe_controller.cards import is_code
from shoe_controller.decks.book import DeckBook


class PrintedFaces:
    """For a shoe that tells faces itself and knows no deck sets (Angel Eye)."""

    def code(self, card: Card) -> str | None:
        """Return the card's code; None: it is a foreign card."""
        code = f"{card.rank or ''}{card.suit or ''}"
        return code if is_code(code) else None

    def why_foreign(self, card: Card) -> str:
        """Say for the record why the card is foreign."""
        return f"no deck has a card {card.rank or '?'}{card.suit or '?'}"


class RegisteredFaces(PrintedFaces):
    """By the registered deck sets: an id or a set number that nobody registered is a foreign card."""

    def __init__(self, book: DeckBook, deck_set: str = "") -> None:
        self._book = book
        self._deck_set = deck_set

    def code(self, card: Card) -> str | None:
        """Return the card's code; None: it is a foreign card."""
        if card.uid is not None:
            return self._book.code(card.uid, deck_set=self._deck_set)
        if not self._book.accepts_optical(card.deck_set, deck_set=self._deck_set):
            return None
        return super().code(card)

    def why_foreign(self, card: Card) -> str:
        """Say for the record why the card is foreign."""
        if card.uid is not None:
            return self._book.why_foreign(card.uid, deck_set=self._deck_set)
        if not self._book.accepts_optical(card.deck_set, deck_set=self._deck_set):
            return self._book.why_foreign(card.deck_set, deck_set=self._deck_set)
        return super().why_foreign(card)
