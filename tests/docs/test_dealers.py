"""The dealers' page: words are those of the screen, clauses those of the rules, lamps those that are lit."""

import json
import re
import typing
from pathlib import Path

import pytest

from shoe_controller.service.lamps import lit
from shoe_controller.session import inputs as i
from shoe_controller.session.facts import Irregularity, Kind, Round
from shoe_controller.session.session import Session

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "dealers.md").read_text()
SCREEN = json.loads((PROJECT / "shoe_controller" / "web" / "texts" / "en.json").read_text())
ROWS = re.findall(r"^\| ([^|]+) \| (5\.\d|–) \| ([^|]+) \| ([^|]+) \|$", PAGE.partition("| clause |")[2], re.MULTILINE)


def told(kind):
    """Return the rows of the page about a kind of irregularity."""
    return [row for row in ROWS if row[0] == SCREEN[f"irregularity.{kind}"]]


def table(*happenings):
    """Return the table after a round was begun and these things happened, and the irregularities found."""
    session = Session()
    found = []
    for happened in (i.LoadShoe("no-commission", 8), *happenings):
        found += [fact for fact in session.handle(happened) if isinstance(fact, Irregularity)]
    return session, found


BEGUN = (i.PlaceBets(), i.NoMoreBets())
NATURAL = tuple(map(i.DrawCard, ("9h", "5d", "Kc", "2c")))
KINGS = (i.DrawCard("Kc"),)
WAGER = i.PlaceWager("seat-1", "tie", 100)
CASES = {
    "foreign_card": (*BEGUN, i.DrawForeign()),
    "duplicate_card": (*BEGUN, i.DrawCard("9h", uid="01"), i.DrawCard("9h", uid="01")),
    "over_count": (*BEGUN, *KINGS * 6, i.AnnounceResult(), *BEGUN, *KINGS * 3),
    "wrong_number": (*BEGUN, *NATURAL, i.DrawCard("7s")),
    "unreadable_card": (*BEGUN, i.DrawUnreadable()),
    "simultaneous_draw": (*BEGUN, i.DrawTogether(("9h", "5d"))),
    "order_altered": (*BEGUN, i.DrawCard("9h"), i.ReturnCard("9h")),
    "shoe_exhausted": (*BEGUN, i.ShoeEmpty()),
    "late_wager": (*BEGUN, WAGER),
    "late_withdrawal": (i.PlaceBets(), WAGER, i.NoMoreBets(), i.WithdrawWager("seat-1", "tie")),
    "early_draw": (i.PlaceBets(), i.DrawCard("9h")),
    "device_disagrees": (*BEGUN, *NATURAL, i.DeviceSaysResult("tie")),
}
EFFECTS = {"void": "Round void", "decision": "Decision required", "refused": "efused"}


def test_every_kind_of_irregularity_is_on_the_page_and_nothing_else():
    assert {row[0] for row in ROWS} == {SCREEN[f"irregularity.{kind}"] for kind in typing.get_args(Kind)}


@pytest.mark.parametrize("kind", sorted(CASES))
def test_clause_effect_and_lamps_are_what_the_table_does(kind):
    session, found = table(*CASES[kind])
    (irregularity,) = found
    assert irregularity.kind == kind
    rows = told(kind)
    assert {row[1] for row in rows} == {irregularity.rule or "–"}
    words = rows[0][3]
    if words.startswith("as "):
        words = next(row[3] for row in ROWS if row[0] == words.removeprefix("as "))
    assert EFFECTS[irregularity.effect] in words
    lamps = lit(session.view())
    assert ("alarm" in lamps) is (irregularity.effect != "refused")
    if irregularity.effect == "decision":
        assert not session.view().gate_open
        assert not {"next_player", "next_banker"} & lamps


def test_lamps_follow_the_round():
    session, _ = table()
    shown = []
    for happened in (*BEGUN, *NATURAL, i.AnnounceResult()):
        session.handle(happened)
        shown.append(set(lit(session.view())))
    assert shown == [
        {"betting"}, {"next_player"}, {"next_banker"}, {"next_player"}, {"next_banker"}, set(), {"player"},
    ]  # fmt: skip


def test_a_result_can_be_voided_until_the_next_call_only():
    session, _ = table(*BEGUN, *NATURAL, i.AnnounceResult())
    assert any(isinstance(fact, Round) and fact.status == "void" for fact in session.handle(i.Void()))
    session, _ = table(*BEGUN, *NATURAL, i.AnnounceResult(), i.PlaceBets())
    first = [fact for fact in session.handle(i.Void()) if isinstance(fact, Round)]
    assert [fact.round for fact in first] == [2]


def test_the_alarm_goes_out_when_it_is_decided_and_acknowledged():
    session, _ = table(*CASES["unreadable_card"], i.Acknowledge())
    assert "alarm" in lit(session.view())
    session.handle(i.Reconstruct(("7h",)))
    assert "alarm" not in lit(session.view())


def test_words_in_quotes_are_those_of_the_screen():
    shown = " ".join(SCREEN.values()) + ' PLACE "reason"'
    for words in re.findall(r"“([^”]+)”|\"([A-Z][^\"]+)\"", PAGE):
        text = "".join(words)
        assert text in shown or text == "Next", text
