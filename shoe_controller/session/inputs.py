"""What can happen at a table: the inputs of the session, one type each.

An input says what happened, never what it means: meaning is given by the session. Inputs are what the journal
keeps and replays, so a field is only ever added, with a default.
"""

from typing import Literal

import msgspec

from shoe_controller.money import Rounding

Burn = Literal["none", "first-card", "decks"] | int
Surplus = Literal["next-round", "burn"]
EarlyCard = Literal["decision", "first-card", "void"]


class Input(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True, gc=False):
    """The root of all inputs; `type` is the tag on the wire and in the journal."""


class LoadShoe(Input, frozen=True, tag="shoe"):
    """A new shoe was put into play, with the house policies that hold for it."""

    game: str
    decks: int
    id: str = ""
    burn: Burn = "none"
    surplus: Surplus = "next-round"
    rounds_after_cut: int = 1
    early_card: EarlyCard = "decision"
    rounding: Rounding = "half-up"
    deck_set: str = ""


class PlaceBets(Input, frozen=True, tag="bets"):
    """The dealer announced "Place your bets"."""


class NoMoreBets(Input, frozen=True, tag="close"):
    """The dealer announced "No more bets"."""


class AnnounceResult(Input, frozen=True, tag="result"):
    """The dealer announced the result."""


class CutCard(Input, frozen=True, tag="cut"):
    """The cut card left the shoe."""


class ShoeEmpty(Input, frozen=True, tag="empty"):
    """The shoe holds no more cards."""


class DrawCard(Input, frozen=True, tag="card"):
    """A card left the shoe. `uid` is the hexadecimal RFID id where there is one."""

    code: str
    uid: str = ""
    target: str = ""  # the device's own opinion of whom the card is for, where it has one


class DrawTogether(Input, frozen=True, tag="together"):
    """Two or more cards left the shoe at once."""

    codes: tuple[str, ...]
    order_known: bool = False
    uids: tuple[str, ...] = ()


class DrawForeign(Input, frozen=True, tag="foreign"):
    """A card left the shoe that is no card of this shoe: its id is not registered, or of another set."""

    uid: str = ""
    detail: str = ""


class DrawUnreadable(Input, frozen=True, tag="unreadable"):
    """A card left the shoe and could not be read."""


class ReturnCard(Input, frozen=True, tag="returned"):
    """A card was pushed back into the shoe; the code is empty if the reader could not tell which."""

    code: str = ""
    uid: str = ""


class Void(Input, frozen=True, tag="void"):
    """A supervisor declared the round void."""

    reason: str = ""
    by: str = ""


class Reconstruct(Input, frozen=True, tag="reconstruct"):
    """A supervisor resolved the open irregularity; `codes` are cards keyed or the right order."""

    codes: tuple[str, ...] = ()
    by: str = ""


class Acknowledge(Input, frozen=True, tag="ack"):
    """A supervisor acknowledged the alarm."""

    by: str = ""


class PlaceWager(Input, frozen=True, tag="wager"):
    """A wager was placed, or increased if there is one already. The amount is in cents."""

    who: str
    wager: str
    amount: int
    id: str = ""


class WithdrawWager(Input, frozen=True, tag="withdraw"):
    """A wager was withdrawn, wholly (amount None) or in part."""

    who: str
    wager: str
    amount: int | None = None
    id: str = ""


class RaiseFault(Input, frozen=True, tag="fault"):
    """Hardware of the table is not fit for play: device gone, jam, lid open, panel lost."""

    fault: str
    detail: str = ""


class ClearFault(Input, frozen=True, tag="fault-cleared"):
    """A fault is over."""

    fault: str


class DeviceSaysResult(Input, frozen=True, tag="device-result"):
    """A shoe that follows the game told its own result; winner empty: it ended the game by force."""

    winner: Literal["player", "banker", "tie", ""]
    player_pair: bool = False
    banker_pair: bool = False


class NoteDevice(Input, frozen=True, tag="device"):
    """Something about the shoe itself that an auditor wants to know: who answered, refused, restarted."""

    event: str
    serial_number: str = ""
    firmware: str = ""
    firmware_sha256: str = ""
    detail: str = ""


class Start(Input, frozen=True, tag="start"):
    """The controller started: program version and hash of the configuration in force."""

    version: str
    config_hash: str = ""
    detail: str = ""


class ChangeConfig(Input, frozen=True, tag="config"):
    """The configuration in force changed."""

    config_hash: str
    changed: tuple[str, ...] = ()


class ClockStep(Input, frozen=True, tag="clock"):
    """The wall clock was set, or its state of synchronisation changed."""

    synced: bool
    step_ms: int = 0


AnyInput = (
    LoadShoe
    | PlaceBets
    | NoMoreBets
    | AnnounceResult
    | CutCard
    | ShoeEmpty
    | DrawCard
    | DrawTogether
    | DrawForeign
    | DrawUnreadable
    | ReturnCard
    | Void
    | Reconstruct
    | Acknowledge
    | PlaceWager
    | WithdrawWager
    | RaiseFault
    | ClearFault
    | DeviceSaysResult
    | NoteDevice
    | Start
    | ChangeConfig
    | ClockStep
)
