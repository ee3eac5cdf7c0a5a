"""The sending side of Angel Eye II-EX: what a shoe says, as bytes, three times each.

Used by the emulator, and by the serial feed that makes existing scoreboards and pit systems work unchanged.
"""

from firmware_protocol.angel_eye_copies import COPIES
from firmware_protocol.angel_eye_frames import StartByte, unsolicited_frame
from firmware_protocol.angel_eye_messages import AngelEyeError, Message
from firmware_protocol.events import Card

# The format has four suits and "none", 65-card decks have five suits: each gets its own, so nothing is lost to a reader
# that knows the game. The three court ranks take the places of jack, queen and king, all of value ten or nought.
_ELEMENT_SUITS: dict[str, str | None] = {"f": "h", "g": "d", "e": "c", "w": "s", "a": None}
_COURT_RANKS = {"S": "J", "L": "Q", "F": "K"}


def carried_as(card: Card) -> Card:
    """Give the card that the format can carry in place of a card of any of our decks."""
    if card.suit in _ELEMENT_SUITS:
        rank = card.rank or ""
        return Card(rank=_COURT_RANKS.get(rank, rank), suit=_ELEMENT_SUITS[card.suit])
    return Card(rank=card.rank, suit=card.suit)


class AngelEyeSender:
    """Numbers what is said and says it three times."""

    def __init__(
        self, *, sequence: int = 0, copies: int = COPIES, bcc_unsolicited: StartByte = StartByte.EXCLUDE
    ) -> None:
        if not 0 <= sequence <= 0xFF:
            raise AngelEyeError(f"The sequence is one byte: it cannot begin at {sequence}.")
        self.sequence = sequence
        self._copies = copies
        self._start = bcc_unsolicited

    def say(self, message: Message) -> bytes:
        """Give the bytes that tell one message, all copies of it."""
        frame = unsolicited_frame(self.sequence, message, self._start)
        self.sequence = (self.sequence + 1) & 0xFF
        return frame * self._copies
