"""Faults in the table of transitions itself: a row forgotten, a wrong state after it, a guard lost, a wrong action."""

import ast
from random import Random

from shoe_controller.machine.rows import ROWS, Row
from shoe_controller.machine.states import STATES
from tests.mutation.changes import Fault

PATH = "shoe_controller/machine/rows.py"


def row_faults(seed: int) -> list[tuple[Fault, str]]:
    """Give the faults of every row, each with the line that puts it in at the end of the module."""
    chance = Random(seed)
    found = []
    for at, row in enumerate(ROWS):
        for kind, words, new in _faults_of(row, chance):
            name = f"{PATH} {row.source} {row.trigger} ({row.when or 'else'}): {words}"
            put = "" if new is None else f"{new!r}, "
            line = f"ROWS = (*ROWS[:{at}], {put}*ROWS[{at + 1} :])"
            found.append((Fault(PATH, 0, kind, name, at), line))
    return found


def _faults_of(row: Row, chance: Random) -> list[tuple[str, str, Row | None]]:
    faults: list[tuple[str, str, Row | None]] = [("row dropped", "dropped", None)]
    dest = chance.choice([state for state in (*STATES, None) if state not in (row.dest, row.source)])
    if row.dest is None:
        dest = chance.choice([state for state in STATES if state != row.source])
    words = f"leads to {dest or 'itself'}, not {row.dest or 'itself'}"
    faults.append(("row leads elsewhere", words, _row(row, dest=dest)))
    do = chance.choice(sorted({other.do for other in ROWS if other.trigger == row.trigger} - {row.do}) or ["refuse"])
    reason = "it is so" if do == "refuse" else ""
    faults.append(("row does another thing", f"does {do}, not {row.do}", _row(row, do=do, reason=reason)))
    for guard in (row.when or "").split(" and "):
        if guard:
            left = " and ".join(other for other in (row.when or "").split(" and ") if other != guard)
            faults.append(("guard lost", f"no longer asks {guard}", _row(row, when=left or None)))
    return faults


def _row(row: Row, **changed: str | None) -> Row:
    fields = {name: getattr(row, name) for name in ("trigger", "source", "dest", "do", "when", "reason")}
    return Row(**(fields | changed))


def with_row_fault(source: str, line: str) -> ast.Module:
    """Give the table's module with one fault in a row."""
    return ast.parse(source + "\n" + line + "\n")
