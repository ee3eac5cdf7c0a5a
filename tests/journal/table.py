"""A table that plays: inputs of whole shoes with a dealer who follows the rules, and now and then does not."""

import random
from collections.abc import Iterator

from shoe_controller.cards import DECKS
from shoe_controller.journal.codec import encode_fact, encode_input
from shoe_controller.journal.entry import NewEntry, Stamp
from shoe_controller.machine.states import DEALING, DECISION, SHOE_ENDED
from shoe_controller.session import inputs as i
from shoe_controller.session.facts import Round, ShoeEnded
from shoe_controller.session.session import Session

BOOT = "0123456789abcdef" * 2
CUT_AT = 16  # cards behind the cut card


def shoe_inputs(
    session: Session, chance: random.Random, *, game="no-commission", size=52, decks=8, trouble=0.0, name="", wagers=0
) -> Iterator[i.AnyInput]:
    """Yield the inputs of one shoe; what comes next depends on what the session said of the last."""
    cards = list(DECKS[size].faces) * decks
    chance.shuffle(cards)
    yield i.LoadShoe(game, decks, id=name)
    while True:
        yield i.PlaceBets()
        for number in range(wagers):
            wager = chance.choice(("player", "banker", "tie"))
            yield i.PlaceWager(f"seat-{number}", wager, 100 * chance.randrange(1, 90))
        yield i.NoMoreBets()
        while session.state in DEALING:
            if chance.random() < trouble:
                yield from _trouble(chance)
            if session.state == DECISION:
                yield i.Void()  # all copies of the keyed card had been seen, so it was refused
            if session.state not in DEALING:
                break
            yield i.DrawCard(cards.pop(), uid=f"e004{chance.getrandbits(48):012x}")
            if len(cards) == CUT_AT:
                yield i.CutCard()
        yield i.AnnounceResult()
        if session.state == SHOE_ENDED:
            return


def _trouble(chance: random.Random) -> Iterator[i.AnyInput]:
    """Yield something that should not happen, and how it is resolved."""
    kind = chance.randrange(5)
    if kind == 0:
        yield i.DrawForeign(uid="0badc0de")
    elif kind == 1:
        yield i.DrawUnreadable()
        yield i.Reconstruct(("7d",), by="local:pit")
    elif kind == 2:
        yield i.PlaceBets()
    elif kind == 3:
        yield i.RaiseFault("lid", "the lid is open")
        yield i.ClearFault("lid")
    else:
        yield i.PlaceWager("seat-9", "tie", 500)
    yield i.Acknowledge(by="local:pit")


class Table:
    """Turns inputs into entries as the daemon does."""

    def __init__(self, seed=1, **shoe) -> None:
        self.session = Session("table")
        self.chance = random.Random(seed)
        self.shoe = shoe
        self.number = 0
        self.cards = 0
        self.shoes = 0

    def entry(self, happened: i.AnyInput) -> NewEntry:
        """Return the entry of one input."""
        self.number += 1
        facts = self.session.handle(happened)
        drawn = isinstance(happened, i.DrawCard)
        self.cards += drawn
        return NewEntry(
            stamp=Stamp(
                boot=BOOT,
                mono_ns=self.number * 2_000_000_000,
                wall_ns=1_700_000_000_000_000_000 + self.number,
                synced=True,
            ),
            source="shoe" if drawn else "panel",
            kind=happened.__struct_config__.tag,
            body=encode_input(happened),
            facts=tuple(encode_fact(fact) for fact in facts),
            device=(0x5EED, self.cards) if drawn else None,
            raw=self.chance.randbytes(30) if drawn else b"",
            signed=any(isinstance(fact, Round | ShoeEnded) for fact in facts),
        )

    def play_shoe(self) -> Iterator[NewEntry]:
        """Yield the entries of one shoe."""
        self.shoes += 1
        for happened in shoe_inputs(self.session, self.chance, name=f"S-{self.shoes:04d}", **self.shoe):
            yield self.entry(happened)
