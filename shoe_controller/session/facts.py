"""What the session says of what happened: the facts, one type each.

Facts go into the journal beside the input that caused them, are numbered without gaps (`seq`), and are what
displays, feeds and reports are made of. A field is only ever added, with a default. Money is text in dollars
with two decimals; odds are reduced `a:b` to one stake.
"""

from typing import Literal

import msgspec

Side = Literal["player", "banker"]
Winner = Literal["player", "banker", "tie"]
Effect = Literal["void", "decision", "noted", "refused"]
Kind = Literal[
    "foreign_card",
    "duplicate_card",
    "over_count",
    "wrong_number",
    "simultaneous_draw",
    "order_altered",
    "shoe_exhausted",
    "late_wager",
    "late_withdrawal",
    "early_draw",
    "unreadable_card",
    "device_disagrees",
]


class Fact(msgspec.Struct, frozen=True, tag_field="type", gc=False):
    """The root of all facts; `type` is the tag on the wire and in the journal."""


class ShoeLoaded(Fact, frozen=True, tag="shoe_loaded"):
    """A shoe came into play.

    It carries all that outlives a shoe (`number`, `faults`, `unacknowledged`), so that a replay may begin here.
    """

    shoe: str
    game: str
    title: str
    decks: int
    rules_hash: str
    burn: str
    surplus: str
    rounds_after_cut: int
    number: int
    deck_set: str = ""
    faults: dict[str, str] = {}
    unacknowledged: tuple["Irregularity", ...] = ()


class Burned(Fact, frozen=True, tag="burned"):
    """A card was burned before the first round; `card` is None if it could not be read."""

    shoe: str
    card: str | None
    left: int


class BettingOpened(Fact, frozen=True, tag="betting"):
    """A round began: "Place your bets"."""

    shoe: str
    round: int


class BettingClosed(Fact, frozen=True, tag="closed"):
    """Betting ended: "No more bets". `next` tells who gets the next card, None if none is due."""

    shoe: str
    round: int
    next: Side | None


class CardDealt(Fact, frozen=True, tag="card"):
    """A card became part of a hand, or lies beside it.

    `hand` is None for a card that is in no hand (yet): an early, surplus or foreign card; `place` then says
    what it is. `keyed` marks a face that a supervisor keyed in, `carried` one drawn before its round began.
    """

    shoe: str
    round: int | None
    card: str
    uid: str
    hand: Side | None
    position: int
    player_total: int | None
    banker_total: int | None
    next: Side | None
    complete: bool
    place: str = "hand"
    keyed: bool = False
    carried: bool = False


class Round(Fact, frozen=True, tag="round"):
    """The result of a round as announced, or that it is void."""

    shoe: str
    round: int
    revision: int
    status: Literal["complete", "void"]
    player: tuple[str, ...]
    banker: tuple[str, ...]
    player_total: int | None
    banker_total: int | None
    winner: Winner | None
    natural: bool
    pays: dict[str, str]
    pushes: tuple[str, ...]
    irregularities: tuple[str, ...]
    rules: str
    rules_hash: str
    void_rule: str | None = None
    void_reason: str = ""
    unassigned: tuple[str, ...] = ()
    keyed: tuple[str, ...] = ()


class Irregularity(Fact, frozen=True, tag="irregularity"):
    """Something that the rules do not foresee as play happened; `id` counts within the shoe."""

    id: int
    kind: Kind
    rule: str | None
    shoe: str
    round: int | None
    effect: Effect
    cards: tuple[str, ...] = ()
    uids: tuple[str, ...] = ()
    outcome_affected: bool = False
    waits_for: str = ""
    detail: str = ""


class Resolved(Fact, frozen=True, tag="resolved"):
    """A supervisor decided open irregularities."""

    ids: tuple[int, ...]
    how: Literal["reconstruct", "void"]
    round: int | None
    cards: tuple[str, ...] = ()
    by: str = ""
    reason: str = ""


class Acknowledged(Fact, frozen=True, tag="acknowledged"):
    """A supervisor acknowledged the alarm for these irregularities."""

    ids: tuple[int, ...]
    by: str = ""


class Wager(Fact, frozen=True, tag="wager"):
    """The answer to a wager that was placed, increased or withdrawn."""

    who: str
    wager: str
    amount: str
    accepted: bool
    rule: str | None
    action: Literal["place", "increase", "withdraw"]
    round: int | None
    stake: str
    reason: str = ""
    id: str = ""


class Settlement(Fact, frozen=True, tag="settlement"):
    """What one wager of one player gets back in all; `bonus` is the fixed prize that is part of `paid`."""

    who: str
    wager: str
    stake: str
    outcome: Literal["win", "lose", "push", "refund"]
    paid: str
    odds: str | None
    round: int
    revision: int
    bonus: str | None = None


class Refused(Fact, frozen=True, tag="refused"):
    """Something that may not happen now; it was recorded and had no effect."""

    command: str
    reason: str
    detail: str = ""


class CutCardSeen(Fact, frozen=True, tag="cut"):
    """The cut card came out; `rounds_left` counts the rounds still to begin."""

    shoe: str
    rounds_left: int


class ShoeEnded(Fact, frozen=True, tag="shoe"):
    """The reconciliation at the end of a shoe.

    `missing` maps faces to copies not seen, `extra` faces to copies too many or cards that are foreign.
    """

    id: str
    rounds: int
    cards: int
    missing: dict[str, int]
    extra: dict[str, int]
    unreadable: int = 0
    ended_by: str = ""


class Fault(Fact, frozen=True, tag="fault"):
    """A fault of hardware began (`active`) or ended."""

    fault: str
    active: bool
    detail: str = ""


class Device(Fact, frozen=True, tag="device"):
    """Something about the shoe itself."""

    event: str
    serial_number: str = ""
    firmware: str = ""
    firmware_sha256: str = ""
    detail: str = ""


class Started(Fact, frozen=True, tag="started"):
    """The controller started."""

    version: str
    config_hash: str
    detail: str = ""


class ConfigChanged(Fact, frozen=True, tag="config"):
    """The configuration in force changed."""

    config_hash: str
    changed: tuple[str, ...] = ()


class ClockStepped(Fact, frozen=True, tag="clock"):
    """The wall clock was set, or its state of synchronisation changed."""

    synced: bool
    step_ms: int = 0


AnyFact = (
    ShoeLoaded
    | Burned
    | BettingOpened
    | BettingClosed
    | CardDealt
    | Round
    | Irregularity
    | Resolved
    | Acknowledged
    | Wager
    | Settlement
    | Refused
    | CutCardSeen
    | ShoeEnded
    | Fault
    | Device
    | Started
    | ConfigChanged
    | ClockStepped
)
