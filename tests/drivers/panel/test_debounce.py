"""The press reader against tables of gestures and against an independent reading of whole timelines."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drivers.panel.debounce import PressReader
from drivers.panel.functions import (
    KEY,
    SUPERVISOR_BUTTONS,
    Button,
    Doubt,
    Ignored,
    KeyTurned,
    Pressed,
    Stuck,
)

SETTLE = 0.02
BETS, CLOSE, RESULT = Button.PLACE_BETS, Button.NO_MORE_BETS, Button.RESULT
VOID, ACCEPT = Button.VOID, Button.ACCEPT


def read(edges, *, until=60.0, **start):
    """Feed edges (contact, closed, milliseconds) and return what was decided."""
    reader = PressReader(settle=SETTLE, **start)
    for contact, closed, ms in edges:
        reader.edge(contact, closed, ms / 1000)
    reader.advance(until)
    return reader.events()


def brief(events):
    """Events without their times."""
    told = []
    for event in events:
        if isinstance(event, Pressed):
            told.append(event.button)
        elif isinstance(event, Ignored):
            told.append((event.doubt, *event.buttons))
        elif isinstance(event, KeyTurned):
            told.append(event.on)
        else:
            told.append(("stuck", *event.buttons))
    return told


def tap(button, at, hold=80):
    return [(button, True, at), (button, False, at + hold)]


@pytest.mark.parametrize(
    "edges, told",
    [
        pytest.param(tap(BETS, 0), [BETS], id="a press"),
        pytest.param(tap(BETS, 0, 20), [BETS], id="just long enough"),
        pytest.param(tap(BETS, 0, 19), [], id="a spark is not a press"),
        pytest.param(
            [(BETS, True, 0), (BETS, False, 2), (BETS, True, 5), (BETS, False, 7), (BETS, True, 9), (BETS, False, 90)],
            [BETS],
            id="bounce when pressed",
        ),
        pytest.param([*tap(BETS, 0), *tap(BETS, 83, 3), *tap(BETS, 88, 3)], [BETS], id="bounce when released"),
        pytest.param([*tap(BETS, 0), *tap(BETS, 200)], [BETS, BETS], id="two presses"),
        pytest.param([(BETS, True, 0), (BETS, False, 9000)], [BETS], id="held is one press"),
        pytest.param(
            [(BETS, True, 0), (CLOSE, True, 5), (BETS, False, 90), (CLOSE, False, 95)],
            [(Doubt.TOGETHER, CLOSE, BETS)],
            id="two at once is none",
        ),
        pytest.param(
            [(BETS, True, 0), (CLOSE, True, 5), (BETS, False, 6), (CLOSE, False, 95)],
            [(Doubt.TOGETHER, CLOSE, BETS)],
            id="two at once, one slips off: still none",
        ),
        pytest.param(
            [(BETS, True, 0), (CLOSE, True, 300), (CLOSE, False, 390), (BETS, False, 500), *tap(CLOSE, 700)],
            [BETS, (Doubt.TOGETHER, CLOSE), CLOSE],
            id="a second button while one is held waits for its turn",
        ),
        pytest.param(
            [(BETS, True, 0), (CLOSE, True, 5), (RESULT, True, 6)],
            [(Doubt.TOGETHER, CLOSE, BETS), (Doubt.TOGETHER, RESULT), ("stuck", CLOSE, BETS, RESULT)],
            id="a hand on the panel",
        ),
        pytest.param(tap(VOID, 0), [(Doubt.KEY_OFF, VOID)], id="void needs the key"),
        pytest.param([(KEY, True, 0), *tap(VOID, 100)], [True, VOID], id="void with the key"),
        pytest.param(
            [(KEY, True, 0), *tap(VOID, 100), (KEY, False, 300), *tap(VOID, 400)],
            [True, VOID, False, (Doubt.KEY_OFF, VOID)],
            id="the key turned back",
        ),
        pytest.param(
            [(VOID, True, 0), (KEY, True, 10), (VOID, False, 90)],
            [(Doubt.KEY_TURNED, VOID), True],
            id="key turned on in mid-press",
        ),
        pytest.param(
            [(KEY, True, 0), (VOID, True, 100), (KEY, False, 110), (VOID, False, 190)],
            [True, (Doubt.KEY_TURNED, VOID), False],
            id="key turned off in mid-press",
        ),
        pytest.param(
            [(KEY, True, 0), (VOID, True, 100), (KEY, False, 110), (KEY, True, 112), (VOID, False, 190)],
            [True, (Doubt.KEY_TURNED, VOID)],
            id="key wobbles in mid-press",
        ),
        pytest.param(
            [(KEY, True, 0), (VOID, True, 10), (VOID, False, 90)],
            [True, (Doubt.KEY_TURNED, VOID)],
            id="pressed before the key rests",
        ),
        pytest.param(
            [(BETS, True, 0), (KEY, True, 10), (BETS, False, 90)],
            [(Doubt.KEY_TURNED, BETS), True],
            id="any press is void when the key moves",
        ),
        pytest.param([(KEY, True, 0), (KEY, False, 10)], [], id="the key did not really turn"),
        pytest.param([*tap(BETS, 0, 5), (KEY, True, 100)], [True], id="the key turned long after a spark"),
        pytest.param([(KEY, True, 0), (KEY, True, 10), (BETS, False, 15)], [True], id="edges that are none"),
        pytest.param([(BETS, True, 0)], [BETS, ("stuck", BETS)], id="a stuck button"),
    ],
)
def test_gestures(edges, told):
    assert brief(read(edges)) == told


def test_a_button_that_chatters_for_ever_never_acts_and_is_reported():
    edges = [(BETS, n % 2 == 0, 10 * n) for n in range(3000)]
    assert brief(read(edges)) == [("stuck", BETS)]


def test_a_button_that_is_down_at_the_start_must_be_let_go_first():
    edges = [(BETS, False, 1000), *tap(BETS, 2000)]
    assert brief(read(edges, down=[BETS])) == [BETS]
    assert brief(read(tap(CLOSE, 500), down=[BETS])) == [(Doubt.TOGETHER, CLOSE), ("stuck", BETS)]


def test_a_key_that_is_on_at_the_start_is_on():
    assert brief(read(tap(VOID, 0), key_on=True)) == [VOID]
    assert PressReader(key_on=True).key_on


def test_decisions_bear_the_time_at_which_they_fell_due_however_late_they_are_made():
    assert read([(BETS, True, 0), (BETS, False, 50)], until=1000.0) == [Pressed(BETS, 0.02)]
    reader = PressReader(settle=SETTLE)
    assert reader.next_deadline() is None
    reader.edge(BETS, True, 5.0)
    assert reader.next_deadline() == 5.02
    assert reader.down == {BETS}
    reader.edge(CLOSE, True, 4.0)  # late news from another thread: taken as now
    assert reader.events() == [Ignored((CLOSE, BETS), Doubt.TOGETHER, 5.0)]


CONTACTS = [*Button, KEY]
# Gaps around the settling time and far from it, in tenths of a millisecond so that sums stay exact.
GAPS = st.one_of(st.integers(0, 60), st.sampled_from([199, 200, 201]), st.integers(150, 900), st.just(5000))
TIMELINES = st.lists(st.tuples(st.sampled_from(CONTACTS), st.booleans(), GAPS), max_size=40)
TICK = 10_000  # tenths of a millisecond in a second
LONG = 200  # the settling time in ticks


class Timeline:
    """The contacts over time, read by brute force: what was closed in which span of ticks."""

    def __init__(self, moves):
        self.changes = {contact: [(-1_000_000, False)] for contact in CONTACTS}
        at = 0
        for contact, closed, gap in moves:
            at += gap
            if self.changes[contact][-1][1] != closed:
                self.changes[contact].append((at, closed))

    def state(self, contact, at, *, before=False):
        """Whether the contact is closed at the tick (`before`: just before its changes at that tick)."""
        state = False
        for when, closed in self.changes[contact]:
            if when < at or (when == at and not before):
                state = closed
        return state

    def moved(self, contact, start, end):
        """Whether it changed strictly inside the span."""
        return any(start < when < end for when, _ in self.changes[contact])

    def last_change(self, contact, at):
        return max(when for when, _ in self.changes[contact] if when < at)


def ticks(seconds):
    return round(seconds * TICK)


@settings(max_examples=600, deadline=None)
@given(TIMELINES)
@example([(BETS, True, 0), (CLOSE, True, 200), (BETS, False, 0)])
@example([(KEY, True, 0), (VOID, True, 200), (VOID, False, 300)])
@example([(BETS, True, 0), (BETS, False, 300), (BETS, True, 200)])
def test_no_timeline_whatever_causes_a_wrong_action(moves):
    reader = PressReader(settle=LONG / TICK, stuck_after=1e9)
    at = 0
    for contact, closed, gap in moves:
        at += gap
        reader.edge(contact, closed, at / TICK)
    reader.advance((at + 10 * LONG) / TICK)
    presses = [event for event in reader.events() if isinstance(event, Pressed)]
    line = Timeline(moves)
    for press in presses:
        end, others = ticks(press.at), [button for button in Button if button != press.button]
        start = end - LONG
        # The button alone was down for the settling time, without a break.
        assert line.last_change(press.button, end) == start
        assert line.state(press.button, start)
        for other in others:
            assert not line.moved(other, start, end)
            assert not line.state(other, start)
        if press.button in SUPERVISOR_BUTTONS:
            # The key was on for longer than that, and still.
            assert line.state(KEY, end, before=True)
            assert line.last_change(KEY, end) <= start - LONG
        assert not line.moved(KEY, start, end)
    for first, second in itertools.pairwise(presses):
        # Between two presses there was a rest in which every button was up for the settling time.
        points = sorted(
            {when for button in Button for when, _ in line.changes[button]} | {ticks(first.at), ticks(second.at)}
        )
        rests = [
            (left, right)
            for left, right in itertools.pairwise(points)
            if ticks(first.at) <= left
            and right <= ticks(second.at)
            and right - left >= LONG
            and not any(line.state(button, left) for button in Button)
        ]
        assert rests, f"{first} and {second} come from one episode"


BOUNCE = st.lists(st.integers(1, 60), max_size=4)
GESTURES = st.lists(
    st.tuples(st.sampled_from(list(Button)), BOUNCE, st.integers(250, 5000), BOUNCE, st.booleans()), max_size=12
)


@settings(max_examples=300, deadline=None)
@given(GESTURES)
def test_every_clean_press_is_taken_however_the_contact_bounces(gestures):
    reader = PressReader(settle=LONG / TICK)
    at, expected, key = 0, [], False
    for button, bounce_down, hold, bounce_up, turn in gestures:
        if turn:
            key = not key
            reader.edge(KEY, key, at / TICK)
            at += 3 * LONG
        for closed, bounces in ((True, bounce_down), (False, bounce_up)):
            for gap in bounces:
                reader.edge(button, closed, at / TICK)
                at += gap
                reader.edge(button, not closed, at / TICK)
                at += gap
            reader.edge(button, closed, at / TICK)
            at += hold
        at += 2 * LONG
        expected.append(button if button not in SUPERVISOR_BUTTONS or key else (Doubt.KEY_OFF, button))
    reader.advance(at / TICK)
    assert [told for told in brief(reader.events()) if not isinstance(told, bool)] == expected


def test_a_stuck_report_names_what_is_down_and_comes_once():
    events = read([(BETS, True, 0), (BETS, False, 40_000), (BETS, True, 50_000)], until=100.0)
    assert events == [
        Pressed(BETS, 0.02),
        Stuck((BETS,), 15.0),
        Pressed(BETS, 50.02),
        Stuck((BETS,), 65.0),
    ]
