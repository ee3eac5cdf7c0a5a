"""Open decisions: what waits for a supervisor, and what would become of the table if it is reconstructed.

`plan` is a pure function: it says where a reconstruction leads, or why it cannot be done, before anything is changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from shoe_controller.machine.states import BETTING, BURNING, IN_ROUND, READY, dealing_state
from shoe_controller.rules.play import Hand, next_card
from shoe_controller.session.facts import Irregularity
from shoe_controller.session.round import DrawnCard, Round
from shoe_controller.session.shoe import Shoe


@dataclass(frozen=True)
class Decision:
    """One irregularity that waits for a supervisor.

    `place` has cards that find their place when it is reconstructed, `order` a card that was pushed back, `draw` lacks
    a card, and `stand` only waits for somebody to say that the round stands.
    """

    irregularity: Irregularity
    way: Literal["place", "order", "draw", "stand"]
    cards: tuple[DrawnCard, ...] = ()
    order_known: bool = True
    unreadable: bool = False
    returned: DrawnCard | None = None

    def without(self, card: DrawnCard) -> "Decision":
        """Return this decision when one of its cards went back into the shoe."""
        cards = tuple(other for other in self.cards if other is not card)
        return replace(self, cards=cards, order_known=self.order_known or len(cards) < 2)


@dataclass(frozen=True)
class Plan:
    """What a reconstruction does: `wrong` says why it cannot be done, else the rest says what it leads to."""

    wrong: str = ""
    base: str = ""
    order: tuple[DrawnCard, ...] | None = None  # the round's cards anew, in this order
    dealt: tuple[DrawnCard, ...] = ()
    surplus: tuple[DrawnCard, ...] = ()
    burned: tuple[DrawnCard, ...] = ()
    keyed: tuple[DrawnCard, ...] = field(default=())


def plan(decision: Decision, codes: Sequence[str], base: str, shoe: Shoe, current: Round | None) -> Plan:
    """Say what reconstructing this decision with these cards does to a table that stands at `base`."""
    if decision.way == "stand":
        return Plan(wrong="this irregularity takes no cards") if codes else Plan(base=base)
    if decision.way == "order":
        return _plan_order(decision, codes, base, current)
    cards, keyed, wrong = _cards_to_place(decision, codes, shoe)
    if wrong:
        return Plan(wrong=wrong)
    if base == BURNING:
        left = shoe.burn_left_after(tuple(card.code for card in cards))
        return Plan(base=BURNING if left else READY, burned=cards, keyed=keyed)
    if base not in IN_ROUND or current is None:
        return Plan(base=base, surplus=cards, keyed=keyed)
    player, banker, dealt = _deal(current.player, current.banker, cards)
    after = BETTING if base == BETTING else dealing_state(player, banker)
    return Plan(base=after, dealt=cards[:dealt], surplus=cards[dealt:], keyed=keyed)


def _deal(player: Hand, banker: Hand, cards: Sequence[DrawnCard]) -> tuple[Hand, Hand, int]:
    """Deal cards while one is due; return the hands and how many were dealt."""
    for dealt, card in enumerate(cards):
        side = next_card(player, banker)
        if side is None:
            return player, banker, dealt
        if side == "player":
            player = (*player, card.code)
        else:
            banker = (*banker, card.code)
    return player, banker, len(cards)


def _cards_to_place(
    decision: Decision, codes: Sequence[str], shoe: Shoe
) -> tuple[tuple[DrawnCard, ...], tuple[DrawnCard, ...], str]:
    """Return the cards in their order, those of them that were keyed, and what is wrong."""
    if not codes:
        if decision.unreadable:
            return (), (), "the face of the unreadable card must be keyed"
        if not decision.order_known:
            return (), (), "the order of the cards is not known: give the cards in their order"
        return decision.cards, (), ""
    waiting = list(decision.cards)
    cards: list[DrawnCard] = []
    keyed: list[DrawnCard] = []
    for code in codes:
        seen = next((card for card in waiting if card.code == code), None)
        if seen:
            waiting.remove(seen)
        else:
            seen = DrawnCard(code, keyed=True)
            keyed.append(seen)
        cards.append(seen)
    if waiting:
        return (), (), f"the card {waiting[0].code} was drawn and must be among them"
    if decision.unreadable and len(keyed) != 1:
        return (), (), "one card could not be read: key one card"
    if keyed and decision.way == "place" and not decision.unreadable and decision.irregularity.kind in _SEEN_WHOLE:
        return (), (), f"the card {keyed[0].code} was not drawn"
    fault = shoe.fault_of_all(tuple(card.code for card in keyed), ("",) * len(keyed))
    if fault == "foreign_card":
        return (), (), f"{keyed[0].code} is no card of this game"
    if fault:
        return (), (), f"all {shoe.load.decks} copies of {keyed[-1].code} have been seen"
    return tuple(cards), tuple(keyed), ""


# All cards of these were read, so none can be keyed in; a shortage or a disagreement may hide a card that was missed.
_SEEN_WHOLE = ("wrong_number", "early_draw", "simultaneous_draw")


def _plan_order(decision: Decision, codes: Sequence[str], base: str, current: Round | None) -> Plan:
    """Say what becomes of a round whose card was pushed back (5.4)."""
    returned = decision.returned
    if base not in IN_ROUND or current is None:
        return Plan(wrong="the round is over: it stands or is void") if codes else Plan(base=base)
    if not codes:
        if returned is None or returned not in current.drawn:
            return Plan(base=base)
        if current.drawn[-1] != returned:
            return Plan(wrong="give the cards of the round in their right order")
        return _reorder(current.drawn[:-1], base)
    waiting = list(current.drawn)
    order: list[DrawnCard] = []
    for code in codes:
        card = next((card for card in waiting if card.code == code), None)
        if card is None:
            return Plan(wrong=f"{code} is not among the cards of this round")
        waiting.remove(card)
        order.append(card)
    # The card that is missing is the one pushed back; where the reader could not tell, the supervisor does.
    unknown = returned is None and not decision.irregularity.cards
    if waiting and waiting != [returned] and not (unknown and len(waiting) == 1):
        return Plan(wrong=f"the card {waiting[0].code} of this round must be among them")
    return _reorder(order, base)


def _reorder(order: Sequence[DrawnCard], base: str) -> Plan:
    player, banker, dealt = _deal((), (), order)
    if dealt < len(order):
        return Plan(wrong=f"in this order no card is due after {order[dealt - 1].code}")
    return Plan(base=BETTING if base == BETTING else dealing_state(player, banker), order=tuple(order))
