"""Where a serial shoe is: a path, a by-id link, a USB id, or a URL; and how the line is set.

/dev/ttyUSB0, /dev/serial/by-id/...    opened as they are
usb:0403:6001, usb:0403:6001:A50285BI  the serial port of that USB adapter, whatever its path is today
socket://host:port, rfc2217://host:port  a port of a serial device server
"""

import re
from dataclasses import dataclass
from typing import Protocol

from serial.tools import list_ports

from drivers.errors import DeviceAddressError, DeviceGoneError

URL_SCHEMES = ("socket", "rfc2217")
_USB = re.compile(r"(?P<vid>[0-9a-f]{4}):(?P<pid>[0-9a-f]{4})(?::(?P<serial>.+))?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class LineSettings:
    """Speed and framing of the line."""

    baud: int
    bits: int = 8
    parity: str = "N"
    stop_bits: int = 1


LINES = {
    # USB adapters and CDC devices ignore or reach any of these; Angel Eye shoes know one speed only.
    "open": LineSettings(115_200),
    "angel-eye": LineSettings(4_800),
}


@dataclass(frozen=True, slots=True)
class UsbId:
    """Which USB device is meant: vendor, product and, where two of a kind may be plugged in, the serial number."""

    vid: int
    pid: int
    serial_number: str | None = None

    def __str__(self) -> str:
        serial = "" if self.serial_number is None else f":{self.serial_number}"
        return f"{self.vid:04x}:{self.pid:04x}{serial}"


@dataclass(frozen=True, slots=True)
class SerialAddress:
    """A path, a URL or (with `usb`) the port of a USB adapter, as the configuration has it."""

    text: str
    usb: UsbId | None = None


class Port(Protocol):
    """What pyserial tells about a port of this machine."""

    device: str
    vid: int | None
    pid: int | None
    serial_number: str | None


def parse_usb_id(text: str, device: str) -> UsbId:
    """Understand `VID:PID[:SERIAL]`; `device` is the whole setting, for the sentence."""
    found = _USB.fullmatch(text)
    if found is None:
        raise DeviceAddressError(
            f"the device {device!r} is not understood: after the prefix write the vendor and product id, four"
            " hexadecimal digits each, and if need be the serial number, as in usb:0403:6001 or usb:0403:6001:A50285BI"
        )
    return UsbId(int(found["vid"], 16), int(found["pid"], 16), found["serial"])


def parse_serial_address(text: str) -> SerialAddress:
    """Understand the address of a serial port."""
    if text.startswith("usb:"):
        return SerialAddress(text, parse_usb_id(text.removeprefix("usb:"), text))
    scheme, separator, rest = text.partition("://")
    if separator:
        _check_url(text, scheme, rest)
    elif not text.startswith("/"):
        raise DeviceAddressError(
            f"the device {text!r} is not understood: write a path such as /dev/ttyUSB0 or /dev/serial/by-id/...,"
            " usb:VID:PID[:SERIAL], usb-raw:VID:PID[:SERIAL], socket://HOST:PORT or rfc2217://HOST:PORT"
        )
    return SerialAddress(text)


def _check_url(text: str, scheme: str, rest: str) -> None:
    if scheme not in URL_SCHEMES:
        raise DeviceAddressError(
            f"the device {text!r} has the scheme {scheme!r}: only socket:// and rfc2217:// are known"
        )
    host, _, port = re.split(r"[/?]", rest, maxsplit=1)[0].rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise DeviceAddressError(f"the device {text!r} needs a host and a port number, as in {scheme}://10.0.0.7:4001")


def resolve(address: SerialAddress, ports: list[Port] | None = None) -> str:
    """Return the path or URL to open now; a USB adapter gets another path each time it is plugged in."""
    if address.usb is None:
        return address.text
    if ports is None:
        ports = list(list_ports.comports())
    wanted = address.usb
    matching = [
        port.device
        for port in ports
        if (port.vid, port.pid) == (wanted.vid, wanted.pid) and wanted.serial_number in (None, port.serial_number)
    ]
    if not matching:
        raise DeviceGoneError(
            f"no serial port belongs to the USB device {wanted}: plug the shoe in, or see"
            " `shoe-controller devices` for what is there"
        )
    if len(matching) > 1:
        raise DeviceGoneError(
            f"{len(matching)} serial ports match {address.text} ({', '.join(sorted(matching))}): add the serial"
            " number, or give the path below /dev/serial/by-id"
        )
    return matching[0]
