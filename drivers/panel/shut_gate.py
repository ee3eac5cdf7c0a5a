"""Shutting the gate from outside, after the controller ended in a way that left it no time to do so.

A killed process cannot shut anything, and kernels of the Raspberry Pi leave an output as it was. systemd runs this
after every end of the controller (ExecStopPost).
"""

from typing import Any

from drivers.errors import PanelError
from drivers.panel.pin_factory import make_factory, pin_errors
from drivers.panel.pins import PinMap


def shut_gate(pins: PinMap, factory: Any) -> None:
    """Take the gate's pin, drive it shut and give it back; raise PanelError if that cannot be done."""
    made = make_factory(factory) if isinstance(factory, str) else factory
    if made is None or pins.gate is None:
        return
    from gpiozero import OutputDevice  # noqa: PLC0415  (slow to load)

    try:
        OutputDevice(pins.gate, active_high=pins.open_is_high, initial_value=False, pin_factory=made).close()
        made.close()
    except pin_errors() as error:
        raise PanelError(f"the gate on pin {pins.gate} cannot be shut ({error}): cut its power") from error
