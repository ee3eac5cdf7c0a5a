"""The states of a table.

Dealing states are named by the card that is due. Faults of the hardware are not a state but a set of conditions
beside it (a jam during a decision is both): a view shows the phase `fault` while that set is not empty.
"""

from shoe_controller.rules.play import Hand, next_card

NO_SHOE = "no_shoe"
BURNING = "burning"
READY = "ready"
BETTING = "betting"
DEAL_1 = "deal_1"
DEAL_2 = "deal_2"
DEAL_3 = "deal_3"
DEAL_4 = "deal_4"
PLAYER_THIRD = "player_third"
BANKER_THIRD = "banker_third"
COMPLETE = "complete"
ANNOUNCED = "announced"
VOID = "void"
DECISION = "decision"
SHOE_ENDED = "shoe_ended"

INITIAL_DEAL = (DEAL_1, DEAL_2, DEAL_3, DEAL_4)
THIRD_CARDS = (PLAYER_THIRD, BANKER_THIRD)
DEALING = INITIAL_DEAL + THIRD_CARDS
IN_ROUND = (BETTING, *DEALING, COMPLETE)
BETWEEN_ROUNDS = (READY, ANNOUNCED, VOID)
STATES = (NO_SHOE, BURNING, READY, *IN_ROUND, ANNOUNCED, VOID, DECISION, SHOE_ENDED)

_INITIAL = dict(enumerate(INITIAL_DEAL))
_THIRD = {"player": PLAYER_THIRD, "banker": BANKER_THIRD, None: COMPLETE}


def dealing_state(player: Hand, banker: Hand) -> str:
    """Return the state in which the next card of these hands is due, or COMPLETE."""
    if len(banker) < 2:
        return _INITIAL[len(player) + len(banker)]
    return _THIRD[next_card(player, banker)]
