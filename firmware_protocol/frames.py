"""Frames: bodies in, wire bytes out, and back, whatever noise lies between.

A frame on the wire is `00 stuffed check 00`. Runs of zeros count as one delimiter. Limits: a receiver needs one
buffer of MAX_BETWEEN = 255 bytes (an 8-bit index), so a body has at most 255 - 1 (COBS) - 5 (check) = 249 bytes.
"""

from typing import NamedTuple

from firmware_protocol.cobs import stuff, unstuff
from firmware_protocol.crc import CHECK_BYTES, check_bytes
from firmware_protocol.drops import Drop, DropCounts, no_drops
from firmware_protocol.errors import MessageError

MAX_BETWEEN = 255
MAX_STUFFED = MAX_BETWEEN - CHECK_BYTES
MAX_BODY = MAX_STUFFED - 1
MIN_BETWEEN = 1 + 1 + CHECK_BYTES

_DELIMITER = b"\0"


class Frame(NamedTuple):
    """One good frame: its body, and the bytes between the delimiters as they travelled."""

    body: bytes
    raw: bytes


def encode_frame(body: bytes) -> bytes:
    """Give the wire bytes of one body, delimiters at both ends."""
    if not 1 <= len(body) <= MAX_BODY:
        raise MessageError(f"a body of {len(body)} bytes does not fit in a frame: it must have 1 to {MAX_BODY}")
    stuffed = stuff(body)
    return b"".join((_DELIMITER, stuffed, check_bytes(stuffed), _DELIMITER))


def decode_between(raw: bytes) -> bytes | Drop:
    """Give the body of the bytes between two delimiters, or why there is none."""
    if len(raw) > MAX_BETWEEN:
        return Drop.OVERSIZED
    if len(raw) < MIN_BETWEEN:
        return Drop.TOO_SHORT
    stuffed = raw[:-CHECK_BYTES]
    if check_bytes(stuffed) != raw[-CHECK_BYTES:]:
        return Drop.BAD_CRC
    body = unstuff(stuffed)
    return Drop.BAD_STUFFING if body is None else body


class Decoder:
    """Finds frames in a stream of bytes. Holds at most MAX_BETWEEN bytes and never raises on input."""

    def __init__(self) -> None:
        self.drops: DropCounts = no_drops()
        self.accepted = 0
        self._tail = b""
        self._skipping = False  # until the next delimiter: what came since the last one is too long for a frame

    @property
    def held(self) -> int:
        """How many bytes of an unfinished frame are held."""
        return len(self._tail)

    def reset(self) -> None:
        """Forget an unfinished frame: the transport is a new one."""
        self._tail = b""
        self._skipping = False

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes as they come and give the frames that are complete now."""
        if _DELIMITER not in data:
            self._hold(data)
            return []
        pieces = data.split(_DELIMITER)
        frames: list[Frame] = []
        pieces[0] = b"" if self._skipping else self._tail + pieces[0]
        begun = pieces.pop()
        self._skipping = False
        self._tail = b""
        for piece in pieces:
            if piece:
                self._finish(piece, frames)
        if begun:
            self._hold(begun)
        return frames

    def _finish(self, raw: bytes, frames: list[Frame]) -> None:
        body = decode_between(raw)
        if isinstance(body, Drop):
            self.drops[body] += 1
            return
        self.accepted += 1
        frames.append(Frame(body, raw))

    def _hold(self, data: bytes) -> None:
        if self._skipping:
            return
        if len(self._tail) + len(data) > MAX_BETWEEN:
            self._tail = b""
            self._skipping = True
            self.drops[Drop.OVERSIZED] += 1
        else:
            self._tail += data
