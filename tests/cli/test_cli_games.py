"""`games`: what the house published, held against the numbers of its documents."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from shoe_controller.cli import main
from shoe_controller.rules.games import load_all
from tests.cli.program import ENVIRONMENT

TITLES = {
    "fortune-six": "Fortune Six No Commission Baccarat (version 4, 2017-02-17), 52-card decks",
    "no-commission": "No Commission Baccarat (version 6, 2017-02-17), 52-card decks",
    "sands-elements": "Sands Elements No Commission Baccarat (version 2, 2017-05-05), 65-card decks",
    "sands-super": "Sands Super Baccarat (2017-07-28), 52-card decks",
    "six-star": "6 Star No Commission Baccarat (2017-03-17), 65-card decks",
}
BASE = ["1 to 1", "1 to 2", "1 to 1", "8 to 1"]
FLAMING = ["6 to 5", "1 to 1", "1 to 2", "6 to 5", "1 to 1", "8 to 1"]
PAIRS = ["11 to 1", "11 to 1"]
FORTUNE = ["12 to 1", "20 to 1"]
PRECIOUS = ["30 to 1", "15 to 1", "12 to 1", "9 to 1"]
# The settlement column of each document, in the order of the wagers.
SETTLEMENTS = {
    "no-commission": BASE + PAIRS,
    "fortune-six": BASE + PAIRS + FORTUNE,
    "sands-elements": BASE + PAIRS + FORTUNE,
    "six-star": [*FLAMING, *PAIRS, *FORTUNE, "50 to 1", "500 to 1", "5000 to 1"],
    "sands-super": BASE
    + PRECIOUS * 2
    + ["2 to 1"] * 4
    + ["6 to 1"]
    + [f"{odds} to 1" for odds in (150, 80, 50, 50, 30, 11, 8, 6, 5)]
    + [f"{odds} to 1" for odds in (150, 80, 50, 25, 15, 11, 8, 6, 5)]
    + [f"{odds} to 1" for odds in (100, 150, 150, 150, 100, 80, 35, 35, 50, 50)],
}


def test_the_list_has_the_five_games(capsys):
    assert main(["games"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split(maxsplit=1)[0]: line.split(maxsplit=1)[1] for line in lines} == TITLES


@pytest.mark.parametrize("game", SETTLEMENTS)
def test_a_game_is_printed_with_the_odds_of_its_document(game, capsys):
    assert main(["games", game]) == 0
    text = capsys.readouterr().out
    assert re.findall(r"^ +(\d+ to \d+)   ", text, re.MULTILINE) == SETTLEMENTS[game]
    assert f"Rule set {load_all()[game].hash}" in text
    assert "Played with 4 to 10 decks of" in text
    assert text.count("pushed on a tie") == 2
    assert re.findall(r"^  (5\.\d)  ", text, re.MULTILINE) == [f"5.{number}" for number in range(1, 8)]


def test_fixed_money_is_printed_in_dollars(capsys):
    assert main(["games", "six-star"]) == 0
    text = capsys.readouterr().out
    assert re.findall(r"\$ +([\d,]+)", text) == ["3,000", "30,000"]
    assert "to each player with a wager on tie" in text


@pytest.mark.parametrize("game", SETTLEMENTS)
def test_json_has_the_same_numbers(game, capsys):
    assert main(["games", game, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    odds = [line["odds"].replace(":", " to ") for wager in told["wagers"] for line in wager["pays"]]
    assert odds == SETTLEMENTS[game]
    assert told["id"] == game
    assert told["decks"] == [4, 10]
    assert told["deck"] in (52, 65)
    assert re.fullmatch(r"[0-9a-f]{64}", told["rules_hash"])
    assert all(line["clause"] for wager in told["wagers"] for line in wager["pays"])


def test_json_of_all_is_a_list_of_each(capsys):
    assert main(["games", "--format", "json"]) == 0
    all_games = json.loads(capsys.readouterr().out)
    assert [game["id"] for game in all_games] == sorted(SETTLEMENTS)
    main(["games", "six-star", "--format", "json"])
    assert json.loads(capsys.readouterr().out) == all_games[-1]


def test_a_game_that_is_not_there_is_told_with_those_that_are(capsys):
    assert main(["games", "poker"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"shoe-controller: there is no game 'poker'; the games are {', '.join(sorted(SETTLEMENTS))}\n"


@pytest.mark.parametrize(
    "change,complaint",
    [
        (('odds = "8:1"', 'odds = "8"'), "odds must look like 8:1 or 6:5, not '8'"),
        (('when = "tie"', 'when = "tied"'), "there is no condition 'tied'"),
        (("deck = 65", "deck = 54"), "Invalid enum value 54 - at `$.deck`"),
        (('id = "six-star"', 'id = "no-commission"'), "two game files have the same id"),
    ],
)
def test_a_mistake_in_a_game_file_is_told_with_the_file_and_without_a_traceback(tmp_path, change, complaint):
    """A copy of the program with one changed file, started as people start it."""
    import shoe_controller

    copy = tmp_path / "shoe_controller"
    shutil.copytree(
        shoe_controller.__path__[0], copy, ignore=shutil.ignore_patterns("__pycache__", "web", "journal", "outputs")
    )
    file = copy / "rules" / "data" / "six-star.toml"
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change))
    answer = subprocess.run(
        [sys.executable, "-c", "from shoe_controller.cli import main; raise SystemExit(main(['games']))"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env=ENVIRONMENT,
        timeout=60,
    )
    assert answer.returncode == 2
    assert answer.stdout == b""
    error = answer.stderr.decode()
    where = "shoe_controller.rules" if "two game files" in complaint else str(file)
    assert error.startswith(f"{where}: "), error
    assert complaint in error
    assert len(error.splitlines()) == 1
