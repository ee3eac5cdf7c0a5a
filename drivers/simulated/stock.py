"""Stock: the cards that a simulated shoe is filled with, their ids, and the register of the set."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from drivers.simulated.errors import OrderError

# One deck of each kind by its number of cards: ranks and suits as in card codes.
_DECKS = {52: ("A23456789TJQK", "cdhs"), 65: ("A23456789TSLF", "fgewa")}
MOST_DECKS = 10
UID_SIZES = (4, 7, 10)  # what RFID cards have in practice; all within the protocol's 4 to 10 bytes


@dataclass(frozen=True, slots=True)
class StockCard:
    """One physical card: its face, and the id in its chip where it has one."""

    code: str
    uid: bytes

    @property
    def rank(self) -> str:
        """The rank letter."""
        return self.code[0]

    @property
    def suit(self) -> str:
        """The suit letter."""
        return self.code[1]


def faces(deck: int) -> tuple[str, ...]:
    """Give the card codes of one deck."""
    if deck not in _DECKS:
        raise OrderError(f"There is no deck of {deck} cards: choose {' or '.join(map(str, _DECKS))}.")
    ranks, suits = _DECKS[deck]
    return tuple(rank + suit for suit in suits for rank in ranks)


def make_set(codes: Sequence[str], decks: int, chance: Random) -> tuple[StockCard, ...]:
    """Make a set of `decks` decks with random ids, no id twice, in the order of the factory."""
    if not 1 <= decks <= MOST_DECKS:
        raise OrderError(f"A shoe holds 1 to {MOST_DECKS} decks, not {decks}.")
    size = chance.choice(UID_SIZES)
    seen: set[bytes] = set()
    cards = []
    for code in tuple(codes) * decks:
        uid = new_uid(chance, seen, size)
        seen.add(uid)
        cards.append(StockCard(code, uid))
    return tuple(cards)


def new_uid(chance: Random, taken: set[bytes], size: int) -> bytes:
    """Make an id that is not taken."""
    while (uid := chance.randbytes(size)) in taken:
        pass
    return uid


def register_csv(cards: Sequence[StockCard]) -> str:
    """Give the register of a set: a line for each card, sorted by id so that it tells nothing about the shuffle."""
    lines = sorted(f"{card.uid.hex().upper()},{card.code}" for card in cards)
    return "\n".join(["uid,code", *lines]) + "\n"
