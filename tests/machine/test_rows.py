"""The table of transitions: complete, drawn in the docs, and followed alike by both engines."""

from pathlib import Path

from shoe_controller.machine.diagram import diagram
from shoe_controller.machine.rows import ROWS, TRIGGERS
from shoe_controller.machine.states import STATES
from shoe_controller.session.session import Session


def cells():
    table = {}
    for row in ROWS:
        table.setdefault((row.source, row.trigger), []).append(row)
    return table


def test_every_state_has_a_row_for_every_trigger():
    assert set(cells()) == {(state, trigger) for state in STATES for trigger in TRIGGERS}


def test_the_last_row_of_each_cell_has_no_condition_and_only_the_last():
    for cell, rows in cells().items():
        assert rows[-1].when is None, cell
        assert all(row.when is not None for row in rows[:-1]), cell


def test_every_refusal_has_a_reason_and_nothing_else_has():
    for row in ROWS:
        assert bool(row.reason) == (row.do == "refuse"), row


def test_rows_lead_to_states_that_exist():
    assert {row.dest for row in ROWS if row.dest} <= set(STATES)


def test_every_guard_and_action_is_a_method_of_the_session():
    for row in ROWS:
        names = [row.do, *(row.when.split(" and ") if row.when else [])]
        assert all(callable(getattr(Session, name)) for name in names), row


def test_the_drawing_in_the_docs_is_current():
    page = Path(__file__).parents[2] / "docs" / "state-machine.md"
    assert page.read_text() == diagram(), "run `make diagram`"
