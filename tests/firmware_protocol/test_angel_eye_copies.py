"""Three copies, one event: what is believed, what is a repetition, what is a new event under an old number."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.angel_eye_copies import COPIES, HOLD, REMEMBERED, WINDOW, Copies, Disputed
from firmware_protocol.angel_eye_frames import Unsolicited, unsolicited_frame
from firmware_protocol.angel_eye_messages import CuttingCard, GameCard, Standby, Started
from firmware_protocol.events import Target
from tests.firmware_protocol.angel_eye_vectors import card

FRAME_TIME = 0.02


def said(sequence, message):
    return Unsolicited(sequence, message, unsolicited_frame(sequence, message))


def drawn(sequence, code="Ad", target=Target.PLAYER, index=1):
    return said(sequence, GameCard(target, index, card(code)))


def believed(frames, *, end=HOLD, gap=FRAME_TIME):
    copies, now, found = Copies(), 100.0, []
    for frame in frames:
        now += gap
        copies.heard(frame, now)
        found += copies.believed(now)
    return found + copies.believed(now + end)


def test_three_copies_are_one_event():
    assert believed([drawn(1)] * 3) == [drawn(1)]


def test_two_equal_copies_are_believed_without_waiting():
    assert believed([drawn(1)] * 2, end=0) == [drawn(1)]


def test_one_copy_is_believed_when_no_other_came():
    assert believed([drawn(1)], end=HOLD / 2) == []
    assert believed([drawn(1)], end=HOLD) == [drawn(1)]


def test_one_copy_is_believed_when_the_next_event_begins():
    assert believed([drawn(1), drawn(2), drawn(2)], end=0) == [drawn(1), drawn(2)]


@pytest.mark.parametrize("kept", list(itertools.product([1, 2, 3], repeat=3)))
def test_losing_any_one_or_two_copies_loses_nothing(kept):
    frames = [[drawn(1)] * kept[0], [drawn(2, "Kc")] * kept[1], [drawn(3, "5h")] * kept[2]]
    assert believed(itertools.chain(*frames)) == [drawn(1), drawn(2, "Kc"), drawn(3, "5h")]


def test_copies_of_two_events_may_alternate():
    assert believed([drawn(1), drawn(2)] * 3) == [drawn(1), drawn(2)]


def test_a_line_that_doubles_everything_doubles_no_event():
    copies = Copies()
    for at, frame in enumerate([drawn(1)] * 6 + [drawn(2)] * 6):
        copies.heard(frame, at * FRAME_TIME)
    assert copies.believed(1.0) == [drawn(1), drawn(2)]
    assert (copies.repeated, copies.outvoted) == (10, 0)


def test_what_was_said_with_all_its_copies_is_new_though_of_the_next_event_only_one_copy_came():
    assert believed([drawn(1)] * 3 + [drawn(2)] + [drawn(1)] * 2, end=0) == [drawn(1), drawn(2), drawn(1)]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_damaged_copy_that_passed_the_check_is_outvoted(place):
    frames = [drawn(1)] * 3
    frames[place] = drawn(1, "8s")
    assert believed(frames) == [drawn(1)]


def test_copies_that_all_differ_are_disputed_not_guessed():
    frames = [drawn(1, "Ad"), drawn(1, "8s"), drawn(1, "9s")]
    assert believed(frames) == [Disputed(tuple(frames))]
    assert believed(frames[:2]) == [Disputed(tuple(frames[:2]))]


def test_a_late_copy_of_something_disputed_is_not_a_new_event():
    frames = [drawn(1, "Ad"), drawn(1, "8s"), drawn(1, "8s")]
    assert believed(frames, gap=HOLD) == [Disputed(tuple(frames[:2]))]


def test_the_same_sequence_with_other_data_is_a_new_event():
    assert believed([drawn(1, "Ad")] * 3 + [drawn(1, "8s")] * 3) == [drawn(1, "Ad"), drawn(1, "8s")]


def test_the_same_frame_after_the_window_is_a_new_event():
    copies = Copies()
    for now in (0.0, 0.02, 0.04, 0.04 + WINDOW + 0.1, 0.06 + WINDOW + 0.1):
        copies.heard(drawn(1), now)
    assert copies.believed(10.0) == [drawn(1), drawn(1)]


def test_the_window_begins_anew_with_each_copy():
    copies = Copies()
    for now in (0.0, 0.0, 0.75 * WINDOW, 1.5 * WINDOW):
        copies.heard(drawn(1), now)
    assert copies.believed(10.0) == [drawn(1)]


def test_a_single_copy_that_nobody_waited_for_is_not_counted_with_one_of_much_later():
    copies = Copies()
    copies.heard(drawn(1), 0.0)
    copies.heard(drawn(1), HOLD + WINDOW + 1)
    assert copies.believed(HOLD + WINDOW + 1 + HOLD) == [drawn(1)] * 2


@pytest.mark.parametrize("others, times", [(15, 1), (16, 2)])
def test_a_late_copy_is_known_until_sixteen_other_events_have_come(others, times):
    frames = [drawn(1)] * 2 + [drawn(2 + n) for n in range(others) for _ in range(2)] + [drawn(1)]
    assert believed(frames, gap=0.001).count(drawn(1)) == times


@pytest.mark.parametrize("after, times", [(WINDOW, 1), (WINDOW + 0.01, 2)])
@pytest.mark.parametrize("first", [1, 2])
def test_a_copy_at_the_very_end_of_the_window_is_still_a_repetition(first, after, times):
    copies = Copies()
    for now in [0.0] * first + [after]:
        copies.heard(drawn(1), now)
    assert copies.believed(10.0) == [drawn(1)] * times
    assert (copies.repeated, copies.outvoted) == (first + 1 - times, 0)


def test_the_same_frame_after_enough_others_is_a_new_event():
    others = [drawn(2 + n) for n in range(REMEMBERED) for _ in range(3)]
    assert believed([drawn(1)] * 3 + others + [drawn(1)] * 3, gap=0.001).count(drawn(1)) == 2


def test_a_frame_said_anew_after_others_is_a_new_event_when_all_its_copies_had_come():
    frames = [said(0, Started())] * 3 + [drawn(1)] * 3 + [said(0, Started())] * 3 + [drawn(1)] * 3
    assert believed(frames) == [said(0, Started()), drawn(1)] * 2


def test_a_restart_forgets_the_sequence_bytes_of_before():
    frames = [drawn(1)] * 2 + [said(0, Started())] * 2 + [drawn(1)] * 2
    assert believed(frames) == [drawn(1), said(0, Started()), drawn(1)]


def test_a_sequence_that_wraps_in_mid_shoe_keeps_every_card():
    shoe = [drawn(n & 0xFF, "A2345678"[n % 8] + "cdhs"[n % 4]) for n in range(200, 700)]
    assert believed([frame for frame in shoe for _ in range(3)]) == shoe


def test_an_event_of_before_a_restart_of_the_host_is_not_acted_on_again():
    copies = Copies()
    copies.already_handled(drawn(1), 0.0)
    copies.heard(drawn(1), 0.1)
    copies.heard(drawn(2), 0.2)
    copies.heard(drawn(2), 0.3)
    assert copies.believed(0.3) == [drawn(2)]


def test_two_copies_of_an_event_of_before_a_restart_may_still_come():
    copies = Copies()
    copies.already_handled(drawn(1), 0.0)
    for at, frame in enumerate([drawn(2)] * 2 + [drawn(1)] * 2):
        copies.heard(frame, at * FRAME_TIME)
    assert copies.believed(1.0) == [drawn(2)]
    assert (copies.repeated, copies.outvoted) == (3, 0)


def test_what_is_said_again_after_all_copies_of_a_handled_event_is_new():
    copies = Copies()
    copies.already_handled(drawn(1), 0.0)
    for at, frame in enumerate([drawn(2)] * 2 + [drawn(1)] * 4):
        copies.heard(frame, at * FRAME_TIME)
    assert copies.believed(0.2) == [drawn(2), drawn(1)], "two of the four are the copies that were on their way"
    assert copies.repeated == 4


@pytest.mark.parametrize("late, new", [(2, []), (4, [drawn(1, "8s")])])
def test_each_frame_of_something_disputed_counts_as_one_copy_of_it(late, new):
    frames = [drawn(1, "Ad"), drawn(1, "8s")]
    copies = Copies()
    for frame in frames:
        copies.heard(frame, 100.0)
    assert copies.believed(100.0 + HOLD) == [Disputed(tuple(frames))]
    for at, frame in enumerate([drawn(2)] * 2 + [drawn(1, "8s")] * late):
        copies.heard(frame, 100.0 + HOLD + at * FRAME_TIME)
    assert copies.believed(102.0) == [drawn(2), *new]
    assert (copies.repeated, copies.outvoted) == (3 + len(new), 0)


def test_when_the_line_goes_what_is_in_is_decided():
    copies = Copies()
    copies.no_more()
    copies.heard(drawn(1), 0.0)
    copies.no_more()
    assert copies.believed(0.0) == [drawn(1)]


def test_what_was_repeated_and_outvoted_is_counted():
    copies = Copies()
    for frame in (drawn(1), drawn(1, "8s"), drawn(1), drawn(1)):
        copies.heard(frame, 0.0)
    assert (copies.repeated, copies.outvoted) == (2, 1)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([Started(), Standby(), CuttingCard()]), st.floats(0, 3)),
        max_size=60,
    )
)
def test_whatever_comes_nothing_is_believed_that_was_not_said_and_memory_stays_small(frames):
    copies, now = Copies(), 0.0
    for sequence, message, gap in frames:
        now += gap
        copies.heard(said(sequence, message), now)
        for event in copies.believed(now):
            told = event.frames if isinstance(event, Disputed) else (event,)
            assert {(frame.sequence, frame.message) for frame in told} <= {(s, m) for s, m, _ in frames}
        assert len(copies._known) <= REMEMBERED
        assert copies._open is None or len(copies._open.frames) < COPIES


def test_a_lone_copy_that_contradicts_what_was_believed_is_counted_once():
    copies = Copies()
    for at, frame in enumerate([drawn(1), drawn(1), drawn(1, "8s")]):
        copies.heard(frame, 100.0 + at * FRAME_TIME)
    assert copies.believed(101.0) == [drawn(1)]
    assert copies.deadline() is None
    assert copies.believed(102.0) == []
    assert copies.outvoted == 1


@pytest.mark.parametrize("first", [1, 2, 3])
def test_what_was_said_with_all_its_copies_is_new_when_it_is_said_again_after_something_else(first):
    frames = [drawn(1)] * first + [drawn(2)] * 3 + [drawn(1)] * (3 - first) + [drawn(1)] * 2
    assert believed(frames, end=0) == [drawn(1), drawn(2), drawn(1)]


@pytest.mark.parametrize("first", [1, 2])
def test_copies_that_come_after_the_next_event_are_repetitions_and_contradict_nothing(first):
    copies = Copies()
    for at, frame in enumerate([drawn(1)] * first + [drawn(2)] * 3 + [drawn(1)] * (3 - first)):
        copies.heard(frame, 100.0 + at * FRAME_TIME)
    assert copies.believed(101.0) == [drawn(1), drawn(2)]
    assert (copies.repeated, copies.outvoted) == (4, 0)


def test_a_third_copy_that_comes_after_the_next_event_began_is_a_repetition():
    copies = Copies()
    for at, frame in enumerate([drawn(1), drawn(1), drawn(2), drawn(1), drawn(2), drawn(2)]):
        copies.heard(frame, 100.0 + at * FRAME_TIME)
    assert copies.believed(101.0) == [drawn(1), drawn(2)]
    assert (copies.repeated, copies.outvoted) == (4, 0)
