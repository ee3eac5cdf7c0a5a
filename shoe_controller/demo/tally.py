"""What a demonstration came to: counted while it runs, told at its end."""

from collections import Counter
from collections.abc import Iterable

from shoe_controller.session import facts as f
from shoe_controller.words import KIND_WORDS


class Tally:
    """Counts rounds, results and irregularities."""

    def __init__(self) -> None:
        self.rounds = 0
        self.winners: Counter[str] = Counter()
        self.void = 0
        self.cards = 0
        self.kinds: Counter[str] = Counter()
        self.shoes = 0

    def take(self, facts: Iterable[f.AnyFact]) -> None:
        """Count these facts."""
        for fact in facts:
            match fact:
                case f.Round(status="complete", winner=str(winner)):
                    self.rounds += 1
                    self.winners[winner] += 1
                case f.Round():
                    self.void += 1
                case f.CardDealt(carried=False):
                    self.cards += 1
                case f.Irregularity():
                    self.kinds[fact.kind] += 1
                case f.ShoeLoaded():
                    self.shoes += 1
                case _:
                    pass

    def lines(self) -> list[str]:
        """Return the summary, a line each."""
        won = ", ".join(f"{side} {self.winners[side]}" for side in ("player", "banker", "tie"))
        shoes = "1 shoe" if self.shoes == 1 else f"{self.shoes} shoes"
        lines = [f"{self.rounds} rounds announced ({won}), {self.void} void, {self.cards} cards from {shoes}"]
        lines += [f"  {count} x {KIND_WORDS[kind]}" for kind, count in self.kinds.most_common()]
        return lines
