"""Derived roads: big eye boy, small road and cockroach pig, from the lengths of the big road's streaks.

They ask how regular the shoe is: red says that it repeats itself, blue that it does not. They look `step` streaks
back (1, 2 and 3), at streak lengths only: ties, pairs and the bends of dragon tails do not count, nor how much of
the road fits on a screen.
"""

from collections.abc import Sequence
from typing import Literal

from shoe_controller.roads.grid import Cell, Layout, Tail

Colour = Literal["r", "b"]


def derived_colour(streaks: Sequence[int], step: int, streak: int, length: int) -> Colour | None:
    """Return the colour of the derived mark for one mark of the big road, None where the road has not begun.

    The mark is number `length` of streak number `streak`, both counted from 1; `streaks` holds the lengths of at
    least the streaks before it.
    """
    if length == 1:
        compared = streak - 1 - step
        if compared < 1:
            return None
        return "r" if streaks[streak - 2] == streaks[compared - 1] else "b"
    compared = streak - step
    if compared < 1:
        return None
    return "b" if length == streaks[compared - 1] + 1 else "r"


class DerivedRoad:
    """One derived road: its colours in order, and their cells, laid out as the big road is."""

    def __init__(self, step: int, tail: Tail) -> None:
        self.step = step
        self.colours = ""
        self.cells: list[Cell] = []
        self._layout = Layout(tail)

    def add(self, colour: Colour) -> None:
        """Add one mark: the same colour goes down, a change opens a new column."""
        same = self.colours.endswith(colour)
        self.cells.append(self._layout.extend() if same else self._layout.begin())
        self.colours += colour
