"""Many entries replayed and compared at once: the same answer as one by one, whatever is recorded."""

import pytest

from shoe_controller.journal.codec import encode_facts, encode_input
from shoe_controller.journal.derivation import Replayed, begin
from shoe_controller.journal.rows import BODY, COLUMNS, COUNT, FACTS
from shoe_controller.session import inputs as i

PLAYED = (
    i.LoadShoe("no-commission", 8),
    i.PlaceBets(),
    i.PlaceWager("seat-1", "tie", 500),
    i.NoMoreBets(),
    i.DrawCard("9h", uid="e0040001"),
)


def row(body, facts, count=1):
    made = [None] * len(COLUMNS.split(", "))
    made[BODY], made[FACTS], made[COUNT] = body, facts, count
    return tuple(made)


@pytest.fixture
def rows():
    handle = begin()
    return [row(encode_input(happened), encode_facts(handle(happened))) for happened in PLAYED]


def test_entries_as_they_were_written_are_as_recorded(rows):
    assert Replayed(begin(), rows).is_as_recorded()


@pytest.mark.parametrize("at", range(len(PLAYED)))
def test_one_byte_anywhere_is_not_as_recorded(rows, at):
    rows[at] = row(rows[at][BODY], rows[at][FACTS].replace(b"type", b"Type", 1))
    assert not Replayed(begin(), rows).is_as_recorded()


@pytest.mark.parametrize("between", [b"\n", b"", b","])
def test_facts_moved_into_the_entry_before_are_not_as_recorded(rows, between):
    rows[1] = row(rows[1][BODY], rows[1][FACTS] + between + rows[2][FACTS])
    rows[2] = row(rows[2][BODY], rows[3][FACTS])
    rows[3] = row(rows[3][BODY], rows[4][FACTS])
    rows[4] = row(rows[4][BODY], b"")
    assert not Replayed(begin(), rows).is_as_recorded()


@pytest.mark.parametrize("at", [0, len(PLAYED) - 1])
def test_a_wrong_count_is_not_as_recorded(rows, at):
    rows[at] = row(rows[at][BODY], rows[at][FACTS], count=2)
    assert not Replayed(begin(), rows).is_as_recorded()


def test_what_was_said_is_said_again_in_the_same_order(rows):
    replayed, handle = Replayed(begin(), rows), begin()
    assert [replayed.again(happened) for happened in PLAYED] == [handle(happened) for happened in PLAYED]


def test_an_input_that_cannot_be_replayed_raises_at_its_place(rows):
    rows[3] = row(b'{"type":"nothing"}', rows[3][FACTS])
    replayed = Replayed(begin(), rows)
    assert not replayed.is_as_recorded()
    said = [replayed.again(happened) for happened in PLAYED[:3]]
    assert [encode_facts(facts) for facts in said] == [one[FACTS] for one in rows[:3]]
    with pytest.raises(ValueError, match="Invalid value 'nothing'"):
        replayed.again(PLAYED[3])


def test_facts_that_cannot_be_written_are_not_as_recorded(rows):
    assert not Replayed(lambda _: [object()], rows).is_as_recorded()
