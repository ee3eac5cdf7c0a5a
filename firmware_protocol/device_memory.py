"""Event memory of a device: what it must keep until the host has it, in a fixed number of bytes.

The costs are those of the C reference, so that a simulated shoe fills up exactly when a real one would.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from struct import Struct
from typing import Self

from firmware_protocol.card_block import MAX_CARD_BYTES
from firmware_protocol.codes import Kind
from firmware_protocol.delivery import MAX_NUMBER
from firmware_protocol.errors import MessageError, SettingError

RECORD_OVERHEAD = 2  # length and kind
CARD_RECORD = RECORD_OVERHEAD + MAX_CARD_BYTES
LARGEST_SHOE = 650  # ten decks of 65
# Room for the largest shoe with the largest cards is 650 * 38 = 24,700 bytes; 900 are for everything else.
CAPACITY = 25_600
# The note that events were not kept must itself always find room.
OVERFLOW_RECORD = RECORD_OVERHEAD + 5
# The gate must be shut while fewer than eight of the largest cards would find room: a hand takes six.
FEEDING_CARDS = 8
FEEDING_ROOM = FEEDING_CARDS * CARD_RECORD
MIN_CAPACITY = FEEDING_ROOM + 2 * OVERFLOW_RECORD
# Event numbers never start again within a session: near their end, the session does. Far more than are ever kept.
SESSION_TAIL = 0x10000

_OVERFLOW = Struct("<BI")
_HEADER = Struct("<IIBBI")
_FRESH = 0x01
_OVERFLOWED = 0x02


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """What survives a power cut in a device that has non-volatile memory. `records` are kind byte and content."""

    session: int
    first: int = 1
    fresh: bool = True
    overflowed: bool = False
    lost: int = 0
    records: tuple[bytes, ...] = ()

    def to_bytes(self) -> bytes:
        """Give a form that can be kept in a file."""
        flags = self.fresh * _FRESH | self.overflowed * _OVERFLOWED
        header = _HEADER.pack(self.session, self.first, flags, 0, self.lost)
        return header + b"".join(bytes((len(record),)) + record for record in self.records)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read that form; a copy that is cut short raises MessageError: such a device has lost its memory."""
        if len(data) < _HEADER.size:
            raise MessageError("the kept memory is cut short: begin a new session")
        session, first, flags, _, lost = _HEADER.unpack_from(data)
        records = []
        at = _HEADER.size
        while at < len(data):
            end = at + 1 + data[at]
            if end > len(data) or data[at] < 1:
                raise MessageError("the kept memory is cut short: begin a new session")
            records.append(data[at + 1 : end])
            at = end
        return cls(session, first, bool(flags & _FRESH), bool(flags & _OVERFLOWED), lost, tuple(records))


class EventMemory:
    """Events in order from number `first`, within a fixed number of bytes."""

    def __init__(self, memory: DeviceMemory, capacity: int = CAPACITY) -> None:
        if capacity < MIN_CAPACITY:
            raise SettingError(f"an event memory of {capacity} bytes is too small: it needs {MIN_CAPACITY}")
        self.session = memory.session
        self.first = memory.first
        self.fresh = memory.fresh
        self.overflowed = memory.overflowed
        self.lost = memory.lost
        self.capacity = capacity
        self._records = deque(memory.records)
        self._used = _cost(memory.records)

    @property
    def next(self) -> int:
        """The number that the next event gets."""
        return self.first + len(self._records)

    @property
    def may_feed(self) -> bool:
        """Whether the device may let a card out: else it must keep its gate shut."""
        return not self.overflowed and self._room() >= FEEDING_ROOM and self.next + FEEDING_CARDS < MAX_NUMBER

    @property
    def session_used_up(self) -> bool:
        """Whether numbers run out and nothing is kept: the moment to begin another session."""
        return not self._records and self.next > MAX_NUMBER - SESSION_TAIL

    def __len__(self) -> int:
        return len(self._records)

    def add(self, kind: int, content: bytes) -> bool:
        """Keep an event. False if there is no room: it is counted as lost, and the place of the loss is kept."""
        record = bytes((kind,)) + content
        # The last number is for the overflow note, as the reserved room is.
        if not self.overflowed and len(record) + 1 <= self._room() and self.next < MAX_NUMBER:
            self._append(record)
            return True
        if not self.overflowed:
            self.overflowed = True
            self._append(bytes((Kind.OVERFLOW,)) + _OVERFLOW.pack(1, 0))
        self.lost = min(self.lost + 1, 0xFFFFFFFF)
        return False

    def record(self, number: int) -> tuple[int, bytes]:
        """Give kind and content of an event that is kept."""
        record = self._records[number - self.first]
        return record[0], record[1:]

    def drop_before(self, number: int) -> None:
        """Forget events that are safe with the host."""
        while self.first < number and self._records:
            self._used -= len(self._records.popleft()) + 1
            self.first += 1
        self._end_overflow()

    def begin_session(self, session: int) -> None:
        """Give what is kept new numbers, in a session that no host has seen."""
        self.session, self.first, self.fresh = session, 1, True
        self._end_overflow()

    def snapshot(self) -> DeviceMemory:
        """Give what must survive."""
        return DeviceMemory(self.session, self.first, self.fresh, self.overflowed, self.lost, tuple(self._records))

    def _end_overflow(self) -> None:
        if self.overflowed and self._room() >= FEEDING_ROOM and self.next < MAX_NUMBER:
            self.overflowed = False
            self._append(bytes((Kind.OVERFLOW,)) + _OVERFLOW.pack(0, self.lost))
            self.lost = 0

    def _room(self) -> int:
        return self.capacity - OVERFLOW_RECORD - self._used

    def _append(self, record: bytes) -> None:
        self._records.append(record)
        self._used += len(record) + 1


def _cost(records: Iterable[bytes]) -> int:
    return sum(len(record) + 1 for record in records)
