"""What happens when a wager is placed, increased or withdrawn."""

from typing import Literal

from shoe_controller.money import dollars
from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session.findings import Findings


class WagerActions(Findings):
    """Wagers are taken while betting is open and refused after it (5.6, 5.7)."""

    def take_wager(self, _event: object = None) -> None:
        """Accept a wager or an increase while betting is open."""
        wager: i.PlaceWager = self._input
        if self._answered_before():
            return
        if wager.wager not in self.shoe.rules.wagers:
            self._answer_wager(False, None, f"{self.shoe.rules.title} has no wager {wager.wager}")
        elif not self.bets.has_room_for(wager.who, wager.wager):
            self._answer_wager(False, None, "the round has as many wagers as the table can book")
        else:
            action: Literal["place", "increase"] = "increase" if self._stake() else "place"
            self.bets.place(wager.who, wager.wager, wager.amount)
            self._answer_wager(True, None, action=action)

    def return_wager(self, _event: object = None) -> None:
        """Give a wager back while betting is open."""
        wager: i.WithdrawWager = self._input
        stake = self._stake()
        amount = stake if wager.amount is None else wager.amount
        if self._answered_before():
            return
        if not stake:
            self._answer_wager(False, None, "there is no such wager")
        elif amount > stake:
            self._answer_wager(False, None, f"only {dollars(stake)} are wagered")
        else:
            self.bets.withdraw(wager.who, wager.wager, amount)
            self._answer_wager(True, None, amount=amount)

    def refuse_wager(self, _event: object = None) -> None:
        """Refuse a wager that comes too late (5.6) or when no round is open."""
        self._refuse_bet("late_wager", "5.6")

    def refuse_withdrawal(self, _event: object = None) -> None:
        """Refuse a withdrawal that comes too late (5.7): the wager wins or loses with the result."""
        self._refuse_bet("late_withdrawal", "5.7")

    def _stake(self) -> int:
        return self._bets.stake(self._input.who, self._input.wager) if self._bets else 0

    def _answered_before(self) -> bool:
        """Answer a request that comes again as it was answered first: it is neither booked twice nor late."""
        answer = self._requests.answer(self._input.id)
        if answer is None:
            return False
        self._answer_wager(*answer, "this id was answered before")
        return True

    def _refuse_bet(self, kind: f.Kind, rule: str) -> None:
        if self._answered_before():
            return
        if self._last_call != "close":
            self._answer_wager(False, None, "betting is not open")
            return
        detail = f"{self._input.who} {self._input.wager}"
        self._find(kind, "refused", detail=detail)
        self._answer_wager(False, rule, 'after "No more bets"')

    def _answer_wager(
        self,
        accepted: bool,
        rule: str | None,
        reason: str = "",
        *,
        action: Literal["place", "increase", "withdraw"] = "place",
        amount: int | None = None,
    ) -> None:
        wager: i.PlaceWager | i.WithdrawWager = self._input
        if isinstance(wager, i.WithdrawWager):
            action = "withdraw"
        self._requests.remember(wager.id, (accepted, rule))
        cents = amount if amount is not None else wager.amount if wager.amount is not None else self._stake()
        self._facts.append(
            f.Wager(
                who=wager.who,
                wager=wager.wager,
                amount=dollars(cents),
                accepted=accepted,
                rule=rule,
                action=action,
                round=self._round.number if self._round else None,
                stake=dollars(self._stake()),
                reason=reason,
                id=wager.id,
            )
        )
