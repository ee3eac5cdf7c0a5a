import msgspec
import pytest

from shoe_controller.roads.scoreboard import Scoreboard, Statistics, has_pair
from shoe_controller.session.facts import BettingOpened, Round, ShoeLoaded

SHOE = ShoeLoaded("S1", "six-star", "6 Star", 8, "ab" * 32, "none", "next-round", 1, 1)


def result(number, winner="banker", revision=1, **more):
    values = {
        "shoe": "S1",
        "status": "complete",
        "player": ("4f", "5g"),
        "banker": ("6f", "Sa"),
        "player_total": 9,
        "banker_total": 6,
        "natural": False,
        "pays": {winner: "1:1"},
        "pushes": (),
        "irregularities": (),
        "rules": "six-star",
        "rules_hash": "ab" * 32,
    }
    return Round(round=number, revision=revision, winner=winner, **(values | more))


def void(number, revision=1):
    return result(number, None, revision, status="void", pays={})


def board(*facts, tail="redrop"):
    made = Scoreboard(tail)
    for fact in facts:
        made.take(fact)
    return made


def letters(made):
    return "".join(mark.winner for mark in made.roads().bead)


@pytest.mark.parametrize(
    "hand, pair",
    [
        (("4f", "4f"), True),
        (("4f", "4g", "9a"), True),  # a third card takes no pair away
        (("4f", "5f", "5g"), False),  # nor does it make one
        (("Sf", "Sa"), True),
        (("Tc", "Kc"), False),
        (("4f",), False),
        ((), False),
    ],
)
def test_a_pair_is_two_first_cards_of_one_rank(hand, pair):
    assert has_pair(hand) is pair


def test_counts_of_a_shoe():
    made = board(
        SHOE,
        BettingOpened("S1", 1),
        result(1, "banker", pays={"banker": "1:2", "fortune_six": "12:1"}, banker=("3f", "3g")),
        result(2, "player", natural=True, player=("4f", "4g", "Ta")),
        result(3, "tie", pays={"tie": "8:1", "tie_bonus": "+3000"}),
        void(4),
        result(5, "banker", pays={"banker": "1:2", "fortune_six": "20:1"}),
    )
    assert made.statistics() == Statistics(
        rounds=4,
        player=1,
        banker=2,
        tie=1,
        player_pair=1,
        banker_pair=1,
        natural=1,
        void=1,
        wins={"fortune_six": 2, "tie_bonus": 1},
    )
    assert letters(made) == "BPTB"
    assert [mark.pairs for mark in made.roads().bead] == [("B",), ("P",), (), ()]


def test_a_result_that_is_voided_leaves_roads_and_counts():
    before = board(SHOE, result(1), result(2, "player"))
    after = board(SHOE, result(1), result(2, "player"), result(3, "tie", pays={"x": "1:1"}), void(3, 2))
    assert after.roads() == before.roads()
    assert after.statistics() == msgspec.structs.replace(before.statistics(), void=1)


def test_a_fact_that_comes_again_is_counted_once():
    assert board(SHOE, result(1), result(1)).statistics().rounds == 1


def test_a_void_round_that_is_voided_again_is_counted_once():
    assert board(SHOE, void(1), void(1, 2)).statistics() == Statistics(void=1)


def test_a_later_revision_replaces_the_result():
    assert letters(board(SHOE, result(1), result(2, "player"), result(2, "tie", revision=2))) == "BT"


def test_a_new_shoe_begins_with_an_empty_scoreboard():
    made = board(SHOE, result(1), msgspec.structs.replace(SHOE, shoe="S2"))
    assert (letters(made), made.statistics(), made.shoe) == ("", Statistics(), "S2")


def test_a_journal_that_begins_in_the_middle_of_a_shoe_is_taken_from_there():
    assert letters(board(result(7), result(8, "tie"))) == "BT"


def test_roads_are_put_together_once_a_result():
    made = board(SHOE, result(1))
    before = made.roads()
    made.take(BettingOpened("S1", 2))
    assert made.roads() is before
    made.take(result(2, "player"))
    assert [mark.winner for mark in made.roads().bead] == ["B", "P"]
