"""What a shoe can tell its host, whatever protocol carried it.

Both host links (our open protocol, Angel Eye) hand out these values from `events()`. A `ShoeEvent` is
something that happened at the shoe; it has an identity that is unique for ever and must be acknowledged after
the host has committed it. The other values tell about the link itself and are neither numbered nor acknowledged.
"""

from dataclasses import dataclass
from enum import StrEnum


class Target(StrEnum):
    """Whom a shoe that follows the game says a card is for (Angel Eye does, our own shoes do not)."""

    PLAYER = "player"
    BANKER = "banker"
    BURN = "burn"
    FIRST_CARD = "first-card"
    BURN_COUNT = "burn-count"


@dataclass(frozen=True, slots=True)
class Card:
    """One card as the reader saw it: an RFID id, or an optical code (rank and suit letters of the card code).

    RFID readers fill `uid` (4-10 bytes) and leave rank and suit None: only the host's deck register can tell
    the face. Optical readers fill rank, suit and deck_set. Angel Eye fills rank and suit only.
    """

    uid: bytes | None = None
    rank: str | None = None
    suit: str | None = None
    deck_set: int | None = None
    entry_us: int | None = None
    exit_us: int | None = None
    confidence: int | None = None
    flags: int = 0


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """A card left the shoe. `target` and `index` are the device's own opinion, where it has one.

    The last three are filled by a shoe that follows the game (Angel Eye) and say what the card is to it:

    * `outside_game`: drawn when no game was on: "locked", "error" or "setting". The card is out all the same.
    * `overdrawn`: the device now disposes of a surplus card: "next-round" (it is a card of the next round) or
      "re-deal" (it is dealt anew), as the link's setting reads the device.
    * `told_before`: this very card was handed out before, as drawn outside a game. It left the shoe once and must
      not be counted again; only its destination is new.
    """

    card: Card
    target: Target | None = None
    index: int | None = None
    outside_game: str | None = None
    overdrawn: str | None = None
    told_before: bool = False


@dataclass(frozen=True, slots=True)
class CardsTogether:
    """Two or more cards left the shoe at once; `order_known` tells whether `cards` is in drawing order."""

    cards: tuple[Card, ...]
    order_known: bool


@dataclass(frozen=True, slots=True)
class CardReturned:
    """A card was pushed back into the shoe; None if the reader could not tell which."""

    card: Card | None


@dataclass(frozen=True, slots=True)
class CardUnreadable:
    """A card left the shoe and could not be read."""

    entry_us: int | None = None
    exit_us: int | None = None


@dataclass(frozen=True, slots=True)
class CardForeign:
    """The device itself refused a card as not of this deck; `uid` where its reader could tell."""

    uid: bytes | None = None


@dataclass(frozen=True, slots=True)
class CutCardSeen:
    """The cut card left the shoe."""


@dataclass(frozen=True, slots=True)
class ShoeEmptied:
    """The last card has left the shoe."""


@dataclass(frozen=True, slots=True)
class LidMoved:
    """The lid was opened or closed."""

    is_open: bool


class DeviceFault(StrEnum):
    """A condition of the device that stops the deal until it is over."""

    JAM = "jam"
    SENSOR = "sensor"
    TAMPER = "tamper"
    SELF_TEST = "self-test"
    REVERSE_RUN = "reverse-run"
    TIMEOUT = "draw-timeout"
    BUTTON = "button"
    OVERDRAW = "overdraw"
    CODE = "card-code"
    UNREADABLE = "cannot-read"
    OVERFLOW = "buffer-overflow"  # the device's event memory was full; `detail` at the end: events not kept
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class FaultChanged:
    """A device fault began or ended; `detail` is the device's own code."""

    fault: DeviceFault
    active: bool
    detail: int = 0


@dataclass(frozen=True, slots=True)
class SelfTestDone:
    """The result of a self-test: a bit per failed part, 0 = all passed."""

    failed: int


@dataclass(frozen=True, slots=True)
class DeviceStarted:
    """The device booted or was reset (Angel Eye `S`)."""


@dataclass(frozen=True, slots=True)
class DeviceStandby:
    """The device is between games (Angel Eye `P`)."""


@dataclass(frozen=True, slots=True)
class DeviceResult:
    """The result as a shoe that follows the game sees it. `winner` None: the game was forcibly ended."""

    winner: str | None
    player_pair: bool
    banker_pair: bool


@dataclass(frozen=True, slots=True)
class KeyLockChanged:
    """The shoe's key lock was turned."""

    locked: bool


@dataclass(frozen=True, slots=True)
class PresetChanged:
    """A register of the shoe was changed at the shoe."""

    address: str
    value: str


@dataclass(frozen=True, slots=True)
class BurnCountTold:
    """How many cards the device says are to be burned (Angel Eye). A number, not a card."""

    count: int


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """An intact message whose meaning is not known: kept with its raw frame, never guessed at."""

    reason: str


Happening = (
    CardDrawn
    | CardsTogether
    | CardReturned
    | CardUnreadable
    | CardForeign
    | CutCardSeen
    | ShoeEmptied
    | LidMoved
    | FaultChanged
    | SelfTestDone
    | DeviceStarted
    | DeviceStandby
    | DeviceResult
    | KeyLockChanged
    | PresetChanged
    | BurnCountTold
    | NotUnderstood
)


@dataclass(frozen=True, slots=True)
class ShoeEvent:
    """One happening with its identity (session, number) and the raw frame that told of it."""

    session: int
    number: int
    happening: Happening
    raw: bytes


@dataclass(frozen=True, slots=True)
class LinkUp:
    """The device is known and its session is accepted."""

    kind: str  # rfid, optical, hybrid, angel-eye
    serial_number: str
    firmware_version: str
    firmware_sha256: bytes | None
    capabilities: int
    session: int
    authenticated: bool


@dataclass(frozen=True, slots=True)
class LinkRefused:
    """The device was refused; `reason` is a sentence for a person."""

    reason: str


@dataclass(frozen=True, slots=True)
class LinkDown:
    """The device has not answered for too long, or the transport is gone."""

    reason: str


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Health counters of the device."""

    uptime_ms: int
    buffered: int
    reads: int
    retries: int
    misses: int
    crc_errors: int
    gate_open: bool | None = None
    lid_open: bool | None = None
    overflowed: bool = False


@dataclass(frozen=True, slots=True)
class CommandAnswered:
    """The device answered a command of ours, or `ok` is False with the reason why it did not do it."""

    command_id: int
    ok: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class HabitSeen:
    """The device was seen to do something on which devices of its kind differ: worth a journal entry, once."""

    habit: str
    seen: str


@dataclass(frozen=True, slots=True)
class EventsMissing:
    """Events `first` to `last` of a session that we never recorded and the device cannot send any more.

    It takes a device that breaks the protocol, or a journal that was put back from an old copy. A person must
    reconcile; `reason` is a sentence for that person.
    """

    session: int
    first: int
    last: int
    reason: str


LinkNotice = LinkUp | LinkRefused | LinkDown | Heartbeat | CommandAnswered | HabitSeen | EventsMissing
LinkEvent = ShoeEvent | LinkNotice
