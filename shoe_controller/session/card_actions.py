"""What happens when a card comes out of the shoe, or goes back, and what the shoe itself thinks of it."""

from shoe_controller.machine.states import (
    BETTING,
    BURNING,
)
from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session.endings import Endings
from shoe_controller.session.round import DrawnCard


class CardActions(Endings):
    """Cards that are due are dealt; all others are found irregular."""

    def deal_card(self, _event: object = None) -> None:
        """Give the card to the hand that is due."""
        card: i.DrawCard = self._input
        shoe, current = self._shoe, self._round
        assert shoe is not None, "there is no shoe"
        assert current is not None, "there is no round"
        code, uid = card.code, card.uid
        shoe.take(code, uid)
        self._facts.append(current.deal(DrawnCard(code, uid)))

    def deal_together(self, _event: object = None) -> None:
        """Give cards that came out at once, in known order, to the hands that are due (5.3)."""
        self._find("simultaneous_draw", "noted", cards=self._codes(), uids=self._uids())
        for card in self._take():
            self._facts.append(self.round.deal(card))

    def deal_together_with_surplus(self, _event: object = None) -> None:
        """Deal what is due of cards that came out at once; the rest is too many (5.2)."""
        planned = self._plan_now()
        self._find("simultaneous_draw", "noted", cards=self._codes(), uids=self._uids())
        self._take()
        for card in planned.dealt:
            self._facts.append(self.round.deal(card))
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
                self._facts.append(self.round.deal(card))

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
