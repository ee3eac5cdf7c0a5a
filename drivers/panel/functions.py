"""What is on the panel, and what it tells. The names are those of the configuration."""

from dataclasses import dataclass
from enum import StrEnum


class Button(StrEnum):
    """A button of the dealer or, below the key switch, of the supervisor."""

    PLACE_BETS = "place_bets"
    NO_MORE_BETS = "no_more_bets"
    RESULT = "result"
    VOID = "void"
    ACCEPT = "accept"
    ACKNOWLEDGE = "acknowledge"


SUPERVISOR_BUTTONS = frozenset({Button.VOID, Button.ACCEPT, Button.ACKNOWLEDGE})
KEY = "key"


class Lamp(StrEnum):
    """A lamp of the panel."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"
    NEXT_PLAYER = "next_player"
    NEXT_BANKER = "next_banker"
    BETTING = "betting"
    ALARM = "alarm"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button was pressed, and no doubt about it. Times are those of the event loop's clock."""

    button: Button
    at: float


class Doubt(StrEnum):
    """Why a press was not taken for one."""

    TOGETHER = "together"  # another button was down
    KEY_OFF = "key-off"  # a supervisor's button without the supervisor's key
    KEY_TURNED = "key-turned"  # the key moved during the press, or just before


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something was pressed and nothing was done; worth a line in the journal."""

    buttons: tuple[Button, ...]
    doubt: Doubt
    at: float


@dataclass(frozen=True, slots=True)
class KeyTurned:
    """The supervisor's key was turned."""

    on: bool
    at: float


@dataclass(frozen=True, slots=True)
class Stuck:
    """These buttons have been down, or have chattered, for so long that no person does it; the panel waits for them."""

    buttons: tuple[Button, ...]
    at: float


PanelEvent = Pressed | Ignored | KeyTurned | Stuck
