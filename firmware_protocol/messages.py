"""Messages by their type byte: the one table that says which bytes are which message.

`read_from_device` and `read_from_host` never raise: what cannot be used comes back as a Drop.
"""

from collections.abc import Callable
from typing import TypeVar

from firmware_protocol.codes import COMMAND_KINDS, EVENT_KINDS, FROM_HOST, SEALED, Kind
from firmware_protocol.commands import (
    Answer,
    Command,
    Gate,
    Identify,
    Lamp,
    Reboot,
    SelfTest,
    SetTime,
    UnknownCommand,
)
from firmware_protocol.delivery import Ack, Beat, Event, Replay
from firmware_protocol.drops import Drop
from firmware_protocol.errors import MessageError
from firmware_protocol.greeting import ForeignHello, Hello, Query, Welcome

DeviceMessage = Hello | ForeignHello | Beat | Answer | Event
HostMessage = Query | Welcome | Ack | Replay | Command
Message = DeviceMessage | HostMessage
_M = TypeVar("_M")

_FROM_DEVICE: dict[int, Callable[[bytes], DeviceMessage]] = {
    Kind.HELLO: Hello.from_bytes,
    Kind.HEARTBEAT: Beat.from_bytes,
    Kind.ANSWER: Answer.from_bytes,
    **dict.fromkeys(EVENT_KINDS, Event.from_bytes),
}
_FROM_HOST: dict[int, Callable[[bytes], HostMessage]] = {
    Kind.QUERY: Query.from_bytes,
    Kind.WELCOME: Welcome.from_bytes,
    Kind.ACK: Ack.from_bytes,
    Kind.REPLAY: Replay.from_bytes,
    **dict.fromkeys(COMMAND_KINDS, UnknownCommand.from_bytes),
    Kind.GATE: Gate.from_bytes,
    Kind.LAMP: Lamp.from_bytes,
    Kind.SET_TIME: SetTime.from_bytes,
    Kind.SELF_TEST: SelfTest.from_bytes,
    Kind.IDENTIFY: Identify.from_bytes,
    Kind.REBOOT: Reboot.from_bytes,
}


def read_from_device(body: bytes) -> DeviceMessage | Drop:
    """Read what a device sent; the seal, if any, must have been taken off."""
    return _read(body, _FROM_DEVICE, 0)


def read_from_host(body: bytes) -> HostMessage | Drop:
    """Read what a host sent; the seal, if any, must have been taken off."""
    return _read(body, _FROM_HOST, FROM_HOST)


def _read(body: bytes, readers: dict[int, Callable[[bytes], _M]], direction: int) -> _M | Drop:
    if not body:
        return Drop.TOO_SHORT
    kind = body[0]
    if kind & FROM_HOST != direction:
        return Drop.WRONG_DIRECTION
    if kind & SEALED:
        return Drop.BAD_SEAL
    reader = readers.get(kind)
    if reader is None:
        return Drop.UNKNOWN_TYPE
    try:
        return reader(body)
    except MessageError:
        return Drop.MALFORMED
