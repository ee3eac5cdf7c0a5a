"""Cards: codes, and how people see and say them."""

import pytest

from shoe_controller.cards import ALL_CODES, DECKS, ELEMENTS, STANDARD, is_code, spoken, symbol


@pytest.mark.parametrize(
    "code,shown,said",
    [
        ("Th", "10♥", "10 of hearts"),
        ("4d", "4♦", "4 of diamonds"),
        ("Ac", "A♣", "Ace of clubs"),
        ("Qs", "Q♠", "Queen of spades"),
        ("Sf", "Sau火", "Sau of fire"),
        ("Lg", "Luk金", "Luk of gold"),
        ("Fa", "Fuk水", "Fuk of water"),
        ("Te", "10土", "10 of earth"),
        ("9w", "9木", "9 of wood"),
    ],
)
def test_people_see_symbols_and_names(code, shown, said):
    assert symbol(code) == shown
    assert spoken(code) == said


@pytest.mark.parametrize("deck", DECKS.values(), ids=str)
def test_every_card_of_a_deck_can_be_shown_and_said(deck):
    assert len({symbol(code) for code in deck.faces}) == deck.size
    assert len({spoken(code) for code in deck.faces}) == deck.size


def test_no_face_is_in_both_kinds_of_deck():
    assert not STANDARD.face_set & ELEMENTS.face_set
    assert len(ALL_CODES) == 52 + 65


@pytest.mark.parametrize("text", ["", "4", "4D", "d4", "10h", "Xh", "Kf", "Sh", "4d ", "th"])
def test_what_is_no_code_is_none(text):
    assert not is_code(text)
