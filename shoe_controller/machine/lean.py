"""A `transitions` machine without what ours has no use for: hooks of states, and a debug line for each of their calls.

They are two fifths of the time of a trigger, and a card waits for it. What is decided and in which order is the same:
conditions, then `before`, then the change of state.
"""

from collections.abc import Callable
from typing import Any, cast

from transitions import EventData, Machine, State
from transitions.core import Transition


class _Place(State):
    """A state that nothing hangs on."""

    def enter(self, event_data: EventData) -> None:
        """Do nothing."""

    def exit(self, event_data: EventData) -> None:
        """Do nothing."""


class _Row(Transition):
    """A transition whose conditions and actions are bound methods already."""

    def execute(self, event_data: EventData) -> bool:
        """Follow the row if its conditions hold."""
        for condition in self.conditions:
            if not condition.check(event_data):
                return False
        for act in cast("list[Callable[[EventData], None]]", self.before):
            act(event_data)
        if self.dest:
            self._change_state(event_data)
        return True


class LeanMachine(Machine):
    """The flat, synchronous machine with lean states and transitions."""

    state_cls: Any = _Place
    transition_cls: Any = _Row
