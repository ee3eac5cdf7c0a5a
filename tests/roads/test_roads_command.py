import io
import json
import sys

import pytest

from shoe_controller.cli import main
from tests.web.table import PlayedTable


@pytest.fixture
def given(monkeypatch):
    def put(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return put


def test_json_has_every_road(given, capsys):
    given(b"TBbBPTTPp")
    assert main(["roads", "-", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["big"] == [
        {"col": 0, "row": 0, "winner": "B", "ties": 1, "pairs": ["B"]},
        {"col": 0, "row": 1, "winner": "B", "ties": 0, "pairs": []},
        {"col": 1, "row": 0, "winner": "P", "ties": 2, "pairs": []},
        {"col": 1, "row": 1, "winner": "P", "ties": 0, "pairs": ["P"]},
    ]
    assert [mark["winner"] for mark in answer["bead"]] == list("TBBPTTP")
    assert answer["big_eye"] == "r"
    assert answer["big_eye_cells"] == [[0, 0]]
    assert (answer["small"], answer["small_cells"]) == ("", [])
    assert (answer["cockroach"], answer["cockroach_cells"]) == ("", [])
    assert answer["ask"]["B"] == {"big_eye": "r", "small": None, "cockroach": None}
    assert answer["ask"]["P"] == {"big_eye": "b", "small": None, "cockroach": None}
    assert answer["statistics"]["tie"] == 3
    assert answer["tail"] == "redrop"


def test_text_from_a_file_shows_each_road_as_a_grid(tmp_path, capsys):
    file = tmp_path / "shoe.txt"
    file.write_text("T Bb B P TT P # the start\n" + "B" * 9 + "P" * 8)
    assert main(["roads", str(file), "--tail", "stay"]) == 0
    shown = capsys.readouterr().out
    assert "big road\n  Bb/ P2  B   P\n  B   P   B   P\n          B   P\n          B   P\n" in shown
    assert "          B   P   P   P   P\n          B   B   B   B\n" in shown
    assert "if banker  big eye b  small b  cockroach b" in shown
    assert "  tie                     3\n" in shown


def test_no_results_give_empty_roads(given, capsys):
    given(b"\n")
    assert main(["roads", "-"]) == 0
    assert "cockroach pig\n  -\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "data, sentence",
    [
        (b"BPX", "-: line 1, column 3: 'X' is no result"),
        (b"B\xff", "- is no text of results: byte 1"),
    ],
)
def test_wrong_input_ends_with_a_sentence_and_code_two(given, capsys, data, sentence):
    given(data)
    assert main(["roads", "-"]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said


def test_a_file_that_is_not_there_or_too_large_is_named(tmp_path, capsys):
    assert main(["roads", str(tmp_path / "none.txt")]) == 2
    assert "none.txt cannot be read: No such file or directory." in capsys.readouterr().err
    large = tmp_path / "large"
    large.write_bytes(b"B" * 10_000_001)
    assert main(["roads", str(large)]) == 2
    assert "larger than 10,000,000 bytes" in capsys.readouterr().err


@pytest.fixture
def journal(tmp_path):
    """Return a journal's folder with two shoes."""
    natural = {"B": "card 2c;card 9d;card Tc;card Kd;", "P": "card 9c;card 2d;card 9h;card Kd;"}
    table = PlayedTable(tmp_path / "journal")
    for shoe, letters in (("S1", "BBP"), ("S2", "PB")):
        table.play(f"shoe no-commission decks=8 id={shoe};")
        table.play("".join(f"bets;close;{natural[letter]}result;" for letter in letters))
    table.play("bets;close;card 2c;void;bets")
    table.close()
    return tmp_path / "journal"


@pytest.mark.parametrize(
    "more, letters, voided", [((), "PB", 1), (("--shoe", "S1"), "BBP", 0), (("--shoe", "S2"), "PB", 1)]
)
def test_roads_of_a_journal_are_those_of_its_last_shoe_or_of_one_that_is_named(journal, capsys, more, letters, voided):
    for place in (journal, *journal.glob("*.db")):
        assert main(["roads", str(place), "--format", "json", *more]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert "".join(mark["winner"] for mark in answer["bead"]) == letters
        assert answer["statistics"]["void"] == voided
    # The player's nine is a pair of nines, and the banker's nine a natural.
    assert [mark["pairs"] for mark in answer["bead"]] == [["P"] if letter == "P" else [] for letter in letters]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["journal", "--shoe", "S9"], "no shoe with the id 'S9'"),
        (["empty"], "holds no journal"),
        (["shoe.txt", "--shoe", "S1"], "--shoe names a shoe of a journal"),
        (["other.db"], "other.db"),
        (["fresh"], "no shoe came into play"),
    ],
)
def test_a_journal_that_cannot_answer_ends_with_a_sentence_and_code_two(journal, capsys, arguments, sentence):
    folder = journal.parent
    (folder / "empty").mkdir()
    (folder / "shoe.txt").write_text("BPB")
    (folder / "other.db").write_bytes(b"SQLite format 3\x00" + bytes(200))
    PlayedTable(folder / "fresh").close()
    assert main(["roads", str(folder / arguments[0]), *arguments[1:]]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said
