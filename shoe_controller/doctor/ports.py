"""The ports of the shoe and of the serial feed: there, of the right kind, free, and ours to open."""

import asyncio
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from drivers.errors import DeviceAddressError, DeviceGoneError
from drivers.serial_address import LINES, LineSettings, SerialAddress, parse_serial_address, parse_usb_id, resolve
from drivers.serial_transport import SerialTransport
from shoe_controller.config import Config
from shoe_controller.doctor.findings import Finding, fail, ok, split, warn

# The kinds of terminal that systemd/shoe-controller.service lets in, by the kernel's names of their drivers.
LET_IN = ("ttyS", "ttyAMA", "ttyUSB", "ttyACM")
DRIVERS = Path("/proc/devices")


def check_ports(config: Config, *, running: bool) -> Iterator[Finding]:
    """Check every port that the configuration names; those that a running daemon holds are not touched."""
    shoe, feed = config.shoe, config.serial_feed
    if shoe.protocol == "simulated":
        yield warn("shoe", "the shoe is simulated", "set shoe.protocol and shoe.device to play with real cards")
    elif shoe.device.startswith("usb-raw:"):
        yield from _raw_usb("shoe", shoe.device, running=running)
    else:
        baud = shoe.baud or LINES[shoe.protocol].baud
        yield from _serial("shoe", shoe.device, baud, listen_only=shoe.listen_only, running=running)
    if feed.device:
        baud = feed.baud or LINES["angel-eye"].baud
        yield from _serial("serial feed", feed.device, baud, listen_only=True, running=running)


def _serial(check: str, device: str, baud: int, *, listen_only: bool, running: bool) -> Iterator[Finding]:
    try:
        address = parse_serial_address(device)
        place = resolve(address)
        if running:
            # Opening it would throw the daemon off a device server, or reset some shoes in the middle of a round.
            yield from _held(check, device, place)
            return
        asyncio.run(_open(address, LineSettings(baud), listen_only=listen_only))
    except (DeviceGoneError, DeviceAddressError) as error:
        yield fail(check, *split(str(error)))
        return
    yield ok(check, f"{device} can be opened" if place == device else f"{device} is {place} and can be opened")
    yield from _let_in(check, place)


def _held(check: str, device: str, place: str) -> Iterator[Finding]:
    if place.startswith("/") and not Path(place).exists():
        yield fail(check, f"there is no serial port {place}", "plug it in; the running daemon opens it by itself")
    else:
        yield ok(check, f"{device} is left to the running daemon ('shoe-controller status' tells whether it answers)")


async def _open(address: SerialAddress, line: LineSettings, *, listen_only: bool) -> None:
    transport = SerialTransport(address, line, listen_only=listen_only)
    await transport.open(lambda _data: None, lambda _error: None)
    await transport.close()


def _let_in(check: str, place: str) -> Iterator[Finding]:
    """Check that the unit's DeviceAllow knows this kind of port."""
    if "://" in place:
        return
    status = Path(place).stat()
    kind = driver_of(os.major(status.st_rdev)) if stat.S_ISCHR(status.st_mode) else "?"
    if kind not in LET_IN:
        yield warn(
            check,
            f"{place} is of the kind {kind}, which the service may not open",
            f"sudo systemctl edit shoe-controller, and there: [Service] DeviceAllow={place} rw",
        )


def driver_of(major: int) -> str:
    """Return the kernel's name of a character device's driver."""
    for line in DRIVERS.read_text(encoding="ascii").partition("Block devices:")[0].splitlines():
        number, _, name = line.strip().partition(" ")
        if number == str(major) and name.startswith("tty"):
            return name
    return "?"


def _raw_usb(check: str, device: str, *, running: bool) -> Iterator[Finding]:
    from drivers.usb_device import ClaimedDevice, find_device, libusb  # noqa: PLC0415 - only where USB is used

    try:
        wanted = parse_usb_id(device.removeprefix("usb-raw:"), device)
        if running:
            find_device(wanted, libusb)
            yield ok(check, f"{device} is plugged in and left to the running daemon")
            return
        ClaimedDevice(wanted, libusb).release()
    except (DeviceGoneError, DeviceAddressError) as error:
        yield fail(check, *split(str(error)))
        return
    yield ok(check, f"{device} can be used")
