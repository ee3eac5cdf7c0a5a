"""Roads for a terminal: each road as a grid of letters."""

from collections.abc import Iterable

from shoe_controller.roads.grid import ROWS, Cell
from shoe_controller.roads.roads import NextMarks, RoadsView
from shoe_controller.roads.scoreboard import Statistics


def roads_text(view: RoadsView) -> str:
    """Return all roads as text.

    Bead plate and big road use the letters of the input, `b` and `p` marking pairs; in the big road `/` is a tie on
    the cell, a number that many ties. Derived roads show `r` and `b`.
    """
    parts = [
        ("bead plate", _grid(((mark.col, mark.row), mark.winner + _pairs(mark.pairs)) for mark in view.bead)),
        (
            "big road",
            _grid(((mark.col, mark.row), mark.winner + _pairs(mark.pairs) + _ties(mark.ties)) for mark in view.big),
        ),
        ("big eye boy", _grid(zip(view.big_eye_cells, view.big_eye, strict=True))),
        ("small road", _grid(zip(view.small_cells, view.small, strict=True))),
        ("cockroach pig", _grid(zip(view.cockroach_cells, view.cockroach, strict=True))),
        ("next round", f"  if banker  {_next(view.ask['B'])}\n  if player  {_next(view.ask['P'])}"),
    ]
    return "\n\n".join(f"{title}\n{body}" for title, body in parts) + "\n"


def statistics_text(statistics: Statistics) -> str:
    """Return the counts as text, one a line, wagers that have won last."""
    counts = {
        name.replace("_", " "): getattr(statistics, name)
        for name in statistics.__struct_fields__
        if name != "wins" and (getattr(statistics, name) or name in {"rounds", "player", "banker", "tie"})
    }
    more = {name.replace("_", " "): count for name, count in sorted(statistics.wins.items())}
    lines = (f"  {name:<20} {count:>4}" for name, count in (counts | more).items())
    return "statistics\n" + "\n".join(lines) + "\n"


def _pairs(pairs: tuple[str, ...]) -> str:
    return "".join(pairs).lower()


def _ties(count: int) -> str:
    return "" if count == 0 else "/" if count == 1 else str(count)


def _next(marks: NextMarks) -> str:
    return f"big eye {marks.big_eye or '-'}  small {marks.small or '-'}  cockroach {marks.cockroach or '-'}"


def _grid(marks: Iterable[tuple[Cell, str]]) -> str:
    cells = dict(marks)
    if not cells:
        return "  -"
    width = max(len(mark) for mark in cells.values())
    columns = range(max(column for column, _ in cells) + 1)
    rows = (
        ("  " + " ".join(cells.get((column, row), "").ljust(width) for column in columns)).rstrip()
        for row in range(ROWS)
        if any(at == row for _, at in cells)
    )
    return "\n".join(rows)
