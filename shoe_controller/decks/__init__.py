"""Registered decks: which RFID id is which card, set by set.

The daemon asks a `DeckBook`; `shoe-controller decks` writes what is in it. A register is kept sorted by id, so that
nothing in it tells in which order cards lie in a shoe.
"""

from shoe_controller.decks.book import DeckBook
from shoe_controller.decks.deck_set import DeckSet, make_set, wrong_with
from shoe_controller.decks.errors import (
    DeckError,
    DeckFileError,
    DeckFolderError,
    IncompleteSetError,
    RegisterError,
    SetNameError,
)

__all__ = [
    "DeckBook",
    "DeckError",
    "DeckFileError",
    "DeckFolderError",
    "DeckSet",
    "IncompleteSetError",
    "RegisterError",
    "SetNameError",
    "make_set",
    "wrong_with",
]
