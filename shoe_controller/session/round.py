"""A round in play: its two hands and what is known about them."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from shoe_controller.rules.games import Outcome, RuleSet
from shoe_controller.rules.play import POINTS, Hand, Side
from shoe_controller.session import facts
from shoe_controller.session.deal import NO_CARDS
from shoe_controller.session.view import RoundView


class DrawnCard(msgspec.Struct, frozen=True, gc=False):
    """A card that left the shoe: its face, its RFID id if any, and whether a supervisor keyed the face."""

    code: str
    uid: str = ""
    keyed: bool = False

    def could_be(self, code: str, uid: str) -> bool:
        """Tell whether this is the card of that id, or of that face where one of them has no id."""
        return self.uid == uid if uid and self.uid else self.code == code


class Round:
    """One round of a shoe, from "Place your bets" until the next one."""

    def __init__(self, number: int, shoe: str, rules: RuleSet) -> None:
        self.number = number
        self.shoe = shoe
        self.rules = rules
        self.revision = 0
        self.status: Literal["open", "complete", "void"] = "open"
        self.announced = False
        self.betting_open = True
        self.drawn: list[DrawnCard] = []  # the cards of the hands, in the order of the deal
        self.keyed: tuple[str, ...] = ()  # those of them whose face was keyed by a supervisor
        self.player: Hand = ()
        self.banker: Hand = ()
        # What follows from the hands, kept beside them since it is asked for many times a card.
        self.place = NO_CARDS
        self.due: Side | None = NO_CARDS.due
        self.unassigned: tuple[str, ...] = ()
        self.irregularities: tuple[str, ...] = ()
        # A supervisor found that no card is missing, the shoe counts otherwise; it will say so of every card.
        self.shoe_miscounts = False
        self.void_rule: str | None = None
        self.void_reason = ""

    def due_after(self, code: str) -> Side | None:
        """Tell who gets a card after the one that comes out now."""
        return self.place.after[POINTS[code]].due

    def deal(self, card: DrawnCard, *, carried: bool = False) -> facts.CardDealt:
        """Give a card to the hand that is due, and say so."""
        due, code = self.due, card.code
        assert due is not None, "a card was dealt to a round that is complete"
        self.drawn.append(card)
        if card.keyed:
            self.keyed = (*self.keyed, code)
        if due == "player":
            self.player += (code,)
        else:
            self.banker += (code,)
        place = self.place = self.place.after[POINTS[code]]
        due = self.due = place.due
        return facts.CardDealt(
            self.shoe,
            self.number,
            code,
            card.uid,
            place.hand,
            place.position,
            place.player_total,
            place.banker_total,
            due,
            due is None,
            "hand",
            card.keyed,
            carried,
        )

    def gather(self) -> None:
        """Take the cards off the table, to be dealt anew."""
        self.drawn, self.keyed, self.player, self.banker = [], (), (), ()
        self.place = NO_CARDS
        self.due = NO_CARDS.due

    def note(self, kind: str) -> None:
        """Remember that an irregularity of this kind happened in the round."""
        if kind not in self.irregularities:
            self.irregularities = (*self.irregularities, kind)

    def leave_out(self, cards: Iterable[DrawnCard]) -> None:
        """Keep cards with the round that are in none of its hands."""
        self.unassigned += tuple(card.code for card in cards)

    def outcome(self) -> Outcome | None:
        """Return what the hands mean, once they are complete."""
        return None if self.due else self.rules.outcome(self.player, self.banker)

    def as_fact(self, outcome: Outcome | None) -> facts.Round:
        """Return the round as it is published now; it is void if it has no outcome."""
        place, rules = self.place, self.rules
        # By place, in the order of the fields: with names it takes almost twice as long.
        return facts.Round(
            self.shoe,
            self.number,
            self.revision,
            "complete" if outcome else "void",
            self.player,
            self.banker,
            place.player_total,
            place.banker_total,
            outcome.winner if outcome else None,
            outcome.natural if outcome else False,
            outcome.pays if outcome else {},
            outcome.pushes if outcome else (),
            self.irregularities,
            rules.id,
            rules.hash,
            self.void_rule,
            self.void_reason,
            self.unassigned,
            self.keyed,
        )

    def view(self) -> RoundView:
        """Return the round as it stands."""
        place = self.place
        known = self.outcome() if self.status == "complete" else None
        return RoundView(
            round=self.number,
            revision=self.revision,
            status=self.status,
            announced=self.announced,
            player=self.player,
            banker=self.banker,
            player_total=place.player_total,
            banker_total=place.banker_total,
            winner=known.winner if known else None,
            natural=known.natural if known else False,
            pays=known.pays if known else {},
            pushes=known.pushes if known else (),
            irregularities=self.irregularities,
            void_rule=self.void_rule,
            void_reason=self.void_reason,
            unassigned=self.unassigned,
            keyed=self.keyed,
        )
