"""The pin factory that the configuration names: that one or an error, never another.

gpiozero by itself falls back from factory to factory, and what then moves the gate is anybody's guess.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from drivers.errors import PanelError

FACTORIES = ("lgpio", "mock", "none")


def make_factory(name: str) -> Any:
    """Return gpiozero's factory of that name, None for "none"; raise PanelError if it cannot be had."""
    if name == "none":
        return None
    if name == "mock":
        # Loaded here, so that a table without a panel does not load it.
        from gpiozero.pins.mock import MockFactory  # noqa: PLC0415

        return MockFactory()
    if name == "lgpio":
        return _lgpio_factory()
    raise PanelError(f"the pin factory {name!r} is not known: use {', '.join(FACTORIES)}")


def pin_errors() -> tuple[type[Exception], ...]:
    """Return everything that using a pin may raise. lgpio.error is neither an OSError nor one of gpiozero's."""
    from gpiozero.exc import GPIOZeroError  # noqa: PLC0415

    # Not imported for its error alone: see _load_lgpio.
    lgpio = sys.modules.get("lgpio")
    return (GPIOZeroError, OSError) if lgpio is None else (GPIOZeroError, OSError, lgpio.error)


def _lgpio_factory() -> Any:
    try:
        _load_lgpio()
        from gpiozero.pins.lgpio import LGPIOFactory  # noqa: PLC0415
    except ImportError as error:
        raise PanelError(
            f"the panel needs lgpio, which is not installed ({error}): install shoe-controller with its extra 'gpio',"
            ' or set factory = "none" in [panel]'
        ) from error
    except OSError as error:
        raise PanelError(f"lgpio cannot be started ({error}): it needs a temporary directory to write to") from error
    try:
        return LGPIOFactory()
    except pin_errors() as error:
        raise PanelError(
            f"the GPIO pins cannot be used ({_text(error)}): this must be a Raspberry Pi, /dev/gpiochip* must be there,"
            " and the user that runs the controller must be in the group gpio"
        ) from error


def _load_lgpio() -> None:
    """Import lgpio from a directory of its own.

    On import it makes a named pipe in the working directory and opens it by a relative name. Below a hardened
    systemd unit the working directory is read-only, elsewhere the pipe would be litter. Both ends stay open after the
    directory is gone.
    """
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="shoe-controller-") as folder:
        os.chdir(folder)
        try:
            import lgpio  # type: ignore[import-untyped,unused-ignore]  # noqa: F401, PLC0415
        finally:
            os.chdir(before)


def _text(error: Exception) -> str:
    return str(error).strip("'\"")
