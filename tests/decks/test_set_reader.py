import pytest

from firmware_protocol.events import (
    Card,
    CardDrawn,
    CardForeign,
    CardReturned,
    CardsTogether,
    CardUnreadable,
    CutCardSeen,
    DeviceFault,
    FaultChanged,
    ShoeEmptied,
)
from shoe_controller.cards import ELEMENTS, STANDARD
from shoe_controller.decks import RegisterError
from shoe_controller.decks.set_reader import SetReader, new_deck_order

ORDER = new_deck_order(STANDARD, 1)


def rfid(number):
    return Card(uid=number.to_bytes(7, "big"))


def hybrid(number, code, deck_set=3):
    return Card(uid=number.to_bytes(7, "big"), rank=code[0], suit=code[1], deck_set=deck_set)


def optical(code, deck_set=3):
    return Card(rank=code[0], suit=code[1], deck_set=deck_set)


def test_a_new_deck_has_the_order_that_is_said():
    assert new_deck_order(STANDARD, 2)[:14] == (*(f"{rank}c" for rank in "A23456789TJQK"), "Ad")
    assert len(new_deck_order(STANDARD, 2)) == 104
    assert new_deck_order(STANDARD, 1, suits="shdc", ranks="KQJT98765432A")[:2] == ("Ks", "Qs")
    assert new_deck_order(ELEMENTS, 1)[-1] == "Fa"


@pytest.mark.parametrize("wrong", [{"suits": "shd"}, {"suits": "sshd"}, {"ranks": "A2"}, {"suits": "fgewa"}])
def test_an_order_with_other_cards_is_refused(wrong):
    with pytest.raises(RegisterError, match="must have each of"):
        new_deck_order(STANDARD, 1, **wrong)


def test_an_rfid_shoe_takes_the_cards_in_the_order_of_a_new_deck():
    reader = SetReader(STANDARD, 1, ORDER)
    said = [reader.take(CardDrawn(rfid(number))) for number in range(52)]
    assert said[:2] == ["1 of 52: Ace of clubs", "2 of 52: 2 of clubs"]
    assert reader.cards == [(number.to_bytes(7, "big"), code) for number, code in enumerate(ORDER)]
    assert (reader.is_whole, reader.in_order, reader.optical, reader.wrong()) == (True, True, None, ())
    assert reader.take(CardDrawn(rfid(99))) == "a card too many: it is not counted"


@pytest.mark.parametrize(
    "happening, words",
    [
        (CardUnreadable(), "a card was not read: draw it again; next must be 3 of clubs"),
        (CardDrawn(rfid(1)), "was read before: not counted"),
        (CardDrawn(Card()), "a card was not read in full: draw it again; next must be 3 of clubs"),
        (CardsTogether((rfid(7), rfid(8)), order_known=False), "draw them again one by one; next must be 3 of clubs"),
        (CardForeign(), "the shoe itself refused a card: take it out; next must be 3 of clubs"),
        (ShoeEmptied(), "the shoe is empty, 50 cards are still to come: fill it again"),
        (FaultChanged(DeviceFault.JAM, active=True), "the shoe reports a fault: jam"),
        (FaultChanged(DeviceFault.JAM, active=False), "the fault jam is over"),
        (CutCardSeen(), ""),
    ],
)
def test_a_card_in_doubt_is_not_counted_and_it_is_said_what_is_to_come(happening, words):
    reader = SetReader(STANDARD, 1, ORDER)
    reader.take(CardDrawn(rfid(0)))
    reader.take(CardDrawn(rfid(1)))
    said = reader.take(happening)
    assert said.endswith(words) if words else not said
    assert reader.count == 2
    assert reader.take(CardDrawn(rfid(2))) == "3 of 52: 3 of clubs"


def test_cards_together_whose_order_is_known_are_two_cards():
    reader = SetReader(STANDARD, 1, ORDER)
    assert reader.take(CardsTogether((rfid(0), rfid(1)), order_known=True)) == (
        "1 of 52: Ace of clubs; 2 of 52: 2 of clubs"
    )


def test_a_card_that_is_put_back_is_not_counted():
    reader = SetReader(STANDARD, 1, ORDER)
    reader.take(CardDrawn(rfid(0)))
    assert reader.take(CardReturned(rfid(0))) == (
        "Ace of clubs was put back and is not counted any more; next must be Ace of clubs"
    )
    seeing = SetReader(STANDARD, 1)
    seeing.take(CardDrawn(optical("Th")))
    assert seeing.take(CardReturned(optical("Th"))) == "10 of hearts was put back and is not counted any more"
    assert reader.count == seeing.count == 0


@pytest.mark.parametrize("returned", [None, rfid(0), optical("Kd")])
def test_a_card_that_is_put_back_and_nobody_knows_which_ends_the_reading(returned):
    reader = SetReader(STANDARD, 1, ORDER)
    reader.take(CardDrawn(rfid(0)))
    reader.take(CardDrawn(rfid(1)))
    with pytest.raises(RegisterError, match="begin again with the whole set"):
        reader.take(CardReturned(returned))


def test_nothing_can_be_put_back_before_the_first_card():
    with pytest.raises(RegisterError, match="nobody can tell which"):
        SetReader(STANDARD, 1, ORDER).take(CardReturned(rfid(0)))


def test_a_hybrid_shoe_takes_the_cards_in_any_order():
    reader = SetReader(STANDARD, 1)
    for number, code in enumerate(reversed(ORDER)):
        reader.take(CardDrawn(hybrid(number, code)))
    assert dict(reader.cards) == {number.to_bytes(7, "big"): code for number, code in enumerate(reversed(ORDER))}
    assert (reader.optical, reader.wrong(), reader.in_order) == (3, (), False)


def test_a_hybrid_shoe_needs_the_face_of_each_card_but_not_the_order():
    reader = SetReader(STANDARD, 1)
    assert reader.take(CardDrawn(rfid(0))) == "a card was not read in full: draw it again"
    together = CardsTogether((hybrid(1, "Th"), hybrid(2, "Sf")), order_known=False)
    assert reader.take(together) == "1 of 52: 10 of hearts; 2 of 52: Sau of fire"
    assert reader.take(CardDrawn(hybrid(3, "Xx"))) == "3 of 52: Xx"


def test_an_optical_shoe_counts_faces_and_finds_the_number_of_the_set():
    reader = SetReader(STANDARD, 1)
    for code in (*ORDER[1:], ORDER[5]):
        reader.take(CardDrawn(optical(code)))
    assert reader.cards == []
    assert reader.optical == 3
    assert reader.wrong() == (
        "Ac (Ace of clubs) is there not at all instead of once",
        "6c (6 of clubs) is there twice instead of once",
    )


def test_cards_of_two_sets_are_no_set():
    reader = SetReader(STANDARD, 1)
    reader.take(CardDrawn(optical("Th", 3)))
    reader.take(CardDrawn(optical("Th", 4)))
    with pytest.raises(RegisterError, match="their codes have the numbers 3, 4"):
        assert reader.optical
