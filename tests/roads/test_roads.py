import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoe_controller.roads.bead import Bead, parse_beads
from shoe_controller.roads.derived import derived_colour
from shoe_controller.roads.roads import NextMarks, Roads
from tests.roads.plain_roads import big_road, cells, derived, runs, streaks_of

TAILS = ("redrop", "stay")
DERIVED = ("big_eye", "small", "cockroach")


def roads(text, tail="redrop"):
    return Roads(tail, parse_beads(text))


def big(text, tail="redrop"):
    return [(mark.col, mark.row, mark.winner, mark.ties) for mark in roads(text, tail).view().big]


def places(text, tail="redrop"):
    return [(col, row) for col, row, _, _ in big(text, tail)]


def down(column, count):
    return [(column, row) for row in range(count)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", []),
        ("T", [(0, 0, "T", 1)]),
        ("TTT", [(0, 0, "T", 3)]),
        ("TTB", [(0, 0, "B", 2)]),
        ("TTBT", [(0, 0, "B", 3)]),
        ("TP", [(0, 0, "P", 1)]),
        ("B", [(0, 0, "B", 0)]),
        ("BB", [(0, 0, "B", 0), (0, 1, "B", 0)]),
        ("BP", [(0, 0, "B", 0), (1, 0, "P", 0)]),
        ("BTB", [(0, 0, "B", 1), (0, 1, "B", 0)]),
        ("BTTP", [(0, 0, "B", 2), (1, 0, "P", 0)]),
        ("BPTTTB", [(0, 0, "B", 0), (1, 0, "P", 3), (2, 0, "B", 0)]),
    ],
)
def test_a_tie_is_counted_on_the_last_cell_and_takes_none(text, expected):
    assert big(text) == expected


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize(
    "text, expected",
    [
        ("B" * 6, down(0, 6)),
        ("B" * 7, [*down(0, 6), (1, 5)]),
        ("B" * 12, [*down(0, 6), *((c, 5) for c in range(1, 7))]),
        # The next streak starts beside the first column of the tail's streak, above the tail.
        ("B" * 8 + "P", [*down(0, 6), (1, 5), (2, 5), (1, 0)]),
        # ... and becomes a tail itself where it meets the first one.
        ("B" * 8 + "P" * 6, [*down(0, 6), (1, 5), (2, 5), *down(1, 5), (2, 4)]),
    ],
)
def test_a_dragon_tail_turns_right_and_the_next_streak_starts_above_it(text, tail, expected):
    assert places(text, tail) == expected


def test_a_tail_drops_again_or_stays_as_the_house_has_it():
    text = "B" * 8 + "P" * 9  # the second streak runs on over the end of the first one's tail
    start = [*down(0, 6), (1, 5), (2, 5), *down(1, 5), (2, 4), (3, 4)]
    assert places(text, "redrop") == [*start, (3, 5), (4, 5)]
    assert places(text, "stay") == [*start, (4, 4), (5, 4)]


def test_a_streak_that_finds_row_two_taken_runs_along_the_top_and_the_next_starts_behind_it():
    # Ever longer streaks pile their tails up until the second row is taken where a streak begins.
    text = "".join(letter * 14 for letter in "BPBPB") + "P" * 3 + "B"
    cells_of_last = places(text)[-4:]
    assert cells_of_last == [(5, 0), (6, 0), (7, 0), (8, 0)]


@pytest.mark.parametrize(
    "streaks, step, streak, length, expected",
    [
        # Big eye boy begins with the second mark of the second streak, or with the third streak.
        ((1, 1), 1, 2, 1, None),
        ((1, 2), 1, 2, 2, "b"),
        ((2, 2), 1, 2, 2, "r"),
        ((2, 3), 1, 2, 3, "b"),
        ((2, 4), 1, 2, 4, "r"),  # two beyond the end of the column to the left: red again
        ((1, 1, 1), 1, 3, 1, "r"),
        ((2, 1, 1), 1, 3, 1, "b"),
        # Small road looks one further back.
        ((3, 1, 1), 2, 3, 1, None),
        ((3, 1, 2), 2, 3, 2, "r"),
        ((1, 1, 2), 2, 3, 2, "b"),
        ((1, 9, 1, 1), 2, 4, 1, "r"),
        ((2, 9, 1, 1), 2, 4, 1, "b"),
        # Cockroach pig two further.
        ((1, 1, 1, 1), 3, 4, 1, None),
        ((1, 9, 9, 2), 3, 4, 2, "b"),
        ((1, 9, 9, 3), 3, 4, 3, "r"),
        ((4, 9, 9, 4, 1), 3, 5, 1, "r"),
    ],
)
def test_derived_colour(streaks, step, streak, length, expected):
    assert derived_colour(streaks, step, streak, length) == expected


def test_a_known_shoe():
    view = roads("BBPPPBTBBBBBBBPBPPBB").view()
    assert [(m.col, m.row) for m in view.big][5:13] == [*down(2, 6), (3, 5), (4, 5)]
    # Worked out by hand from streaks of 2, 3, 8, 1, 1, 2 and 2.
    assert view.big_eye == "rbbrrbrrrrbbrbbr"
    assert view.small == "rbrrrrrbbbbbb"
    assert view.cockroach == "bbrbb"
    assert (len(view.big_eye_cells), len(view.small_cells)) == (len(view.big_eye), len(view.small))


def test_bead_plate_holds_every_result_down_then_right_with_its_pairs():
    view = roads("BPTBbPpTbpB").view()
    assert [(m.col, m.row, m.winner, m.pairs) for m in view.bead] == [
        (0, 0, "B", ()),
        (0, 1, "P", ()),
        (0, 2, "T", ()),
        (0, 3, "B", ("B",)),
        (0, 4, "P", ("P",)),
        (0, 5, "T", ("B", "P")),
        (1, 0, "B", ()),
    ]


def test_pairs_of_a_tie_are_not_put_on_a_round_that_had_none():
    assert [(m.pairs, m.ties) for m in roads("BTbp").view().big] == [((), 1)]


shoes = st.text("BBBPPPT", max_size=90) | st.lists(
    st.tuples(st.sampled_from("BPT"), st.integers(1, 16)), max_size=14
).map(lambda parts: "".join(letter * count for letter, count in parts))


@settings(deadline=None)
@given(shoes, st.sampled_from(TAILS))
def test_all_roads_agree_with_a_plain_second_implementation(text, tail):
    view = roads(text, tail).view()
    assert [(m.col, m.row, m.winner, m.ties) for m in view.big] == big_road(text, tail)
    lengths = [len(streak) for streak in streaks_of(text)]
    for step, name in enumerate(DERIVED, 1):
        colours = derived(lengths, step)
        assert getattr(view, name) == colours
        assert list(getattr(view, f"{name}_cells")) == cells(runs(colours), tail)


@settings(deadline=None)
@given(shoes, st.sampled_from(TAILS))
def test_no_two_marks_share_a_cell(text, tail):
    view = roads(text, tail).view()
    for marks in (
        [(m.col, m.row) for m in view.big],
        view.big_eye_cells,
        view.small_cells,
        view.cockroach_cells,
    ):
        assert len(set(marks)) == len(marks)
        assert all(0 <= row < 6 and column >= 0 for column, row in marks)


@settings(deadline=None)
@given(shoes, st.sampled_from("BP"))
def test_what_is_asked_is_what_then_happens(text, winner):
    before = roads(text)
    asked = before.ask(winner)
    old = before.view()
    before.add(Bead(winner))
    new = before.view()
    added = NextMarks(*(getattr(new, name)[len(getattr(old, name)) :] or None for name in DERIVED))
    assert asked == added
    assert old.ask[winner] == asked


@settings(deadline=None)
@given(shoes.filter(bool), st.sampled_from(TAILS))
def test_taking_back_the_last_result_leaves_no_trace(text, tail):
    board = roads(text, tail)
    board.take_back()
    assert board.view() == roads(text[:-1], tail).view()


def test_a_round_costs_no_more_late_than_early():
    board = Roads()

    def seconds():
        started = time.perf_counter()
        for letter in "BBPTPBPPPB" * 200:
            board.add(Bead(letter))
        return time.perf_counter() - started

    seconds()
    early = min(seconds() for _ in range(3))
    for _ in range(10):
        seconds()
    late = min(seconds() for _ in range(3))
    assert late < 20 * early  # a cost that grows with the shoe would be far beyond this
