"""Fingers and eyes for a panel on mock pins: press its buttons, turn its key, see its lamps and its gate."""

import asyncio
from typing import Any

from drivers.errors import PanelError
from drivers.panel.debounce import SETTLE
from drivers.panel.functions import Button, Lamp
from drivers.panel.panel import Panel

# Longer than any settling time, and what a person does.
HOLD = 4 * SETTLE


class MockPanel:
    """The person in front of a panel that was opened with the factory "mock"."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel

    def press(self, button: Button) -> None:
        """Press and hold."""
        self._contact(self._panel.pins.buttons[button], closed=True)

    def release(self, button: Button) -> None:
        """Let go."""
        self._contact(self._panel.pins.buttons[button], closed=False)

    async def click(self, button: Button, hold: float = HOLD) -> None:
        """Press as a person does, let go, and take the finger away."""
        self.press(button)
        await asyncio.sleep(hold)
        self.release(button)
        await asyncio.sleep(hold)

    async def turn_key(self, on: bool) -> None:
        """Turn the supervisor's key and wait until it rests."""
        if self._panel.pins.key is None:
            raise PanelError("this panel has no key switch")
        self._contact(self._panel.pins.key, closed=on)
        await asyncio.sleep(HOLD)

    @property
    def lit(self) -> frozenset[Lamp]:
        """The lamps that are lit."""
        pins = self._panel.pins
        return frozenset(lamp for lamp, pin in pins.lamps.items() if self._pin(pin).state == pins.lit_is_high)

    @property
    def gate_is_open(self) -> bool:
        """Whether the gate lets cards out."""
        pins = self._panel.pins
        return pins.gate is not None and bool(self._pin(pins.gate).state == pins.open_is_high)

    @property
    def buzzing(self) -> bool:
        """Whether the buzzer sounds."""
        buzzer = self._panel.pins.buzzer
        return buzzer is not None and bool(self._pin(buzzer).state)

    def _contact(self, pin: int, *, closed: bool) -> None:
        if closed == self._panel.pins.pressed_is_high:
            self._pin(pin).drive_high()
        else:
            self._pin(pin).drive_low()

    def _pin(self, pin: int) -> Any:
        if self._panel.factory is None:
            raise PanelError("the panel is not open: nobody is there to see or press anything")
        return self._panel.factory.pin(pin)
