"""A round in play: its two hands and what is known about them."""

from typing import Literal

import msgspec

from shoe_controller.machine.states import dealing_state
from shoe_controller.rules.games import Outcome, RuleSet
from shoe_controller.rules.play import Hand, Side, next_card, total
from shoe_controller.session import facts
from shoe_controller.session.view import RoundView


class DrawnCard(msgspec.Struct, frozen=True):
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
        self.player: Hand = ()
        self.banker: Hand = ()
        # What follows from the hands, kept beside them since it is asked for many times a card.
        self.player_total: int | None = None
        self.banker_total: int | None = None
        self.due: Side | None = next_card((), ())
        self._due_after: tuple[str, Side | None] = "", None
        self.unassigned: list[str] = []
        self.irregularities: list[str] = []
        # A supervisor found that no card is missing, the shoe counts otherwise; it will say so of every card.
        self.shoe_miscounts = False
        self.void_rule: str | None = None
        self.void_reason = ""

    @property
    def keyed(self) -> tuple[str, ...]:
        """The cards of the hands whose face was keyed by a supervisor."""
        return tuple([card.code for card in self.drawn if card.keyed])

    @property
    def dealing_state(self) -> str:
        """The state in which this round's next card is due."""
        return dealing_state(self.player, self.banker)

    def due_after(self, code: str) -> Side | None:
        """Tell who gets a card after the one that comes out now."""
        asked, due = self._due_after
        if asked != code:  # several guards ask of the same card
            if self.due == "player":
                due = next_card((*self.player, code), self.banker)
            else:
                due = next_card(self.player, (*self.banker, code))
            self._due_after = code, due
        return due

    def deal(self, card: DrawnCard) -> tuple[Side, int]:
        """Give a card to the hand that is due; return the hand and the card's position in it."""
        side = self.due
        assert side is not None, "a card was dealt to a round that is complete"
        self.drawn.append(card)
        if side == "player":
            hand = self.player = (*self.player, card.code)
            self.player_total = total(hand)
        else:
            hand = self.banker = (*self.banker, card.code)
            self.banker_total = total(hand)
        self.due = next_card(self.player, self.banker)
        self._due_after = "", None
        return side, len(hand)

    def gather(self) -> None:
        """Take the cards off the table, to be dealt anew."""
        self.drawn, self.player, self.banker = [], (), ()
        self.player_total = self.banker_total = None
        self.due = next_card((), ())
        self._due_after = "", None

    def note(self, kind: str) -> None:
        """Remember that an irregularity of this kind happened in the round."""
        if kind not in self.irregularities:
            self.irregularities.append(kind)

    def outcome(self) -> Outcome | None:
        """Return what the hands mean, once they are complete."""
        return None if self.due else self.rules.outcome(self.player, self.banker)

    def as_fact(self) -> facts.Round:
        """Return the round as it is published now."""
        outcome = self.outcome() if self.status == "complete" else None
        return facts.Round(
            shoe=self.shoe,
            round=self.number,
            revision=self.revision,
            status="complete" if outcome else "void",
            player=self.player,
            banker=self.banker,
            player_total=self.player_total,
            banker_total=self.banker_total,
            winner=outcome.winner if outcome else None,
            natural=outcome.natural if outcome else False,
            pays=outcome.pays if outcome else {},
            pushes=outcome.pushes if outcome else (),
            irregularities=tuple(self.irregularities),
            rules=self.rules.id,
            rules_hash=self.rules.hash,
            void_rule=self.void_rule,
            void_reason=self.void_reason,
            unassigned=tuple(self.unassigned),
            keyed=self.keyed,
        )

    def view(self) -> RoundView:
        """Return the round as it stands."""
        known = self.as_fact() if self.announced or self.status == "void" else None
        return RoundView(
            round=self.number,
            revision=self.revision,
            status=self.status,
            announced=self.announced,
            player=self.player,
            banker=self.banker,
            player_total=self.player_total,
            banker_total=self.banker_total,
            winner=known.winner if known else None,
            natural=known.natural if known else False,
            pays=known.pays if known else {},
            pushes=known.pushes if known else (),
            irregularities=tuple(self.irregularities),
            void_rule=self.void_rule,
            void_reason=self.void_reason,
            unassigned=tuple(self.unassigned),
            keyed=self.keyed,
        )
