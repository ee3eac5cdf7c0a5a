"""USB devices that look like shoes, as the kernel lists them: that needs neither libusb nor permission to open them."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SYS = Path("/sys")
DEV = Path("/dev")
UDEV_RULES = "99-shoe-controller.rules"
# The id of shoes that speak the open protocol over USB itself; the udev rules let the daemon open it.
OPEN_SHOE = "1209:5a0e"
_VENDOR_CLASS = "ff"
_STREAMS = ("Bulk", "Interrupt")
# The kernel's name for an interface that a program has claimed through libusb.
_CLAIMED = "usbfs"


@dataclass(frozen=True, slots=True)
class UsbShoe:
    """A USB device with a vendor interface that has a way in and a way out, and no driver of the kernel."""

    usb_id: str
    serial_number: str | None
    product: str
    node: str
    held: bool  # a program has claimed it
    trouble: str | None  # why it cannot be used now

    @property
    def is_open_shoe(self) -> bool:
        """Whether it has the id that is meant for shoes: others may be anything."""
        return self.usb_id == OPEN_SHOE


def usb_shoes(*, sys: Path = SYS, dev: Path = DEV, has_libusb: bool) -> list[UsbShoe]:
    """List the USB devices that may be shoes, those that surely are first."""
    devices = (sys / "bus" / "usb" / "devices").glob("*")
    found = [shoe for device in sorted(devices) for shoe in _shoe(device, dev, has_libusb=has_libusb)]
    return sorted(found, key=lambda shoe: not shoe.is_open_shoe)


def _shoe(device: Path, dev: Path, *, has_libusb: bool) -> Iterator[UsbShoe]:
    vendor, product = _word(device / "idVendor"), _word(device / "idProduct")
    if vendor is None or product is None:
        return  # an interface of a device, which is listed beside it
    drivers = [_driver(one) for one in sorted(device.glob(f"{device.name}:*")) if _is_stream(one)]
    # Serial adapters and radios have such interfaces too, and a driver of the kernel.
    if not any(driver in (None, _CLAIMED) for driver in drivers):
        return
    number = f"{int(_word(device / 'busnum') or 0):03}/{int(_word(device / 'devnum') or 0):03}"
    node = dev / "bus" / "usb" / number
    yield UsbShoe(
        usb_id=f"{vendor}:{product}",
        serial_number=_word(device / "serial"),
        product=" ".join(word for word in (_word(device / "manufacturer"), _word(device / "product")) if word),
        node=str(node),
        held=_CLAIMED in drivers,
        trouble=_trouble(node, has_libusb=has_libusb),
    )


def _is_stream(interface: Path) -> bool:
    if _word(interface / "bInterfaceClass") != _VENDOR_CLASS:
        return False
    ends = [end for end in interface.glob("ep_*") if _word(end / "type") in _STREAMS]
    return {"in", "out"} <= {_word(end / "direction") for end in ends}


def _driver(interface: Path) -> str | None:
    link = interface / "driver"
    return link.readlink().name if link.is_symlink() else None


def _trouble(node: Path, *, has_libusb: bool) -> str | None:
    if not has_libusb:
        return "libusb-1.0 is not installed: install the package libusb-1.0-0"
    if not os.access(node, os.R_OK | os.W_OK, effective_ids=True):
        return (
            f"no permission to use it: install {UDEV_RULES} in /etc/udev/rules.d with a line for its id, run"
            " `udevadm control --reload` and plug it in again"
        )
    return None


def _word(file: Path) -> str | None:
    with suppress(OSError):
        return file.read_text("utf-8", "replace").strip() or None
    return None
