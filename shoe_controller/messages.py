"""The published messages: everything that a table says to other systems, or hears from them, one type each.

Topics are `shoe/v1/<site>/<table>/<channel>`. Compatibility: a field is only ever added, with a default; a
consumer ignores fields and fact types that it does not know. JSON Schemas and the AsyncAPI document under docs/
are generated from these types and from the facts (`python -m shoe_controller.schemas`).
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shoe_controller.journal.entry import FactRecord
from shoe_controller.session.view import TableView

ROOT = "shoe/v1"

STATUS = "status"
STATE = "state"
EVENTS = "events"
ROUNDS = "rounds"
IRREGULARITIES = "irregularities"
HEALTH = "health"
RESEND_REQUEST = "resend/request"
RESEND = "resend"
WAGERS_IN = "wagers/in"
WAGERS_OUT = "wagers/out"

# Beside `events`, which carries every fact, these carry the same message again.
ALSO_ON = {
    "round": ROUNDS,
    "irregularity": IRREGULARITIES,
    "resolved": IRREGULARITIES,
    "acknowledged": IRREGULARITIES,
}
ANSWERS_TO_WAGERS = frozenset({"wager", "settlement"})

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
# One word: it must fit into a line of a table script.
Word = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._:@/+-]{1,64}$")]
ShoeId = Annotated[str, Meta(min_length=1, max_length=128)]
Seq = Annotated[int, Meta(ge=1, le=2**53)]  # JavaScript reads integers exactly up to here
Amount = Annotated[str, Meta(pattern=r"^[0-9]{1,9}\.[0-9]{2}$", description="dollars with two decimals")]
# Stated in the schemas and not checked on reading: a consumer of ours shall not fall over a table that is newer.
Time = Annotated[
    str,
    Meta(
        description="wall clock in UTC, RFC 3339; right only if `synced`",
        extra_json_schema={
            "format": "date-time",
            "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$",
        },
    ),
]
Boot = Annotated[
    str,
    Meta(
        description="32 hexadecimal digits, new at each start of the controller",
        extra_json_schema={"pattern": "^[0-9a-f]{32}$"},
    ),
]


class Identity(msgspec.Struct, frozen=True):
    """Who speaks: the table, this start of its controller, and the controller's version."""

    site: str
    table: str
    boot: str
    version: str


def topic(site: str, table: str, channel: str) -> str:
    """Return the full topic of one channel of a table."""
    return f"{ROOT}/{site}/{table}/{channel}"


class Envelope(msgspec.Struct, frozen=True):
    """What every event carries beside the fields of its fact."""

    seq: Annotated[Seq, Meta(description="counts every fact of the table, without gaps, over all restarts")]
    site: Name
    table: Name
    boot: Boot
    time: Time
    synced: Annotated[bool, Meta(description="the wall clock was synchronised; in a `clock` event: is from now on")]
    mono_ns: Annotated[int, Meta(description="monotonic clock of this boot")]
    source: Annotated[str, Meta(description="shoe, panel, local:<user>, wagers, clock or controller")]
    raw: Annotated[str, Meta(description="the shoe's frame in hexadecimal, if a shoe told of this")] = ""


class Status(msgspec.Struct, frozen=True):
    """Whether the table is connected (retained; the broker itself sends the offline one if we vanish).

    An offline status whose boot differs from the last online one, or whose connection is smaller, is a late word
    of an older connection and says nothing.
    """

    online: bool
    site: Name
    table: Name
    boot: Boot
    connection: Annotated[int, Meta(description="counts the connections of this boot")]
    version: Annotated[str, Meta(description="version of the controller")]
    topics: Annotated[int, Meta(description="version of the topics and messages")] = 1


class State(msgspec.Struct, frozen=True):
    """The table as it stands (retained): all that a system needs to join in the middle of a round.

    It is the table after the event `seq`; events with a greater seq come on top of it.
    """

    seq: Annotated[int, Meta(ge=0)]
    site: Name
    table: Name
    boot: Boot
    time: Time
    synced: bool
    view: TableView


class FeedHealth(msgspec.Struct, frozen=True):
    """How far one receiver of this table is."""

    name: str
    connected: bool
    cursor: Annotated[int, Meta(description="everything up to this seq was taken by the receiver")]
    lag: Annotated[int, Meta(description="facts that wait for the receiver")]
    detail: str = ""


class HealthReport(msgspec.Struct, frozen=True):
    """The condition of the controller; what cannot be measured on a machine is null."""

    uptime_s: int
    shoe_connected: bool | None = None
    faults: tuple[str, ...] = ()
    feeds: tuple[FeedHealth, ...] = ()
    disk_free_mb: int | None = None
    memory_mb: int | None = None
    cpu_celsius: float | None = None
    load: float | None = None


class Health(msgspec.Struct, frozen=True):
    """The condition of the controller, sent at regular intervals."""

    seq: Annotated[int, Meta(ge=0)]
    site: Name
    table: Name
    boot: Boot
    time: Time
    synced: bool
    version: str
    report: HealthReport


class ResendRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Asks for events again: the range `first` to `last`, or all events of a `round` of a `shoe`.

    The answer comes on `resend/<consumer>`.
    """

    consumer: Name
    id: Annotated[str, Meta(max_length=64, description="comes back in the answer's end")] = ""
    first: Seq | None = None
    last: Seq | None = None
    shoe: ShoeId | None = None
    round: Annotated[int, Meta(ge=1)] | None = None


class ResendEnd(msgspec.Struct, frozen=True, tag_field="type", tag="resend_end"):
    """Ends the answer to a resend request; `error` is empty, or a sentence that says what was not sent and why."""

    consumer: str
    id: str
    first: Annotated[int | None, Meta(description="seq of the first event that was sent")]
    last: Annotated[int | None, Meta(description="seq of the last event that was sent")]
    sent: int
    error: str = ""
    later: Annotated[bool, Meta(description="too many requests now: the same one is answered a little later")] = False


class WagerRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Places (or increases) a wager, or withdraws it wholly (no amount) or in part.

    `id` is chosen by the sender and names this request for ever: repeated, it is answered again, not booked again.
    """

    id: Word
    action: Literal["place", "withdraw"]
    who: Word
    wager: Word
    amount: Amount | None = None


class WagerError(msgspec.Struct, frozen=True, tag_field="type", tag="wager_error"):
    """A wager request that could not be understood, or not be taken now; nothing was booked."""

    id: str
    error: str


def rfc3339(wall_ns: int) -> str:
    """Return a wall-clock time as text in UTC with microseconds."""
    seconds, rest = divmod(wall_ns, 1_000_000_000)
    return f"{_to_the_second(seconds)}.{rest // 1000:06d}Z"


# Dates cost more than all the rest of a message, and many facts fall into one second.
@lru_cache(8)
def _to_the_second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


class EventEncoder:
    """Makes the messages of one table's facts.

    The fact's JSON text stands in the journal; it is copied, never decoded: what is published is to the byte what
    was recorded, and a card is not held up.
    """

    def __init__(self, site: str, table: str) -> None:
        self._place = b',"site":%b,"table":%b,"boot":"' % (msgspec.json.encode(site), msgspec.json.encode(table))

    def encode(self, record: FactRecord) -> bytes:
        """Return the message of one fact, the same bytes each time."""
        stamp = record.stamp
        # A clock fact has a `synced` of its own, and an object may name a key only once.
        synced = b"" if record.type == "clock" else b',"synced":true' if stamp.synced else b',"synced":false'
        return b'%b,"seq":%d%b%b","time":"%b"%b,"mono_ns":%d,"source":%b%b}' % (
            record.fact[:-1],
            record.seq,
            self._place,
            stamp.boot.encode(),
            rfc3339(stamp.wall_ns).encode(),
            synced,
            stamp.mono_ns,
            msgspec.json.encode(record.source),
            b',"raw":"%b"' % record.raw.hex().encode() if record.raw else b"",
        )
