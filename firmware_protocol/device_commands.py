"""Command record of a device: each command is carried out once, and its repetitions get the same answer.

The host has one command on the line at a time and its ids only grow, so one id and one answer are all that a device
must remember.
"""

from firmware_protocol.codes import Status
from firmware_protocol.commands import Answer


class CommandRecord:
    """The last command of this link and what became of it."""

    def __init__(self) -> None:
        self._last = 0
        self._status: Status | None = None

    def begin(self) -> None:
        """Forget: command ids begin again with each link."""
        self._last, self._status = 0, None

    def is_new(self, command_id: int) -> bool:
        """Take note of a command; False if it, or a later one, came before."""
        if command_id <= self._last:
            return False
        self._last, self._status = command_id, None
        return True

    def answer_again(self, command_id: int) -> Answer | None:
        """Give the answer to a command that is not new: none while the firmware has not answered it yet."""
        if command_id < self._last:
            return Answer(command_id, Status.SUPERSEDED)
        return None if self._status is None else Answer(command_id, self._status)

    def answer(self, command_id: int, status: Status) -> Answer | None:
        """Note the firmware's answer; None if the command is not the last one of this link."""
        if command_id != self._last:
            return None
        self._status = status
        return Answer(command_id, status)
