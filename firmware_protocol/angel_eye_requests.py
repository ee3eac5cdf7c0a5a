"""Requests: operations on their way to an Angel Eye, one at a time, each answered exactly once.

The shoe's answer is one byte without a number, so it can only be told whose answer it is by never having two operations
under way, and by staying quiet for a while after one that was sent more than once: the answer to an earlier try may
still come and must not pass for the answer to the next operation.
"""

from collections import deque
from dataclasses import dataclass

from firmware_protocol.angel_eye_frames import StartByte
from firmware_protocol.angel_eye_operations import Operation
from firmware_protocol.angel_eye_refusals import LINE_TROUBLE, NOT_NOW, NakCode
from firmware_protocol.events import CommandAnswered

# An operation takes 21 ms on the wire at 4800 baud and may have to wait for three copies of an event (81 ms); the rest
# is for serial device servers.
ANSWER_TIME = 1.5
BUSY_PAUSE = 0.5
TRIES = 3
# A host has one gate to move and one error to clear. More than this means that nobody listens.
LONGEST_QUEUE = 32


@dataclass(slots=True)
class _Request:
    number: int
    operation: Operation
    tries: int = 0
    # When it was written; None until the clock is known, which is at the next tick.
    sent: float | None = None
    # When to try again after the shoe said that it was busy.
    again: float | None = None
    # The shoe told by an event that it was done; only the answer is missing.
    seen_done: bool = False


class Requests:
    """The queue of operations."""

    def __init__(self, start: StartByte) -> None:
        self.to_send = bytearray()
        self.answers: list[CommandAnswered] = []
        self.stray_answers = 0
        self.unanswered = False
        self._start = start
        self._next_number = 1
        self._queue: deque[_Request] = deque()
        self._current: _Request | None = None
        self._quiet_until: float | None = None

    def refuse(self, reason: str) -> int:
        """Answer an operation at once without sending it."""
        number = self._next_number
        self._next_number += 1
        self.answers.append(CommandAnswered(number, ok=False, reason=reason))
        return number

    def ask(self, operation: Operation) -> int:
        """Put an operation in line and give its number."""
        if len(self._queue) >= LONGEST_QUEUE:
            return self.refuse("Too many operations wait for the shoe: it does not answer.")
        request = _Request(self._next_number, operation)
        self._next_number += 1
        self._queue.append(request)
        self._next()
        return request.number

    def accepted(self, now: float) -> None:
        """Take the shoe's yes."""
        request = self._awaiting_answer()
        if request is None:
            self.stray_answers += 1
            return
        self._answer(request, now, ok=True)

    def rejected(self, reason: NakCode, now: float) -> None:
        """Take the shoe's no."""
        request = self._awaiting_answer()
        if request is None:
            self.stray_answers += 1
        elif request.tries < TRIES and reason in LINE_TROUBLE:
            self._write(request, now)
        elif request.tries < TRIES and reason in NOT_NOW:
            request.again = now + BUSY_PAUSE
        else:
            self._answer(request, now, ok=False, reason=reason.sentence)

    def error_cancelled(self, *, overdraw: bool) -> None:
        """Note that the shoe told of the end of an error: the clearing that is under way has worked.

        Clearing is not repeated after that: a second one might hit an error that has come since.
        """
        if self._current is not None:
            clears = {Operation.KEEP_OVERDRAWN, Operation.DISCARD_OVERDRAWN} if overdraw else {Operation.CLEAR_ERROR}
            self._current.seen_done = self._current.seen_done or self._current.operation in clears

    def tick(self, now: float) -> None:
        """Do what is due."""
        if self._quiet_until is not None and now >= self._quiet_until:
            self._quiet_until = None
            self._next(now)
        request = self._current
        if request is None:
            return
        if request.again is not None:
            if now >= request.again:
                self._write(request, now)
        elif request.sent is None:
            request.sent = now
        elif now >= request.sent + ANSWER_TIME:
            self._no_answer(request, now)

    def deadline(self, now: float) -> float | None:
        """Tell when `tick` is wanted; `now` is the last time that was told."""
        if self._quiet_until is not None:
            return self._quiet_until
        if self._current is None:
            return None
        if self._current.again is not None:
            return self._current.again
        return now if self._current.sent is None else self._current.sent + ANSWER_TIME

    def give_up(self, reason: str) -> None:
        """Answer everything that is under way or waits: the line is gone."""
        waiting = ([self._current] if self._current else []) + list(self._queue)
        self.answers += [CommandAnswered(request.number, ok=False, reason=reason) for request in waiting]
        self._queue.clear()
        self._current = self._quiet_until = None
        self.to_send.clear()

    def _awaiting_answer(self) -> _Request | None:
        request = self._current
        return None if request is None or request.again is not None else request

    def _no_answer(self, request: _Request, now: float) -> None:
        if request.seen_done:
            self._answer(request, now, ok=True)
        elif request.tries < TRIES:
            self._write(request, now)
        else:
            self.unanswered = True
            self._answer(request, now, ok=False, reason="The shoe did not answer: check that it is on and connected.")

    def _write(self, request: _Request, now: float | None) -> None:
        request.tries += 1
        request.sent, request.again = now, None
        self.to_send += request.operation.to_bytes(self._start)

    def _answer(self, request: _Request, now: float, *, ok: bool, reason: str = "") -> None:
        self.answers.append(CommandAnswered(request.number, ok, reason))
        self._current = None
        if request.tries > 1 or request.seen_done:
            self._quiet_until = now + ANSWER_TIME
        self._next(now)

    def _next(self, now: float | None = None) -> None:
        if self._current is None and self._quiet_until is None and self._queue:
            self._current = self._queue.popleft()
            # Where the time is not known, the next tick, which is wanted at once, starts the clock of the answer.
            self._write(self._current, now)
