"""Which function is on which pin (BCM numbers), and whether that can be wired."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

from drivers.errors import PinMapError
from drivers.panel.functions import KEY, SUPERVISOR_BUTTONS, Button, Lamp

LOWEST, HIGHEST = 0, 27
# While the Pi starts, and whenever nobody drives them, these pins are pulled up and all others down.
PULLED_UP_AT_RESET = frozenset(range(9))

Pin = int | str | None


@dataclass(frozen=True)
class PinMap:
    """The wiring. A function that is not wired is not in the mappings, or None.

    A map that cannot be wired does not exist: making it raises PinMapError.
    """

    buttons: Mapping[Button, int] = field(default_factory=dict)
    key: int | None = None
    lamps: Mapping[Lamp, int] = field(default_factory=dict)
    gate: int | None = None
    buzzer: int | None = None
    pressed_is_high: bool = False
    lit_is_high: bool = True
    open_is_high: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "buttons", MappingProxyType(dict(self.buttons)))
        object.__setattr__(self, "lamps", MappingProxyType(dict(self.lamps)))
        self._check_pins()
        self._check_key()
        self._check_gate()

    @classmethod
    def from_names(
        cls,
        buttons: Mapping[str, Pin],
        lamps: Mapping[str, Pin],
        gate: Pin = None,
        buzzer: Pin = None,
        *,
        button_pressed: str = "low",
        lamp_lit: str = "high",
        gate_open: str = "high",
    ) -> Self:
        """Make a map from the names of the configuration; `buttons` includes `key`; "none" is not wired."""
        wired_buttons = {name: pin for name, given in buttons.items() if (pin := _wired(given)) is not None}
        wired_lamps = {name: pin for name, given in lamps.items() if (pin := _wired(given)) is not None}
        return cls(
            buttons={Button(name): pin for name, pin in wired_buttons.items() if name != KEY},
            key=wired_buttons.get(KEY),
            lamps={Lamp(name): pin for name, pin in wired_lamps.items()},
            gate=_wired(gate),
            buzzer=_wired(buzzer),
            pressed_is_high=button_pressed == "high",
            lit_is_high=lamp_lit == "high",
            open_is_high=gate_open == "high",
        )

    def functions(self) -> list[tuple[str, int]]:
        """List every wired function with its pin, as people call it."""
        named: list[tuple[str, int | None]] = [(f"button {button}", pin) for button, pin in self.buttons.items()]
        named.append(("key switch", self.key))
        named += [(f"lamp {lamp}", pin) for lamp, pin in self.lamps.items()]
        named += [("gate", self.gate), ("buzzer", self.buzzer)]
        return [(name, pin) for name, pin in named if pin is not None]

    def _check_pins(self) -> None:
        users: dict[int, str] = {}
        for name, pin in self.functions():
            if not LOWEST <= pin <= HIGHEST:
                raise PinMapError(f"{name} is on pin {pin}, but the header has GPIO {LOWEST} to {HIGHEST}")
            if pin in users:
                raise PinMapError(f"{users[pin]} and {name} are both on pin {pin}: give each a pin of its own")
            users[pin] = name

    def _check_key(self) -> None:
        unguarded = sorted(SUPERVISOR_BUTTONS & self.buttons.keys())
        if self.key is None and unguarded:
            raise PinMapError(
                f"without a key switch anybody could press {', '.join(unguarded)}: wire the key, or leave them out"
            )

    def _check_gate(self) -> None:
        if self.gate is None or (self.gate in PULLED_UP_AT_RESET) != self.open_is_high:
            return
        level, pins = ("high", "9 to 27") if self.open_is_high else ("low", "0 to 8")
        raise PinMapError(
            f"the gate opens at {level} level on pin {self.gate}, which has that level while the Pi starts: the gate"
            f" would stand open with nobody in charge; use one of the pins {pins}"
        )


def _wired(pin: Pin) -> int | None:
    return pin if isinstance(pin, int) else None
