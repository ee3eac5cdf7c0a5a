"""Every fact in words that a pit manager can read."""

from typing import get_args

import pytest

from shoe_controller.session import facts as f
from shoe_controller.words import KIND_WORDS, cards, tell

ROUND = f.Round(
    "evening",
    3,
    1,
    "complete",
    ("9h", "Kc"),
    ("5d", "2c"),
    9,
    7,
    "player",
    natural=True,
    pays={"player": "1:1"},
    pushes=(),
    irregularities=(),
    rules="no-commission",
    rules_hash="f1be4bf37681aaaa",
)
TIE = f.Round(
    "evening",
    4,
    1,
    "complete",
    ("4f", "5f"),
    ("9f", "Sf"),
    9,
    9,
    "tie",
    natural=False,
    pays={"tie": "8:1", "tie_bonus": "+3000"},
    pushes=("player", "banker"),
    irregularities=("simultaneous_draw", "late_wager"),
    rules="six-star",
    rules_hash="f1",
)
VOID = f.Round(
    "evening",
    5,
    2,
    "void",
    ("9h",),
    (),
    9,
    None,
    None,
    natural=False,
    pays={},
    pushes=(),
    irregularities=("wrong_number",),
    rules="six-star",
    rules_hash="f1",
    void_rule="5.2",
    void_reason="a dispute",
    unassigned=("7s",),
)
PLAIN_VOID = f.Round("e", 1, 1, "void", (), (), None, None, None, False, {}, (), (), "six-star", "f1")


def card(**changes):
    values = {"hand": "player", "position": 1, "player_total": 4, "banker_total": 7, "next": "banker"}
    values |= {"complete": False} | changes
    return f.CardDealt(shoe="e", round=1, card="4d", uid="", **values)


@pytest.mark.parametrize(
    "fact,words",
    [
        (
            ROUND,
            "Round 3: PLAYER wins, natural   Player 9♥ K♣ = 9   Banker 5♦ 2♣ = 7\n         pays: player 1:1",
        ),
        (
            TIE,
            (
                "Round 4: TIE   Player 4火 5火 = 9   Banker 9火 Sau火 = 9\n"
                "         pays: tie 8:1, tie bonus +3000   pushed: player, banker\n"
                "         noted: cards drawn together\n"
                '         noted: a wager after "No more bets"'
            ),
        ),
        (VOID, "Round 5 (revision 2): VOID under rule 5.2 (a dispute)   Player 9♥ = 9   Banker –   beside: 7♠"),
        (PLAIN_VOID, "Round 1: VOID   Player –   Banker –"),
        (
            f.Irregularity(1, "foreign_card", "5.1", "e", 3, "void", ("Sf",)),
            "! Round 3: a foreign card [Sau火] – rule 5.1, the round is void",
        ),
        (
            f.Irregularity(1, "early_draw", None, "e", None, "decision", waits_for="reconstruct or void", detail="x"),
            (
                '! Before the first round: a card before "No more bets" (x) – no clause, waits for a supervisor: '
                "reconstruct or void"
            ),
        ),
        (f.Resolved((1,), "reconstruct", 1, ("4d", "Sf")), "  resolved: reconstruct 4♦ Sau火"),
        (f.Resolved((1,), "void", 1), "  resolved: void"),
        (f.Acknowledged((1, 2)), "  alarm acknowledged"),
        (
            f.Wager("ann", "player", "10.00", True, None, "increase", 1, "15.00"),
            "  wager accepted: ann adds 10.00 to player",
        ),
        (
            f.Wager("ann", "player", "10.00", False, "5.6", "place", 1, "0.00", 'after "No more bets"'),
            '  wager refused under rule 5.6: ann places 10.00 on player (after "No more bets")',
        ),
        (f.Wager("ann", "x", "1.00", False, None, "place", 1, "0.00"), "  wager refused: ann places 1.00 on x"),
        (
            f.Settlement("ann", "tie", "10.00", "win", "3090.00", "8:1", 1, 1, "3000.00"),
            "  ann: tie 10.00 at 8:1 and a bonus of 3000.00 – win, paid 3090.00",
        ),
        (f.Settlement("ann", "tie", "10.00", "lose", "0.00", None, 1, 1), "  ann: tie 10.00 – lose, paid 0.00"),
        (f.Refused("bets", "no shoe is in play"), "x bets refused: no shoe is in play"),
        (f.Refused("card", "no shoe is in play", "4d"), "x card 4♦ refused: no shoe is in play"),
        (f.CutCardSeen("e", 1), "Cut card: 1 round more to begin"),
        (f.CutCardSeen("e", 0), "Cut card: 0 rounds more to begin"),
        (
            f.ShoeEnded("e", 1, 1, {"4d": 7, "5d": 8}, {}),
            "Shoe e ended: 1 round, 1 card, 15 not seen",
        ),
        (
            f.ShoeEnded("e", 70, 416, {}, {"4d": 1, "0badcafe": 2}, 3, "the shoe is empty"),
            (
                "Shoe e ended (the shoe is empty): 70 rounds, 416 cards, 0 not seen, extra: 1 x 4d, 2 x 0badcafe, "
                "3 not read"
            ),
        ),
        (card(), "  player 4♦ = 4, next: banker"),
        (card(hand="banker", next=None, complete=True, keyed=True), "  banker 4♦ (keyed) = 7, complete"),
        (card(hand=None, place="next-round"), "  4♦ – next-round"),
        (f.Burned("e", "4d", 3), "  burned 4♦, 3 to go"),
        (f.Burned("e", None, 0), "  burned –, 0 to go"),
        (
            f.ShoeLoaded("e", "six-star", "6 Star", 8, "0123456789abcdef", "none", "burn", 1, 1),
            "Shoe e: 6 Star, 8 decks, rules 0123456789ab",
        ),
        (f.BettingOpened("e", 3), "Round 3: place your bets"),
        (f.BettingClosed("e", 3, "player"), "Round 3: no more bets"),
        (f.Fault("jam", active=True, detail="at the gate"), "! fault jam began at the gate"),
        (f.Fault("jam", active=False), "! fault jam ended"),
        (f.Device("result", detail="tie"), "  shoe: result tie"),
        (f.Started("1.0", "abc"), "Controller 1.0 started"),
        (f.ConfigChanged("abc", ("table.id", "reveal")), "Configuration changed: table.id, reveal"),
        (f.ClockStepped(synced=True), "Clock synchronised"),
        (f.ClockStepped(synced=False), "Clock not synchronised"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, f.Fact) else "",
)
def test_a_fact_is_told_in_words(fact, words):
    assert tell(fact) == words


@pytest.mark.parametrize(
    "fact",
    [
        f.Round(
            "e", 1, 1, "void", (), (), None, None, None, False, {}, (), (), "x", "f1", void_reason="\x1b[2J\nRound"
        ),
        f.Irregularity(1, "late_wager", "5.6", "e", 3, "refused", detail="\x1b]0;"),
        f.Wager("a\x1bb", "t\x9bie", "10.00", False, None, "withdraw", 1, "15.00", "\x07"),
        f.Settlement("a\u202eb", "t\x00ie", "10.00", "lose", "0.00", None, 1, 1),
        f.ShoeEnded("\x1b[1A", 1, 1, {}, {}),
        f.Refused("shoe", "there is no game \x1b"),
        f.ShoeLoaded("\r", "six-star", "6 Star", 8, "0123456789abcdef", "none", "burn", 1, 1),
        f.Fault("\x1b", active=True, detail="\x1b"),
        f.Device("\x1b", detail="\n"),
    ],
    ids=lambda fact: type(fact).__name__,
)
def test_text_from_outside_does_nothing_to_a_terminal(fact):
    assert tell(fact).isprintable()
    assert "\N{REPLACEMENT CHARACTER}" in tell(fact)


def test_a_withdrawal_is_told_as_one():
    fact = f.Wager("ann", "element_bonus", "10.00", True, None, "withdraw", 1, "5.00")
    assert tell(fact) == "  wager accepted: ann withdraws 10.00 from element bonus"


def test_every_kind_of_fact_has_words():
    from shoe_controller.words import _TELLERS

    assert set(_TELLERS) == set(get_args(f.AnyFact))


def test_every_irregularity_has_words():
    assert set(KIND_WORDS) == set(get_args(f.Kind))


def test_an_id_stands_as_it_is_among_cards():
    assert cards(("4d", "0badcafe")) == "4♦ 0badcafe"
    assert cards(()) == "–"
