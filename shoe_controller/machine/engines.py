"""Two engines that follow the same rows: `transitions` at the table, a lookup where millions of rounds are replayed.

Both call the same guards and actions of the same session; a test holds their facts against each other.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from shoe_controller.machine.rows import ROWS, Row
from shoe_controller.machine.states import NO_SHOE, STATES

Callback = Callable[..., Any]


class Model(Protocol):
    """What an engine moves: it has a state, and guards and actions by name."""

    state: str

    def leads_to(self, dest: str, _event: object = None) -> bool:
        """Tell whether the plan for the current input ends in `dest`."""
        ...


class Engine(Protocol):
    """What a session needs of an engine."""

    def fire(self, trigger: str) -> None:
        """Follow the row of the model's state and this trigger."""
        ...


def _guards(model: Model, row: Row) -> list[Any]:
    if row.when is None:
        return []
    if row.when == "leads_to":
        assert row.dest is not None, "a row that leads somewhere names where"
        return [partial(model.leads_to, row.dest)]
    return [getattr(model, name) for name in row.when.split(" and ")]


def _action(model: Model, row: Row) -> Callback:
    action: Callback = getattr(model, row.do)
    return partial(action, row.reason) if row.reason else action


class _Position:
    """What `transitions` sees of the model: its state and nothing else that a trigger's name could overwrite."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def state(self) -> str:
        return self._model.state

    @state.setter
    def state(self, state: str) -> None:
        self._model.state = state


class TransitionsEngine:
    """The engine at the table: a flat, synchronous `transitions` machine.

    Actions run in `before`: an error there leaves the state as it was. There are no `to_X` shortcuts past the rules.
    """

    def __init__(self, model: Model) -> None:
        from shoe_controller.machine.lean import LeanMachine  # noqa: PLC0415 (a replay does without; it is slow to load)

        # With model_override it warns of every method that it does not add; not adding them is the point.
        logging.getLogger("transitions").setLevel(logging.ERROR)
        self._position = _Position(model)
        self._machine = LeanMachine(
            model=self._position,
            states=list(STATES),
            initial=NO_SHOE,
            auto_transitions=False,
            send_event=True,
            model_override=True,
            queued=False,
        )
        for row in ROWS:
            self._machine.add_transition(
                row.trigger, row.source, row.dest, conditions=_guards(model, row), before=_action(model, row)
            )

    def fire(self, trigger: str) -> None:
        """Follow the row of the model's state and this trigger."""
        if not self._machine.events[trigger].trigger(self._position):
            raise AssertionError(f"no row was taken for {trigger!r} in state {self._position.state!r}")


def _guard(model: Model, row: Row) -> Callback | None:
    """Return the guards of a row as one, None if it has none."""
    guards = _guards(model, row)
    if len(guards) > 1:
        return lambda: all(guard() for guard in guards)
    return guards[0] if guards else None


def _likely_first(rows: list[Row]) -> list[Row]:
    """Return the rows of a cell with the last one asked for before others that lead elsewhere with the same action.

    An input leads to one state, so the same row is taken; but the last is the usual one, and it is found at once.
    """
    last = rows[-1]
    leading = [row for row in rows if row.when == "leads_to"]
    if last.dest is None or not leading or leading[0].do != last.do:
        return rows
    at = rows.index(leading[0])
    return [*rows[:at], replace(last, when="leads_to"), *rows[at:]]


class TableEngine:
    """The same rows as a dictionary, many times faster."""

    def __init__(self, model: Model) -> None:
        self._model = model
        model.state = NO_SHOE
        cells: dict[str, dict[str, list[Row]]] = {}
        for row in ROWS:
            cells.setdefault(row.trigger, {}).setdefault(row.source, []).append(row)
        self._table = {
            trigger: {
                source: [(_guard(model, row), _action(model, row), row.dest) for row in _likely_first(rows)]
                for source, rows in sources.items()
            }
            for trigger, sources in cells.items()
        }

    def fire(self, trigger: str) -> None:
        """Follow the row of the model's state and this trigger."""
        model = self._model
        for guard, action, dest in self._table[trigger][model.state]:
            if guard is None or guard():
                action()
                if dest is not None:
                    model.state = dest
                return
        raise AssertionError(f"no row was taken for {trigger!r} in state {model.state!r}")
