"""Cards and decks: codes such as `Th` or `Sf`, what a deck holds, and how people see a card."""

from dataclasses import dataclass
from functools import cached_property

SUIT_NAMES = {
    "c": "clubs",
    "d": "diamonds",
    "h": "hearts",
    "s": "spades",
    "f": "fire",
    "g": "gold",
    "e": "earth",
    "w": "wood",
    "a": "water",
}
SUIT_SYMBOLS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠", "f": "火", "g": "金", "e": "土", "w": "木", "a": "水"}
RANK_NAMES = {
    "A": "Ace",
    "T": "10",
    "J": "Jack",
    "Q": "Queen",
    "K": "King",
    "S": "Sau",
    "L": "Luk",
    "F": "Fuk",
} | {str(n): str(n) for n in range(2, 10)}


@dataclass(frozen=True)
class Deck:
    """One kind of deck: its ranks and suits make its faces, each once."""

    size: int
    ranks: str
    suits: str

    @cached_property
    def faces(self) -> tuple[str, ...]:
        """Every card code of one deck, suit by suit, ace first."""
        return tuple(rank + suit for suit in self.suits for rank in self.ranks)

    @cached_property
    def face_set(self) -> frozenset[str]:
        """The faces, for the question whether a code belongs to this deck."""
        return frozenset(self.faces)


STANDARD = Deck(52, "A23456789TJQK", "cdhs")
ELEMENTS = Deck(65, "A23456789TSLF", "fgewa")
DECKS = {deck.size: deck for deck in (STANDARD, ELEMENTS)}

ALL_CODES = STANDARD.face_set | ELEMENTS.face_set


def is_code(text: str) -> bool:
    """Tell whether the text is the code of a card of any deck."""
    return text in ALL_CODES


def symbol(code: str) -> str:
    """Return a card as people at a table write it: `10♥`, `4♦`, `Sau火`."""
    rank = code[0]
    shown = "10" if rank == "T" else RANK_NAMES[rank] if rank in "SLF" else rank
    return shown + SUIT_SYMBOLS[code[1]]


def spoken(code: str) -> str:
    """Return a card in words: `10 of hearts`, `Sau of fire`."""
    return f"{RANK_NAMES[code[0]]} of {SUIT_NAMES[code[1]]}"
