"""How irregularities and refusals become facts, each with its clause."""

from typing import Literal

from shoe_controller.machine.states import (
    COMPLETE,
    DECISION,
    IN_ROUND,
)
from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session.decisions import Decision
from shoe_controller.session.guards import Guards
from shoe_controller.session.round import DrawnCard

_RULES: dict[f.Kind, str | None] = {
    "foreign_card": "5.1",
    "duplicate_card": "5.1",
    "over_count": "5.1",
    "wrong_number": "5.2",
    "simultaneous_draw": "5.3",
    "order_altered": "5.4",
    "shoe_exhausted": "5.5",
    "late_wager": "5.6",
    "late_withdrawal": "5.7",
    "early_draw": None,
    "unreadable_card": "5.2",
    "device_disagrees": None,
}
_WAITS: dict[f.Kind, str] = dict.fromkeys(_RULES, "reconstruct or void") | {
    "unreadable_card": "key the card, or void",
    "order_altered": "reconstruct with the right order, or void",
}
# These concern the round just played, even when it is announced already.
_ABOUT_LAST_ROUND = ("wrong_number", "order_altered", "late_wager", "late_withdrawal", "device_disagrees")
# The alarm stays lit until it is acknowledged, but a table that nobody looks after must not fill its memory.
MOST_ALARMS = 200

_COMMANDS: dict[type, str] = {
    i.LoadShoe: "shoe",
    i.PlaceBets: "bets",
    i.NoMoreBets: "close",
    i.AnnounceResult: "result",
    i.CutCard: "cut",
    i.ShoeEmpty: "empty",
    i.DrawCard: "card",
    i.DrawTogether: "together",
    i.DrawForeign: "foreign",
    i.DrawUnreadable: "unreadable",
    i.ReturnCard: "returned",
    i.Void: "void",
    i.Reconstruct: "reconstruct",
    i.Acknowledge: "ack",
    i.PlaceWager: "wager",
    i.WithdrawWager: "withdraw",
}


class Findings(Guards):
    """Says what was found wrong, and what waits for a supervisor."""

    def refuse(self, reason: str, _event: object = None) -> None:
        """Record that this may not happen now."""
        command = _COMMANDS[type(self._input)]
        detail = " ".join(self._codes()) if command in ("card", "together") else ""
        self._facts.append(f.Refused(command, reason, detail))

    def refuse_shoe(self, _event: object = None) -> None:
        """Record why the shoe cannot be played."""
        self.refuse(self._wrong_with_shoe())

    def refuse_for_fault(self, _event: object = None) -> None:
        """Record that play cannot begin while hardware is at fault."""
        self.refuse(f"the table has a fault: {', '.join(self._faults)}")

    def refuse_for_missing_cards(self, _event: object = None) -> None:
        """Record that a result may lack cards until a supervisor has compared the table with the record."""
        self.refuse("cards may be missing from the record: compare it with the table, and acknowledge or void first")

    def refuse_reconstruction(self, _event: object = None) -> None:
        """Record why the decision cannot be taken like this."""
        self.refuse(self._plan_now().wrong)

    def _find(
        self,
        kind: f.Kind,
        effect: f.Effect,
        *,
        cards: tuple[str, ...] = (),
        uids: tuple[str, ...] = (),
        detail: str = "",
    ) -> f.Irregularity:
        """Record an irregularity with its clause."""
        in_round = self.state in IN_ROUND or (self.state == DECISION and self._base in IN_ROUND)
        current = self._round
        if current and (in_round or kind in _ABOUT_LAST_ROUND):
            current.note(kind)
        if self._shoe:
            self._shoe.irregularities += 1
        irregularity = f.Irregularity(
            id=self._shoe.irregularities if self._shoe else 0,
            kind=kind,
            rule=_RULES[kind],
            shoe=self._shoe.id if self._shoe else "",
            round=current.number if current else None,
            effect=effect,
            cards=cards,
            uids=tuple(uid for uid in uids if uid),
            outcome_affected=effect == "void" or (effect == "decision" and in_round and self.state != COMPLETE),
            waits_for=_WAITS[kind] if effect == "decision" else "",
            detail=detail,
        )
        self._facts.append(irregularity)
        if effect != "refused":
            self._unacknowledged.append(irregularity)
            del self._unacknowledged[:-MOST_ALARMS]
        return irregularity

    def _decide(
        self,
        kind: f.Kind,
        way: Literal["place", "order", "draw", "stand"],
        cards: tuple[DrawnCard, ...] = (),
        *,
        order_known: bool = True,
        unreadable: bool = False,
        returned: DrawnCard | None = None,
        base: str = "",
        detail: str = "",
    ) -> None:
        """Record an irregularity and wait for a supervisor."""
        codes = tuple(card.code for card in cards)
        irregularity = self._find(kind, "decision", cards=codes, uids=tuple(c.uid for c in cards), detail=detail)
        if self.state != DECISION:
            self._base = base or self.state
        known = order_known or len(cards) < 2
        waiting = cards if way == "place" else ()
        self._open.append(Decision(irregularity, way, waiting, known, unreadable, returned))
