"""The packets of MQTT 3.1.1 and 5 that a publisher of QoS 1 needs: made, found in a stream of bytes, and read.

There is no I/O here. What a broker sends is read with limits and never trusted: what is not MQTT raises PacketError.
"""

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

VERSION_5 = "5"
PING = b"\xc0\x00"
DISCONNECT = b"\xe0\x00"
MAX_MID = 0xFFFF

_LEVELS = {"3.1.1": 4, VERSION_5: 5}
_U16 = Struct(">H")
_U32 = Struct(">I")
_CLEAN, _WILL, _WILL_QOS_1, _WILL_RETAIN, _PASSWORD, _USER = 0x02, 0x04, 0x08, 0x20, 0x40, 0x80
_LONGEST = 4  # bytes of a length

# Codes of version 5. Those of 3.1.1 say less and are turned into these.
REASONS = {
    0x80: "Unspecified error",
    0x81: "Malformed packet",
    0x82: "Protocol error",
    0x83: "Implementation specific error",
    0x84: "Unsupported protocol version",
    0x85: "Client identifier not valid",
    0x86: "Bad user name or password",
    0x87: "Not authorized",
    0x88: "Server unavailable",
    0x89: "Server busy",
    0x8A: "Banned",
    0x8B: "Server shutting down",
    0x8C: "Bad authentication method",
    0x8D: "Keep alive timeout",
    0x8E: "Session taken over",
    0x8F: "Topic filter invalid",
    0x90: "Topic name invalid",
    0x91: "Packet identifier in use",
    0x93: "Receive maximum exceeded",
    0x94: "Topic alias invalid",
    0x95: "Packet too large",
    0x96: "Message rate too high",
    0x97: "Quota exceeded",
    0x98: "Administrative action",
    0x99: "Payload format invalid",
    0x9A: "Retain not supported",
    0x9B: "QoS not supported",
    0x9C: "Use another server",
    0x9D: "Server moved",
    0x9E: "Shared subscriptions not supported",
    0x9F: "Connection rate exceeded",
    0xA1: "Subscription identifiers not supported",
    0xA2: "Wildcard subscriptions not supported",
}
_REFUSALS_3_1_1 = {1: 0x84, 2: 0x85, 3: 0x88, 4: 0x86, 5: 0x87}
_FAILURE = 0x80

# Properties of version 5 by the kind of their value. Only those with a name here are of use to us.
_RECEIVE_MAXIMUM, _MAXIMUM_QOS, _MAXIMUM_PACKET_SIZE, _SERVER_KEEP_ALIVE = 0x21, 0x24, 0x27, 0x13
_NUMBERS = {
    **dict.fromkeys((0x01, 0x17, 0x19, _MAXIMUM_QOS, 0x25, 0x28, 0x29, 0x2A), 1),
    **dict.fromkeys((_SERVER_KEEP_ALIVE, _RECEIVE_MAXIMUM, 0x22, 0x23), 2),
    **dict.fromkeys((0x02, 0x11, 0x18, _MAXIMUM_PACKET_SIZE), 4),
}
_TEXTS = {0x03: 1, 0x08: 1, 0x09: 1, 0x12: 1, 0x15: 1, 0x16: 1, 0x1A: 1, 0x1C: 1, 0x1F: 1, 0x26: 2}
_SUBSCRIPTION = 0x0B


class PacketError(ValueError):
    """What arrived is not MQTT."""


class Kind(IntEnum):
    """The packets that a broker may send us."""

    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    SUBACK = 9
    PINGRESP = 13
    DISCONNECT = 14


class Packet(NamedTuple):
    """One packet as it came. `whole` is False if its end was left out because it is longer than we take."""

    kind: int
    flags: int
    body: bytes
    whole: bool = True


class Welcome(NamedTuple):
    """What a broker answers to CONNECT. `reason` is 0 or a code of REASONS."""

    reason: int
    receive_maximum: int = MAX_MID
    maximum_qos: int = 2
    keep_alive: int | None = None


class Message(NamedTuple):
    """A message of one of our subscriptions."""

    topic: str
    payload: bytes
    mid: int  # 0: it wants no answer
    retained: bool


def reason_text(code: int) -> str:
    """Return the name of a reason, as the standard has it."""
    return REASONS.get(code, f"reason {code:#04x}")


def is_failure(code: int) -> bool:
    """Tell whether a reason means that something was not done."""
    return code >= _FAILURE


def _length(size: int) -> bytes:
    out = bytearray()
    while size > 127:
        out.append(size & 127 | 128)
        size >>= 7
    out.append(size)
    return bytes(out)


def _text(value: bytes) -> bytes:
    return _U16.pack(len(value)) + value


def connect(
    client_id: str,
    *,
    version: str,
    keepalive: int,
    most: int,
    user: str | None = None,
    password: bytes | None = None,
    will: tuple[str, bytes] | None = None,
) -> bytes:
    """Return a CONNECT without a session; `most` is the longest packet we take, `will` is kept by the broker."""
    five = version == VERSION_5
    flags, rest = _CLEAN, _text(client_id.encode())
    if will is not None:
        flags |= _WILL | _WILL_QOS_1 | _WILL_RETAIN
        rest += (b"\0" if five else b"") + _text(will[0].encode()) + _text(will[1])
    if user is not None:
        flags |= _USER
        rest += _text(user.encode())
    if password is not None:
        flags |= _PASSWORD
        rest += _text(password)
    properties = bytes((5, _MAXIMUM_PACKET_SIZE)) + _U32.pack(most) if five else b""
    body = _text(b"MQTT") + bytes((_LEVELS[version], flags)) + _U16.pack(keepalive) + properties + rest
    return b"\x10" + _length(len(body)) + body


def publish(topic: str, payload: bytes, mid: int, *, version: str, retain: bool) -> bytes:
    """Return a PUBLISH of QoS 1."""
    name = topic.encode()
    head = b"%b%b%b" % (_U16.pack(len(name)), name, _U16.pack(mid))
    if version == VERSION_5:
        head += b"\0"
    return b"%b%b%b%b" % (b"\x33" if retain else b"\x32", _length(len(head) + len(payload)), head, payload)


def subscribe(topic: str, mid: int, *, version: str) -> bytes:
    """Return a SUBSCRIBE to one topic with QoS 1."""
    body = _U16.pack(mid) + (b"\0" if version == VERSION_5 else b"") + _text(topic.encode()) + b"\x01"
    return b"\x82" + _length(len(body)) + body


def acknowledge(mid: int) -> bytes:
    """Return the PUBACK of a message that arrived."""
    return b"\x40\x02" + _U16.pack(mid)


class PacketReader:
    """Finds packets in a stream of bytes. Of one that is longer than `most` only the beginning is kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._buffer = bytearray()
        self._cut: Packet | None = None
        self._left = 0  # bytes of the packet that is being cut which are still to come

    def feed(self, data: bytes) -> list[Packet]:
        """Take bytes as they come and return the packets that are complete now, or raise PacketError."""
        packets: list[Packet] = []
        if self._cut is not None:
            dropped = min(self._left, len(data))
            self._left -= dropped
            data = data[dropped:]
            if self._left:
                return packets
            packets.append(self._cut)
            self._cut = None
        self._buffer += data
        while (packet := self._next()) is not None:
            packets.append(packet)
        return packets

    def _next(self) -> Packet | None:
        buffer = self._buffer
        size = shift = 0
        for at in range(1, min(len(buffer), _LONGEST + 1)):
            size |= (buffer[at] & 127) << shift
            shift += 7
            if buffer[at] < 128:
                return self._take(at + 1, size)
        if shift == 7 * _LONGEST:
            raise PacketError("a length of more than four bytes")
        return None

    def _take(self, head: int, size: int) -> Packet | None:
        buffer = self._buffer
        kept = min(size, self._most)
        if len(buffer) < head + kept:
            return None
        packet = Packet(buffer[0] >> 4, buffer[0] & 15, bytes(buffer[head : head + kept]), kept == size)
        dropped = min(size - kept, len(buffer) - head - kept)
        del buffer[: head + kept + dropped]
        if dropped == size - kept:
            return packet
        self._cut, self._left = packet, size - kept - dropped
        return None


class _Fields:
    """Reads the fields of a body one after the other."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.at = 0

    @property
    def left(self) -> int:
        return len(self._body) - self.at

    def number(self, size: int) -> int:
        return int.from_bytes(self.raw(size), "big")

    def raw(self, size: int) -> bytes:
        if size > self.left:
            raise PacketError("a packet that ends too early")
        data = self._body[self.at : self.at + size]
        self.at += size
        return data

    def text(self) -> bytes:
        return self.raw(self.number(2))

    def length(self) -> int:
        size = 0
        for shift in range(0, 7 * _LONGEST, 7):
            part = self.number(1)
            size |= (part & 127) << shift
            if part < 128:
                return size
        raise PacketError("a length of more than four bytes")

    def properties(self) -> dict[int, int]:
        """Read properties of version 5 and return those that are numbers."""
        end = self.length() + self.at
        found: dict[int, int] = {}
        while self.at < end:
            name = self.number(1)
            if name in _NUMBERS:
                found[name] = self.number(_NUMBERS[name])
            elif name in _TEXTS:
                for _ in range(_TEXTS[name]):
                    self.text()
            elif name == _SUBSCRIPTION:
                self.length()
            else:
                raise PacketError(f"a property {name:#04x} that version 5 does not have")
        if self.at != end:
            raise PacketError("properties that end too late")
        return found


def read_welcome(body: bytes, version: str) -> Welcome:
    """Read a CONNACK."""
    fields = _Fields(body)
    fields.number(1)
    code = fields.number(1)
    if version != VERSION_5:
        return Welcome(_REFUSALS_3_1_1.get(code, _FAILURE) if code else 0)
    # A broker that does not know version 5 answers as it can, and knows no properties.
    if code in _REFUSALS_3_1_1:
        return Welcome(_REFUSALS_3_1_1[code])
    properties = fields.properties() if fields.left else {}
    return Welcome(
        code,
        properties.get(_RECEIVE_MAXIMUM, MAX_MID),
        properties.get(_MAXIMUM_QOS, 2),
        properties.get(_SERVER_KEEP_ALIVE),
    )


def read_message(packet: Packet, version: str) -> Message:
    """Read a PUBLISH. A topic that is no text is none of ours, and has a sign in it that says so."""
    qos = packet.flags >> 1 & 3
    if qos > 1:
        raise PacketError("a message of QoS 2, which we never asked for")
    fields = _Fields(packet.body)
    topic = fields.text()
    mid = fields.number(2) if qos else 0
    if version == VERSION_5 and packet.whole:
        fields.properties()
    return Message(topic.decode(errors="replace"), fields.raw(fields.left), mid, bool(packet.flags & 1))


def read_receipt(body: bytes) -> tuple[int, int]:
    """Read a PUBACK: the number of the message, and what became of it."""
    fields = _Fields(body)
    return fields.number(2), fields.number(1) if fields.left else 0


def read_grant(body: bytes, version: str) -> tuple[int, int]:
    """Read a SUBACK for one topic: the number of the request, and its reason."""
    fields = _Fields(body)
    mid = fields.number(2)
    if version == VERSION_5:
        fields.properties()
    return mid, fields.number(1)


def read_farewell(body: bytes) -> int:
    """Read a DISCONNECT of a broker: its reason."""
    return body[0] if body else 0
