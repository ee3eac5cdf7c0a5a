"""Card block: the bytes of one card inside a message.

A first byte says which fields follow; absent fields take no room, since the device must keep 650 cards.
"""

from functools import cache
from struct import Struct

from firmware_protocol.errors import MessageError
from firmware_protocol.events import Card

RANKS = "A23456789TJQKSLF"
SUITS = "cdhsfgewa"
UID_SIZES = range(4, 11)

_UID_SIZE = 0x0F
_OPTICAL = 0x10
_ENTRY = 0x20
_EXIT = 0x40
_CONFIDENCE = 0x80

MAX_CARD_BYTES = 1 + 10 + 6 + 8 + 8 + 1 + 2
_RANK_CODES = frozenset(RANKS.encode())
_SUIT_CODES = frozenset(SUITS.encode())


@cache  # at most 256 layouts: one for each value of the first byte
def _layout(has: int) -> Struct:
    return Struct(
        "<B"
        + (f"{has & _UID_SIZE}s" if has & _UID_SIZE else "")
        + ("IBB" if has & _OPTICAL else "")
        + ("Q" if has & _ENTRY else "")
        + ("Q" if has & _EXIT else "")
        + ("B" if has & _CONFIDENCE else "")
        + "H"
    )


def pack_card(card: Card) -> bytes:
    """Give the bytes of a card; raise MessageError for one that has no form on the wire."""
    has = 0
    values: list[int | bytes] = []
    if card.uid is not None:
        if len(card.uid) not in UID_SIZES:
            raise MessageError(f"an RFID id has 4 to 10 bytes, not {len(card.uid)}")
        has |= len(card.uid)
        values.append(card.uid)
    if card.rank is not None or card.suit is not None:
        values += _optical_code(card)
        has |= _OPTICAL
    elif card.deck_set is not None:
        raise MessageError("a deck set belongs to an optical code: rank and suit are missing")
    if not has:
        raise MessageError("a card needs an RFID id or an optical code; report an unreadable card instead")
    for bit, moment in ((_ENTRY, card.entry_us), (_EXIT, card.exit_us)):
        if moment is not None:
            has |= bit
            values.append(_within(moment, 64, "a sensor time in microseconds"))
    if card.confidence is not None:
        if not 0 <= card.confidence <= 100:
            raise MessageError(f"confidence is 0 to 100 per cent, not {card.confidence}")
        has |= _CONFIDENCE
        values.append(card.confidence)
    values.append(_within(card.flags, 16, "the flags of a card"))
    return _layout(has).pack(has, *values)


def _optical_code(card: Card) -> tuple[int, int, int]:
    rank, suit = card.rank, card.suit
    if rank is None or suit is None or len(rank) != 1 or len(suit) != 1 or rank not in RANKS or suit not in SUITS:
        raise MessageError(f"{rank!r} {suit!r} is no card: a rank is one of {RANKS}, a suit one of {SUITS}")
    deck_set = card.deck_set
    if deck_set == 0:
        raise MessageError("deck set 0 means 'not known' on the wire: leave it out")
    return _within(deck_set or 0, 32, "a deck set id"), ord(rank), ord(suit)


def _within(value: int, bits: int, what: str) -> int:
    if not 0 <= value < 1 << bits:
        raise MessageError(f"{what} must fit in {bits} bits, and {value} does not")
    return value


def unpack_card(data: bytes, at: int) -> tuple[Card, int]:
    """Read one card at an offset; give it and the offset behind it."""
    if at >= len(data):
        raise MessageError("the message ends where a card should begin")
    has = data[at]
    layout = _layout(has)
    if len(data) - at < layout.size:
        raise MessageError("the message ends within a card")
    values = layout.unpack_from(data, at)
    field = 1
    uid = rank = suit = deck_set = entry_us = exit_us = confidence = None
    uid_size = has & _UID_SIZE
    if uid_size:
        if uid_size not in UID_SIZES:
            raise MessageError(f"an RFID id has 4 to 10 bytes, not {uid_size}")
        uid = values[field]
        field += 1
    if has & _OPTICAL:
        deck_set, rank_code, suit_code = values[field : field + 3]
        if rank_code not in _RANK_CODES or suit_code not in _SUIT_CODES:
            raise MessageError(f"bytes {rank_code:02x} {suit_code:02x} are no rank and suit")
        rank, suit, deck_set = chr(rank_code), chr(suit_code), deck_set or None
        field += 3
    elif not uid_size:
        raise MessageError("a card has neither an RFID id nor an optical code")
    if has & _ENTRY:
        entry_us = values[field]
        field += 1
    if has & _EXIT:
        exit_us = values[field]
        field += 1
    if has & _CONFIDENCE:
        confidence = values[field]
        if confidence > 100:
            raise MessageError(f"confidence is 0 to 100 per cent, not {confidence}")
    return Card(uid, rank, suit, deck_set, entry_us, exit_us, confidence, values[-1]), at + layout.size
