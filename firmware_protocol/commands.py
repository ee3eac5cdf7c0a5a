"""Command messages: what the host asks the device to do, and the answer. Each has an id; an id is carried out once."""

from dataclasses import dataclass
from struct import Struct
from typing import Self

from firmware_protocol.codes import COMMAND_KINDS, Kind, LampMode, Status
from firmware_protocol.errors import MessageError
from firmware_protocol.fields import pack, unpack

_HEADER = Struct("<BI")
_GATE = Struct("<BIB")
_LAMP = Struct("<BIBBBBB")
_SET_TIME = Struct("<BIQ")
_IDENTIFY = Struct("<BIB")
_ANSWER = Struct("<BIB")


@dataclass(frozen=True, slots=True)
class Gate:
    """Open or shut the gate."""

    command_id: int
    open: bool

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(_GATE, "command", Kind.GATE, self.command_id, self.open)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        _, command_id, position = _unpack(_GATE, body)
        if position > 1:
            raise MessageError(f"a gate is shut (0) or open (1), not {position}")
        return cls(command_id, position == 1)


@dataclass(frozen=True, slots=True)
class Lamp:
    """Set one lamp. A lamp of one colour takes no notice of the colour."""

    command_id: int
    lamp: int
    mode: LampMode
    red: int = 255
    green: int = 255
    blue: int = 255

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(_LAMP, "command", Kind.LAMP, self.command_id, self.lamp, self.mode, self.red, self.green, self.blue)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        _, command_id, lamp, mode, red, green, blue = _unpack(_LAMP, body)
        if mode not in _LAMP_MODES:
            raise MessageError(f"{mode} is no mode of a lamp")
        return cls(command_id, lamp, LampMode(mode), red, green, blue)


_LAMP_MODES = frozenset(LampMode)


@dataclass(frozen=True, slots=True)
class SetTime:
    """Set the device's wall clock. The times in events are not touched by it."""

    command_id: int
    unix_us: int

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(_SET_TIME, "command", Kind.SET_TIME, self.command_id, self.unix_us)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        _, command_id, unix_us = _unpack(_SET_TIME, body)
        return cls(command_id, unix_us)


@dataclass(frozen=True, slots=True)
class SelfTest:
    """Test yourself. The answer says that the test has begun; its result is an event."""

    command_id: int

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(_HEADER, "command", Kind.SELF_TEST, self.command_id)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        return cls(_unpack(_HEADER, body)[1])


@dataclass(frozen=True, slots=True)
class Identify:
    """Make yourself noticed (lamps, sound) for some seconds, so that a person finds the device."""

    command_id: int
    seconds: int = 5

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(_IDENTIFY, "command", Kind.IDENTIFY, self.command_id, self.seconds)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        _, command_id, seconds = _unpack(_IDENTIFY, body)
        return cls(command_id, seconds)


@dataclass(frozen=True, slots=True)
class Reboot:
    """Start again, after the answer has been sent."""

    command_id: int

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(_HEADER, "command", Kind.REBOOT, self.command_id)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        return cls(_unpack(_HEADER, body)[1])


@dataclass(frozen=True, slots=True)
class UnknownCommand:
    """A command of a newer minor version: answered with NOT_SUPPORTED."""

    kind: int
    command_id: int
    data: bytes

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(_HEADER, "command", self.kind, self.command_id) + self.data

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        kind, command_id = _unpack(_HEADER, body)
        if kind not in COMMAND_KINDS:
            raise MessageError(f"type {kind:#04x} is no command")
        return cls(kind, command_id, body[_HEADER.size :])


Command = Gate | Lamp | SetTime | SelfTest | Identify | Reboot | UnknownCommand


@dataclass(frozen=True, slots=True)
class Answer:
    """Device: what became of a command."""

    command_id: int
    status: Status

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(_ANSWER, "command", Kind.ANSWER, self.command_id, self.status)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body. A status of a newer minor version means that the command was not done."""
        _, command_id, status = _unpack(_ANSWER, body)
        return cls(command_id, Status(status) if status in _STATUSES else Status.FAILED)


_STATUSES = frozenset(Status)


def _unpack(layout: Struct, body: bytes) -> tuple[int, ...]:
    values = unpack(layout, body, "command or answer")
    if not values[1]:
        raise MessageError("command ids begin at 1")
    return values
