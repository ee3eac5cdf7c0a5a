"""Command queue of the host: one command at a time on the line, repeated until it is answered or given up.

One at a time, so that a late repetition of "open the gate" can never overtake "shut the gate". A command does not
outlive its link: what was asked for before a break is not done after it.
"""

from collections import deque
from collections.abc import Callable

from firmware_protocol import timing
from firmware_protocol.codes import Status
from firmware_protocol.commands import Answer, Command
from firmware_protocol.events import CommandAnswered

MAX_WAITING = 64  # the queue is bounded; a table that has so many unanswered commands has another problem

REASONS = {
    Status.DONE: "",
    Status.NOT_SUPPORTED: "the shoe has no such function",
    Status.BAD_ARGUMENT: "the shoe does not accept this value",
    Status.BUSY: "the shoe is busy; ask again later",
    Status.FAILED: "the shoe tried and could not do it",
    Status.SUPERSEDED: "a later command was carried out instead",
    Status.NO_ROOM: "the shoe's event memory is nearly full, so it keeps its gate shut",
}
NOT_CONNECTED = "the shoe is not connected; nothing was sent"
LINK_LOST = "the link was lost before the shoe answered; it may or may not have been done"
TOO_MANY = "too many commands wait for the shoe; nothing was sent"
NO_ANSWER = "the shoe did not answer; it may or may not have been done"


class CommandQueue:
    """Commands that wait for the shoe, the first of them on the line."""

    def __init__(self, send: Callable[[Command], None], tell: Callable[[CommandAnswered], None]) -> None:
        self._send = send
        self._tell = tell
        self._next_id = 1
        self._waiting: deque[Command] = deque()
        self._tries = 0
        self._retry_at: float | None = None  # None with a command on the line: its timer is set at the next tick

    def new_id(self) -> int:
        """Give the id of a new command."""
        command_id = self._next_id
        self._next_id = command_id % 0xFFFFFFFF + 1
        return command_id

    def add(self, command: Command, *, connected: bool) -> int:
        """Send a command, or put it behind the others; without a link it is answered at once."""
        if not connected:
            self._tell(CommandAnswered(command.command_id, ok=False, reason=NOT_CONNECTED))
        elif len(self._waiting) >= MAX_WAITING:
            self._tell(CommandAnswered(command.command_id, ok=False, reason=TOO_MANY))
        else:
            self._waiting.append(command)
            if len(self._waiting) == 1:
                self._begin()
        return command.command_id

    def answered(self, answer: Answer) -> bool:
        """Take an answer; False if it is not to the command on the line."""
        if not self._waiting or self._waiting[0].command_id != answer.command_id:
            return False
        self._finish(ok=answer.status is Status.DONE, reason=REASONS[answer.status])
        return True

    def next_deadline(self, last_tick: float) -> float | None:
        """Give the time of the next repetition. A command with no timer yet is due for one at once."""
        if not self._waiting:
            return None
        return last_tick if self._retry_at is None else self._retry_at

    def tick(self, now: float) -> None:
        """Repeat the command on the line if it is time, or give it up."""
        if not self._waiting:
            return
        if self._retry_at is None:
            self._retry_at = now + timing.COMMAND_RETRY
        elif now >= self._retry_at:
            if self._tries >= timing.COMMAND_TRIES:
                self._finish(ok=False, reason=NO_ANSWER)
            else:
                self._tries += 1
                self._retry_at = now + timing.COMMAND_RETRY
                self._send(self._waiting[0])

    def link_lost(self) -> None:
        """Answer everything that waits: a command does not outlive its link."""
        for command in self._waiting:
            self._tell(CommandAnswered(command.command_id, ok=False, reason=LINK_LOST))
        self._waiting.clear()
        self._retry_at = None

    def _begin(self) -> None:
        self._tries = 1
        self._retry_at = None
        self._send(self._waiting[0])

    def _finish(self, *, ok: bool, reason: str) -> None:
        self._tell(CommandAnswered(self._waiting.popleft().command_id, ok=ok, reason=reason))
        self._retry_at = None
        if self._waiting:
            self._begin()
