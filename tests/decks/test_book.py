import pytest

from shoe_controller.cards import ELEMENTS
from shoe_controller.decks import DeckBook, SetNameError
from shoe_controller.decks.folder import add, retire
from tests.decks.sets import cards_of, set_of

RETIRED = "2026-05-01T10:00:00Z"


@pytest.fixture
def book(tmp_path):
    add(tmp_path, set_of("red", decks=8))
    add(tmp_path, set_of("fire", deck=ELEMENTS, game="six-star", seed=2, optical=9))
    add(tmp_path, set_of("old", seed=3, optical=5))
    add(tmp_path, set_of("blue", cards=[], optical=7))
    retire(tmp_path, "old", RETIRED)
    return DeckBook.load(str(tmp_path))


def test_every_registered_id_has_its_card(book):
    for deck_set, cards in (("red", cards_of(decks=8)), ("fire", cards_of(ELEMENTS, seed=2))):
        assert {uid: book.code(uid) for uid, _ in cards} == dict(cards)
        assert {book.set_of(uid).name for uid, _ in cards} == {deck_set}


def test_an_unknown_or_retired_card_is_foreign(book):
    old = cards_of(seed=3)[0][0]
    assert book.code(b"\1\2\3\4") is None
    assert book.set_of(b"\1\2\3\4") is None
    assert book.code(old) is None
    assert book.set_of(old).name == "old"
    assert book.why_foreign(b"\1\2\3\4") == "the id 01020304 is not registered"
    assert book.why_foreign(old).endswith("belongs to the set old, which was retired on 2026-05-01T10:00:00Z")


def test_with_a_set_in_the_shoe_a_card_of_another_set_is_foreign(book):
    (red, code), (fire, _) = cards_of(decks=8)[0], cards_of(ELEMENTS, seed=2)[0]
    assert book.code(red, deck_set="red") == code
    assert book.code(fire, deck_set="red") is None
    assert book.why_foreign(fire, deck_set="red").endswith("belongs to the set fire, and the set red is in the shoe")


def test_optical_cards_are_known_by_the_number_of_their_set(book):
    assert book.optical_numbers() == {7, 9}
    assert book.optical_numbers(deck_set="blue") == {7}
    assert book.accepts_optical(7)
    assert not book.accepts_optical(7, deck_set="fire")
    assert not book.accepts_optical(5)
    assert not book.accepts_optical(None)
    assert book.why_foreign(5) == f"the optical set number 5 belongs to the set old, which was retired on {RETIRED}"
    assert book.why_foreign(6) == "the optical set number 6 is not registered"
    assert book.why_foreign(None) == "a card without a set number is not registered"


def test_a_set_is_found_by_its_name(book):
    assert book.get("red").decks == 8
    with pytest.raises(SetNameError, match="there is no deck set green: see `shoe-controller decks list`"):
        book.get("green")
