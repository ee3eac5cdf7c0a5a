"""Angel Eye II-EX frames: check digits and the host's reader of the byte stream.

    shoe to host, unsolicited   05 sequence data... 03 check check
    host to shoe, operation     02 O P letter letter digit digit 03 check check
    shoe to host, answer        06  |  15 code  |  02 ... 03 check check (a register)

The check is the XOR of all bytes up to and including 03, as two upper-case hex digits. Whether the start byte is
part of it is where implementations differ, so it is a setting.

An XOR finds every single flipped bit but not two flips in one column nor two bytes that changed places. That is why the
link acts on two equal copies of a frame rather than on one: see `angel_eye_copies`.
"""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from operator import xor

from firmware_protocol.angel_eye_messages import LONGEST_FRAME, Message, read_message
from firmware_protocol.angel_eye_refusals import NAK_CODES, NakCode

STX, ETX, ENQ, ACK, NAK = 0x02, 0x03, 0x05, 0x06, 0x15
_FIRST_PRINTABLE = 0x20
_HEX_DIGITS = b"0123456789ABCDEF"


class StartByte(StrEnum):
    """Whether the check covers the start byte of a frame."""

    INCLUDE = "included"
    EXCLUDE = "excluded"

    @property
    def other(self) -> "StartByte":
        """The other way to compute it."""
        return StartByte.EXCLUDE if self is StartByte.INCLUDE else StartByte.INCLUDE


class Drop(StrEnum):
    """Why bytes were dropped."""

    NOISE = "noise"  # bytes between frames
    BROKEN = "broken"  # a frame that was cut short, ran into the next or has no check digits
    CHECK = "check"  # the check digits do not fit
    OTHER_CHECK = "other-check"  # they would fit with the other setting of the start byte
    TOO_LONG = "too-long"  # no end within the longest frame
    SILENCE = "silence"  # a frame that was begun and never ended
    EMPTY = "empty"  # a frame without a message, or with a type that is not a letter
    UNTRUSTED = "untrusted-answer"  # an answer right after dropped bytes: it may be a byte of a broken frame


@dataclass(frozen=True, slots=True)
class Unsolicited:
    """One intact unsolicited frame: its sequence byte, what it says, and its bytes."""

    sequence: int
    message: Message
    raw: bytes


@dataclass(frozen=True, slots=True)
class Accepted:
    """The shoe did what it was told (ACK)."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The shoe did not do what it was told (NAK)."""

    reason: NakCode


@dataclass(frozen=True, slots=True)
class Register:
    """The shoe's answer to a register read. We read no registers; another host on the line may."""

    data: bytes


Received = Unsolicited | Accepted | Rejected | Register


def check_digits(frame: bytes, start: StartByte) -> bytes:
    """Give the two check digits of a frame from its start byte up to and including its end byte."""
    covered = frame if start is StartByte.INCLUDE else frame[1:]
    return b"%02X" % reduce(xor, covered, 0)


def unsolicited_frame(sequence: int, message: Message, start: StartByte = StartByte.EXCLUDE) -> bytes:
    """Give the bytes of one copy of an unsolicited frame."""
    frame = bytes((ENQ, sequence)) + message.to_data() + bytes((ETX,))
    return frame + check_digits(frame, start)


class FrameReader:
    """Finds what the shoe said in a stream of bytes. Never raises, never holds more than one frame.

    After anything was dropped, a lone 06 or 15 may be the sequence byte of a frame that lost its start. It is not
    taken for an answer until the stream is in step again: after an intact frame, or after silence on the line. A lost
    answer costs another try of an operation; a false one would leave a gate open that is believed to be shut.
    """

    def __init__(self, start: StartByte = StartByte.EXCLUDE) -> None:
        self.dropped: Counter[Drop] = Counter()
        self._start = start
        self._buffer = bytearray()
        self._in_step = True
        self._found: list[Received] = []

    @property
    def waiting(self) -> bool:
        """Whether a frame was begun and has not ended, or dropped bytes have put the stream out of step."""
        return bool(self._buffer) or not self._in_step

    def feed(self, data: bytes) -> list[Received]:
        """Take bytes in, however they were cut, and give what they complete."""
        for begin in range(0, len(data), LONGEST_FRAME):
            self._buffer += data[begin : begin + LONGEST_FRAME]
            while self._buffer and self._step():
                pass
        found, self._found = self._found, []
        return found

    def line_silent(self) -> None:
        """Give up a frame that was begun: the line has been silent for so long that it will not end."""
        if self._buffer:
            self._drop(len(self._buffer), Drop.SILENCE)
        self._in_step = True

    def _step(self) -> bool:
        """Take one thing off the buffer; False when more bytes are needed."""
        first = self._buffer[0]
        if first in {ENQ, STX}:
            return self._frame()
        if first not in {ACK, NAK}:
            return self._drop(1, Drop.NOISE)
        if not self._in_step:
            return self._drop(1, Drop.UNTRUSTED)
        if first == NAK:
            return self._rejection()
        self._take(Accepted(), 1)
        return True

    def _rejection(self) -> bool:
        if len(self._buffer) < 2:
            return False
        reason = NAK_CODES.get(self._buffer[1])
        if reason is None:
            # One flipped bit makes a 15 of the start of a frame; its sequence byte then stands where the code should.
            return self._drop(1, Drop.NOISE)
        self._take(Rejected(reason), 2)
        return True

    def _frame(self) -> bool:
        # The byte after 05 is the sequence, which may have any value, that of a control character too.
        begin = 2 if self._buffer[0] == ENQ else 1
        furthest = LONGEST_FRAME - 2
        seen = self._buffer[:furthest]
        end = next((at for at in range(begin, len(seen)) if seen[at] < _FIRST_PRINTABLE), None)
        if end is None:
            return self._drop(1, Drop.TOO_LONG) if len(seen) == furthest else False
        if self._buffer[end] != ETX:
            # No data byte is a control character: the frame was cut short and this begins something else.
            return self._drop(1, Drop.BROKEN)
        digits = bytes(self._buffer[end + 1 : end + 3])
        if any(digit not in _HEX_DIGITS for digit in digits):
            return self._drop(1, Drop.BROKEN)
        if len(digits) < 2:
            return False
        return self._checked(bytes(self._buffer[: end + 1]), digits)

    def _checked(self, frame: bytes, digits: bytes) -> bool:
        if frame[0] == STX:
            if digits not in {check_digits(frame, StartByte.INCLUDE), check_digits(frame, StartByte.EXCLUDE)}:
                return self._drop(1, Drop.CHECK)
            self._take(Register(frame[1:-1]), len(frame) + 2)
            return True
        if digits != check_digits(frame, self._start):
            other = digits == check_digits(frame, self._start.other)
            return self._drop(1, Drop.OTHER_CHECK if other else Drop.CHECK)
        data = frame[2:-1]
        # A frame that lost a sequence byte of 0 passes the check with its type as sequence.
        if not data[:1].isalpha():
            return self._drop(1, Drop.EMPTY)
        self._take(Unsolicited(frame[1], read_message(data), frame + digits), len(frame) + 2)
        return True

    def _take(self, received: Received, length: int) -> None:
        del self._buffer[:length]
        self._in_step = True
        self._found.append(received)

    def _drop(self, count: int, why: Drop) -> bool:
        del self._buffer[:count]
        self._in_step = False
        self.dropped[why] += 1
        return True
