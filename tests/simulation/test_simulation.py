"""Some worlds in every test run, and the proof that a world notices what it is there to notice.

The campaign (`make soak`) plays thousands more; `python -m tests.simulation --seed N` plays one again.
"""

from dataclasses import replace
from unittest import mock

import pytest
from msgspec import structs
from msgspec.json import Decoder

from shoe_controller.app import table_shoe
from shoe_controller.money import winnings
from shoe_controller.outputs.mqtt_feed import MqttFeed
from shoe_controller.rules import play as rules
from shoe_controller.script import to_line
from shoe_controller.service.table import Table
from shoe_controller.session import bets, facts
from shoe_controller.session.inputs import Reconstruct
from shoe_controller.session.session import Session
from shoe_controller.session.shoe import Shoe
from shoe_controller.web import public_facts
from shoe_controller.web.feed import Feed
from tests.simulation import hazards, lives
from tests.simulation.plan import Plan, plan_for
from tests.simulation.shrink import breach_of, failure_report, shrink_inputs
from tests.simulation.world import play

QUIET = Plan(seed=1, rounds=20, slips=0, crashes=0, cuts=0, noise=0, outages=0, disk_failures=0, slow_disk=0)
ROUNDS = 30


@pytest.mark.parametrize("seed", range(16))
def test_nothing_that_goes_wrong_in_a_world_breaks_the_table(seed):
    outcome = play(plan_for(seed, ROUNDS))
    assert not outcome.breach, failure_report(outcome)
    assert outcome.counts["rounds begun"] >= ROUNDS


@pytest.mark.parametrize(
    "hazard",
    [
        {"crashes": 1.0},
        {"cuts": 1.0},
        {"noise": 1.0},
        {"outages": 1.0, "serial": True},
        {"disk_failures": 1.0},
        {"slow_disk": 1.0},
        {"clock_steps": 1.0},
        {"slips": 0.3},
        {"protocol": "angel-eye", "too_many": 12, "cut_card": 60, "rounds": 40},
        {"protocol": "angel-eye", "cut_card": 120, "crashes": 0.5, "cuts": 0.5},
    ],
    ids=" ".join,
)
def test_a_table_survives_one_hazard_in_every_round(hazard):
    outcome = play(replace(QUIET, seed=7, **hazard))
    assert not outcome.breach, failure_report(outcome)


def test_a_volume_whose_new_name_was_not_durable_is_not_lost():
    # Killed between giving the first volume its name and syncing the folder; the power failed in the next life.
    with mock.patch.object(lives, "DIES_AT_NAMES", 0.5):
        for seed in range(3000, 3008):
            outcome = play(replace(plan_for(seed, 6), crashes=0.5))
            assert not outcome.breach, failure_report(outcome)


def test_the_seed_decides_everything():
    first, second = play(plan_for(5, ROUNDS)), play(plan_for(5, ROUNDS))
    assert first.digest == second.digest
    assert first.schedule == second.schedule
    assert first.counts == second.counts


# --- the controls: each breaks one promise, and the world must say so ---


def found_in(plans, **options):
    """Play worlds until one of them breaks; return what it found."""
    for plan in plans:
        outcome = play(plan, **options)
        if outcome.breach:
            return outcome
    raise AssertionError("no world noticed it")


def crashing(rounds=40):
    return (replace(plan_for(seed, rounds), crashes=0.5) for seed in range(1, 20))


def test_a_disk_that_lies_about_its_syncs_loses_cards_and_is_noticed():
    breaches = [play(plan, lie=True).breach for plan in list(crashing())[:8]]
    assert any("were committed and are gone" in breach for breach in breaches)


def test_an_acknowledgement_before_the_commit_is_noticed():
    take = Table._take

    def acknowledge_first(table, batch):
        table._confirm(batch)
        take(table, batch)

    with mock.patch.object(Table, "_take", acknowledge_first):
        outcome = found_in(crashing())
    assert "at the shoe" in outcome.breach or "not in the journal" in outcome.breach or "missing" in outcome.breach


def test_a_feed_that_forgets_what_was_on_its_way_is_noticed():
    down = MqttFeed._down

    def forget(feed):
        read_up_to = feed._read_up_to
        down(feed)
        feed._read_up_to = read_up_to

    plan = replace(QUIET, outages=1.0, rounds=60)
    with mock.patch.object(MqttFeed, "_down", forget):
        assert "was due" in found_in([replace(plan, seed=seed) for seed in range(1, 10)]).breach


def test_a_wrong_point_value_is_noticed_and_shrunk_to_one_round():
    with mock.patch.dict(rules.POINTS, {code: 2 for code in rules.POINTS if code[0] == "A"}):
        outcome = play(plan_for(3, 60))
        script = [to_line(happened) for happened in shrink_inputs(outcome.inputs)]
        report = failure_report(outcome)
    assert "the rules" in outcome.breach or "referee" in outcome.breach
    assert [line.split()[0] for line in script[:3]] == ["shoe", "bets", "close"]
    assert len(script) <= 10
    assert f"seed {outcome.plan.seed}" in report
    assert "schedule" in report


def test_a_cent_too_much_is_noticed():
    with mock.patch.object(bets, "winnings", lambda stake, odds, rounding: winnings(stake, odds, rounding) + 1):
        outcome = found_in(replace(QUIET, wagers=(4,), seed=seed) for seed in range(1, 5))
    assert "hands back" in outcome.breach


def test_a_gate_that_opens_when_no_card_is_due_is_noticed():
    view = Session.view

    def open_after_the_deal(session):
        seen = view(session)
        return structs.replace(seen, gate_open=True) if seen.state == "complete" else seen

    with mock.patch.object(Session, "view", open_after_the_deal):
        assert "gate" in play(QUIET).breach


def test_a_display_that_shows_a_card_before_the_result_is_noticed():
    with mock.patch.dict(public_facts.SQUEEZED, clear=True):
        assert "not for players" in play(replace(QUIET, display="on-result")).breach


def test_a_display_that_shows_a_wager_is_noticed():
    shown = {"wager": (Decoder(facts.Wager), lambda fact: fact)}
    with mock.patch.dict(public_facts.SHOWN, shown):
        assert "the display got facts" in play(replace(QUIET, display="as-drawn", wagers=(4,))).breach


def test_a_display_that_forgets_rounds_in_a_crash_is_noticed():
    with mock.patch.object(Feed, "_before_this_shoe", lambda feed: feed._facts.last_seq):
        outcome = found_in(replace(plan, display="as-drawn") for plan in crashing())
    assert "the display" in outcome.breach


def test_a_shoe_that_loses_its_memory_is_not_taken_for_one_that_did_not():
    with mock.patch.object(hazards, "FORGETS", 1.0):
        outcome = play(replace(QUIET, seed=7, cuts=1.0, quick=1.0))
    assert not outcome.breach, failure_report(outcome)
    assert outcome.counts["losses of the shoe's memory"] > 5


def test_a_deal_stops_when_the_shoe_forgot_some_of_its_cards():
    with mock.patch.object(hazards, "FORGETS", 0.5):
        outcome = play(replace(plan_for(419, 40), cuts=0.4, quick=1.0))
    assert not outcome.breach, failure_report(outcome)
    assert outcome.counts["deals stopped for cards that nobody heard of"]


def test_cards_that_a_shoe_forgot_and_nobody_is_told_of_are_noticed():
    with mock.patch.object(hazards, "FORGETS", 0.5), mock.patch.object(table_shoe, "CARDS_DUE", frozenset()):
        outcome = play(replace(plan_for(419, 40), cuts=0.4, quick=1.0))
    assert "nobody is told" in outcome.breach


# An Angel Eye keeps nothing: what it says while the controller is down, or the cable out, is gone.
LEFT_ALONE = [replace(QUIET, seed=seed, protocol="angel-eye", cut_card=120, crashes=0.4, cuts=0.4) for seed in range(4)]


def test_a_deal_stops_when_a_shoe_that_keeps_nothing_was_left_alone():
    outcomes = [play(plan) for plan in LEFT_ALONE]
    assert not [failure_report(outcome) for outcome in outcomes if outcome.breach]
    assert sum(outcome.counts["deals stopped for cards that nobody heard of"] for outcome in outcomes) > 5


def test_cards_that_a_shoe_told_nobody_and_nobody_asks_about_are_noticed():
    with mock.patch.object(table_shoe, "CARDS_DUE", frozenset()):
        assert "nobody is told" in found_in(LEFT_ALONE).breach


# The line is gone and there again while the cards before that still wait for a slow disk.
SLOW_AND_CUT = [
    replace(QUIET, seed=seed, protocol="angel-eye", cut_card=120, slips=0.05, cuts=0.7, slow_disk=0.7)
    for seed in (4, 114)
]


def test_what_a_line_that_is_back_means_is_decided_about_the_table_and_not_about_its_past():
    assert not [failure_report(outcome) for outcome in map(play, SLOW_AND_CUT) if outcome.breach]


def test_a_decision_about_the_tables_past_is_noticed():
    def at_once(table, what):
        for arrived in what(table.view):
            table.submit(arrived)

    with mock.patch.object(Table, "consider", at_once):
        assert "nobody is told" in found_in(SLOW_AND_CUT).breach


def test_a_result_that_waits_for_nobody_although_cards_are_missing_is_noticed():
    # Seeds in which somebody pulls the last card out by force and presses the button for the result.
    with mock.patch.object(Session, "cards_may_be_missing", return_value=False):
        assert "nobody has answered for that" in found_in(map(plan_for, (5119, 5171))).breach


def test_a_face_too_many_that_nobody_counts_is_noticed():
    plan = replace(QUIET, protocol="angel-eye", too_many=12, cut_card=60, rounds=40)
    with mock.patch.object(Shoe, "fault_of", return_value=None):
        assert "nobody says so" in play(plan).breach


def test_a_table_that_plays_well_has_no_breach_to_shrink():
    inputs = play(QUIET).inputs
    assert breach_of(inputs) == ""
    left = shrink_inputs(inputs)
    assert left[0].__struct_config__.tag == "shoe"
    assert shrink_inputs([*inputs, *[Reconstruct(codes=(), by="sue")] * 100]) == left, "what was refused is left out"
