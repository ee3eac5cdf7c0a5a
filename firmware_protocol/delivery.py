"""Delivery messages: events with their numbers, acknowledgements, replay requests and heartbeats."""

from dataclasses import dataclass
from struct import Struct
from typing import Self

from firmware_protocol.codes import EVENT_KINDS, BeatFlag, Kind
from firmware_protocol.errors import MessageError
from firmware_protocol.events import Happening, Heartbeat
from firmware_protocol.fields import pack, unpack
from firmware_protocol.happenings import pack_happening, unpack_happening

MAX_NUMBER = 0xFFFFFFFE  # so that "the next number" always fits in 32 bits

_PLACE = Struct("<BII")
_BEAT = Struct("<BIIBQHIIII")


@dataclass(frozen=True, slots=True)
class Event:
    """Device: something happened. (session, number) is its identity for ever."""

    session: int
    number: int
    happening: Happening

    def to_bytes(self) -> bytes:
        """Give the body."""
        kind, content = pack_happening(self.happening)
        return event_body(kind, self.session, self.number, content)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        kind, session, number = _place(body)
        if kind not in EVENT_KINDS:
            raise MessageError(f"type {kind:#04x} is no event")
        return cls(session, number, unpack_happening(kind, body, _PLACE.size))


def event_body(kind: int, session: int, number: int, content: bytes) -> bytes:
    """Give the body of an event that is kept as kind and content."""
    return pack(_PLACE, "place in the order", kind, session, number) + content


@dataclass(frozen=True, slots=True)
class Ack:
    """Host: every event up to and including this number is on disk."""

    session: int
    number: int

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(_PLACE, "place in the order", Kind.ACK, self.session, self.number)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        _, session, number = _place(body, first=0)
        return cls(session, number)


@dataclass(frozen=True, slots=True)
class Replay:
    """Host: send again from this number."""

    session: int
    number: int

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(_PLACE, "place in the order", Kind.REPLAY, self.session, self.number)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        _, session, number = _place(body)
        return cls(session, number)


@dataclass(frozen=True, slots=True)
class Beat:
    """Device: I am alive. `next` is the number that the next event will get."""

    session: int
    next: int
    flags: BeatFlag
    uptime_ms: int
    buffered: int
    reads: int = 0
    retries: int = 0
    misses: int = 0
    crc_errors: int = 0

    def to_bytes(self) -> bytes:
        """Give the body. Counters wrap at 32 bits."""
        return pack(
            _BEAT,
            "heartbeat",
            Kind.HEARTBEAT,
            self.session,
            self.next,
            self.flags,
            self.uptime_ms,
            min(self.buffered, 0xFFFF),
            self.reads & 0xFFFFFFFF,
            self.retries & 0xFFFFFFFF,
            self.misses & 0xFFFFFFFF,
            self.crc_errors & 0xFFFFFFFF,
        )

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        _, session, following, flags, *counts = unpack(_BEAT, body, "heartbeat")
        return cls(session, following, BeatFlag(flags), *counts)

    def health(self) -> Heartbeat:
        """Give what the host link hands out."""
        return Heartbeat(
            self.uptime_ms,
            self.buffered,
            self.reads,
            self.retries,
            self.misses,
            self.crc_errors,
            gate_open=BeatFlag.GATE_OPEN in self.flags,
            lid_open=BeatFlag.LID_OPEN in self.flags,
            overflowed=BeatFlag.OVERFLOWED in self.flags,
        )


def _place(body: bytes, first: int = 1) -> tuple[int, int, int]:
    kind, session, number = unpack(_PLACE, body, "place in the order")
    if not session or not first <= number <= MAX_NUMBER:
        raise MessageError(f"session {session}, number {number} is the place of no event")
    return kind, session, number
