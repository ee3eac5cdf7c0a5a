"""Happenings: what an Angel Eye says, in the words that all shoes share.

Error codes of the shoe that mean something happened to a card are told twice: as that happening, and as the fault
that stops the shoe until it is cleared.
"""

from enum import StrEnum
from typing import assert_never

from firmware_protocol.angel_eye_messages import (
    BurnCount,
    CuttingCard,
    ErrorChanged,
    GameCard,
    GameResult,
    KeyLock,
    Message,
    Outside,
    OutsideCard,
    OverdrawnCard,
    Preset,
    Standby,
    Started,
    UnknownCard,
    UnknownMessage,
)
from firmware_protocol.events import (
    BurnCountTold,
    Card,
    CardDrawn,
    CardForeign,
    CardReturned,
    CardUnreadable,
    CutCardSeen,
    DeviceFault,
    DeviceResult,
    DeviceStandby,
    DeviceStarted,
    FaultChanged,
    Happening,
    KeyLockChanged,
    NotUnderstood,
    PresetChanged,
)


class OverdrawnMeaning(StrEnum):
    """What the shoe means by `R`."""

    NEXT_ROUND = "next-round"
    RE_DEAL = "re-deal"


FAULTS = {
    1: DeviceFault.UNREADABLE,
    2: DeviceFault.OVERDRAW,
    3: DeviceFault.BUTTON,
    4: DeviceFault.REVERSE_RUN,  # at the exit
    5: DeviceFault.REVERSE_RUN,  # midway
    6: DeviceFault.CODE,
    7: DeviceFault.TIMEOUT,
}
OVERDRAW = 2
_ABOUT_A_CARD: dict[int, Happening] = {
    1: CardUnreadable(),
    4: CardReturned(None),
    5: CardReturned(None),
    6: CardForeign(None),
}


class Teller:
    """Puts messages into happenings.

    Remembers the card that was drawn in error and not disposed of yet, and the errors that it has told: a shoe that
    gets into another error names only that one when it is over, and says that it is in none any more.
    """

    def __init__(self, overdrawn: OverdrawnMeaning) -> None:
        self._overdrawn = overdrawn
        self._drawn_in_error: Card | None = None
        self._errors: dict[DeviceFault, int] = {}

    def line_opened(self) -> None:
        """Forget the errors: they may have ended while nobody listened."""
        self._errors.clear()

    def tell(self, message: Message) -> tuple[Happening, ...]:
        """Say what a message means."""
        match message:
            case Started():
                self._drawn_in_error = None
                self._errors.clear()
                return (DeviceStarted(),)
            case Standby():
                return (DeviceStandby(),)
            case CuttingCard():
                return (CutCardSeen(),)
            case GameCard(target, index, card):
                self._drawn_in_error = None
                return (CardDrawn(card, target, index),)
            case OutsideCard(outside, card):
                if outside is Outside.ERROR:
                    self._drawn_in_error = card
                return (CardDrawn(card, outside_game=outside.value),)
            case OverdrawnCard(target, index, card):
                told_before = card == self._drawn_in_error
                self._drawn_in_error = None
                return (CardDrawn(card, target, index, overdrawn=self._overdrawn.value, told_before=told_before),)
            case BurnCount(count):
                return (BurnCountTold(count),)
            case GameResult(winner, player_pair, banker_pair):
                return (DeviceResult(winner, player_pair, banker_pair),)
            case ErrorChanged():
                return self._error_changed(message)
            case KeyLock(locked):
                return (KeyLockChanged(locked),)
            case Preset(address, value):
                return (PresetChanged(address, value),)
            case UnknownCard():
                return (CardUnreadable(),)
            case UnknownMessage(_, reason):
                return (NotUnderstood(reason),)
            case _:
                assert_never(message)

    def _error_changed(self, message: ErrorChanged) -> tuple[Happening, ...]:
        code = message.code
        fault = FAULTS.get(code, DeviceFault.UNKNOWN)
        changed = FaultChanged(fault, message.active, code)
        if message.active:
            self._errors[fault] = code
            return (_ABOUT_A_CARD[code], changed) if code in _ABOUT_A_CARD else (changed,)
        self._errors.pop(fault, None)
        if message.error_mode:
            return (changed,)
        ended = tuple(FaultChanged(other, active=False, detail=its) for other, its in self._errors.items())
        self._errors.clear()
        return (changed, *ended)


def tell_disputed(messages: tuple[Message, ...]) -> Happening:
    """Say what copies mean that all differ. If any of them speaks of a card, a card may have left the shoe unread."""
    if any(message.to_data()[:1] in b"DdR" for message in messages):
        return CardUnreadable()
    said = ", ".join(message.to_data().hex(" ") for message in messages)
    return NotUnderstood(f"The copies of one message differ from each other: {said}.")
