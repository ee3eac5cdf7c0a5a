import json

import pytest

from shoe_controller.cards import ALL_CODES
from shoe_controller.session import inputs
from shoe_controller.session.facts import Fact

ROUND = (
    "shoe no-commission decks=8 id=S1 burn=2;card 5h;card 6h;bets;wager ann player 100;close;card 9d uid=aa01;card 3c;"
)
WHOLE = ROUND + "card Td;card 4h;result;"
# The faces that may be told of WHOLE once it is announced.
DEALT = {"9d", "3c", "Td", "4h"}


def told(made):
    """Return the facts that displays get."""
    whole, facts = made.feed.since(0)
    assert whole
    return [json.loads(fact) for _, fact in facts]


def of_type(facts, name):
    return [fact for fact in facts if fact["type"] == name]


def faces(facts):
    return {code for code in ALL_CODES if f'"{code}"' in json.dumps(facts)}


@pytest.mark.parametrize("reveal", ["as-drawn", "on-result"])
def test_wagers_settlements_devices_and_refusals_are_not_for_displays(table, reveal):
    made = table(WHOLE + "result;", reveal=reveal)
    made.happen(inputs.NoteDevice("hello", serial_number="SN-77"))
    made.happen(inputs.ChangeConfig("ab" * 32))
    types = {fact["type"] for fact in told(made)}
    assert types == {"shoe_loaded", "burned", "betting", "closed", "card", "round"}
    said = json.dumps(told(made))
    for secret in ("ann", "SN-77", "aa01"):
        assert secret not in said


def test_a_fact_says_when_it_was(table):
    first = told(table(WHOLE))[0]
    assert first["seq"] == 1
    assert first["boot"] == "b007" * 8
    assert first["synced"] is True
    assert first["time"].endswith("Z")


@pytest.mark.parametrize("reveal", ["as-drawn", "on-result"])
def test_faces_of_burned_cards_and_of_the_rest_of_a_shoe_are_never_told(table, reveal):
    made = table(WHOLE + "empty;", reveal=reveal)
    facts = told(made)
    assert [fact["card"] for fact in of_type(facts, "burned")] == [None, None]
    (ended,) = of_type(facts, "shoe")
    assert (ended["missing"], ended["extra"]) == ({}, {})
    assert faces(facts) == DEALT


def test_names_of_staff_and_their_reasons_stay_in_the_house(table):
    made = table(ROUND + "unreadable;")
    made.happen(inputs.Void("the guest at seat 3 complained", by="smith"))
    made.happen(inputs.Acknowledge(by="jones"))
    said = json.dumps(told(made))
    assert of_type(told(made), "resolved")
    assert of_type(told(made), "acknowledged")
    for secret in ("smith", "jones", "seat 3"):
        assert secret not in said


def test_as_drawn_each_card_is_told_at_once(table):
    cards = of_type(told(table(ROUND)), "card")
    assert [(fact["card"], fact["hand"]) for fact in cards] == [("9d", "player"), ("3c", "banker")]


def test_at_a_squeeze_table_a_card_tells_only_where_it_went(table):
    made = table(ROUND + "card Td;card 4h;", reveal="on-result")
    cards = of_type(told(made), "card")
    assert [(fact["hand"], fact["position"]) for fact in cards] == [
        ("player", 1),
        ("banker", 1),
        ("player", 2),
        ("banker", 2),
    ]
    assert faces(told(made)) == set()
    for fact in cards:
        hidden = (fact["card"], fact["player_total"], fact["banker_total"], fact["next"], fact["complete"])
        assert hidden == ("", None, None, None, False)
    made.play("result")
    assert faces(of_type(told(made), "round")) == DEALT


def test_at_a_squeeze_table_a_void_round_tells_no_face(table):
    made = table(ROUND + "card Td;void;", reveal="on-result")
    (fact,) = of_type(told(made), "round")
    assert (fact["status"], fact["player"], fact["banker"]) == ("void", ["", ""], [""])
    assert (fact["player_total"], fact["banker_total"]) == (None, None)
    assert faces(told(made)) == set()


def test_at_a_squeeze_table_a_round_that_was_announced_may_be_told_again(table):
    rounds = of_type(told(table(WHOLE + "void;", reveal="on-result")), "round")
    assert [fact["status"] for fact in rounds] == ["complete", "void"]
    assert faces(rounds[1]) == DEALT


@pytest.mark.parametrize(
    "script",
    [
        ROUND + "unreadable;reconstruct 8s;",
        ROUND + "card Sf;",
        ROUND + "card Td;card 4h;card 8s;reconstruct;",
        ROUND + "together Td 4h order=unknown;",
        ROUND + "returned 3c;",
        "shoe no-commission decks=8 id=S1;bets;card 8s;reconstruct;close;",
    ],
)
def test_at_a_squeeze_table_no_irregularity_tells_a_face(table, script):
    made = table(script, reveal="on-result")
    assert of_type(told(made), "irregularity")
    assert faces(told(made)) == set()


def test_a_shoe_that_tells_its_own_result_is_not_heard_by_displays(table):
    made = table(ROUND + "card Td;card 4h;", reveal="on-result")
    made.happen(inputs.DeviceSaysResult("banker", banker_pair=True))
    (fact,) = of_type(told(made), "irregularity")
    assert fact["kind"] == "device_disagrees"
    assert (fact["detail"], fact["waits_for"]) == ("", "")


def test_every_type_of_fact_was_thought_of():
    from shoe_controller.web.public_facts import SHOWN

    not_for_displays = {"wager", "settlement", "refused", "device", "config", "clock"}
    everything = {kind.__struct_config__.tag for kind in Fact.__subclasses__()}
    assert set(SHOWN) | not_for_displays == everything
    assert not set(SHOWN) & not_for_displays


def test_that_the_controller_started_is_told_without_its_configuration(table):
    made = table()
    made.happen(inputs.Start("1.2.3", "cd" * 32, detail="after a power cut"))
    (fact,) = of_type(told(made), "started")
    assert (fact["version"], fact["config_hash"], fact["detail"]) == ("1.2.3", "", "")
