"""How a round becomes void and how a shoe ends."""

from typing import Literal

from shoe_controller.machine.states import (
    IN_ROUND,
    SHOE_ENDED,
)
from shoe_controller.session import facts as f
from shoe_controller.session.card_moves import CardMoves
from shoe_controller.session.round import DrawnCard


class Endings(CardMoves):
    """Ends rounds and shoes, and says so."""

    def find_exhaustion(self, _event: object = None) -> None:
        """Void the round: its cards cannot be dealt (5.5)."""
        self.shoe.is_empty = True
        self._find("shoe_exhausted", "void")
        self._void("5.5")
        self._end_shoe("the shoe is empty")

    def _resolve_all(self, how: Literal["void"]) -> None:
        if self._open:
            ids = tuple(decision.irregularity.id for decision in self._open)
            number = self._open[0].irregularity.round
            self._facts.append(f.Resolved(ids, how, number, (), self._input.by, self._input.reason))
            if self._base in (*IN_ROUND, SHOE_ENDED, "announced") and self._round:
                for decision in self._open:
                    self._round.leave_out(decision.cards)
            self._open = []

    def _void_with(self, cards: tuple[DrawnCard, ...], rule: str | None) -> None:
        self.round.leave_out(cards)
        self._void(rule)
        if self.last_round():
            self._end_shoe("the last round was played")

    def _void(self, rule: str | None) -> None:
        """Publish the round as void and hand the stakes back."""
        current = self.round
        for decision in self._open:  # a foreign card voids the round whatever else was to be decided
            current.leave_out(decision.cards)
        self._open = []
        current.leave_out(self._carried)  # a surplus card goes with its round
        self._carried = []
        current.status = "void"
        current.betting_open = False
        current.void_rule = rule
        current.revision += 1
        self._facts.append(current.as_fact(None))
        self._facts.extend(self.bets.refund(current.number, current.revision))

    def _why_ended(self) -> str:
        if self.shoe.is_empty:
            return "the shoe is empty"
        return "the last round was played" if self.shoe.rounds else "the cut card"

    def _end_shoe(self, ended_by: str) -> None:
        if self._shoe_reported:
            return
        self._shoe_reported = True
        shoe = self.shoe
        self._facts.append(
            f.ShoeEnded(shoe.id, shoe.rounds, shoe.cards, shoe.missing(), shoe.extra(), shoe.unreadable, ended_by)
        )
