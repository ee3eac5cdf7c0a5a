"""Replaying a script in the program: what is told, where errors are, and that memory stays constant."""

import itertools
import tracemalloc

import pytest

from shoe_controller.replay import LONGEST_LINE, replay
from shoe_controller.script import ScriptError
from shoe_controller.session import facts as f

ROUND = [b"bets\n", b"close\n", b"card 9h\n", b"card 5d\n", b"card Kc\n", b"card 2c\n", b"result\n"]


def types(found):
    return [type(fact).__name__ for fact in found]


def test_results_and_what_went_wrong_are_told_and_nothing_else():
    found = list(replay([b"shoe no-commission decks=8\n", *ROUND, b"bets\n", b"bets\n"], "t"))
    assert types(found) == ["Round", "Refused", "ShoeEnded"]


def test_everything_is_told_when_asked_for():
    found = list(replay([b"shoe no-commission decks=8\n", *ROUND], "t", everything=True))
    dealt = ["CardDealt"] * 4
    assert types(found) == ["ShoeLoaded", "BettingOpened", "BettingClosed", *dealt, "Round", "ShoeEnded"]


def test_an_empty_script_tells_nothing():
    assert list(replay([], "t")) == []
    assert list(replay([b"# nothing\n", b"\n"], "t")) == []


def test_a_shoe_is_told_once_when_it_ends_before_the_script():
    found = list(replay([b"shoe no-commission decks=8\n", b"empty\n"], "t"))
    assert [type(fact) for fact in found] == [f.ShoeEnded]


@pytest.mark.parametrize(
    "line,sentence",
    [
        (b"nonsense\n", "t.table:3: 'nonsense' is not a thing that happens at a table"),
        (b"card \xff\n", "t.table:3: the line is not UTF-8 text"),
        (b"#" * (LONGEST_LINE + 1), "t.table:3: the line is longer than 4096 bytes"),
    ],
)
def test_nothing_is_played_after_a_line_that_is_wrong(line, sentence):
    facts = replay([b"shoe no-commission decks=8\n", b"result\n", line, *ROUND], "t.table")
    assert isinstance(next(facts), f.Refused)
    with pytest.raises(ScriptError) as caught:
        next(facts)
    assert str(caught.value) == sentence
    assert list(facts) == []


def test_a_byte_order_mark_and_windows_line_ends_are_read():
    lines = [b"\xef\xbb\xbfshoe no-commission decks=8\r\n", *(line.replace(b"\n", b"\r\n") for line in ROUND)]
    assert types(replay(lines, "t")) == ["Round", "ShoeEnded"]


def test_a_script_of_any_length_takes_the_same_memory():
    void = [b"bets\n", b"wager ann player 1\n", b"close\n", b"foreign\n"]
    shoe = [b"shoe no-commission decks=8\n", *ROUND, *ROUND, *void, b"cut\n", b"bets\n", b"void\n"]

    def most(shoes):
        tracemalloc.start()
        try:
            for _ in replay(itertools.chain.from_iterable(itertools.repeat(shoe, shoes)), "t"):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    most(20)  # what is remembered once, such as the rules
    few, many = most(220), most(1000)
    assert many < few * 1.2
