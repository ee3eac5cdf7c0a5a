import pytest

from shoe_controller.roads.bead import Bead, RoadsError, bead, parse_beads


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", []),
        ("BPT", [Bead("B"), Bead("P"), Bead("T")]),
        (" B, P\n\tT\r\n", [Bead("B"), Bead("P"), Bead("T")]),
        ("Bb", [Bead("B", ("B",))]),
        ("Ppb", [Bead("P", ("B", "P"))]),
        ("Pbp", [Bead("P", ("B", "P"))]),
        ("T p", [Bead("T", ("P",))]),
        ("B # a comment with P and x\nP", [Bead("B"), Bead("P")]),
    ],
)
def test_notation(text, expected):
    assert list(parse_beads(text)) == expected


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("BX", "line 1, column 2: 'X' is no result"),
        ("B\nP\n 7", "line 3, column 2: '7' is no result"),
        ("bB", "line 1, column 1: the pair mark 'b' comes before any result"),
        ("Bbb", "line 1, column 3: the pair mark 'b' is given twice"),
    ],
)
def test_a_slip_is_named_with_its_place(text, sentence):
    with pytest.raises(RoadsError) as caught:
        list(parse_beads(text))
    assert sentence in str(caught.value)


def test_bead_of_a_round():
    assert bead("tie", player_pair=True, banker_pair=True) == Bead("T", ("B", "P"))
    assert bead("player") == Bead("P")
