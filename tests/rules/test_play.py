"""Counting a hand and the Table of Play, held against the document's own wording."""

import itertools

import pytest

from shoe_controller.cards import ALL_CODES, ELEMENTS, STANDARD
from shoe_controller.rules.play import POINTS, next_card, total

# The Banker's part of the Table of Play: a row a two-card total, a column the value of the Player's third card 0-9.
BANKER_DRAWS = {
    0: "DDDDDDDDDD",
    1: "DDDDDDDDDD",
    2: "DDDDDDDDDD",
    3: "DDDDDDDDsD",
    4: "ssDDDDDDss",
    5: "ssssDDDDss",
    6: "ssssssDDss",
    7: "ssssssssss",
}
CARD_OF = {value: rank + "c" for value, rank in enumerate("TA23456789")}


def two_cards(points):
    """Two cards that make these points."""
    return (CARD_OF[0], CARD_OF[points])


@pytest.mark.parametrize("rank,points", [*zip("A23456789", range(1, 10), strict=True), *((r, 0) for r in "TJQKSLF")])
def test_each_rank_has_the_value_of_rule_3_3(rank, points):
    values = {POINTS[code] for code in ALL_CODES if code[0] == rank}
    assert values == {points}


def test_decks_hold_each_face_once():
    assert (len(STANDARD.faces), len(set(STANDARD.faces))) == (52, 52)
    assert (len(ELEMENTS.faces), len(set(ELEMENTS.faces))) == (65, 65)


def test_a_total_is_the_right_digit_of_the_sum():
    assert total(("9h", "8c", "7d")) == 4
    assert total(("Th", "Kc")) == 0
    assert total(("5h", "5c")) == 0


def test_the_first_four_cards_alternate_from_the_player():
    hands = {"player": (), "banker": ()}
    order = []
    for _ in range(4):
        side = next_card(hands["player"], hands["banker"])
        order.append(side)
        hands[side] = (*hands[side], "Kc")
    assert order == ["player", "banker", "player", "banker"]


@pytest.mark.parametrize("player,banker", list(itertools.product(range(10), range(10))))
def test_the_third_card_table_for_every_two_totals_and_every_third_card(player, banker):
    player_hand, banker_hand = two_cards(player), two_cards(banker)
    due = next_card(player_hand, banker_hand)
    if player >= 8 or banker >= 8:
        assert due is None
        return
    if player >= 6:
        assert due == ("banker" if banker <= 5 else None)
        if due:
            for card in CARD_OF.values():
                assert next_card(player_hand, (*banker_hand, card)) is None
        return
    assert due == "player"
    for third, card in CARD_OF.items():
        drawn = (*player_hand, card)
        expected = "banker" if BANKER_DRAWS[banker][third] == "D" else None
        assert next_card(drawn, banker_hand) == expected
        if expected:
            for last in CARD_OF.values():
                assert next_card(drawn, (*banker_hand, last)) is None


@pytest.mark.parametrize("player", ["8c Kd 2h", "9c Kd 2h", "9c 9d 2h", "4c 4d 6h", "4c 5d 7h"])
@pytest.mark.parametrize("banker", ["2c Kd", "Ac Ad", "3c Td", "6c Kd"])
def test_a_third_card_after_a_natural_gives_the_banker_no_draw(player, banker):
    # It should not have been drawn; that it was changes nothing of what the natural ended.
    assert next_card(tuple(player.split()), tuple(banker.split())) is None


@pytest.mark.parametrize("banker", ["8c Kd", "9c Kd", "9c 9d"])
def test_a_third_card_against_a_natural_gives_the_banker_no_draw(banker):
    assert next_card(("2c", "Kd", "6h"), tuple(banker.split())) is None
