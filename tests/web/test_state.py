import json

import msgspec
import pytest

from shoe_controller.cards import ALL_CODES
from shoe_controller.session.inputs import Acknowledge
from shoe_controller.web.settings import display_settings

SQUEEZE = {"reveal": "on-result"}


def shown(made):
    return json.loads(msgspec.json.encode(made.feed.snapshot()))


SHOE = "shoe six-star decks=8 id=S1;"
DEALT = SHOE + "bets;close;card 2f;card 3g;card 2e;card Tw;"  # the player has 4 and draws
THIRD = DEALT + "card 9a;"  # the player stands at 3 with three cards, the banker at 3 draws
COMPLETE = THIRD + "card Sf;"


def test_a_table_shows_what_stands_in_the_view(table):
    state = shown(table(DEALT))
    assert state["phase"] == "dealing"
    assert state["next"] == "player"
    assert state["round"]["player"] == ["2f", "2e"]
    assert (state["round"]["player_total"], state["round"]["banker_total"]) == (4, 3)
    assert state["round"]["winner"] is None
    assert state["shoe"]["wagers"][:3] == ["player", "banker", "tie"]
    assert "element_bonus" in state["shoe"]["wagers"]
    assert state["table"]["limits"][0] == {"wager": "player", "min": "100", "max": "10000"}


def test_winner_and_odds_come_with_the_announcement(table):
    made = table(COMPLETE)
    state = shown(made)
    assert state["phase"] == "complete"
    assert (state["round"]["winner"], state["round"]["pays"]) == (None, {})
    made.play("result")
    state = shown(made)
    assert (state["phase"], state["round"]["winner"]) == ("announced", "tie")
    assert state["round"]["pays"]["tie"] == "8:1"
    assert state["round"]["pushes"] == ["player", "banker"]
    assert state["statistics"]["tie"] == 1
    assert [mark["winner"] for mark in state["roads"]["bead"]] == ["T"]


@pytest.mark.parametrize(
    "script, backs, next_",
    [
        (SHOE + "bets;close;", (0, 0), "player"),
        (SHOE + "bets;close;card 2f;", (1, 0), "banker"),
        (SHOE + "bets;close;card 2f;card 3g;card 2e;", (2, 1), "banker"),
        (DEALT, (2, 2), None),  # whether a third card is due would tell about the totals
        (THIRD, (3, 2), None),
        (COMPLETE, (3, 3), None),
    ],
)
def test_a_squeeze_table_shows_backs_until_the_result(table, script, backs, next_):
    made = table(script, **SQUEEZE)
    state = shown(made)
    assert state["phase"] == "dealing"
    assert state["next"] == next_
    assert state["round"]["player"] == [""] * backs[0]
    assert state["round"]["banker"] == [""] * backs[1]
    assert state["round"]["status"] == "open"
    for secret in ("player_total", "banker_total", "winner"):
        assert state["round"][secret] is None
    assert (state["round"]["natural"], state["round"]["pays"], state["round"]["keyed"]) == (False, {}, [])


def test_a_squeeze_table_cannot_tell_a_natural_from_a_hand_that_draws(table):
    def without_seq(made):
        return {name: value for name, value in shown(made).items() if name != "seq"}

    natural = SHOE + "bets;close;card 9f;card 3g;card Te;card Tw;"
    assert without_seq(table(natural, countdown=0, **SQUEEZE)) == without_seq(table(DEALT, countdown=0, **SQUEEZE))


def test_a_squeeze_table_shows_everything_with_the_result(table):
    state = shown(table(COMPLETE + "result", **SQUEEZE))
    assert state["round"]["player"] == ["2f", "2e", "9a"]
    assert (state["round"]["player_total"], state["round"]["winner"]) == (3, "tie")


def test_a_squeeze_round_that_is_void_before_its_result_stays_hidden(table):
    state = shown(table(DEALT + "void a reason with 2f", **SQUEEZE))
    assert (state["phase"], state["round"]["status"]) == ("void", "void")
    assert (state["round"]["player"], state["round"]["player_total"]) == (["", ""], None)
    assert "a reason" not in json.dumps(state)


def test_a_squeeze_round_that_was_announced_and_then_voided_was_seen_already(table):
    state = shown(table(COMPLETE + "result;void", **SQUEEZE))
    assert state["round"]["status"] == "void"
    assert state["round"]["player"] == ["2f", "2e", "9a"]
    assert (state["round"]["winner"], state["round"]["pays"]) == (None, {})
    assert state["roads"]["bead"] == []


IRREGULAR = [
    ("foreign", DEALT + "card 2h;"),
    ("surplus", COMPLETE + "card 7f;"),
    ("early", SHOE + "bets;card 7f;"),
    ("carried", SHOE + "bets;card 7f;reconstruct;"),
    ("together", SHOE + "bets;close;together 7f 8g order=unknown;"),
    ("returned", DEALT + "returned Tw;"),
    ("unreadable", DEALT + "unreadable;"),
    ("keyed", DEALT + "unreadable;reconstruct 9a;"),
    ("surplus for the next round", COMPLETE + "result;card 7f;reconstruct;"),
]


@pytest.mark.parametrize("script", [script for _, script in IRREGULAR], ids=[name for name, _ in IRREGULAR])
def test_no_irregularity_at_a_squeeze_table_tells_a_card(table, script):
    made = table(script, **SQUEEZE)
    told = msgspec.json.decode(msgspec.json.encode(made.feed.snapshot()))
    revealed = set(told["round"]["player"]) | set(told["round"]["banker"]) if "result" in script else set()
    said = json.dumps({name: told[name] for name in ("round", "irregularities", "carried", "faults", "next")})
    assert not {code for code in ALL_CODES - revealed if f'"{code}"' in said}


@pytest.mark.parametrize("script", [script for _, script in IRREGULAR], ids=[name for name, _ in IRREGULAR])
def test_an_irregularity_is_shown_until_it_is_acknowledged(table, script):
    made = table(script)
    state = shown(made)
    waiting = "acknowledgement" if "reconstruct" in script or state["phase"] == "void" else "decision"
    assert [one["waits_for"] for one in state["irregularities"]] == [waiting]
    assert state["alarm"]
    if waiting == "decision":
        made.play("void")
    made.happen(Acknowledge("supervisor"))
    assert shown(made)["irregularities"] == []


def test_an_irregularity_shows_its_clause_and_cards_but_no_ids(table):
    state = shown(table(DEALT + "card 2h uid=e0040150aabbccdd;"))
    (one,) = state["irregularities"]
    assert (one["kind"], one["rule"], one["round"], one["effect"]) == ("foreign_card", "5.1", 1, "void")
    assert one["cards"] == ["2h"]
    assert "e0040150aabbccdd" not in json.dumps(state)


def test_settings_come_from_the_configuration(tmp_path):
    from shoe_controller.config.load import load

    file = tmp_path / "table.toml"
    file.write_text(
        """
[table]
site = "marina"
name = "T12"
title = "High limit"
game = "six-star"
[table.limits.player]
min = "100"
max = "10000"
[policy]
reveal = "on-result"
betting_countdown = 25
[shoe]
protocol = "simulated"
[web]
languages = ["en", "zh"]
theme = "light"
tail = "stay"
port = 8090
max_clients = 4
allowed_hosts = ["display.local"]
"""
    )
    made = display_settings(load(file))
    assert (made.table.title, made.table.languages, made.table.theme) == ("High limit", ("en", "zh"), "light")
    assert (made.table.reveal, made.countdown, made.tail, made.port) == ("on-result", 25, "stay", 8090)
    assert (made.max_clients, made.allowed_hosts) == (4, ("display.local",))
    assert [(limit.wager, limit.min) for limit in made.table.limits] == [("player", "100")]
