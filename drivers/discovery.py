"""What is plugged into this machine, what of it is a shoe, and the `device` that the configuration needs for it."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serial.tools import list_ports

from drivers.errors import DeviceGoneError
from drivers.gpio_chips import GpioChip, gpio_chips
from drivers.port_holders import holder
from drivers.probe import WAIT, Probe, ask
from drivers.serial_address import parse_serial_address, resolve
from drivers.shoe_device import RAW_USB, transport_for
from drivers.transport import Transport
from drivers.usb_listing import DEV, SYS, UsbShoe, usb_shoes

Reach = Callable[[str], Transport]


@dataclass(frozen=True, slots=True)
class SerialPort:
    """A serial port of this machine. `device` finds it again after it was plugged in elsewhere, if anything does."""

    path: str
    device: str
    links: tuple[str, ...]  # below /dev/serial/by-id
    usb_id: str | None
    serial_number: str | None
    description: str


@dataclass(frozen=True, slots=True)
class Found:
    """One address, what there is to say about it, and what came of asking; None: nobody asked."""

    device: str
    what: SerialPort | UsbShoe | None
    probe: Probe | None


@dataclass(frozen=True, slots=True)
class Discovery:
    """All that was found. `named` are the addresses that somebody asked for."""

    serial_ports: tuple[Found, ...] = ()
    usb_devices: tuple[Found, ...] = ()
    gpio_chips: tuple[GpioChip, ...] = ()
    named: tuple[Found, ...] = ()
    notes: tuple[str, ...] = ()


def serial_ports(ports: Iterable[Any] | None = None, by_id: Path = DEV / "serial" / "by-id") -> list[SerialPort]:
    """List the serial ports; `ports` as pyserial tells of them."""
    known = sorted(list_ports.comports() if ports is None else ports, key=lambda port: str(port.device))
    links: dict[str, list[str]] = {}
    for link in sorted(by_id.glob("*")):
        links.setdefault(str(link.resolve()), []).append(str(link))
    return [_serial_port(port, known, tuple(links.get(str(Path(port.device).resolve()), ()))) for port in known]


def _serial_port(port: Any, known: list[Any], links: tuple[str, ...]) -> SerialPort:
    usb_id = None if port.vid is None or port.pid is None else f"{port.vid:04x}:{port.pid:04x}"
    device = port.device
    if links:
        device = links[0]
    elif usb_id is not None:
        same = [other for other in known if (other.vid, other.pid) == (port.vid, port.pid)]
        if len(same) == 1:
            device = f"usb:{usb_id}"
        elif port.serial_number and [other.serial_number for other in same].count(port.serial_number) == 1:
            device = f"usb:{usb_id}:{port.serial_number}"
    description = port.description if port.description and port.description != "n/a" else ""
    return SerialPort(port.device, device, links, usb_id, port.serial_number, description)


async def discover(
    *,
    probe: bool = True,
    wait: float = WAIT,
    reach: Reach = transport_for,
    ports: Iterable[Any] | None = None,
    sys: Path = SYS,
    dev: Path = DEV,
    has_libusb: bool | None = None,
) -> Discovery:
    """List everything, and ask every free serial port and every USB device with the id of our shoes for its hello."""
    serial = serial_ports(ports, dev / "serial" / "by-id")
    has_libusb = _has_libusb() if has_libusb is None else has_libusb
    raw = usb_shoes(sys=sys, dev=dev, has_libusb=has_libusb)
    answers = await asyncio.gather(
        *(_ask_serial(port, wait, reach) for port in serial if probe),
        *(_ask_usb(shoe, raw, wait, reach) for shoe in raw if probe),
    )
    rest = answers or [None] * (len(serial) + len(raw))
    notes = [] if has_libusb else ["USB shoes (usb-raw:) need libusb-1.0: install the package libusb-1.0-0"]
    return Discovery(
        tuple(Found(port.device, port, came) for port, came in zip(serial, rest[: len(serial)], strict=True)),
        tuple(Found(usb_device(one, raw), one, came) for one, came in zip(raw, rest[len(serial) :], strict=True)),
        tuple(gpio_chips(dev=dev)),
        notes=tuple(notes),
    )


async def ask_named(devices: Sequence[str], *, wait: float = WAIT, reach: Reach = transport_for) -> Discovery:
    """Ask these addresses and no others; one that is not understood raises DeviceAddressError before any is asked."""
    transports = [reach(device) for device in devices]
    probes = await asyncio.gather(*map(_ask_free, devices, transports, [wait] * len(devices)))
    return Discovery(named=tuple(Found(one, None, came) for one, came in zip(devices, probes, strict=True)))


def usb_device(shoe: UsbShoe, among: Sequence[UsbShoe]) -> str:
    """Return the address of a USB shoe, with its serial number if there is another of its kind."""
    several = sum(other.usb_id == shoe.usb_id for other in among) > 1
    return f"{RAW_USB}{shoe.usb_id}" + (f":{shoe.serial_number}" if several and shoe.serial_number else "")


async def _ask_serial(port: SerialPort, wait: float, reach: Reach) -> Probe:
    return await _ask_free(port.path, reach(port.path), wait)


async def _ask_usb(shoe: UsbShoe, among: Sequence[UsbShoe], wait: float, reach: Reach) -> Probe | None:
    if shoe.trouble is not None:
        return Probe(None, shoe.trouble, asked=False)
    if shoe.held:
        return Probe(None, "not asked: another program has claimed it", asked=False)
    if not shoe.is_open_shoe:
        return None  # it may be anything; a person may name it
    return await ask(reach(usb_device(shoe, among)), wait=wait)


async def _ask_free(device: str, transport: Transport, wait: float) -> Probe:
    """Ask, but write not a byte to a port that somebody else uses."""
    if device.startswith(("/", "usb:")):
        try:
            path = resolve(parse_serial_address(device))
        except DeviceGoneError as error:
            return Probe(None, str(error), asked=False)
        held_by = holder(path)
        if held_by is not None:
            return Probe(None, f"not asked: {path} is held by {held_by}", asked=False)
    return await ask(transport, wait=wait)


def _has_libusb() -> bool:
    from drivers.usb_device import libusb  # noqa: PLC0415 - pyusb is loaded only where it is looked for

    return libusb() is not None
