import random

from hypothesis import given
from hypothesis import strategies as st

from shoe_controller.outputs import in_order
from shoe_controller.outputs.in_order import InOrder


@given(st.integers(1, 60), st.randoms(use_true_random=False))
def test_whatever_the_order_and_the_repetitions_each_event_comes_out_once_in_order(count, chance: random.Random):
    sent = list(range(1, count + 1)) + [chance.randint(1, count) for _ in range(count)]
    chance.shuffle(sent)
    events = InOrder(first=1)
    out = [event for seq in sent for event in events.take(seq, seq)]
    assert out == list(range(1, count + 1))
    assert events.repeated == count
    assert events.gap is None


def test_a_newcomer_begins_with_what_comes_first():
    events = InOrder()
    assert events.gap is None
    assert events.next is None
    assert events.take(17, "a") == ["a"]
    assert events.next == 18


def test_a_gap_is_known_from_later_events_and_from_what_the_table_tells():
    events = InOrder(first=5)
    assert events.gap is None
    events.told(7)
    assert events.gap == (5, 7)
    assert events.take(9, "nine") == []
    assert events.gap == (5, 8)
    assert events.take(5, "five") == ["five"]
    assert events.gap == (6, 8)


def test_a_gap_that_cannot_be_filled_is_skipped():
    events = InOrder(first=1)
    for seq in (3, 5, 6):
        events.take(seq, seq)
    assert events.skip(4) == [3, 5, 6]
    assert events.skipped == 3
    assert events.gap is None
    assert events.skip(2) == []
    assert InOrder().skip(2) == []


def test_no_more_is_held_than_fits(monkeypatch):
    monkeypatch.setattr(in_order, "MAX_HELD", 2)
    events = InOrder(first=1)
    for seq in (2, 3, 4):
        events.take(seq, seq)
    assert events.take(1, 1) == [1, 2, 3]
    assert events.gap == (4, 4)


def test_a_gap_of_any_size_is_given_up_at_once():
    events = InOrder(1)
    events.take(3, "c")
    events.take(2**53, "far")
    assert events.skip(2**53 - 1) == ["c", "far"]
    assert (events.next, events.skipped) == (2**53 + 1, 2**53 - 2)
