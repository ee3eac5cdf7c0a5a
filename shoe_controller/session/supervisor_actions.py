"""What happens when a supervisor decides."""

from shoe_controller.machine.states import (
    DEALING,
    SHOE_ENDED,
)
from shoe_controller.session import facts as f
from shoe_controller.session.endings import Endings
from shoe_controller.session.holding import MISSING_FAULT


class SupervisorActions(Endings):
    """A round is void or reconstructed; the alarm goes out."""

    def void_round(self, _event: object = None) -> None:
        """Declare the round void; the clause is that of the irregularity it was voided for."""
        rule = self._open[0].irregularity.rule if self._open else None
        self.round.void_reason = self._input.reason
        self._resolve_all("void")
        self._void_with((), rule)

    def drop_cards(self, _event: object = None) -> None:
        """Take cards out of play that came out when there was no round."""
        self._resolve_all("void")
        if self._settled(self._base) == SHOE_ENDED:
            self._end_shoe(self._why_ended())

    def reconstruct_round(self, _event: object = None) -> None:
        """Take the oldest decision: its cards find their places and play goes on."""
        planned, decision = self._plan_now(), self._open.pop(0)
        for card in planned.keyed:
            if decision.unreadable:
                self.shoe.key_unreadable(card.code)
            else:
                self.shoe.count(card.code, "")
        codes = self._input.codes
        if decision.irregularity.kind == "device_disagrees" and not codes and self._round is not None:
            self._round.shoe_miscounts = True
        self._facts.append(
            f.Resolved((decision.irregularity.id,), "reconstruct", decision.irregularity.round, codes, self._input.by)
        )
        if planned.order is not None:
            self._count_anew(decision.returned, planned.order)
            self._tell_hands(planned.order)
        for card in planned.burned:
            self._burn(card.code)
        for card in planned.dealt:
            self._facts.append(self.round.deal(card))
        self._set_aside(planned.surplus)
        self._base = planned.base
        if not self._open and self._settled(planned.base) == SHOE_ENDED != planned.base:
            if planned.base in DEALING:
                self.find_exhaustion()
            else:
                self._end_shoe(self._why_ended())

    def acknowledge(self, _event: object = None) -> None:
        """Put out the alarm. That cards may be missing in the record ends with it: a supervisor has compared them."""
        if self._faults.pop(MISSING_FAULT, None) is not None:
            self._facts.append(f.Fault(MISSING_FAULT, active=False))
        ids = tuple(irregularity.id for irregularity in self._unacknowledged)
        self._unacknowledged = []
        self._facts.append(f.Acknowledged(ids, self._input.by))
