"""The values that go into the journal and come out of it.

An entry is one input with the facts that it caused. Facts are numbered without gaps over the whole life of a
table; an entry's `seq` is the number of its first fact, so that the next entry's is `seq + count`. Every input
causes at least one fact.
"""

from typing import Protocol

import msgspec


class Stamp(msgspec.Struct, frozen=True):
    """When something happened: order is `seq`, time is boot + monotonic, the wall clock only an annotation."""

    boot: str  # 32 hexadecimal digits, new at each start of the controller's machine or process
    mono_ns: int
    wall_ns: int
    synced: bool


class NewEntry(msgspec.Struct, frozen=True):
    """An entry to be appended: the input and its facts as JSON text, as they will stand for ever."""

    stamp: Stamp
    source: str  # shoe, panel, local:<user>, wagers, clock, controller
    kind: str  # the input's type
    body: bytes  # the input as JSON
    facts: tuple[bytes, ...]  # each fact as JSON, at least one
    device: tuple[int, int] | None = None  # (session, number) of a shoe event
    raw: bytes = b""  # the frame as it came from the shoe
    signed: bool = False  # a round or the shoe ended here: sign the chain at this entry


class Entry(msgspec.Struct, frozen=True):
    """An entry as it stands in the journal."""

    seq: int
    count: int
    stamp: Stamp
    source: str
    kind: str
    body: bytes
    facts: bytes  # a JSON array
    device: tuple[int, int] | None
    raw: bytes
    prev: bytes
    hash: bytes
    signature: bytes | None  # key id (8 bytes) and Ed25519 signature (64 bytes)


class FactRecord(msgspec.Struct, frozen=True):
    """One fact as sinks see it."""

    seq: int
    fact: bytes  # JSON, begins {"type":"…"
    type: str
    stamp: Stamp
    source: str
    raw: bytes


class FactSource(Protocol):
    """What a sink reads from: a cursor into the journal, never a queue of its own."""

    @property
    def last_seq(self) -> int:
        """The number of the newest committed fact, 0 if there is none."""
        ...

    def facts(self, after: int, limit: int) -> list[FactRecord]:
        """Return up to `limit` facts with seq > after, in order, without gaps."""
        ...

    def cursor(self, sink: str) -> int:
        """Return the seq up to which the sink is done; 0 at first."""
        ...

    def move_cursor(self, sink: str, seq: int) -> None:
        """Record that the sink is done up to seq."""
        ...
