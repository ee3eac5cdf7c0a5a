"""Event contents: what happened at the shoe, to bytes and back.

A device keeps these bytes, with the kind before them, until the host has acknowledged the event.
"""

from collections.abc import Callable
from struct import Struct

from firmware_protocol.card_block import UID_SIZES, pack_card, unpack_card
from firmware_protocol.codes import Kind
from firmware_protocol.errors import MessageError
from firmware_protocol.events import (
    Card,
    CardDrawn,
    CardForeign,
    CardReturned,
    CardsTogether,
    CardUnreadable,
    CutCardSeen,
    DeviceFault,
    DeviceStarted,
    FaultChanged,
    Happening,
    LidMoved,
    NotUnderstood,
    SelfTestDone,
    ShoeEmptied,
)

# So many of the largest cards fit: (249 body - 9 event header - 2 own fields - 8 seal) / 36 bytes a card.
MAX_TOGETHER = 6

_FAULT = Struct("<BI")
_U32 = Struct("<I")
_MOMENT = Struct("<Q")
_ENTRY = 0x01
_EXIT = 0x02

FAULT_KINDS = {
    DeviceFault.JAM: Kind.JAM,
    DeviceFault.SENSOR: Kind.SENSOR_FAULT,
    DeviceFault.TAMPER: Kind.TAMPER,
    DeviceFault.OVERFLOW: Kind.OVERFLOW,
}


def pack_happening(happening: Happening) -> tuple[int, bytes]:
    """Give the kind and the bytes of a happening; raise MessageError if this protocol has no form for it."""
    match happening:
        case CardDrawn(card) if happening == CardDrawn(card):  # no opinion about the game has a form here
            return Kind.CARD_DRAWN, pack_card(card)
        case CardsTogether(cards, order_known):
            if not 2 <= len(cards) <= MAX_TOGETHER:
                raise MessageError(f"one message holds 2 to {MAX_TOGETHER} cards drawn together, not {len(cards)}")
            return Kind.CARDS_TOGETHER, bytes((order_known, len(cards))) + b"".join(map(pack_card, cards))
        case CardReturned(card):
            return Kind.CARD_RETURNED, b"\0" if card is None else b"\1" + pack_card(card)
        case CardUnreadable(entry_us, exit_us):
            return Kind.UNREADABLE, _pack_moments(entry_us, exit_us)
        case CutCardSeen():
            return Kind.CUT_CARD, b""
        case ShoeEmptied():
            return Kind.EMPTY, b""
        case LidMoved(is_open):
            return Kind.LID, bytes((is_open,))
        case FaultChanged(fault, active, detail) if fault in FAULT_KINDS and 0 <= detail < 1 << 32:
            return FAULT_KINDS[fault], _FAULT.pack(active, detail)
        case SelfTestDone(failed) if 0 <= failed < 1 << 32:
            return Kind.SELF_TEST_DONE, _U32.pack(failed)
        case DeviceStarted():
            return Kind.STARTED, b""
        case CardForeign(uid):
            if uid is not None and len(uid) not in UID_SIZES:
                raise MessageError(f"an RFID id has 4 to 10 bytes, not {len(uid)}")
            return Kind.FOREIGN, bytes((len(uid or b""),)) + (uid or b"")
        case _:
            raise MessageError(f"the open protocol has no event for {happening!r}")


def _pack_moments(entry_us: int | None, exit_us: int | None) -> bytes:
    has, moments = 0, b""
    for bit, moment in ((_ENTRY, entry_us), (_EXIT, exit_us)):
        if moment is None:
            continue
        if not 0 <= moment < 1 << 64:
            raise MessageError(f"a sensor time must fit in 64 bits, and {moment} does not")
        has |= bit
        moments += _MOMENT.pack(moment)
    return bytes((has,)) + moments


def unpack_happening(kind: int, data: bytes, at: int) -> Happening:
    """Read a happening at an offset. Bytes behind its last field are of a newer minor version and not looked at.

    An event that cannot be read is still an event with a place in the order: if it were dropped, the device would
    send it for ever and nothing behind it would arrive. It becomes NotUnderstood, kept with its raw frame.
    """
    reader = _READERS.get(kind)
    if reader is None:
        return NotUnderstood(f"event type {kind:#04x} is of a newer version of the protocol than ours")
    try:
        return reader(data, at)
    except MessageError as error:
        return NotUnderstood(f"event type {kind:#04x} has impossible contents: {error}")


def _card_drawn(data: bytes, at: int) -> Happening:
    return CardDrawn(unpack_card(data, at)[0])


def _cards_together(data: bytes, at: int) -> Happening:
    order_known, count = _flag(data, at), _byte(data, at + 1)
    if not 2 <= count <= MAX_TOGETHER:
        raise MessageError(f"one message holds 2 to {MAX_TOGETHER} cards drawn together, not {count}")
    cards: list[Card] = []
    at += 2
    for _ in range(count):
        card, at = unpack_card(data, at)
        cards.append(card)
    return CardsTogether(tuple(cards), order_known)


def _card_returned(data: bytes, at: int) -> Happening:
    return CardReturned(unpack_card(data, at + 1)[0] if _flag(data, at) else None)


def _unreadable(data: bytes, at: int) -> Happening:
    has = _byte(data, at)
    at += 1
    entry_us = exit_us = None
    if has & _ENTRY:
        entry_us = _number(_MOMENT, data, at)
        at += _MOMENT.size
    if has & _EXIT:
        exit_us = _number(_MOMENT, data, at)
    return CardUnreadable(entry_us, exit_us)


def _lid(data: bytes, at: int) -> Happening:
    return LidMoved(_flag(data, at))


def _foreign(data: bytes, at: int) -> Happening:
    size = _byte(data, at)
    uid = data[at + 1 : at + 1 + size]
    if (size and size not in UID_SIZES) or len(uid) != size:
        raise MessageError("an RFID id has 4 to 10 bytes")
    return CardForeign(uid or None)


def _self_test_done(data: bytes, at: int) -> Happening:
    return SelfTestDone(_number(_U32, data, at))


def _fault(fault: DeviceFault) -> Callable[[bytes, int], Happening]:
    def read(data: bytes, at: int) -> Happening:
        return FaultChanged(fault, _flag(data, at), _number(_U32, data, at + 1))

    return read


_READERS: dict[int, Callable[[bytes, int], Happening]] = {
    Kind.CARD_DRAWN: _card_drawn,
    Kind.CARDS_TOGETHER: _cards_together,
    Kind.CARD_RETURNED: _card_returned,
    Kind.UNREADABLE: _unreadable,
    Kind.CUT_CARD: lambda _data, _at: CutCardSeen(),
    Kind.EMPTY: lambda _data, _at: ShoeEmptied(),
    Kind.LID: _lid,
    Kind.SELF_TEST_DONE: _self_test_done,
    Kind.STARTED: lambda _data, _at: DeviceStarted(),
    Kind.FOREIGN: _foreign,
    **{kind: _fault(fault) for fault, kind in FAULT_KINDS.items()},
}


def _byte(data: bytes, at: int) -> int:
    if at >= len(data):
        raise MessageError("the message ends too early")
    return data[at]


def _flag(data: bytes, at: int) -> bool:
    value = _byte(data, at)
    if value > 1:
        raise MessageError(f"a yes-or-no field is 0 or 1, not {value}")
    return value == 1


def _number(form: Struct, data: bytes, at: int) -> int:
    if len(data) - at < form.size:
        raise MessageError("the message ends too early")
    value: int
    (value,) = form.unpack_from(data, at)
    return value
