"""Body: what every simulated shoe has, whatever it speaks: cards, a gate, a reader, and a narrator.

The body knows what happens physically. What is said about it on the line is the twin's matter.
"""

from collections import deque
from collections.abc import Sequence
from random import Random

from drivers.simulated.errors import CannotDoError
from drivers.simulated.stock import StockCard, new_uid

# Narration that nobody collects must not grow for ever.
LONGEST_STORY = 1000


class ShoeBody:
    """The cards in the shoe and those that have left it.

    `cut_card` is its distance from the end, in cards; None: there is none.
    """

    def __init__(self, cards: Sequence[StockCard], chance: Random, *, cut_card: int | None) -> None:
        self.set = tuple(cards)
        self.gate_open = False
        self.jammed = False
        self.lid_open = False
        self.out: list[StockCard] = []
        self._chance = chance
        self._cut_card = cut_card
        self._inside: deque[StockCard] = deque()
        self._cut_inside = False
        self._story: deque[str] = deque(maxlen=LONGEST_STORY)
        self.refill()

    @property
    def cards_left(self) -> int:
        """How many cards are in the shoe."""
        return len(self._inside)

    @property
    def cut_due(self) -> bool:
        """Whether the cut card is what comes next."""
        return self._cut_inside and self._cut_card is not None and len(self._inside) <= self._cut_card

    def refill(self) -> None:
        """Shuffle the whole set and put it back in, with its cut card."""
        self._inside = deque(self._chance.sample(self.set, len(self.set)))
        self._cut_inside = self._cut_card is not None and self._cut_card < len(self.set)
        self.out.clear()

    def check_passage(self, *, force: bool) -> None:
        """Refuse when no card can leave. `force` is a hand that is stronger than the gate, not than a jam."""
        if not self._inside:
            raise CannotDoError("The shoe is empty: fill it with `new-shoe`.")
        if self.jammed:
            raise CannotDoError("A card is jammed in the exit: clear it with `jam off`.")
        if not self.gate_open and not force:
            raise CannotDoError("The gate is shut: the host has not opened it. `deal force` pulls a card all the same.")

    def take(self) -> StockCard:
        """Let the next card out."""
        card = self._inside.popleft()
        self.out.append(card)
        return card

    def put_back(self) -> StockCard:
        """Push the last card back in: it will be the next again."""
        if not self.out:
            raise CannotDoError("No card has left the shoe: there is none to push back.")
        card = self.out.pop()
        self._inside.appendleft(card)
        return card

    def take_cut_card(self) -> None:
        """Let the cut card out."""
        self._cut_inside = False

    def strange_uid(self) -> bytes:
        """Make an id that is in no register."""
        return new_uid(self._chance, {card.uid for card in self.set}, len(self.set[0].uid))

    def tell(self, line: str) -> None:
        """Narrate what happened."""
        self._story.append(line)

    def story(self) -> list[str]:
        """Give what was narrated since the last call."""
        lines = list(self._story)
        self._story.clear()
        return lines
