"""The session: one table's life. An input goes in, facts come out; nothing else changes a table.

The rows of the machine name the guards and actions here. Guards only look; actions only change what the session holds
and append facts. There is no I/O, no clock and no randomness, so the same inputs always give the same facts.
"""

from collections.abc import Callable
from typing import Any, Literal

from shoe_controller.machine.engines import Engine, TableEngine, TransitionsEngine
from shoe_controller.machine.states import (
    BETTING,
    BETWEEN_ROUNDS,
    BURNING,
    COMPLETE,
    DEALING,
    DECISION,
    IN_ROUND,
    SHOE_ENDED,
)
from shoe_controller.money import dollars
from shoe_controller.rules.games import find, load_all
from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session.bets import Bets, Requests
from shoe_controller.session.decisions import Decision, Plan, plan
from shoe_controller.session.round import DrawnCard, Round
from shoe_controller.session.shoe import Shoe
from shoe_controller.session.view import Phase, ShoeView, TableView

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


class Session:
    """One table, from its first shoe on."""

    def __init__(self, engine: Literal["transitions", "table"] = "transitions") -> None:
        self.state = ""
        self._input: Any = None
        self._facts: list[f.AnyFact] = []
        self._shoes = 0
        self._shoe: Shoe | None = None
        self._shoe_reported = False
        self._round: Round | None = None
        self._bets: Bets | None = None
        self._requests = Requests()
        self._last_call = ""  # the dealer's last call, bets or close: clauses 5.6 and 5.7 ask for it
        self._carried: list[DrawnCard] = []  # drawn too early, for the next round
        self._open: list[Decision] = []
        self._base = ""  # the state that the table comes back to when decisions are taken
        self._bad: f.Kind = "foreign_card"
        self._plan: Plan | None = None
        self._unacknowledged: list[f.Irregularity] = []
        self._faults: dict[str, str] = {}
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
        self._facts = []
        self._plan = None
        _HANDLERS[type(happened)](self)
        return self._facts

    def end_of_script(self) -> list[f.AnyFact]:
        """Return the reconciliation of a shoe that has not ended, for a script that has."""
        self._facts = []
        if self._shoe and not self._shoe_reported:
            self._end_shoe("the script ended")
        return self._facts

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
            gate_open=due is not None or (self.state == BURNING and not self._faults),
            betting_open=self.betting_is_open(),
            alarm=bool(self._unacknowledged),
            open_irregularities=tuple(decision.irregularity for decision in self._open),
            unacknowledged=tuple(self._unacknowledged),
            faults=tuple(self._faults),
            carried=tuple(card.code for card in self._carried),
        )

    # ---- inputs ----------------------------------------------------------------------------------------------

    def _draw_card(self) -> None:
        card: i.DrawCard = self._input
        shoe = self._shoe
        fault = shoe.fault_of(card.code, card.uid) if shoe else None
        if fault:
            self._bad = fault
            self._engine.fire("bad_card")
        else:
            self._engine.fire("card")

    def _draw_together(self) -> None:
        cards: i.DrawTogether = self._input
        fault = self._shoe.fault_of_all(cards.codes, self._uids()) if self._shoe else None
        if fault:
            self._bad = fault
        self._engine.fire("bad_card" if fault else "together")

    def _draw_foreign(self) -> None:
        self._bad = "foreign_card"
        self._engine.fire("bad_card")

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

    # ---- what the guards ask ---------------------------------------------------------------------------------

    def leads_to(self, dest: str, _event: object = None) -> bool:
        """Tell whether the input leads to this state."""
        if isinstance(self._input, i.NoMoreBets):
            return self.round.dealing_state == dest
        if isinstance(self._input, i.Void):
            return self._settled(self._base) == dest
        plan_ = self._plan_now()
        if isinstance(self._input, i.DrawTogether):
            return not plan_.surplus and plan_.base == dest
        return len(self._open) == 1 and self._settled(plan_.base) == dest

    def shoe_is_wrong(self, _event: object = None) -> bool:
        """Tell whether the shoe cannot be played: unknown game, wrong number of decks."""
        return bool(self._wrong_with_shoe())

    def burn_is_due(self, _event: object = None) -> bool:
        """Tell whether cards must be burned before the first round."""
        return bool(self._input.burn != "none")

    def in_fault(self, _event: object = None) -> bool:
        """Tell whether hardware is not fit for play."""
        return bool(self._faults)

    def shoe_cannot_deal(self, _event: object = None) -> bool:
        """Tell whether a card would be due from an empty shoe (5.5)."""
        return self.shoe.is_empty and self.round.dealing_state in DEALING

    def betting_is_open(self, _event: object = None) -> bool:
        """Tell whether wagers are taken."""
        return self.state == BETTING or (self.state == DECISION and self._base == BETTING)

    def last_round(self, _event: object = None) -> bool:
        """Tell whether the shoe ends when this round does, or has ended already."""
        shoe = self.shoe
        return shoe.rounds_left == 0 or shoe.is_empty or self._shoe_reported

    def round_is_open(self, _event: object = None) -> bool:
        """Tell whether a decision interrupts a round that is not announced yet."""
        return self._base in IN_ROUND

    def last_round_stands(self, _event: object = None) -> bool:
        """Tell whether there is an announced round that could still become void."""
        return self._round is not None and self._round.status == "complete"

    def round_stands(self, _event: object = None) -> bool:
        """Tell whether a decision is about a round that could become void."""
        return self.round_is_open() or self.last_round_stands()

    def cut_was_seen(self, _event: object = None) -> bool:
        """Tell whether the cut card came out before."""
        return self.shoe.rounds_left is not None

    def cut_ends_shoe(self, _event: object = None) -> bool:
        """Tell whether no round may follow the cut card."""
        return self.shoe.load.rounds_after_cut == 0

    def burn_ends(self, _event: object = None) -> bool:
        """Tell whether the cards that come out now finish the burn."""
        if isinstance(self._input, i.DrawUnreadable):
            return self.shoe.burn_left <= 1
        return self.shoe.burn_left_after(self._codes()) == 0

    def burn_waits_for_first_card(self, _event: object = None) -> bool:
        """Tell whether the face of the card decides how many are burned."""
        return self.shoe.burn_waits_for_first_card

    def early_card_voids(self, _event: object = None) -> bool:
        """Tell whether the house voids a round for an early card."""
        return self.shoe.load.early_card == "void"

    def early_card_is_first(self, _event: object = None) -> bool:
        """Tell whether the house takes an early card as the round's next one; its order must be known."""
        return self.shoe.load.early_card == "first-card" and not self.order_is_unknown()

    def device_sees_another_hand(self, _event: object = None) -> bool:
        """Tell whether a shoe that follows the game says that the card is for another place."""
        target = self._input.target
        if not target or self.round.shoe_miscounts:
            return False
        side = self.round.due
        position = len(self.round.player if side == "player" else self.round.banker) + 1
        return bool(target != f"{side}{position}")

    def player_draws(self, _event: object = None) -> bool:
        """Tell whether the Player draws after this card (3.9)."""
        return self.round.due_after(self._input.code) == "player"

    def banker_draws(self, _event: object = None) -> bool:
        """Tell whether the Banker draws after this card (3.9)."""
        return self.round.due_after(self._input.code) == "banker"

    def order_is_unknown(self, _event: object = None) -> bool:
        """Tell whether cards came out together and nobody knows in which order (5.3)."""
        return isinstance(self._input, i.DrawTogether) and not self._input.order_known

    def reconstruction_is_wrong(self, _event: object = None) -> bool:
        """Tell whether the oldest decision cannot be reconstructed with these cards."""
        return bool(self._plan_now().wrong)

    def device_disagrees(self, _event: object = None) -> bool:
        """Tell whether the shoe's own result is another than ours."""
        return not self.device_agrees()

    def alarm_is_on(self, _event: object = None) -> bool:
        """Tell whether an irregularity is not acknowledged yet."""
        return bool(self._unacknowledged)

    def device_agrees(self, _event: object = None) -> bool:
        """Tell whether the shoe's own result is ours."""
        outcome = self.round.outcome()
        says: i.DeviceSaysResult = self._input
        player, banker = self.round.player, self.round.banker
        return (
            outcome is not None
            and outcome.winner == says.winner
            and says.player_pair == (player[0][0] == player[1][0])
            and says.banker_pair == (banker[0][0] == banker[1][0])
        )

    # ---- refusals --------------------------------------------------------------------------------------------

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

    def refuse_reconstruction(self, _event: object = None) -> None:
        """Record why the decision cannot be taken like this."""
        self.refuse(self._plan_now().wrong)

    # ---- the shoe --------------------------------------------------------------------------------------------

    def load_shoe(self, _event: object = None) -> None:
        """Put a new shoe into play; the one before ends."""
        load: i.LoadShoe = self._input
        if self._shoe and not self._shoe_reported:
            self._end_shoe("a new shoe was loaded")
        self._shoes += 1
        self._shoe = Shoe(load, find(load.game), load.id or f"shoe-{self._shoes}")
        self._shoe_reported = False
        self._round = self._bets = None
        self._requests = Requests()
        self._last_call = ""
        self._carried = []
        self._facts.append(
            f.ShoeLoaded(
                shoe=self.shoe.id,
                game=load.game,
                title=self.shoe.rules.title,
                decks=load.decks,
                rules_hash=self.shoe.rules.hash,
                burn=str(load.burn),
                surplus=load.surplus,
                rounds_after_cut=load.rounds_after_cut,
                number=self._shoes,
                deck_set=load.deck_set,
                faults=dict(self._faults),
                unacknowledged=tuple(self._unacknowledged),
            )
        )

    def burn_card(self, _event: object = None) -> None:
        """Burn the card that came out."""
        for card in self._take():
            self._burn(card.code)

    def burn_together(self, _event: object = None) -> None:
        """Burn cards that came out at once: their order matters to nobody, so it is only noted."""
        self._find("simultaneous_draw", "noted", cards=self._codes())
        self.burn_card()

    def find_burn_order(self, _event: object = None) -> None:
        """Stop: the first card says how many are burned, and nobody knows which of these was first."""
        self._decide("simultaneous_draw", "place", self._take(), order_known=False)

    def burn_unreadable(self, _event: object = None) -> None:
        """Burn a card that could not be read: its face does not matter."""
        self.shoe.take_unreadable()
        self._find("unreadable_card", "noted", detail="a burned card could not be read")
        self._burn(None)

    def see_cut_card(self, _event: object = None) -> None:
        """Count the rounds that are left from now on."""
        self.shoe.rounds_left = self.shoe.load.rounds_after_cut
        self._facts.append(f.CutCardSeen(self.shoe.id, self.shoe.rounds_left))

    def see_cut_card_and_end(self, _event: object = None) -> None:
        """End the shoe: no round may follow the cut card."""
        self.see_cut_card()
        self._end_shoe("the cut card")

    def note_empty_shoe(self, _event: object = None) -> None:
        """Remember that no card is left; it matters when one is due."""
        self.shoe.is_empty = True
        self._facts.append(f.Device("empty", detail="the shoe is empty"))

    def end_empty_shoe(self, _event: object = None) -> None:
        """End an empty shoe between rounds."""
        self.note_empty_shoe()
        self._end_shoe("the shoe is empty")

    def find_exhaustion(self, _event: object = None) -> None:
        """Void the round: its cards cannot be dealt (5.5)."""
        self.shoe.is_empty = True
        self._find("shoe_exhausted", "void")
        self._void("5.5")
        self._end_shoe("the shoe is empty")

    # ---- the dealer's calls ----------------------------------------------------------------------------------

    def open_betting(self, _event: object = None) -> None:
        """Begin the next round; cards that were drawn too early are its first ones."""
        shoe = self.shoe
        shoe.rounds += 1
        if shoe.rounds_left:
            shoe.rounds_left -= 1
        self._round = Round(shoe.rounds, shoe.id, shoe.rules)
        self._bets = Bets(shoe.rules, shoe.load.rounding)
        self._last_call = "bets"
        self._facts.append(f.BettingOpened(shoe.id, shoe.rounds))
        carried, self._carried = self._carried, []
        for card in carried:
            if self.round.due is None:
                self._carried.append(card)
            else:
                self._deal(card, carried=True)

    def close_betting(self, _event: object = None) -> None:
        """End betting; a card is due from now on."""
        self._last_call = "close"
        self.round.betting_open = False
        due = self.round.due
        self._facts.append(f.BettingClosed(self.shoe.id, self.round.number, due))

    def close_betting_under_decision(self, _event: object = None) -> None:
        """End betting while a supervisor decides about an early card."""
        self.close_betting()
        self._base = self.round.dealing_state

    def close_betting_on_empty_shoe(self, _event: object = None) -> None:
        """End betting and void the round: its cards cannot be dealt (5.5)."""
        self.close_betting()
        self.find_exhaustion()

    def announce(self, _event: object = None) -> None:
        """Publish the result and settle the wagers."""
        current = self.round
        outcome = current.outcome()
        assert outcome is not None, "a round was announced before it was complete"
        current.status = "complete"
        current.announced = True
        current.revision += 1
        self._facts.append(current.as_fact())
        self._facts.extend(self.bets.settle(outcome, current.number, current.revision))
        if self.last_round():
            self._end_shoe("the last round was played")

    def find_shortage(self, _event: object = None) -> None:
        """Stop: the result was announced while a card is due (5.2)."""
        due = self.round.due
        detail = f"the result was announced while the {due} is due a card"
        self._decide("wrong_number", "draw", detail=detail)

    # ---- cards -----------------------------------------------------------------------------------------------

    def deal_card(self, _event: object = None) -> None:
        """Give the card to the hand that is due."""
        card: i.DrawCard = self._input
        code, uid = card.code, card.uid
        self.shoe.take(code, uid)
        self._deal(DrawnCard(code, uid))

    def deal_together(self, _event: object = None) -> None:
        """Give cards that came out at once, in known order, to the hands that are due (5.3)."""
        self._find("simultaneous_draw", "noted", cards=self._codes(), uids=self._uids())
        for card in self._take():
            self._deal(card)

    def deal_together_with_surplus(self, _event: object = None) -> None:
        """Deal what is due of cards that came out at once; the rest is too many (5.2)."""
        planned = self._plan_now()
        self._find("simultaneous_draw", "noted", cards=self._codes(), uids=self._uids())
        self._take()
        for card in planned.dealt:
            self._deal(card)
        self._decide("wrong_number", "place", planned.surplus, base=planned.base)

    def find_surplus(self, _event: object = None) -> None:
        """Stop: more cards came out than were due (5.2)."""
        self._decide("wrong_number", "place", self._take(), order_known=not self.order_is_unknown())

    def find_early_card(self, _event: object = None) -> None:
        """Stop: a card came out before "No more bets"."""
        self._decide("early_draw", "place", self._take(), order_known=not self.order_is_unknown())

    def accept_early_card(self, _event: object = None) -> None:
        """Take an early card as the round's next one, as the house does."""
        self._find("early_draw", "noted", cards=self._codes(), uids=self._uids())
        for card in self._take():
            if self.round.due is None:
                self._set_aside((card,))
            else:
                self._deal(card)

    def void_for_early_card(self, _event: object = None) -> None:
        """Void the round for an early card, as the house does."""
        self._find("early_draw", "void", cards=self._codes(), uids=self._uids())
        self._void_with(self._take(), None)

    def find_card_under_decision(self, _event: object = None) -> None:
        """Note a card that came out although play is stopped; it waits for its own decision."""
        kind: f.Kind = "early_draw" if self._base == BETTING else "wrong_number"
        detail = "drawn while a decision was open"
        self._decide(kind, "place", self._take(), order_known=not self.order_is_unknown(), detail=detail)

    def find_unreadable(self, _event: object = None) -> None:
        """Stop: a card came out that could not be read. Never guess."""
        self.shoe.take_unreadable()
        self._decide("unreadable_card", "place", unreadable=True)

    def find_altered_order(self, _event: object = None) -> None:
        """Stop: a card was pushed back, so the order of the cards is altered (5.4)."""
        returned = self._find_drawn(self._input.code, self._input.uid)
        aside = None if returned else self._take_from_aside(self._input.code, self._input.uid)
        known = returned or aside
        if known:
            self.shoe.put_back(known.code, known.uid)
        elif self._input.code:
            known = DrawnCard(self._input.code, self._input.uid)
        self._decide("order_altered", "order", cards=(known,) if known else (), returned=returned)

    def note_return(self, _event: object = None) -> None:
        """Note a card that was pushed back when no round can be affected."""
        code, uid = self._input.code, self._input.uid
        if code and self.state == BURNING and self.shoe.has_seen(code, uid):
            self.shoe.put_back(code, uid)
        self._find("order_altered", "noted", cards=self._codes(), uids=self._uids())

    def note_card_after_end(self, _event: object = None) -> None:
        """Note a card that came out after the shoe had ended."""
        if isinstance(self._input, i.DrawUnreadable):
            self.shoe.take_unreadable()
            self._find("unreadable_card", "noted", detail="after the shoe had ended")
        else:
            self._take()
            self._find("wrong_number", "noted", cards=self._codes(), detail="after the shoe had ended")

    def note_bad_card(self, _event: object = None) -> None:
        """Note a foreign card between rounds: the last result stands (5.1.2)."""
        self._take_bad()
        self._find(self._bad, "noted", cards=self._codes(), uids=self._uids(), detail=self._detail())

    def void_for_bad_card(self, _event: object = None) -> None:
        """Void the round for a foreign card (5.1.1)."""
        self._take_bad()
        self._find(self._bad, "void", cards=self._codes(), uids=self._uids(), detail=self._detail())
        self._void_with((), "5.1")

    def void_for_unknown_order(self, _event: object = None) -> None:
        """Void the round: cards came out at once in the initial deal and nobody knows their order (5.3)."""
        self._find("simultaneous_draw", "void", cards=self._codes(), uids=self._uids())
        self._void_with(self._take(), "5.3")

    # ---- the supervisor --------------------------------------------------------------------------------------

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
                self.shoe.take(card.code, "")
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
            self._deal(card)
        self._set_aside(planned.surplus)
        self._base = planned.base
        if not self._open and self._settled(planned.base) == SHOE_ENDED != planned.base:
            if planned.base in DEALING:
                self.find_exhaustion()
            else:
                self._end_shoe(self._why_ended())

    def acknowledge(self, _event: object = None) -> None:
        """Put out the alarm."""
        ids = tuple(irregularity.id for irregularity in self._unacknowledged)
        self._unacknowledged = []
        self._facts.append(f.Acknowledged(ids, self._input.by))

    # ---- wagers ----------------------------------------------------------------------------------------------

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

    # ---- the device's own opinion ----------------------------------------------------------------------------

    def note_device_result(self, _event: object = None) -> None:
        """Note the shoe's own result where it agrees or there is nothing to compare it with."""
        self._facts.append(f.Device("result", detail=self._input.winner or "ended by force"))

    def find_disagreement(self, _event: object = None) -> None:
        """Stop: the shoe's own result is not ours, and nobody chooses silently."""
        outcome = self.round.outcome()
        ours = outcome.winner if outcome else "not complete"
        detail = f"the shoe says {self._input.winner or 'ended by force'}, the rules say {ours}"
        self._decide("device_disagrees", "stand", detail=detail)

    def find_disagreement_on_card(self, _event: object = None) -> None:
        """Stop: the shoe says that the card is for another place; a card may have been missed."""
        detail = f"the shoe says that the card is for {self._input.target}"
        self._decide("device_disagrees", "place", self._take(), detail=detail)

    # ---- what the actions share ------------------------------------------------------------------------------

    @property
    def shoe(self) -> Shoe:
        """The shoe in play; the rows see to it that there is one."""
        assert self._shoe is not None, "there is no shoe"
        return self._shoe

    @property
    def round(self) -> Round:
        """The round in play, or the last one; the rows see to it that there is one."""
        assert self._round is not None, "there is no round"
        return self._round

    @property
    def bets(self) -> Bets:
        """The wagers of the round in play."""
        assert self._bets is not None, "there is no round"
        return self._bets

    def _codes(self) -> tuple[str, ...]:
        happened = self._input
        if isinstance(happened, i.DrawTogether):
            return happened.codes
        code = getattr(happened, "code", "")
        return (code,) if code else ()

    def _uids(self) -> tuple[str, ...]:
        happened = self._input
        if isinstance(happened, i.DrawTogether):
            return happened.uids or ("",) * len(happened.codes)
        return (happened.uid,)

    def _detail(self) -> str:
        return getattr(self._input, "detail", "")

    def _take(self) -> tuple[DrawnCard, ...]:
        cards = tuple(map(DrawnCard, self._codes(), self._uids()))
        for card in cards:
            self.shoe.take(card.code, card.uid)
        return cards

    def _take_bad(self) -> None:
        codes = self._codes() or ("",)
        for code, uid in zip(codes, self._uids(), strict=True):
            if len(codes) > 1 and self.shoe.fault_of(code, uid) is None:
                self.shoe.take(code, uid)
            else:
                self.shoe.take_bad(code, uid)

    def _deal(self, card: DrawnCard, *, carried: bool = False) -> None:
        current = self._round
        assert current is not None, "there is no round"
        side, position = current.deal(card)
        due = current.due
        self._facts.append(
            f.CardDealt(
                current.shoe,
                current.number,
                card.code,
                card.uid,
                side,
                position,
                current.player_total,
                current.banker_total,
                due,
                due is None,
                "hand",
                card.keyed,
                carried,
            )
        )

    def _tell_hands(self, cards: tuple[DrawnCard, ...]) -> None:
        """Say the whole deal again after a reconstruction changed its order."""
        self.round.gather()
        for card in cards:
            self._deal(card)

    def _count_anew(self, returned: DrawnCard | None, order: tuple[DrawnCard, ...]) -> None:
        """Let the shoe's count follow a new order: a card that was pushed back may be among it after all."""
        left_out = list(self.round.drawn)
        for card in order:
            left_out.remove(card)
        if returned is None:
            for card in left_out:
                self.shoe.put_back(card.code, card.uid)
        elif not left_out:
            self.shoe.take(returned.code, returned.uid)

    def _burn(self, code: str | None) -> None:
        self.shoe.burn(code)
        self._facts.append(f.Burned(self.shoe.id, code, max(self.shoe.burn_left, 0)))

    def _set_aside(self, cards: tuple[DrawnCard, ...]) -> None:
        """Put surplus cards where the house's policy wants them."""
        keeps = self.shoe.load.surplus == "next-round" and not self.last_round()
        for card in cards:
            if keeps:
                self._carried.append(card)
            self._facts.append(
                f.CardDealt(
                    self.shoe.id,
                    self._round.number if self._round else None,
                    card.code,
                    card.uid,
                    None,
                    0,
                    None,
                    None,
                    None,
                    complete=False,
                    place="next-round" if keeps else "burned",
                    keyed=card.keyed,
                )
            )

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

    def _plan_now(self) -> Plan:
        """Return what the input leads to; worked out once for all guards."""
        if self._plan is None:
            if isinstance(self._input, i.DrawTogether):
                cards = tuple(map(DrawnCard, self._codes(), self._uids()))
                waiting = Decision(_NO_IRREGULARITY, "place", cards)
                self._plan = plan(waiting, (), self.state, self.shoe, self._round)
            else:
                self._plan = plan(self._open[0], self._input.codes, self._base, self.shoe, self._round)
        return self._plan

    def _settled(self, base: str) -> str:
        """Return where a table that comes back to `base` really goes: a shoe that cannot go on has ended."""
        if base in DEALING and self.shoe.is_empty:
            return SHOE_ENDED
        if base in (BURNING, *BETWEEN_ROUNDS) and self.last_round():
            return SHOE_ENDED
        return base

    def _why_ended(self) -> str:
        if self.shoe.is_empty:
            return "the shoe is empty"
        return "the last round was played" if self.shoe.rounds else "the cut card"

    def _resolve_all(self, how: Literal["void"]) -> None:
        if self._open:
            ids = tuple(decision.irregularity.id for decision in self._open)
            number = self._open[0].irregularity.round
            self._facts.append(f.Resolved(ids, how, number, (), self._input.by, self._input.reason))
            if self._base in (*IN_ROUND, SHOE_ENDED, "announced") and self._round:
                for decision in self._open:
                    self._round.unassigned.extend(card.code for card in decision.cards)
            self._open = []

    def _void_with(self, cards: tuple[DrawnCard, ...], rule: str | None) -> None:
        self.round.unassigned.extend(card.code for card in cards)
        self._void(rule)
        if self.last_round():
            self._end_shoe("the last round was played")

    def _void(self, rule: str | None) -> None:
        """Publish the round as void and hand the stakes back."""
        current = self.round
        for decision in self._open:  # a foreign card voids the round whatever else was to be decided
            current.unassigned.extend(card.code for card in decision.cards)
        self._open = []
        current.unassigned.extend(card.code for card in self._carried)  # a surplus card goes with its round
        self._carried = []
        current.status = "void"
        current.betting_open = False
        current.void_rule = rule
        current.revision += 1
        self._facts.append(current.as_fact())
        self._facts.extend(self.bets.refund(current.number, current.revision))

    def _end_shoe(self, ended_by: str) -> None:
        if self._shoe_reported:
            return
        self._shoe_reported = True
        shoe = self.shoe
        self._facts.append(
            f.ShoeEnded(shoe.id, shoe.rounds, shoe.cards, shoe.missing(), shoe.extra(), shoe.unreadable, ended_by)
        )

    def _find_drawn(self, code: str, uid: str) -> DrawnCard | None:
        """Return the newest card of the round that this could be; one that is back in the shoe already is not it."""
        drawn = self._round.drawn if self._round and self._round.status == "open" else []
        back = [decision.returned for decision in self._open]
        return next((c for c in reversed(drawn) if c.could_be(code, uid) and not any(c is b for b in back)), None)

    def _take_from_aside(self, code: str, uid: str) -> DrawnCard | None:
        """Take a card away that waits for a decision or for the next round; None if it does not wait there."""
        for at, decision in enumerate(self._open):
            for card in decision.cards:
                if card.could_be(code, uid):
                    self._open[at] = decision.without(card)
                    return card
        for card in self._carried:
            if card.could_be(code, uid):
                self._carried.remove(card)
                return card
        return None

    def _wrong_with_shoe(self) -> str:
        load: i.LoadShoe = self._input
        rules = load_all().get(load.game)
        if rules is None:
            return f"there is no game {load.game!r}"
        if not rules.min_decks <= load.decks <= rules.max_decks:
            return f"{rules.title} is played with {rules.min_decks} to {rules.max_decks} decks, not {load.decks}"
        if isinstance(load.burn, int) and not 1 <= load.burn <= 8:
            return f"a fixed burn is 1 to 8 cards, not {load.burn}"
        return "" if load.rounds_after_cut >= 0 else "rounds_after_cut cannot be negative"

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
_NO_IRREGULARITY = f.Irregularity(0, "simultaneous_draw", None, "", None, "noted")

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


def _firing(trigger: str) -> Callable[[Session], None]:
    return lambda session: session._engine.fire(trigger)  # noqa: SLF001 (a method of the class, made by name)


_HANDLERS: dict[type, Callable[[Session], None]] = {
    i.LoadShoe: _firing("shoe"),
    i.PlaceBets: _firing("bets"),
    i.NoMoreBets: _firing("close"),
    i.AnnounceResult: _firing("result"),
    i.CutCard: _firing("cut"),
    i.ShoeEmpty: _firing("empty"),
    i.DrawCard: Session._draw_card,  # noqa: SLF001
    i.DrawTogether: Session._draw_together,  # noqa: SLF001
    i.DrawForeign: Session._draw_foreign,  # noqa: SLF001
    i.DrawUnreadable: _firing("unreadable"),
    i.ReturnCard: _firing("returned"),
    i.Void: _firing("void"),
    i.Reconstruct: _firing("reconstruct"),
    i.Acknowledge: _firing("ack"),
    i.PlaceWager: _firing("wager"),
    i.WithdrawWager: _firing("withdraw"),
    i.DeviceSaysResult: _firing("device_result"),
    i.RaiseFault: Session._raise_fault,  # noqa: SLF001
    i.ClearFault: Session._clear_fault,  # noqa: SLF001
    i.NoteDevice: Session._note_device,  # noqa: SLF001
    i.Start: Session._note_start,  # noqa: SLF001
    i.ChangeConfig: Session._note_config,  # noqa: SLF001
    i.ClockStep: Session._note_clock,  # noqa: SLF001
}
