import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoe_controller.cards import DECKS, ELEMENTS, STANDARD
from shoe_controller.decks import IncompleteSetError, SetNameError, wrong_with
from shoe_controller.decks.deck_set import check_name
from tests.decks.sets import cards_of, set_of


@pytest.mark.parametrize("deck", DECKS.values(), ids=str)
@pytest.mark.parametrize("decks", [1, 8])
def test_each_face_as_often_as_decks_is_complete(deck, decks):
    complete = set_of("red", deck=deck, decks=decks)
    assert len(complete.cards) == complete.size == deck.size * decks


def without(cards, code):
    return cards.remove(next(card for card in cards if card[1] == code))


@pytest.mark.parametrize(
    "spoil, sentence",
    [
        (lambda cards: without(cards, "4d"), "4d (4 of diamonds) is there once instead of twice"),
        (lambda cards: cards.append((b"extra", "Th")), "Th (10 of hearts) is there 3 times instead of twice"),
        (lambda cards: cards.append((b"extra", "Sf")), "Sf is no card of a 52-card deck"),
        (lambda cards: cards.append((cards[0][0], cards[0][1])), f"as {cards_of(decks=2)[0][1]} and as"),
        (lambda cards: cards.clear(), "is there not at all instead of twice"),
    ],
)
def test_an_incomplete_set_is_refused_and_said_why(spoil, sentence):
    cards = cards_of(decks=2)
    spoil(cards)
    with pytest.raises(IncompleteSetError) as refused:
        set_of("red", decks=2, cards=cards)
    assert sentence in str(refused.value)
    assert refused.value.exit_code == 1


def test_many_problems_are_cut_to_a_list_that_a_person_reads():
    problems = wrong_with([], STANDARD, 8)
    assert problems[-1] == "… and 32 more"
    assert len(problems) == 21


@given(st.data())
def test_any_single_change_to_a_complete_set_is_noticed(data):
    cards = cards_of()
    at = data.draw(st.integers(0, len(cards) - 1))
    change = data.draw(st.sampled_from(["drop", "double", "other face", "other id"]))
    uid, code = cards[at]
    if change == "drop":
        del cards[at]
    elif change == "double":
        cards.append((uid, code))
    elif change == "other face":
        cards[at] = (uid, data.draw(st.sampled_from([*STANDARD.faces, *ELEMENTS.faces]).filter(lambda c: c != code)))
    else:
        cards[at] = (cards[at - 1][0], code)
    assert wrong_with(cards, STANDARD, 1)


def test_the_register_tells_nothing_about_the_order_of_the_cards():
    cards = cards_of(decks=8)
    assert set_of("red", decks=8, cards=cards) == set_of("red", decks=8, cards=sorted(cards, reverse=True))
    assert list(set_of("red", decks=8, cards=cards).cards) == sorted(uid.hex().upper() for uid, _ in cards)


def test_the_hash_is_of_what_decides_which_card_is_which():
    red = set_of("red")
    assert red.sha256 == set_of("red", registered="2030-01-01T00:00:00Z", source="shoe", game="fortune-six").sha256
    others = [set_of("blue"), set_of("red", seed=2), set_of("red", optical=7), set_of("red", decks=2)]
    cards = dict(cards_of())
    first, second = (uid for uid, code in cards.items() if code in ("Ac", "2c"))
    cards[first], cards[second] = cards[second], cards[first]
    others.append(set_of("red", cards=list(cards.items())))
    assert len({one.sha256 for one in [red, *others]}) == 6


@pytest.mark.parametrize("name", ["", ".hidden", "../evil", "a/b", "a b", "x" * 65, "ä"])
def test_a_name_that_is_no_file_name_is_refused(name):
    with pytest.raises(SetNameError, match="cannot be the name of a deck set"):
        check_name(name)


def test_an_optical_set_needs_no_ids():
    optical = set_of("blue", cards=[], optical=4711)
    assert (optical.cards, optical.optical, optical.size) == ({}, 4711, 52)
