"""All roads of one shoe, kept up to date round by round.

Adding a round costs the same in the first round and in the hundredth. Everything is derived from the whole shoe;
what fits on a screen is the business of the screen.
"""

from collections.abc import Iterable

import msgspec

from shoe_controller.roads.bead import Bead, Letter, PairLetter
from shoe_controller.roads.derived import Colour, DerivedRoad, derived_colour
from shoe_controller.roads.grid import ROWS, Cell, Layout, Tail


class BeadMark(msgspec.Struct, frozen=True):
    """A cell of the bead plate."""

    col: int
    row: int
    winner: Letter
    pairs: tuple[PairLetter, ...]


class BigMark(msgspec.Struct, frozen=True):
    """A cell of the big road; `winner` is `T` only while the shoe has had nothing but ties.

    `ties` counts the ties after the cell's round (and before it, if the shoe began with ties). `pairs` are those of
    the round that placed the cell: a tie's pairs are on the bead plate only.
    """

    col: int
    row: int
    winner: Letter
    ties: int
    pairs: tuple[PairLetter, ...]


class NextMarks(msgspec.Struct, frozen=True):
    """What a win would add to the derived roads; None where a road has not begun by then."""

    big_eye: Colour | None
    small: Colour | None
    cockroach: Colour | None


class RoadsView(msgspec.Struct, frozen=True):
    """The roads as JSON shows them. `ask` answers for the next round: B a banker win, P a player win."""

    tail: Tail
    bead: tuple[BeadMark, ...]
    big: tuple[BigMark, ...]
    big_eye: str
    big_eye_cells: tuple[Cell, ...]
    small: str
    small_cells: tuple[Cell, ...]
    cockroach: str
    cockroach_cells: tuple[Cell, ...]
    ask: dict[PairLetter, NextMarks]


class Roads:
    """The roads of one shoe, from its results in order. Void rounds are in no road."""

    def __init__(self, tail: Tail = "redrop", beads: Iterable[Bead] = ()) -> None:
        self._tail: Tail = tail
        self._clear()
        for one in beads:
            self.add(one)

    def _clear(self) -> None:
        self._beads: list[Bead] = []
        self._big: list[BigMark] = []
        self._streaks: list[int] = []
        self._leading_ties = 0
        self._layout = Layout(self._tail)
        self._derived = tuple(DerivedRoad(step, self._tail) for step in (1, 2, 3))

    @property
    def beads(self) -> tuple[Bead, ...]:
        """The results so far, in order."""
        return tuple(self._beads)

    def add(self, bead: Bead) -> None:
        """Add the next result of the shoe."""
        self._beads.append(bead)
        if bead.winner == "T":
            if self._big:
                last = self._big[-1]
                self._big[-1] = msgspec.structs.replace(last, ties=last.ties + 1)
            else:
                self._leading_ties += 1
            return
        if self._big and self._big[-1].winner == bead.winner:
            column, row = self._layout.extend()
            self._streaks[-1] += 1
        else:
            column, row = self._layout.begin()
            self._streaks.append(1)
        ties = 0 if self._big else self._leading_ties
        self._big.append(BigMark(column, row, bead.winner, ties, bead.pairs))
        for road in self._derived:
            colour = derived_colour(self._streaks, road.step, len(self._streaks), self._streaks[-1])
            if colour is not None:
                road.add(colour)

    def take_back(self) -> None:
        """Remove the last result: it was voided after it had been announced.

        This is the one thing that costs as much as the whole shoe; it is rare and a shoe is short.
        """
        kept = self._beads[:-1]
        self._clear()
        for one in kept:
            self.add(one)

    def ask(self, winner: PairLetter) -> NextMarks:
        """Return what a banker (`B`) or player (`P`) win in the next round would add to the derived roads."""
        goes_on = bool(self._big) and self._big[-1].winner == winner
        streak = len(self._streaks) + (0 if goes_on else 1)
        length = self._streaks[-1] + 1 if goes_on else 1
        return NextMarks(*(derived_colour(self._streaks, road.step, streak, length) for road in self._derived))

    def view(self) -> RoadsView:
        """Return all roads as one frozen value."""
        big_eye, small, cockroach = self._derived
        only_ties = (BigMark(0, 0, "T", self._leading_ties, ()),) if self._leading_ties and not self._big else ()
        return RoadsView(
            tail=self._tail,
            bead=tuple(
                BeadMark(number // ROWS, number % ROWS, one.winner, one.pairs) for number, one in enumerate(self._beads)
            ),
            big=tuple(self._big) or only_ties,
            big_eye=big_eye.colours,
            big_eye_cells=tuple(big_eye.cells),
            small=small.colours,
            small_cells=tuple(small.cells),
            cockroach=cockroach.colours,
            cockroach_cells=tuple(cockroach.cells),
            ask={"B": self.ask("B"), "P": self.ask("P")},
        )
