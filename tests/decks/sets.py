"""Cards of complete sets."""

import random

from shoe_controller.cards import STANDARD
from shoe_controller.decks import make_set


def cards_of(deck=STANDARD, decks=1, seed=1):
    """Random ids for every card of so many decks, shuffled."""
    chance = random.Random(seed)
    cards = [(chance.randbytes(7), code) for code in deck.faces * decks]
    chance.shuffle(cards)
    return cards


def set_of(name, *, deck=STANDARD, decks=1, seed=1, **fields):
    fields = {"game": "no-commission", "registered": "2026-04-01T10:00:00Z", "source": "csv"} | fields
    return make_set(name, deck=deck, decks=decks, cards=fields.pop("cards", cards_of(deck, decks, seed)), **fields)
