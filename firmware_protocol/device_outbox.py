"""Outbox of a device: which of the kept events go on the line, and when they go again.

At most WINDOW events are on the line unacknowledged. A replay request and the resend time do the same thing: they
move the cursor back, and everything from there is sent again in order.
"""

from collections.abc import Iterator

from firmware_protocol import timing
from firmware_protocol.delivery import Ack, Replay, event_body
from firmware_protocol.device_memory import EventMemory
from firmware_protocol.drops import Drop


class Outbox:
    """The moving part over an EventMemory; nothing in it needs to survive a power cut."""

    def __init__(self, memory: EventMemory) -> None:
        self._memory = memory
        self._cursor = memory.first  # the next event to send
        self._sent_up_to = memory.first  # one behind the last event sent in this link
        self._resend_after = timing.RESEND_FIRST
        self.resend_at: float | None = None

    def begin(self) -> None:
        """Send from the first kept event on: a link has come up."""
        self._cursor = self._sent_up_to = self._memory.first
        self._resend_after = timing.RESEND_FIRST
        self.resend_at = None

    def stop(self) -> None:
        """Send nothing: the link is gone."""
        self.resend_at = None

    def bodies(self, now: float) -> Iterator[bytes]:
        """Give the events that the window allows now."""
        memory = self._memory
        end = min(memory.next, memory.first + timing.WINDOW)
        while self._cursor < end:
            kind, content = memory.record(self._cursor)
            yield event_body(kind, memory.session, self._cursor, content)
            self._cursor += 1
            self._sent_up_to = max(self._sent_up_to, self._cursor)
            if self.resend_at is None:
                self.resend_at = now + self._resend_after

    def tick(self, now: float) -> None:
        """Go back to the first event if nothing was acknowledged for too long."""
        if self.resend_at is not None and now >= self.resend_at:
            self._cursor = self._memory.first
            self.resend_at = None
            self._resend_after = min(2 * self._resend_after, timing.RESEND_LONGEST)

    def acknowledged(self, ack: Ack, now: float) -> Drop | None:
        """Forget what the host has. An ack for what was never sent in this link is none of ours."""
        memory = self._memory
        if ack.session != memory.session or ack.number >= self._sent_up_to:
            return Drop.STALE
        if ack.number >= memory.first:
            memory.drop_before(ack.number + 1)
            self._cursor = max(self._cursor, memory.first)
            self._resend_after = timing.RESEND_FIRST
            self.resend_at = now + self._resend_after if self._cursor > memory.first else None
        return None

    def replay(self, replay: Replay) -> Drop | None:
        """Go back to the event that the host misses."""
        if replay.session != self._memory.session or not self._memory.first <= replay.number < self._sent_up_to:
            return Drop.STALE
        self._cursor = replay.number
        return None
