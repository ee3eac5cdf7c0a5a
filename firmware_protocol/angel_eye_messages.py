"""What an Angel Eye II-EX says: the data bytes of its unsolicited frames as values, in both directions.

A message knows its bytes (`to_data`), and `read_message` finds the message in bytes. Reading never raises and never
guesses: a card frame whose card cannot be told is an `UnknownCard`, everything else that is not as described is an
`UnknownMessage` with the reason. Both keep the bytes.
"""

from dataclasses import dataclass
from enum import StrEnum

from firmware_protocol.errors import FirmwareProtocolError
from firmware_protocol.events import Card, Target

# A frame is start, sequence, data, end and two check digits. The longest message described has 7 data bytes; 128 leaves
# room for register answers and bounds the memory that a noisy line can claim.
LONGEST_FRAME = 128

RANKS = "A23456789TJQK"
_RANK_NUMBERS = {rank: number for number, rank in enumerate(RANKS, start=1)}
# No suit at all can be sent (a feed needs it for a fifth suit) but is never read as a card.
_SUITS: dict[str | None, int] = {None: 0, "d": 1, "c": 2, "s": 3, "h": 4}
_SUIT_LETTERS = {number: letter for letter, number in _SUITS.items() if letter}
_TARGETS = {
    Target.PLAYER: 0,
    Target.BANKER: 1,
    Target.BURN: 2,
    Target.FIRST_CARD: 4,
    Target.BURN_COUNT: 5,
}
_TARGET_NAMES = {number: target for target, number in _TARGETS.items()}
_WINNERS: dict[str | None, int] = {"player": 1, "tie": 2, "banker": 4, None: 7}
_WINNER_NAMES = {number: winner for winner, number in _WINNERS.items()}
HIGH = 0x80
_ERROR_MODE = 0x40


class AngelEyeError(FirmwareProtocolError, ValueError):
    """A value that the format cannot carry; the text says which and what it could."""


class Outside(StrEnum):
    """Why a card that left the shoe is not a card of a game."""

    LOCKED = "locked"
    ERROR = "error"
    SETTING = "setting"


_OUTSIDE = (Outside.LOCKED, Outside.ERROR, Outside.SETTING)


@dataclass(frozen=True, slots=True)
class Started:
    """`S`: communication begins; the shoe booted or was reset."""

    def to_data(self) -> bytes:
        """Give the data bytes."""
        return b"S"


@dataclass(frozen=True, slots=True)
class Standby:
    """`P`: the shoe is between games."""

    def to_data(self) -> bytes:
        """Give the data bytes."""
        return b"P"


@dataclass(frozen=True, slots=True)
class CuttingCard:
    """`C`: the cutting card was drawn."""

    def to_data(self) -> bytes:
        """Give the data bytes."""
        return b"C"


@dataclass(frozen=True, slots=True)
class GameCard:
    """`D`: a card was drawn in a game. `index` counts from 1 in each hand."""

    target: Target
    index: int
    card: Card

    def to_data(self) -> bytes:
        """Give the data bytes."""
        return bytes((ord("D"), _target_byte(self.target, self.index), card_byte(self.card)))


@dataclass(frozen=True, slots=True)
class OutsideCard:
    """`d`: a card was drawn outside a game."""

    outside: Outside
    card: Card

    def to_data(self) -> bytes:
        """Give the data bytes."""
        return bytes((ord("d"), HIGH | _OUTSIDE.index(self.outside) << 4, card_byte(self.card)))


@dataclass(frozen=True, slots=True)
class OverdrawnCard:
    """`R`: the shoe disposes of an overdrawn card. Hosts disagree on what it means: see the link's setting."""

    target: Target
    index: int
    card: Card

    def to_data(self) -> bytes:
        """Give the data bytes."""
        return bytes((ord("R"), _target_byte(self.target, self.index), card_byte(self.card)))


@dataclass(frozen=True, slots=True)
class BurnCount:
    """`D` for the target "burn count" with a card that has no suit: how many cards are to be burned."""

    count: int

    def to_data(self) -> bytes:
        """Give the data bytes."""
        if not 0 <= self.count <= 15:
            raise AngelEyeError(f"A burn count of {self.count} does not fit into the frame: it carries 0 to 15.")
        return bytes((ord("D"), HIGH | _TARGETS[Target.BURN_COUNT] << 4, HIGH | self.count))


@dataclass(frozen=True, slots=True)
class GameResult:
    """`G`: the result as the shoe sees it. `winner` None: the game was forcibly ended."""

    winner: str | None
    player_pair: bool = False
    banker_pair: bool = False

    def to_data(self) -> bytes:
        """Give the data bytes."""
        if self.winner not in _WINNERS:
            raise AngelEyeError(f"'{self.winner}' is not a winner: say player, banker, tie, or None for no result.")
        return bytes(
            (ord("G"), HIGH | _WINNERS[self.winner] << 4 | bool(self.player_pair) | bool(self.banker_pair) << 1)
        )


@dataclass(frozen=True, slots=True)
class ErrorChanged:
    """`E` or `e`: an error occurred or was cancelled. `error_mode`: the shoe is stopped by errors at this moment."""

    code: int
    active: bool
    error_mode: bool

    def to_data(self) -> bytes:
        """Give the data bytes."""
        if not 0 <= self.code <= 63:
            raise AngelEyeError(f"Error code {self.code} does not fit into the frame: it carries 0 to 63.")
        return bytes((ord("E" if self.active else "e"), HIGH | (_ERROR_MODE if self.error_mode else 0) | self.code))


@dataclass(frozen=True, slots=True)
class KeyLock:
    """`L`: the key lock changed."""

    locked: bool

    def to_data(self) -> bytes:
        """Give the data bytes."""
        return bytes((ord("L"), HIGH | bool(self.locked)))


@dataclass(frozen=True, slots=True)
class Preset:
    """`M`: a preset value was changed at the shoe. Two characters of address, four of value."""

    address: str
    value: str

    def to_data(self) -> bytes:
        """Give the data bytes."""
        text = self.address + self.value
        if (len(self.address), len(self.value)) != (2, 4) or not (text.isascii() and text.isprintable()):
            raise AngelEyeError("A preset has an address of 2 and a value of 4 printable ASCII characters.")
        return b"M" + text.encode("ascii")


@dataclass(frozen=True, slots=True)
class UnknownCard:
    """A card left the shoe, the frame is intact, and yet it does not tell which card or for whom."""

    data: bytes
    reason: str

    def to_data(self) -> bytes:
        """Give the data bytes."""
        return self.data


@dataclass(frozen=True, slots=True)
class UnknownMessage:
    """An intact frame that is not as described anywhere."""

    data: bytes
    reason: str

    def to_data(self) -> bytes:
        """Give the data bytes."""
        return self.data


Message = (
    Started
    | Standby
    | CuttingCard
    | GameCard
    | OutsideCard
    | OverdrawnCard
    | BurnCount
    | GameResult
    | ErrorChanged
    | KeyLock
    | Preset
    | UnknownCard
    | UnknownMessage
)

# Bytes after the code letter.
_LENGTHS = {"S": 0, "P": 0, "C": 0, "D": 2, "d": 2, "R": 2, "G": 1, "E": 1, "e": 1, "L": 1, "M": 6}


def read_message(data: bytes) -> Message:
    """Read the data bytes of one intact frame."""
    code, rest = chr(data[0]), data[1:]
    if _LENGTHS.get(code) != len(rest):
        known = code in _LENGTHS
        reason = f"'{code}' with {len(rest)} bytes after it" if known else f"a message of type 0x{data[0]:02X}"
        return UnknownMessage(data, f"The shoe sent {reason}, which is not known.")
    if code == "M":
        text = rest.decode("ascii", "replace")
        if text.isascii() and text.isprintable():
            return Preset(text[:2], text[2:])
        return UnknownMessage(data, "The shoe reported a preset with an address or value that is not text.")
    if any(byte < HIGH for byte in rest):
        # Every other argument has bit 7 set; without it the byte is not what it seems to be.
        return _unknown(code, data, "with a byte that lacks its bit 7")
    match code:
        case "S":
            return Started()
        case "P":
            return Standby()
        case "C":
            return CuttingCard()
        case "G":
            return _read_result(data)
        case "E" | "e":
            return ErrorChanged(data[1] & 0x3F, code == "E", bool(data[1] & _ERROR_MODE))
        case "L":
            return KeyLock(bool(data[1] & 1))
        case _:
            return _read_card(code, data)


def _read_result(data: bytes) -> Message:
    number = data[1] >> 4 & 7
    if number not in _WINNER_NAMES:
        return UnknownMessage(data, f"The shoe reported a result of kind {number}, which is not known.")
    return GameResult(_WINNER_NAMES[number], bool(data[1] & 1), bool(data[1] & 2))


def _read_card(code: str, data: bytes) -> Message:
    kind, index = data[1] >> 4 & 7, data[1] & 15
    suit, rank = data[2] >> 4 & 7, data[2] & 15
    if code == "D" and kind == _TARGETS[Target.BURN_COUNT] and not suit:
        return BurnCount(rank)
    if suit not in _SUIT_LETTERS or not 1 <= rank <= 13:
        return _unknown(code, data, f"of suit {suit} and rank {rank}, which is no card of a 52-card deck")
    card = Card(rank=RANKS[rank - 1], suit=_SUIT_LETTERS[suit])
    if code == "d":
        if kind >= len(_OUTSIDE):
            return _unknown(code, data, f"outside a game for a reason of kind {kind}, which is not known")
        return OutsideCard(_OUTSIDE[kind], card)
    if kind not in _TARGET_NAMES:
        return _unknown(code, data, f"for a hand of kind {kind}, which is not known")
    target = _TARGET_NAMES[kind]
    if not index and target in {Target.PLAYER, Target.BANKER}:
        return _unknown(code, data, f"for the {target} without its place in the hand")
    return GameCard(target, index, card) if code == "D" else OverdrawnCard(target, index, card)


def _unknown(code: str, data: bytes, what: str) -> UnknownCard | UnknownMessage:
    if code in "DdR":
        return UnknownCard(data, f"The shoe reported a card {what}.")
    return UnknownMessage(data, f"The shoe sent a message of type '{code}' {what}.")


def card_byte(card: Card) -> int:
    """Give the byte of a card of a 52-card deck."""
    if card.rank not in _RANK_NUMBERS or card.suit not in _SUITS:
        raise AngelEyeError(
            f"Rank '{card.rank}' and suit '{card.suit}' do not fit into an Angel Eye frame: it carries 52-card decks."
        )
    return HIGH | _SUITS[card.suit] << 4 | _RANK_NUMBERS[card.rank]


def _target_byte(target: Target, index: int) -> int:
    least = 1 if target in {Target.PLAYER, Target.BANKER} else 0
    if not least <= index <= 15:
        raise AngelEyeError(f"Place {index} in the hand of the {target} does not fit: it must be {least} to 15.")
    return HIGH | _TARGETS[target] << 4 | index
