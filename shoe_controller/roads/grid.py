"""Six rows: how streaks are laid out on the grid of a road, dragon tails among them."""

from typing import Literal

ROWS = 6

Tail = Literal["redrop", "stay"]
Cell = tuple[int, int]  # (column, row), both from 0, row 0 on top


class Layout:
    """Gives each mark of a road its cell.

    A streak goes down. Where row six is reached or the cell below is taken, it turns right: the dragon tail. After
    the turn it drops again as soon as the cell below is free (`redrop`) or stays on its row (`stay`). The next streak
    starts right of the first column of the one before, on the next free cell of the top row, so under the tail.

    Paths only go right and down and each starts right of all earlier starts, above all earlier paths. That is why
    the cell to the right is always free and never needs to be asked for.
    """

    def __init__(self, tail: Tail) -> None:
        self._tail = tail
        self._taken: set[Cell] = set()
        self._start = -1
        self._at: Cell = (0, 0)
        self._turned = False

    def begin(self) -> Cell:
        """Start a new streak and return its first cell."""
        self._start += 1
        while (self._start, 0) in self._taken:
            self._start += 1
        self._turned = False
        return self._take((self._start, 0))

    def extend(self) -> Cell:
        """Add one more mark to the streak and return its cell."""
        column, row = self._at
        below = (column, row + 1)
        stays = self._turned and self._tail == "stay"
        if row + 1 < ROWS and below not in self._taken and not stays:
            return self._take(below)
        self._turned = True
        return self._take((column + 1, row))

    def _take(self, cell: Cell) -> Cell:
        self._taken.add(cell)
        self._at = cell
        return cell
