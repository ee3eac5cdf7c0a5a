"""The dealer's panel: GPIO chips, the library, and a wiring that leaves the gate shut."""

import importlib.util
import os
from collections.abc import Iterator

import msgspec

from drivers.errors import PinMapError
from drivers.panel.pins import PinMap
from shoe_controller.config import Config
from shoe_controller.doctor.findings import Finding, fail, ok, split, warn
from shoe_controller.doctor.machine import Machine


def check_panel(config: Config, machine: Machine) -> Iterator[Finding]:
    """Check what the panel needs. No pin is touched: a running daemon has them."""
    panel = config.panel
    if panel.factory == "none":
        yield ok("panel", "none is configured")
        return
    try:
        pins = PinMap.from_names(
            msgspec.to_builtins(panel.buttons),
            msgspec.to_builtins(panel.lamps),
            panel.gate,
            panel.buzzer,
            button_pressed=panel.button_pressed,
            lamp_lit=panel.lamp_lit,
            gate_open=panel.gate_open,
        )
    except PinMapError as error:
        yield fail("panel", *split(str(error)))
        return
    if panel.factory == "mock":
        yield warn("panel", "buttons, lamps and gate are simulated", 'set panel.factory to "lgpio" on a Pi')
        return
    if importlib.util.find_spec("lgpio") is None:
        yield fail("panel", "the library lgpio is not installed", "sudo make install   (it brings lgpio)")
        return
    chips = sorted(machine.dev.glob("gpiochip*"))
    closed = [chip.name for chip in chips if not os.access(chip, os.R_OK | os.W_OK, effective_ids=True)]
    if not chips:
        yield fail(
            "panel",
            f"there are no GPIO pins here (no {machine.dev}/gpiochip*)",
            'on a machine without a panel set panel.factory to "none"',
        )
    elif closed:
        yield fail(
            "panel",
            f"no permission to use {', '.join(closed)}",
            "sudo usermod -aG gpio shoe-controller, then: sudo udevadm trigger --subsystem-match=gpio",
        )
    else:
        yield ok("panel", f"{len(pins.functions())} functions wired, {', '.join(chip.name for chip in chips)} usable")
