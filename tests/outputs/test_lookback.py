import pytest

from shoe_controller.outputs.lookback import backwards, current_round, round_range
from tests.outputs.table import round_facts, shoe_loaded


@pytest.fixture
def played(table):
    table.commit(shoe_loaded("A"))
    for number in range(1, 101):
        table.commit(*round_facts(number, "A"))
    table.commit(shoe_loaded("B"))
    for number in (1, 2):
        table.commit(*round_facts(number, "B"))
    return table.source


def test_facts_are_read_backwards_across_chunks(played):
    assert [record.seq for record in backwards(played)] == list(range(716, 0, -1))
    assert [record.seq for record in backwards(played, farthest=3)] == [716, 715, 714]


@pytest.mark.parametrize(
    "shoe, number, expected",
    [("A", 1, (2, 8)), ("A", 100, (695, 701)), ("B", 1, (703, 709)), ("B", 2, (710, 716)), ("B", 3, None)],
)
def test_a_round_lasts_from_place_your_bets_to_the_next(played, shoe, number, expected):
    assert round_range(played, shoe, number) == expected


def test_the_current_round_is_the_last_that_began(played):
    assert current_round(played) == 710


def test_the_current_round_is_found_without_reading_far(played, monkeypatch):
    read, facts = [], played.facts
    monkeypatch.setattr(played, "facts", lambda after, limit: read.append(limit) or facts(after, limit))
    assert current_round(played) == 710
    assert sum(read) < 50


def test_without_a_round_everything_is_current(table):
    assert current_round(table.source) == 1
    table.commit(*round_facts(1)[1:3])
    assert current_round(table.source) == 1
