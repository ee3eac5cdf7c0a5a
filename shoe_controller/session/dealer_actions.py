"""What happens on the shoe's signals and the dealer's calls."""

from shoe_controller.rules.games import find
from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session.bets import Bets, Requests
from shoe_controller.session.endings import Endings
from shoe_controller.session.round import Round
from shoe_controller.session.shoe import Shoe


class DealerActions(Endings):
    """The shoe is loaded and burned, rounds begin and are announced."""

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

    def open_betting(self, _event: object = None) -> None:
        """Begin the next round; cards that were drawn too early are its first ones."""
        shoe = self._shoe
        assert shoe is not None, "there is no shoe"
        number = shoe.rounds = shoe.rounds + 1
        if shoe.rounds_left:
            shoe.rounds_left -= 1
        self._round = Round(number, shoe.id, shoe.rules)
        self._bets = Bets(shoe.rules, shoe.load.rounding)
        self._last_call = "bets"
        self._facts.append(f.BettingOpened(shoe.id, number))
        if self._carried:
            carried, self._carried = self._carried, []
            for card in carried:
                if self.round.due is None:
                    self._carried.append(card)
                else:
                    self._facts.append(self.round.deal(card, carried=True))

    def close_betting(self, _event: object = None) -> None:
        """End betting; a card is due from now on."""
        current = self._round
        assert current is not None, "there is no round"
        self._last_call = "close"
        current.betting_open = False
        self._facts.append(f.BettingClosed(current.shoe, current.number, current.due))

    def close_betting_under_decision(self, _event: object = None) -> None:
        """End betting while a supervisor decides about an early card."""
        self.close_betting()
        self._base = self.round.place.state

    def close_betting_on_empty_shoe(self, _event: object = None) -> None:
        """End betting and void the round: its cards cannot be dealt (5.5)."""
        self.close_betting()
        self.find_exhaustion()

    def announce(self, _event: object = None) -> None:
        """Publish the result and settle the wagers."""
        current, bets = self._round, self._bets
        assert current is not None, "there is no round"
        assert bets is not None, "there is no round"
        outcome = current.outcome()
        assert outcome is not None, "a round was announced before it was complete"
        current.status = "complete"
        current.announced = True
        current.revision += 1
        self._facts.append(current.as_fact(outcome))
        self._facts.extend(bets.settle(outcome, current.number, current.revision))
        if self.last_round():
            self._end_shoe("the last round was played")

    def find_shortage(self, _event: object = None) -> None:
        """Stop: the result was announced while a card is due (5.2)."""
        due = self.round.due
        detail = f"the result was announced while the {due} is due a card"
        self._decide("wrong_number", "draw", detail=detail)
