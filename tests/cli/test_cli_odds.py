"""`odds`: exact figures, as text and as JSON."""

import io
import json
import re
from fractions import Fraction

import pytest

from shoe_controller.cli import main
from shoe_controller.cli.odds import _Progress


def told(capsys, *arguments):
    assert main(["odds", *arguments, "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    return answer, {wager["wager"]: wager for wager in answer["wagers"]}


def chance(wager, pays):
    return sum(Fraction(o["probability"]) for o in wager["outcomes"] if o["pays"] in pays)


def test_json_has_the_published_counts_of_eight_decks(capsys):
    answer, wagers = told(capsys, "no-commission", "--decks", "8")
    assert (answer["game"], answer["decks"]) == ("no-commission", 8)
    assert list(wagers) == ["player", "banker", "tie", "player_pair", "banker_pair"]
    sequences = 4_998_398_275_503_360
    assert answer["sequences"] == sequences
    assert chance(wagers["player"], ["1:1"]) == Fraction(2_230_518_282_592_256, sequences)
    assert chance(wagers["banker"], ["1:1", "1:2"]) == Fraction(2_292_252_566_437_888, sequences)
    assert chance(wagers["tie"], ["8:1"]) == Fraction(475_627_426_473_216, sequences)
    assert f"{100 * wagers['banker']['house_edge']:.6f}" == "1.458104"
    first = wagers["player"]["outcomes"][0]
    assert first["probability"] == f"2230518282592256/{sequences}"
    assert first["p"] == pytest.approx(0.446246609, abs=1e-9)
    assert [o["pays"] for o in wagers["banker"]["outcomes"]] == ["1:2", "1:1", "push", "lose"]


@pytest.mark.parametrize(
    "decks,player,tie",
    [("6", "1.2374", "14.4382"), ("8", "1.2351", "14.3596")],  # as published for punto banco, which deals alike
)
def test_edges_follow_the_number_of_decks(capsys, decks, player, tie):
    _, wagers = told(capsys, "no-commission", "--decks", decks)
    assert [f"{100 * wagers[name]['house_edge']:.4f}" for name in ("player", "tie")] == [player, tie]


@pytest.mark.parametrize("game", ["fortune-six", "sands-elements", "sands-super", "six-star"])
def test_every_wager_of_every_game_adds_up(capsys, game):
    answer, wagers = told(capsys, game, "--decks", "4")
    for name, wager in wagers.items():
        assert chance(wager, [o["pays"] for o in wager["outcomes"]]) == 1, name
        won = {o["pays"]: Fraction(o["probability"]) for o in wager["outcomes"] if ":" in o["pays"]}
        gain = sum(p * Fraction(pays.replace(":", "/")) for pays, p in won.items())
        if wager["house_edge"] is not None:
            assert float(chance(wager, ["lose"]) - gain) == pytest.approx(wager["house_edge"], abs=1e-15)
    assert (answer["wagers"][-1]["house_edge"] is None) == (game == "six-star")


def test_text_has_the_same_for_people(capsys):
    assert main(["odds", "fortune-six"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Fortune Six No Commission Baccarat, 8 decks, of 4,998,398,275,503,360 six-card sequences\n")
    assert re.search(r"^fortune_six +house edge 16\.683572 %$", text, re.MULTILINE)
    assert re.search(r"^ +8:1 +9\.51559680 % +475,627,426,473,216$", text, re.MULTILINE)


@pytest.mark.parametrize("decks", ["3", "11", "0", "-1"])
def test_a_number_of_decks_that_is_not_played_is_told(capsys, decks):
    assert main(["odds", "no-commission", "--decks", decks]) == 2
    error = capsys.readouterr().err
    assert error == f"shoe-controller: No Commission Baccarat is played with 4 to 10 decks, not {decks}\n"


def test_a_game_that_is_not_there_is_told(capsys):
    assert main(["odds", "poker"]) == 2
    assert "there is no game 'poker'" in capsys.readouterr().err


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_after_a_second_and_wiped_at_the_end(monkeypatch):
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    progress = _Progress()
    progress(0.1)
    progress.wipe()
    assert screen.getvalue() == ""
    progress._began -= 2  # as if two seconds had gone by
    progress(0.25)
    assert screen.getvalue() == "\rcounting:  25 %"
    progress.wipe()
    assert screen.getvalue().endswith("\r" + " " * 15 + "\r")


def test_no_progress_where_no_person_is_looking(monkeypatch):
    page = io.StringIO()
    monkeypatch.setattr("sys.stderr", page)
    progress = _Progress()
    progress._began -= 2
    progress(0.25)
    progress.wipe()
    assert page.getvalue() == ""
