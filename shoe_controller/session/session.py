"""The session: one table's life. An input goes in, facts come out; nothing else changes a table.

The rows of the machine name guards and actions, which are the classes that a session is made of:

    Holding                        what a table remembers
    Guards                         what the rows ask; guards only look
    Findings, CardMoves, Endings   what actions have in common; they only change what is held and append facts
    DealerActions, CardActions,    what the rows do
    SupervisorActions, WagerActions

There is no I/O, no clock and no randomness, so the same inputs always give the same facts.
"""

from collections.abc import Callable
from typing import Literal

from shoe_controller.machine.engines import Engine, TableEngine, TransitionsEngine
from shoe_controller.machine.states import BURNING, DEALING
from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session.card_actions import CardActions
from shoe_controller.session.dealer_actions import DealerActions
from shoe_controller.session.supervisor_actions import SupervisorActions
from shoe_controller.session.view import Phase, ShoeView, TableView
from shoe_controller.session.wager_actions import WagerActions

_PHASES: dict[str, Phase] = {
    "no_shoe": "no-shoe",
    "burning": "burning",
    "ready": "ready",
    "betting": "betting",
    "complete": "complete",
    "announced": "announced",
    "void": "void",
    "decision": "decision",
    "shoe_ended": "shoe-ended",
    "deal_1": "dealing",
    "deal_2": "dealing",
    "deal_3": "dealing",
    "deal_4": "dealing",
    "player_third": "dealing",
    "banker_third": "dealing",
}


class Session(DealerActions, CardActions, SupervisorActions, WagerActions):
    """One table, from its first shoe on."""

    def __init__(self, engine: Literal["transitions", "table"] = "transitions") -> None:
        super().__init__()
        self._engine: Engine = TransitionsEngine(self) if engine == "transitions" else TableEngine(self)

    @classmethod
    def resume(
        cls, load: i.LoadShoe, loaded: f.ShoeLoaded, engine: Literal["transitions", "table"] = "transitions"
    ) -> "Session":
        """Return a session as it was just after this shoe was loaded."""
        session = cls(engine)
        session._shoes = loaded.number - 1
        session._faults = dict(loaded.faults)
        session._unacknowledged = list(loaded.unacknowledged)
        session.handle(load)
        return session

    def handle(self, happened: i.AnyInput) -> list[f.AnyFact]:
        """Take one input and return what it means: at least one fact."""
        self._input = happened
        facts = self._facts = []
        self._plan = self._leads = None
        kind = type(happened)
        look = _HANDLERS.get(kind)
        trigger = look(self) if look else _TRIGGERS[kind]
        if trigger:
            self._engine.fire(trigger)
        return facts

    def end_of_script(self) -> list[f.AnyFact]:
        """Return the reconciliation of a shoe that has not ended, for a script that has."""
        self._facts = []
        if self._shoe and not self._shoe_reported:
            self._end_shoe("the script ended")
        return self._facts

    @property
    def gate_open(self) -> bool:
        """Whether a card may leave the shoe."""
        return not self._faults and (self.state in DEALING or self.state == BURNING)

    def view(self) -> TableView:
        """Return the table as it stands."""
        shoe, current = self._shoe, self._round
        due = current.due if current and self.state in DEALING and not self._faults else None
        return TableView(
            phase="fault" if self._faults else _PHASES[self.state],
            state=self.state,
            shoe=ShoeView(
                id=shoe.id,
                game=shoe.rules.id,
                title=shoe.rules.title,
                decks=shoe.load.decks,
                rules_hash=shoe.rules.hash,
                cards=shoe.cards,
                rounds=shoe.rounds,
                cut_seen=shoe.rounds_left is not None,
                rounds_left=shoe.rounds_left,
                burn_left=shoe.burn_left,
                deck_set=shoe.load.deck_set,
            )
            if shoe
            else None,
            round=current.view() if current else None,
            next=due,
            gate_open=self.gate_open,
            betting_open=self.betting_is_open(),
            alarm=self.alarm,
            open_irregularities=tuple(decision.irregularity for decision in self._open),
            unacknowledged=tuple(self._unacknowledged),
            faults=tuple(self._faults),
            carried=tuple(card.code for card in self._carried),
        )

    def _draw_card(self) -> str:
        card: i.DrawCard = self._input
        shoe = self._shoe
        fault = shoe.fault_of(card.code, card.uid) if shoe else None
        if fault:
            self._bad = fault
            return "bad_card"
        return "card"

    def _draw_together(self) -> str:
        cards: i.DrawTogether = self._input
        fault = self._shoe.fault_of_all(cards.codes, self._uids()) if self._shoe else None
        if fault:
            self._bad = fault
            return "bad_card"
        return "together"

    def _draw_foreign(self) -> str:
        self._bad = "foreign_card"
        return "bad_card"

    def _raise_fault(self) -> None:
        self._faults[self._input.fault] = self._input.detail
        self._facts.append(f.Fault(self._input.fault, active=True, detail=self._input.detail))

    def _clear_fault(self) -> None:
        self._faults.pop(self._input.fault, None)
        self._facts.append(f.Fault(self._input.fault, active=False))

    def _note_device(self) -> None:
        note: i.NoteDevice = self._input
        self._facts.append(f.Device(note.event, note.serial_number, note.firmware, note.firmware_sha256, note.detail))

    def _note_start(self) -> None:
        self._facts.append(f.Started(self._input.version, self._input.config_hash, self._input.detail))

    def _note_config(self) -> None:
        self._facts.append(f.ConfigChanged(self._input.config_hash, self._input.changed))

    def _note_clock(self) -> None:
        self._facts.append(f.ClockStepped(self._input.synced, self._input.step_ms))


# Inputs that are a trigger of the machine whatever the table holds.
_TRIGGERS: dict[type, str] = {
    i.LoadShoe: "shoe",
    i.PlaceBets: "bets",
    i.NoMoreBets: "close",
    i.AnnounceResult: "result",
    i.CutCard: "cut",
    i.ShoeEmpty: "empty",
    i.DrawUnreadable: "unreadable",
    i.ReturnCard: "returned",
    i.Void: "void",
    i.Reconstruct: "reconstruct",
    i.Acknowledge: "ack",
    i.PlaceWager: "wager",
    i.WithdrawWager: "withdraw",
    i.DeviceSaysResult: "device_result",
}
# The others: a card is looked at first and then is a trigger, what is only noted is none.
_HANDLERS: dict[type, Callable[[Session], str | None]] = {
    i.DrawCard: Session._draw_card,  # noqa: SLF001
    i.DrawTogether: Session._draw_together,  # noqa: SLF001
    i.DrawForeign: Session._draw_foreign,  # noqa: SLF001
    i.RaiseFault: Session._raise_fault,  # noqa: SLF001
    i.ClearFault: Session._clear_fault,  # noqa: SLF001
    i.NoteDevice: Session._note_device,  # noqa: SLF001
    i.Start: Session._note_start,  # noqa: SLF001
    i.ChangeConfig: Session._note_config,  # noqa: SLF001
    i.ClockStep: Session._note_clock,  # noqa: SLF001
}
