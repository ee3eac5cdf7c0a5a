"""Copies: an Angel Eye says everything three times, and the host acts once.

What tells events apart is the sequence byte and the data. The byte begins anywhere, wraps after 256 and begins anew
when the shoe is reset, so both are remembered only for as long as copies of one event can arrive.

An event is believed when two equal copies are in, or when one is in and no other followed within `HOLD`: the frame's
XOR check alone does not find every damage. Copies that differ are put to the vote; without a majority nobody knows
what was said, and that is what the host is told (`Disputed`).

The order of copies is not documented. Copies of two events that alternate are understood as well as copies in a row.
"""

from collections import deque
from dataclasses import dataclass, field

from firmware_protocol.angel_eye_frames import Unsolicited
from firmware_protocol.angel_eye_messages import Started

COPIES = 3
# One frame takes 12 to 27 ms at 4800 baud. A quarter of a second is far more than the gap between copies in a row and
# far less than a dealer needs to draw the next card.
HOLD = 0.25
# 256 events of the shortest frame, three times each, take 9.6 s at 4800 baud: a sequence byte that comes again within
# two seconds cannot have wrapped.
WINDOW = 2.0
# On a line without a speed (pty, socket) events can come faster; after 16 others a repetition is a new event.
REMEMBERED = 16


@dataclass(frozen=True, slots=True)
class Disputed:
    """Copies of one event that all differ."""

    frames: tuple[Unsolicited, ...]


Believed = Unsolicited | Disputed


@dataclass(slots=True)
class _Event:
    """An event that was believed, and how many of its copies came."""

    frame: Unsolicited
    copies: int
    last_seen: float


@dataclass(slots=True)
class _Candidates:
    """What was heard of an event that is not believed yet."""

    sequence: int
    heard: float
    frames: list[Unsolicited] = field(default_factory=list)


class Copies:
    """Turns copies into events, in order."""

    def __init__(self) -> None:
        self.repeated = 0
        self.outvoted = 0
        self._known: deque[_Event] = deque(maxlen=REMEMBERED)
        self._open: _Candidates | None = None
        self._believed: list[Believed] = []

    def already_handled(self, frame: Unsolicited, now: float) -> None:
        """Remember an event of before a restart, so that a copy still on its way is not acted on again."""
        self._known.append(_Event(frame, 1, now))

    def heard(self, frame: Unsolicited, now: float) -> None:
        """Take one copy in.

        That the wait for it is over does not matter here: if the host was late to listen, the copy was not late.
        """
        known = self._known_event(frame, now)
        if known is not None:
            known.copies += 1
            known.last_seen = now
            self.repeated += 1
            return
        if self._open is not None and (self._open.sequence != frame.sequence or now - self._open.heard > WINDOW):
            self._settle()
        if self._open is None:
            self._open = _Candidates(frame.sequence, now)
        equal = next((other for other in self._open.frames if other.message == frame.message), None)
        if equal is None:
            self._open.frames.append(frame)
            if len(self._open.frames) == COPIES:
                self._settle()
            return
        self.outvoted += len(self._open.frames) - 1
        self.repeated += 1
        self._believe(equal, copies=2, now=now)

    def no_more(self) -> None:
        """Decide on what is in: the line is gone, and no copy will come over it."""
        if self._open is not None:
            self._settle()

    def believed(self, now: float) -> list[Believed]:
        """Give the events that are believed by now."""
        if self._open is not None and now >= self._open.heard + HOLD:
            self._settle()
        believed, self._believed = self._believed, []
        return believed

    def deadline(self) -> float | None:
        """Tell when waiting for another copy ends."""
        return None if self._open is None else self._open.heard + HOLD

    def _known_event(self, frame: Unsolicited, now: float) -> _Event | None:
        """Find the event that this is a copy of."""
        for event in reversed(self._lately(frame.sequence, now)):
            if event.frame.message == frame.message:
                # When all copies have come and something else was said since, the shoe says it anew.
                newest = event is self._known[-1] and self._open is None
                return event if newest or event.copies < COPIES else None
        return None

    def _lately(self, sequence: int, now: float) -> list[_Event]:
        """Find what was believed under this sequence byte so short a time ago that it cannot have wrapped."""
        return [event for event in self._known if event.frame.sequence == sequence and now - event.last_seen <= WINDOW]

    def _settle(self) -> None:
        """Decide on what is in."""
        assert self._open is not None
        # What counts is when it was heard, not when somebody came to decide.
        (frame, *others), now = self._open.frames, self._open.heard
        self._open = None
        if others:
            self._known.extend(_Event(each, 1, now) for each in (frame, *others))
            self._believed.append(Disputed((frame, *others)))
        elif self._lately(frame.sequence, now):
            # A lone copy that contradicts an event which was believed just now is a damaged copy of it. Two equal ones
            # would have been a new event: the shoe was reset and its announcement got lost.
            self.outvoted += 1
        else:
            self._believe(frame, copies=1, now=now)

    def _believe(self, frame: Unsolicited, *, copies: int, now: float) -> None:
        self._open = None
        if isinstance(frame.message, Started):
            # Sequence bytes from before the reset say nothing any more.
            self._known.clear()
        self._known.append(_Event(frame, copies, now))
        self._believed.append(frame)
