"""Faults: what goes wrong by chance while a simulated shoe deals by itself, and how it is written.

unreadable=0.05,together,lose=0.001      names with a share, or without for the usual one
table                                    every fault of cards and shoe
wire                                     every fault of the line
all                                      both
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from drivers.simulated.errors import OrderError
from drivers.simulated.wire import GOOD_WIRE, WireFaults


@dataclass(frozen=True, slots=True)
class TableFault:
    """A fault of cards or shoe: the command that makes it, the one that mends it, the usual share, its meaning."""

    command: str
    mend: str
    share: float
    meaning: str


# Shares are for each card drawn, except that of a surplus card, which is for each time the gate shuts behind a card.
TABLE_FAULTS: Mapping[str, TableFault] = {
    "together": TableFault("together known", "clear", 0.01, "two cards at once, their order known"),
    "together-unknown": TableFault("together unknown", "clear", 0.005, "two cards at once, their order not known"),
    "pushback": TableFault("pushback", "clear", 0.01, "a card pushed back into the shoe"),
    "unreadable": TableFault("unreadable", "clear", 0.01, "a card that cannot be read"),
    "foreign": TableFault("foreign", "clear", 0.005, "a card of no set"),
    "duplicate": TableFault("duplicate", "", 0.005, "an id that was drawn before"),
    "surplus": TableFault("deal force", "clear", 0.02, "a card drawn when none is due"),
    "jam": TableFault("jam on", "jam off", 0.005, "a jammed card, cleared after a while"),
    "lid": TableFault("lid open", "lid close", 0.005, "the lid opened, closed after a while"),
    "reboot": TableFault("reboot", "", 0.005, "the shoe starts again, its memory kept"),
    "forget": TableFault("reboot forget", "", 0.001, "the shoe starts again, its memory lost"),
}
_WIRE_SHARES = {"lose": 0.001, "flip": 0.001, "drop": 0.05, "repeat": 0.05, "reorder": 0.05, "late": 0.2, "split": 1.0}
WIRE_MEANINGS = {
    "lose": "share of bytes lost",
    "flip": "share of bytes with a flipped bit",
    "drop": "share of frames lost",
    "repeat": "share of frames that arrive twice",
    "reorder": "share of frames overtaken by the next",
    "late": "longest delay in seconds",
    "split": "bytes arrive in small pieces",
}
_GROUPS = {"table": (*TABLE_FAULTS,), "wire": (*_WIRE_SHARES,), "all": (*TABLE_FAULTS, *_WIRE_SHARES)}
# A line that loses everything is not a line with faults.
HIGHEST_SHARE = 0.9
LONGEST_DELAY = 60.0


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong, and how often."""

    table: Mapping[str, float] = field(default_factory=dict)
    wire: WireFaults = GOOD_WIRE


def parse_faults(text: str) -> Faults:
    """Read the notation above."""
    table: dict[str, float] = {}
    wire: dict[str, float] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = word.partition("=")
        for one in _GROUPS.get(name, (name,)):
            if one in TABLE_FAULTS:
                table[one] = _share(word, value) if equals else TABLE_FAULTS[one].share
            elif one in _WIRE_SHARES:
                wire[one] = _amount(one, word, value) if equals else _WIRE_SHARES[one]
            else:
                raise OrderError(f"'{one}' is not a fault: known are {', '.join(_GROUPS['all'])}.")
    return Faults(
        table,
        WireFaults(
            lose=wire.get("lose", 0.0),
            flip=wire.get("flip", 0.0),
            drop=wire.get("drop", 0.0),
            repeat=wire.get("repeat", 0.0),
            reorder=wire.get("reorder", 0.0),
            late=wire.get("late", 0.0),
            split=bool(wire.get("split")),
        ),
    )


def _amount(name: str, word: str, value: str) -> float:
    return _number(word, value, LONGEST_DELAY, "seconds") if name == "late" else _share(word, value)


def _share(word: str, value: str) -> float:
    return _number(word, value, HIGHEST_SHARE, "a share")


def _number(word: str, value: str, most: float, what: str) -> float:
    try:
        amount = float(value)
    except ValueError:
        amount = -1.0
    if not 0 <= amount <= most:
        raise OrderError(f"'{word}' is not understood: behind the = stands {what} from 0 to {most:g}.")
    return amount
