"""Greeting messages: query, hello and welcome, which start a link and agree on version, session and keys."""

from dataclasses import dataclass
from struct import Struct
from typing import Self

from firmware_protocol.codes import MAJOR, MINOR, DeviceKind, HelloFlag, Kind, QueryFlag, Verdict
from firmware_protocol.errors import MessageError
from firmware_protocol.fields import exactly, pack, unpack

NONCE_BYTES = 16
NO_NONCE = bytes(NONCE_BYTES)
SHA256_BYTES = 32
MAX_TEXT = 32

_NO_QUERY_FLAGS = QueryFlag(0)
_NO_HELLO_FLAGS = HelloFlag(0)
_QUERY = Struct("<BBB16sB")
_HELLO = Struct("<BBB16s16sIIIBBIH32s")
_WELCOME = Struct("<BBBB16s16sII")


@dataclass(frozen=True, slots=True)
class Query:
    """Host: who are you? The nonce is the challenge that the hello must repeat."""

    nonce: bytes
    flags: QueryFlag = _NO_QUERY_FLAGS
    major: int = MAJOR
    minor: int = MINOR

    def to_bytes(self) -> bytes:
        """Give the body."""
        nonce = exactly(NONCE_BYTES, self.nonce, "a nonce")
        return pack(_QUERY, "query", Kind.QUERY, self.major, self.minor, nonce, self.flags)

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        _, major, minor, nonce, flags = unpack(_QUERY, body, "query")
        return cls(nonce, QueryFlag(flags), major, minor)


@dataclass(frozen=True, slots=True)
class ForeignHello:
    """A hello of another major version: nothing of it but its version can be read."""

    major: int
    minor: int


@dataclass(frozen=True, slots=True)
class Identity:
    """What a device is, whatever happens to it in use."""

    kind: DeviceKind
    serial_number: str
    firmware_version: str
    firmware_sha256: bytes
    capabilities: int
    buffer_cards: int


@dataclass(frozen=True, slots=True)
class Hello:
    """Device: this is what I am, and these events I keep: from `first` up to, not including, `next`.

    With a `host_nonce` of zeros it is an announcement that nobody asked for: the device has no link.
    """

    identity: Identity
    session: int
    first: int
    next: int
    flags: HelloFlag = _NO_HELLO_FLAGS
    host_nonce: bytes = NO_NONCE
    device_nonce: bytes = NO_NONCE
    major: int = MAJOR
    minor: int = MINOR

    def to_bytes(self) -> bytes:
        """Give the body."""
        one = self.identity
        return (
            pack(
                _HELLO,
                "hello",
                Kind.HELLO,
                self.major,
                self.minor,
                exactly(NONCE_BYTES, self.host_nonce, "a nonce"),
                exactly(NONCE_BYTES, self.device_nonce, "a nonce"),
                self.session,
                self.first,
                self.next,
                self.flags,
                one.kind,
                one.capabilities,
                one.buffer_cards,
                exactly(SHA256_BYTES, one.firmware_sha256, "a SHA-256"),
            )
            + _pack_text(one.serial_number, "serial number")
            + _pack_text(one.firmware_version, "firmware version")
        )

    @classmethod
    def from_bytes(cls, body: bytes) -> "Hello | ForeignHello":
        """Read a body: a hello, or of another major version only which one it is."""
        if len(body) < 3:
            raise MessageError("a hello ends before its version")
        if body[1] != MAJOR:
            return ForeignHello(body[1], body[2])
        _, major, minor, host_nonce, device_nonce, session, first, following, *rest = unpack(_HELLO, body, "hello")
        flags, kind, capabilities, cards, sha256 = rest
        if kind not in _DEVICE_KINDS:
            raise MessageError(f"{kind} is no kind of device")
        # The first number is 1. `following` may be 2**32 - 1 at most: that number is never given to an event.
        if not session or not 1 <= first <= following:
            raise MessageError(f"session {session} with events {first} up to {following} cannot be")
        serial_number, at = _unpack_text(body, _HELLO.size, "serial number")
        firmware_version, at = _unpack_text(body, at, "firmware version")
        return cls(
            Identity(DeviceKind(kind), serial_number, firmware_version, sha256, capabilities, cards),
            session,
            first,
            following,
            HelloFlag(flags),
            host_nonce,
            device_nonce,
            major,
            minor,
        )


_DEVICE_KINDS = frozenset(DeviceKind)


@dataclass(frozen=True, slots=True)
class Welcome:
    """Host: the verdict on a hello. All events before `resume` are safe with the host: send from there."""

    verdict: Verdict
    host_nonce: bytes
    device_nonce: bytes
    session: int
    resume: int
    major: int = MAJOR
    minor: int = MINOR

    def to_bytes(self) -> bytes:
        """Give the body."""
        return pack(
            _WELCOME,
            "welcome",
            Kind.WELCOME,
            self.major,
            self.minor,
            self.verdict,
            exactly(NONCE_BYTES, self.host_nonce, "a nonce"),
            exactly(NONCE_BYTES, self.device_nonce, "a nonce"),
            self.session,
            self.resume,
        )

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """Read a body."""
        _, major, minor, verdict, host_nonce, device_nonce, session, resume = unpack(_WELCOME, body, "welcome")
        if verdict not in _VERDICTS:
            raise MessageError(f"{verdict} is no verdict on a hello")
        return cls(Verdict(verdict), host_nonce, device_nonce, session, resume, major, minor)


_VERDICTS = frozenset(Verdict)


def _pack_text(text: str, what: str) -> bytes:
    if not 1 <= len(text) <= MAX_TEXT or not text.isascii() or not text.isprintable():
        raise MessageError(f"the {what} must have 1 to {MAX_TEXT} printable ASCII characters: {text!r}")
    return bytes((len(text),)) + text.encode("ascii")


def _unpack_text(body: bytes, at: int, what: str) -> tuple[str, int]:
    if at >= len(body):
        raise MessageError(f"the message ends before the {what}")
    end = at + 1 + body[at]
    text = body[at + 1 : end]
    if end > len(body) or not 1 <= len(text) <= MAX_TEXT or not all(0x20 <= byte < 0x7F for byte in text):
        raise MessageError(f"the {what} must have 1 to {MAX_TEXT} printable ASCII characters")
    return text.decode("ascii"), end
