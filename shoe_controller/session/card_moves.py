"""Where cards go: out of the shoe, into a hand, aside, into the burn, back."""

from shoe_controller.session import facts as f
from shoe_controller.session.findings import Findings
from shoe_controller.session.round import DrawnCard


class CardMoves(Findings):
    """Moves cards and says so."""

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

    def _tell_hands(self, cards: tuple[DrawnCard, ...]) -> None:
        """Say the whole deal again after a reconstruction changed its order."""
        self.round.gather()
        for card in cards:
            self._facts.append(self.round.deal(card))

    def _count_anew(self, returned: DrawnCard | None, order: tuple[DrawnCard, ...]) -> None:
        """Let the shoe's count follow a new order: a card that was pushed back may be among it after all."""
        left_out = list(self.round.drawn)
        for card in order:
            left_out.remove(card)
        if returned is None:
            for card in left_out:
                self.shoe.put_back(card.code, card.uid)
        elif not left_out:
            self.shoe.count(returned.code, returned.uid)

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
