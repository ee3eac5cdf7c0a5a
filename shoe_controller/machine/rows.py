"""The one table that says what may happen when: a row for every state and trigger.

Rule 1: everything that moves a table from one state to another stands here. The engines, the diagram in the docs and
the completeness test are made from these rows.

A row names its guard and its action by the method of the session that is called. Rows of one state and trigger are
tried in order and the last one has no guard, so that nothing is ever refused silently: a row with `dest` None stays in
its state, and `refuse` rows record the refusal with their reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass

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

TRIGGERS = (
    "shoe",
    "bets",
    "close",
    "result",
    "cut",
    "empty",
    "card",
    "bad_card",
    "together",
    "unreadable",
    "returned",
    "void",
    "reconstruct",
    "ack",
    "wager",
    "withdraw",
    "device_result",
)


@dataclass(frozen=True)
class Row:
    """One line of the table.

    `when` names guards, joined by " and "; `leads_to` asks whether what the session plans ends in `dest`.
    """

    trigger: str
    source: str
    dest: str | None
    do: str
    when: str | None = None
    reason: str = ""


def _each(trigger: str, sources: Iterable[str], dest: str | None, do: str, when: str | None = None) -> list[Row]:
    return [Row(trigger, source, dest, do, when) for source in sources]


def _refuse(trigger: str, reasons: dict[str, str], when: str | None = None) -> list[Row]:
    return [Row(trigger, source, None, "refuse", when, reason) for source, reason in reasons.items()]


def _same(reason: str, states: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(states, reason)


def _ends(trigger: str, sources: Iterable[str], dest: str, do: str, when: str | None = None) -> list[Row]:
    """Rows that end a round: in SHOE_ENDED if it was the last of its shoe, else in `dest`."""
    last = "last_round" if when is None else f"{when} and last_round"
    return [
        row
        for source in sources
        for row in (Row(trigger, source, SHOE_ENDED, do, last), Row(trigger, source, dest, do, when))
    ]


_NO_SHOE_YET = "no shoe is in play"
_OPEN_DECISION = "a decision is open: reconstruct or void first"
_PLAN_DESTS = (BETTING, *DEALING, COMPLETE, READY, ANNOUNCED, VOID, BURNING, SHOE_ENDED)


def _shoe() -> list[Row]:
    free = (NO_SHOE, BURNING, *BETWEEN_ROUNDS, SHOE_ENDED)
    return [
        *_each("shoe", free, None, "refuse_shoe", "shoe_is_wrong"),
        *_each("shoe", free, BURNING, "load_shoe", "burn_is_due"),
        *_each("shoe", free, READY, "load_shoe"),
        *_refuse("shoe", _same("the round in play must be finished or void first", IN_ROUND)),
        Row("shoe", DECISION, None, "refuse", reason=_OPEN_DECISION),
    ]


def _dealer_calls() -> list[Row]:
    return [
        *_each("bets", BETWEEN_ROUNDS, None, "refuse_for_fault", "in_fault"),
        *_each("bets", BETWEEN_ROUNDS, BETTING, "open_betting"),
        *_refuse(
            "bets",
            {NO_SHOE: _NO_SHOE_YET, BURNING: "the burn is not finished", BETTING: "betting is open already"}
            | _same("the cards of this round are being dealt", DEALING)
            | {COMPLETE: "the result of this round is not announced yet", DECISION: _OPEN_DECISION}
            | {SHOE_ENDED: "the shoe has ended: load a new one"},
        ),
        Row("close", BETTING, SHOE_ENDED, "close_betting_on_empty_shoe", "shoe_cannot_deal"),
        *(Row("close", BETTING, dest, "close_betting", "leads_to") for dest in (*DEALING[1:], COMPLETE)),
        Row("close", BETTING, DEAL_1, "close_betting"),
        Row("close", DECISION, None, "close_betting_under_decision", "betting_is_open"),
        Row("close", DECISION, None, "refuse", reason="betting is not open"),
        *_refuse("close", _same("betting is not open", [s for s in STATES if s not in (BETTING, DECISION, NO_SHOE)])),
        Row("close", NO_SHOE, None, "refuse", reason=_NO_SHOE_YET),
        Row("result", COMPLETE, None, "refuse_for_missing_cards", "cards_may_be_missing"),
        *_ends("result", [COMPLETE], ANNOUNCED, "announce"),
        *_each("result", DEALING, DECISION, "find_shortage"),  # 5.2
        *_refuse(
            "result",
            {NO_SHOE: _NO_SHOE_YET, BURNING: "no round has been played", READY: "no round has been played"}
            | {BETTING: "betting is open", ANNOUNCED: "the result is announced already", VOID: "the round is void"}
            | {DECISION: _OPEN_DECISION, SHOE_ENDED: "the shoe has ended"},
        ),
    ]


def _shoe_signals() -> list[Row]:
    playing = (BURNING, *BETWEEN_ROUNDS, *IN_ROUND, DECISION)
    return [
        *_refuse("cut", _same("the cut card was seen already", playing), when="cut_was_seen"),
        *_each("cut", (BURNING, *BETWEEN_ROUNDS), SHOE_ENDED, "see_cut_card_and_end", "cut_ends_shoe"),
        *_each("cut", BETWEEN_ROUNDS, None, "see_cut_card"),
        *_each("cut", (BURNING, *IN_ROUND, DECISION), None, "see_cut_card"),
        Row("cut", SHOE_ENDED, None, "refuse", reason="the shoe has ended"),
        Row("cut", NO_SHOE, None, "refuse", reason=_NO_SHOE_YET),
        *_each("empty", DEALING, SHOE_ENDED, "find_exhaustion"),  # 5.5
        *_each("empty", (BURNING, *BETWEEN_ROUNDS), SHOE_ENDED, "end_empty_shoe"),
        *_each("empty", (BETTING, COMPLETE, DECISION), None, "note_empty_shoe"),
        Row("empty", SHOE_ENDED, None, "refuse", reason="the shoe has ended"),
        Row("empty", NO_SHOE, None, "refuse", reason=_NO_SHOE_YET),
    ]


def _cards() -> list[Row]:
    surplus = (COMPLETE, *BETWEEN_ROUNDS)
    return [
        Row("card", NO_SHOE, None, "refuse", reason=_NO_SHOE_YET),
        Row("card", BURNING, READY, "burn_card", "burn_ends"),
        Row("card", BURNING, None, "burn_card"),
        *_early("card"),
        *_each("card", DEALING, DECISION, "find_disagreement_on_card", "device_sees_another_hand"),
        Row("card", DEAL_1, DEAL_2, "deal_card"),
        Row("card", DEAL_2, DEAL_3, "deal_card"),
        Row("card", DEAL_3, DEAL_4, "deal_card"),
        Row("card", DEAL_4, PLAYER_THIRD, "deal_card", "player_draws"),
        Row("card", DEAL_4, BANKER_THIRD, "deal_card", "banker_draws"),
        Row("card", DEAL_4, COMPLETE, "deal_card"),
        Row("card", PLAYER_THIRD, BANKER_THIRD, "deal_card", "banker_draws"),
        Row("card", PLAYER_THIRD, COMPLETE, "deal_card"),
        Row("card", BANKER_THIRD, COMPLETE, "deal_card"),
        *_each("card", surplus, DECISION, "find_surplus"),  # 5.2
        Row("card", SHOE_ENDED, DECISION, "find_surplus", "last_round_stands"),
        Row("card", SHOE_ENDED, None, "note_card_after_end"),
        Row("card", DECISION, None, "find_card_under_decision"),
        # 5.1: foreign, drawn twice, or one copy too many.
        Row("bad_card", NO_SHOE, None, "refuse", reason=_NO_SHOE_YET),
        *_each("bad_card", (BURNING, *BETWEEN_ROUNDS, SHOE_ENDED), None, "note_bad_card"),
        *_ends("bad_card", IN_ROUND, VOID, "void_for_bad_card"),
        *_ends("bad_card", [DECISION], VOID, "void_for_bad_card", when="round_is_open"),
        Row("bad_card", DECISION, None, "note_bad_card"),
        Row("together", NO_SHOE, None, "refuse", reason=_NO_SHOE_YET),
        Row("together", BURNING, DECISION, "find_burn_order", "burn_waits_for_first_card and order_is_unknown"),
        Row("together", BURNING, READY, "burn_together", "burn_ends"),
        Row("together", BURNING, None, "burn_together"),
        *_early("together"),
        *_ends("together", INITIAL_DEAL, VOID, "void_for_unknown_order", when="order_is_unknown"),  # 5.3
        *(
            Row("together", source, dest, "deal_together", "leads_to")
            for source in INITIAL_DEAL
            for dest in (DEAL_3, DEAL_4, *THIRD_CARDS, COMPLETE)
        ),
        *_each("together", INITIAL_DEAL, DECISION, "deal_together_with_surplus"),
        *_each("together", (*THIRD_CARDS, *surplus), DECISION, "find_surplus"),  # 5.2
        Row("together", SHOE_ENDED, DECISION, "find_surplus", "last_round_stands"),
        Row("together", SHOE_ENDED, None, "note_card_after_end"),
        Row("together", DECISION, None, "find_card_under_decision"),
        Row("unreadable", NO_SHOE, None, "refuse", reason=_NO_SHOE_YET),
        Row("unreadable", BURNING, DECISION, "find_unreadable", "burn_waits_for_first_card"),
        Row("unreadable", BURNING, READY, "burn_unreadable", "burn_ends"),
        Row("unreadable", BURNING, None, "burn_unreadable"),
        *_each("unreadable", (*IN_ROUND, *BETWEEN_ROUNDS), DECISION, "find_unreadable"),
        Row("unreadable", SHOE_ENDED, None, "note_card_after_end"),
        Row("unreadable", DECISION, None, "find_unreadable"),
        Row("returned", NO_SHOE, None, "refuse", reason=_NO_SHOE_YET),
        *_each("returned", (BURNING, SHOE_ENDED), None, "note_return"),
        *_each("returned", (*IN_ROUND, *BETWEEN_ROUNDS), DECISION, "find_altered_order"),  # 5.4
        Row("returned", DECISION, None, "find_altered_order"),
    ]


def _early(trigger: str) -> list[Row]:
    """Rows for cards drawn before "No more bets", by the house's policy."""
    return [
        *_ends(trigger, [BETTING], VOID, "void_for_early_card", when="early_card_voids"),
        Row(trigger, BETTING, None, "accept_early_card", "early_card_is_first"),
        Row(trigger, BETTING, DECISION, "find_early_card"),
    ]


def _supervisor() -> list[Row]:
    return [
        *_ends("void", IN_ROUND, VOID, "void_round"),
        Row("void", ANNOUNCED, VOID, "void_round"),
        Row("void", SHOE_ENDED, None, "void_round", "last_round_stands"),
        Row("void", SHOE_ENDED, None, "refuse", reason="there is no round that could be void"),
        Row("void", DECISION, SHOE_ENDED, "void_round", "round_stands and last_round"),
        Row("void", DECISION, VOID, "void_round", "round_stands"),
        *(Row("void", DECISION, dest, "drop_cards", "leads_to") for dest in (READY, BURNING, SHOE_ENDED)),
        Row("void", DECISION, VOID, "drop_cards"),
        *_refuse("void", _same("there is no round that could be void", (BURNING, READY))),
        Row("void", VOID, None, "refuse", reason="the round is void already"),
        Row("void", NO_SHOE, None, "refuse", reason=_NO_SHOE_YET),
        Row("reconstruct", DECISION, None, "refuse_reconstruction", "reconstruction_is_wrong"),
        *(Row("reconstruct", DECISION, dest, "reconstruct_round", "leads_to") for dest in _PLAN_DESTS),
        Row("reconstruct", DECISION, None, "reconstruct_round"),
        *_refuse("reconstruct", _same("no decision is open", [s for s in STATES if s not in (DECISION, NO_SHOE)])),
        Row("reconstruct", NO_SHOE, None, "refuse", reason=_NO_SHOE_YET),
        *_each("ack", STATES, None, "acknowledge", "alarm_is_on"),
        *_refuse("ack", _same("there is no alarm to acknowledge", STATES)),
    ]


def _wagers() -> list[Row]:
    late = [state for state in STATES if state not in (BETTING, DECISION)]
    return [
        Row("wager", BETTING, None, "take_wager"),
        Row("wager", DECISION, None, "take_wager", "betting_is_open"),
        Row("wager", DECISION, None, "refuse_wager"),
        *_each("wager", late, None, "refuse_wager"),
        Row("withdraw", BETTING, None, "return_wager"),
        Row("withdraw", DECISION, None, "return_wager", "betting_is_open"),
        Row("withdraw", DECISION, None, "refuse_withdrawal"),
        *_each("withdraw", late, None, "refuse_withdrawal"),
    ]


def _device() -> list[Row]:
    compared = (*DEALING, COMPLETE, ANNOUNCED)
    return [
        Row("device_result", SHOE_ENDED, DECISION, "find_disagreement", "last_round_stands and device_disagrees"),
        *_each("device_result", compared, None, "note_device_result", "device_agrees"),
        *_each("device_result", compared, DECISION, "find_disagreement"),
        *_each("device_result", [s for s in STATES if s not in compared], None, "note_device_result"),
    ]


ROWS: tuple[Row, ...] = (
    *_shoe(),
    *_dealer_calls(),
    *_shoe_signals(),
    *_cards(),
    *_supervisor(),
    *_wagers(),
    *_device(),
)
