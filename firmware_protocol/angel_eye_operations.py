"""Angel Eye II-EX operations: what a host can tell the shoe, and the shoe's reader of it."""

from enum import Enum

from firmware_protocol.angel_eye_frames import ETX, STX, StartByte, check_digits
from firmware_protocol.angel_eye_messages import LONGEST_FRAME
from firmware_protocol.angel_eye_refusals import NakCode


class Operation(Enum):
    """An operation: two letters of type and two digits."""

    UNLOCK = b"LK01"
    LOCK = b"LK02"
    CLEAR_ERROR = b"EC00"  # any error but an overdraw
    KEEP_OVERDRAWN = b"EC01"
    DISCARD_OVERDRAWN = b"EC02"
    CONFIRM_GAME = b"GP00"

    def to_bytes(self, start: StartByte = StartByte.INCLUDE) -> bytes:
        """Give the frame."""
        frame = bytes((STX,)) + b"OP" + self.value + bytes((ETX,))
        return frame + check_digits(frame, start)


class OperationReader:
    """The shoe's end: finds operations in the host's bytes, and what to answer to bytes that are none."""

    def __init__(self, start: StartByte = StartByte.INCLUDE) -> None:
        self._start = start
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Operation | NakCode]:
        """Take bytes in and give each operation, or the refusal of what should have been one."""
        found: list[Operation | NakCode] = []
        for byte in data:
            if byte == STX and len(self._buffer) < 2:
                # A start byte right after a start byte begins anew; further on it can only be damage.
                self._buffer[:] = bytes((STX,))
            elif self._buffer:
                self._buffer.append(byte)
            outcome = self._outcome()
            if outcome is not None:
                self._buffer.clear()
                found.append(outcome)
        return found

    def _outcome(self) -> Operation | NakCode | None:
        if ETX not in self._buffer:
            return NakCode.NO_END if len(self._buffer) == LONGEST_FRAME or self._buffer.count(STX) > 1 else None
        end = self._buffer.index(ETX)
        if len(self._buffer) < end + 3:
            return None
        frame, digits = bytes(self._buffer[: end + 1]), bytes(self._buffer[end + 1 :])
        if digits != check_digits(frame, self._start):
            return NakCode.CHECK
        if len(frame) != len(Operation.LOCK.to_bytes()) - 2:
            return NakCode.FORMAT
        if frame[1:3] != b"OP":
            return NakCode.COMMAND
        return next((operation for operation in Operation if operation.value == frame[3:7]), NakCode.TYPE)
