"""The GPIO chips of this machine: name, number of lines, and whether they may be used."""

import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

DEV = Path("/dev")
# struct gpiochip_info of linux/gpio.h, and the call that fills it in: _IOR(0xB4, 0x01, struct gpiochip_info).
_INFO = Struct("=32s32sI")
_GET_INFO = 2 << 30 | _INFO.size << 16 | 0xB4 << 8 | 0x01
# The chips that the header of a Raspberry Pi is wired to: pinctrl-bcm2835, pinctrl-bcm2711, pinctrl-rp1.
_HEADER = "pinctrl-"


@dataclass(frozen=True, slots=True)
class GpioChip:
    """A chip; without permission only its path is known."""

    path: str
    label: str | None
    lines: int | None
    trouble: str | None

    @property
    def has_header(self) -> bool:
        """Whether this is the chip with the header's pins, where the panel is."""
        return self.label is not None and self.label.startswith(_HEADER)


def chip_info(descriptor: int) -> bytes:
    """Ask the kernel for the description of an open chip."""
    return fcntl.ioctl(descriptor, _GET_INFO, bytes(_INFO.size))


def gpio_chips(*, dev: Path = DEV, info: Callable[[int], bytes] = chip_info) -> list[GpioChip]:
    """List the chips, in the order of their numbers."""
    paths = [path for path in dev.glob("gpiochip*") if path.name.removeprefix("gpiochip").isdecimal()]
    return [_chip(path, info) for path in sorted(paths, key=lambda path: int(path.name.removeprefix("gpiochip")))]


def _chip(path: Path, info: Callable[[int], bytes]) -> GpioChip:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            _, label, lines = _INFO.unpack(info(descriptor))
        finally:
            os.close(descriptor)
    except PermissionError:
        sentence = f"no permission to use {path}: add the user that runs the controller to the group gpio"
        return GpioChip(str(path), None, None, sentence)
    except OSError as error:
        return GpioChip(str(path), None, None, f"{path} does not answer as a GPIO chip ({error.strerror})")
    return GpioChip(str(path), label.partition(b"\0")[0].decode("utf-8", "replace"), lines, None)
