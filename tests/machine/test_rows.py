"""The table of transitions: complete, drawn in the docs, and followed alike by both engines."""

import logging
from pathlib import Path

import pytest

from shoe_controller.machine import engines
from shoe_controller.machine.diagram import diagram
from shoe_controller.machine.engines import TableEngine, TransitionsEngine
from shoe_controller.machine.rows import ROWS, TRIGGERS, Row
from shoe_controller.machine.states import (
    ANNOUNCED,
    BANKER_THIRD,
    BETTING,
    BETWEEN_ROUNDS,
    BURNING,
    COMPLETE,
    DEAL_1,
    DEAL_2,
    DEAL_3,
    DEAL_4,
    DEALING,
    DECISION,
    IN_ROUND,
    INITIAL_DEAL,
    NO_SHOE,
    PLAYER_THIRD,
    READY,
    SHOE_ENDED,
    STATES,
    THIRD_CARDS,
    VOID,
)
from shoe_controller.session.session import Session

FREE = {NO_SHOE, BURNING, *BETWEEN_ROUNDS, SHOE_ENDED}
PLAYING = set(STATES) - {NO_SHOE, SHOE_ENDED}
STAYS = {None}
ASKS = {DECISION}
ENDS = {VOID, SHOE_ENDED}

# The table read the other way round, written from the rules: where each thing may be done, and where the table is then.
DONE_WHERE = {
    "load_shoe": (FREE, {BURNING, READY}),
    "refuse_shoe": (FREE, STAYS),
    "burn_card": ({BURNING}, {READY, None}),
    "burn_together": ({BURNING}, {READY, None}),
    "burn_unreadable": ({BURNING}, {READY, None}),
    "find_burn_order": ({BURNING}, ASKS),
    "open_betting": ({*BETWEEN_ROUNDS}, {BETTING}),
    "refuse_for_fault": ({*BETWEEN_ROUNDS}, STAYS),
    "refuse_for_missing_cards": ({COMPLETE}, STAYS),
    "close_betting": ({BETTING}, {*DEALING, COMPLETE}),
    "close_betting_on_empty_shoe": ({BETTING}, {SHOE_ENDED}),
    "close_betting_under_decision": ({DECISION}, STAYS),
    "take_wager": ({BETTING, DECISION}, STAYS),
    "return_wager": ({BETTING, DECISION}, STAYS),
    "refuse_wager": ({*STATES} - {BETTING}, STAYS),
    "refuse_withdrawal": ({*STATES} - {BETTING}, STAYS),
    "accept_early_card": ({BETTING}, STAYS),
    "find_early_card": ({BETTING}, ASKS),
    "void_for_early_card": ({BETTING}, ENDS),
    "deal_card": ({*DEALING}, {DEAL_2, DEAL_3, DEAL_4, *THIRD_CARDS, COMPLETE}),
    "deal_together": ({*INITIAL_DEAL}, {DEAL_3, DEAL_4, *THIRD_CARDS, COMPLETE}),
    "deal_together_with_surplus": ({*INITIAL_DEAL}, ASKS),
    "void_for_unknown_order": ({*INITIAL_DEAL}, ENDS),
    "find_disagreement_on_card": ({*DEALING}, ASKS),
    "find_shortage": ({*DEALING}, ASKS),
    "find_exhaustion": ({*DEALING}, {SHOE_ENDED}),
    "find_surplus": ({*THIRD_CARDS, COMPLETE, *BETWEEN_ROUNDS, SHOE_ENDED}, ASKS),
    "find_card_under_decision": ({DECISION}, STAYS),
    "find_unreadable": (PLAYING, {DECISION, None}),
    "find_altered_order": (PLAYING - {BURNING}, {DECISION, None}),
    "find_disagreement": ({*DEALING, COMPLETE, ANNOUNCED, SHOE_ENDED}, ASKS),
    "note_device_result": ({*STATES}, STAYS),
    "note_card_after_end": ({SHOE_ENDED}, STAYS),
    "note_return": ({BURNING, SHOE_ENDED}, STAYS),
    "note_bad_card": ({BURNING, *BETWEEN_ROUNDS, SHOE_ENDED, DECISION}, STAYS),
    "void_for_bad_card": ({*IN_ROUND, DECISION}, ENDS),
    "announce": ({COMPLETE}, {ANNOUNCED, SHOE_ENDED}),
    "see_cut_card": (PLAYING, STAYS),
    "see_cut_card_and_end": ({BURNING, *BETWEEN_ROUNDS}, {SHOE_ENDED}),
    "end_empty_shoe": ({BURNING, *BETWEEN_ROUNDS}, {SHOE_ENDED}),
    "note_empty_shoe": ({BETTING, COMPLETE, DECISION}, STAYS),
    "void_round": ({*IN_ROUND, ANNOUNCED, DECISION, SHOE_ENDED}, ENDS | STAYS),
    "drop_cards": ({DECISION}, {READY, BURNING, SHOE_ENDED, VOID}),
    "refuse_reconstruction": ({DECISION}, STAYS),
    "reconstruct_round": ({DECISION}, {*STATES, None} - {NO_SHOE, DECISION}),
    "acknowledge": ({*STATES}, STAYS),
    "refuse": ({*STATES}, STAYS),
}
# 3.7 and 3.9: which card may be due after which.
NEXT_DUE = {
    (DEAL_1, DEAL_2),
    (DEAL_2, DEAL_3),
    (DEAL_3, DEAL_4),
    (DEAL_4, PLAYER_THIRD),
    (DEAL_4, BANKER_THIRD),
    (DEAL_4, COMPLETE),
    (PLAYER_THIRD, BANKER_THIRD),
    (PLAYER_THIRD, COMPLETE),
    (BANKER_THIRD, COMPLETE),
}
# A finding that is made during a decision joins it; everywhere else it asks for one.
JOINS_A_DECISION = {"find_unreadable", "find_altered_order", "find_card_under_decision"}


def cells():
    table = {}
    for row in ROWS:
        table.setdefault((row.source, row.trigger), []).append(row)
    return table


def test_every_state_has_a_row_for_every_trigger():
    assert set(cells()) == {(state, trigger) for state in STATES for trigger in TRIGGERS}


def test_the_last_row_of_each_cell_has_no_condition_and_only_the_last():
    for cell, rows in cells().items():
        assert rows[-1].when is None, cell
        assert all(row.when is not None for row in rows[:-1]), cell


def test_every_refusal_has_a_reason_and_nothing_else_has():
    for row in ROWS:
        assert bool(row.reason) == (row.do == "refuse"), row


def test_rows_lead_to_states_that_exist():
    assert {row.dest for row in ROWS if row.dest} <= set(STATES)


def test_every_guard_and_action_is_a_method_of_the_session():
    for row in ROWS:
        names = [row.do, *(row.when.split(" and ") if row.when else [])]
        assert all(callable(getattr(Session, name)) for name in names), row


def test_the_drawing_in_the_docs_is_current():
    page = Path(__file__).parents[2] / "docs" / "state-machine.md"
    assert page.read_text() == diagram(), "run `make diagram`"


@pytest.mark.parametrize("do", DONE_WHERE)
def test_each_thing_is_done_where_it_may_be_and_leads_where_it_must(do):
    rows = [row for row in ROWS if row.do == do]
    assert ({row.source for row in rows}, {row.dest for row in rows}) == DONE_WHERE[do]


def test_nothing_is_done_that_is_not_in_the_list():
    assert {row.do for row in ROWS} == set(DONE_WHERE)


def test_a_card_is_followed_by_the_one_that_the_rules_say():
    assert {(row.source, row.dest) for row in ROWS if row.do == "deal_card"} == NEXT_DUE


def test_a_finding_always_asks_for_a_decision_and_joins_one_that_is_open():
    for row in ROWS:
        if row.do in JOINS_A_DECISION:
            assert row.dest == (None if row.source == DECISION else DECISION), row


def test_a_round_that_ends_ends_the_shoe_if_it_was_its_last():
    for cell, rows in cells().items():
        for earlier, row in zip([None, *rows], rows, strict=False):
            if row.do in {"announce", "void_for_bad_card", "void_for_early_card", "void_for_unknown_order"} or (
                row.do == "void_round" and row.source in IN_ROUND
            ):
                last = "last_round" in (row.when or "")
                assert (row.dest == SHOE_ENDED) == last, cell
                assert last or (earlier.do, earlier.dest) == (row.do, SHOE_ENDED), cell
                assert last or earlier.when == (f"{row.when} and last_round" if row.when else "last_round"), cell


def test_every_state_that_a_plan_can_end_in_has_its_row_once():
    plans = {
        ("close", BETTING): {*DEALING, COMPLETE} - {DEAL_1},  # without early cards the first is due
        **{("together", state): {DEAL_3, DEAL_4, *THIRD_CARDS, COMPLETE} for state in INITIAL_DEAL},
        ("void", DECISION): {READY, BURNING, SHOE_ENDED},
        ("reconstruct", DECISION): {*STATES} - {NO_SHOE, DECISION},
    }
    for (source, trigger), rows in cells().items():
        dests = [row.dest for row in rows if row.when == "leads_to"]
        assert sorted(dests) == sorted(plans.get((trigger, source), ())), (source, trigger)


@pytest.mark.parametrize("state", [BETTING, COMPLETE, *BETWEEN_ROUNDS, SHOE_ENDED, DECISION])
def test_cards_drawn_together_are_what_one_card_is_where_their_order_does_not_matter(state):
    one, several = ([(row.dest, row.do, row.when) for row in cells()[state, name]] for name in ("card", "together"))
    assert one == several


def test_what_a_guard_asks_is_asked_wherever_the_same_thing_is_done_under_it():
    asked = {
        "accept_early_card": {"early_card_is_first"},
        "close_betting_on_empty_shoe": {"shoe_cannot_deal"},
        "find_burn_order": {"burn_waits_for_first_card and order_is_unknown"},
        "find_disagreement_on_card": {"device_sees_another_hand"},
        "refuse_for_fault": {"in_fault"},
        "refuse_for_missing_cards": {"cards_may_be_missing"},
        "refuse_reconstruction": {"reconstruction_is_wrong"},
        "refuse_shoe": {"shoe_is_wrong"},
        "see_cut_card_and_end": {"cut_ends_shoe"},
        "void_for_early_card": {"early_card_voids", "early_card_voids and last_round"},
        "void_for_unknown_order": {"order_is_unknown", "order_is_unknown and last_round"},
    }
    for do, guards in asked.items():
        assert {row.when for row in ROWS if row.do == do} == guards, do


def test_one_thing_is_done_in_the_same_way_in_every_state_that_allows_it():
    same = {
        "ack": {state: [("alarm_is_on", "acknowledge", None), (None, "refuse", None)] for state in STATES},
        "wager": {state: [(None, "refuse_wager", None)] for state in STATES if state not in (BETTING, DECISION)},
        "withdraw": {
            state: [(None, "refuse_withdrawal", None)] for state in STATES if state not in (BETTING, DECISION)
        },
        "reconstruct": {state: [(None, "refuse", None)] for state in STATES if state != DECISION},
        "shoe": {
            state: [
                ("shoe_is_wrong", "refuse_shoe", None),
                ("burn_is_due", "load_shoe", BURNING),
                (None, "load_shoe", READY),
            ]
            for state in FREE
        },
        "cut": {
            **{
                state: [("cut_was_seen", "refuse", None), (None, "see_cut_card", None)]
                for state in (*IN_ROUND, DECISION)
            },
            **{
                state: [
                    ("cut_was_seen", "refuse", None),
                    ("cut_ends_shoe", "see_cut_card_and_end", SHOE_ENDED),
                    (None, "see_cut_card", None),
                ]
                for state in (BURNING, *BETWEEN_ROUNDS)
            },
        },
        "returned": {state: [(None, "find_altered_order", DECISION)] for state in (*IN_ROUND, *BETWEEN_ROUNDS)},
        "unreadable": {state: [(None, "find_unreadable", DECISION)] for state in (*IN_ROUND, *BETWEEN_ROUNDS)},
        "void": {
            **{state: [("last_round", "void_round", SHOE_ENDED), (None, "void_round", VOID)] for state in IN_ROUND},
            ANNOUNCED: [(None, "void_round", VOID)],
            SHOE_ENDED: [("last_round_stands", "void_round", None), (None, "refuse", None)],
        },
        "device_result": {
            state: [("device_agrees", "note_device_result", None), (None, "find_disagreement", DECISION)]
            for state in (*DEALING, COMPLETE, ANNOUNCED)
        },
    }
    for trigger, states in same.items():
        for state, rows in states.items():
            assert [(row.when, row.do, row.dest) for row in cells()[state, trigger]] == rows, (state, trigger)


@pytest.mark.parametrize("state", INITIAL_DEAL)
def test_wherever_the_initial_deal_has_come_to_an_unknown_order_is_asked_for_first(state):
    first, second, *others = cells()[state, "together"]
    assert [(row.when, row.do) for row in (first, second)] == [
        ("order_is_unknown and last_round", "void_for_unknown_order"),
        ("order_is_unknown", "void_for_unknown_order"),
    ]
    assert not [row for row in others if "order" in (row.when or "")]


@pytest.mark.parametrize("engine", [TableEngine, TransitionsEngine])
def test_an_engine_that_finds_no_row_says_so_and_does_not_pass_over_it(engine, monkeypatch):
    rows = [Row("ack", NO_SHOE, None, "acknowledge", "alarm_is_on")]
    monkeypatch.setattr(engines, "ROWS", rows)
    with pytest.raises(AssertionError, match="no row was taken for 'ack' in state 'no_shoe'"):
        engine(Session("table")).fire("ack")


def test_the_engine_at_the_table_hangs_nothing_on_what_it_moves():
    engine = TransitionsEngine(Session("table"))
    assert set(vars(engine._position)) == {"_model"}


def test_the_engine_at_the_table_knows_no_way_past_the_rows():
    engine = TransitionsEngine(Session("table"))
    assert set(engine._machine.events) == set(TRIGGERS)


def test_building_the_engine_at_the_table_fills_no_log(caplog):
    logging.getLogger("transitions").setLevel(logging.NOTSET)
    TransitionsEngine(Session("table"))
    assert caplog.records == []
