"""From the settings of a shoe to the transport that reaches it and the connection that keeps it."""

import re
from collections.abc import Callable
from random import Random

from drivers.errors import DeviceAddressError
from drivers.reconnect import REOPEN_AFTER, ShoeConnection
from drivers.serial_address import LINES, LineSettings, parse_serial_address, parse_usb_id
from drivers.serial_transport import SerialTransport
from drivers.transport import ShoeLink, Transport
from firmware_protocol.events import LinkEvent

RAW_USB = "usb-raw:"
_FRAMING = re.compile(r"(?P<bits>[5-8])(?P<parity>[NEO])(?P<stop>[12])")


def transport_for(
    device: str, protocol: str = "open", *, baud: int = 0, framing: str = "8N1", listen_only: bool = False
) -> Transport:
    """Return the transport for a device setting, or raise DeviceAddressError. Nothing is opened yet.

    A baud rate of 0 is the protocol's own.
    """
    if protocol not in LINES:
        raise DeviceAddressError(f"the protocol {protocol!r} is not known: use {' or '.join(LINES)}")
    if device.startswith(RAW_USB):
        # pyusb is loaded only on tables that have such a shoe.
        from drivers.usb_transport import UsbTransport  # noqa: PLC0415

        return UsbTransport(parse_usb_id(device.removeprefix(RAW_USB), device), listen_only=listen_only)
    frame = _FRAMING.fullmatch(framing)
    if frame is None:
        raise DeviceAddressError(f"the framing {framing!r} is not understood: write it as in 8N1 or 7E2")
    line = LineSettings(baud or LINES[protocol].baud, int(frame["bits"]), frame["parity"], int(frame["stop"]))
    return SerialTransport(parse_serial_address(device), line, listen_only=listen_only)


def connect_shoe(
    transport: Transport,
    protocol: str,
    link: ShoeLink,
    on_event: Callable[[LinkEvent], None],
    *,
    chance: Random,
    on_told: Callable[[], None] = lambda: None,
) -> ShoeConnection:
    """Return the connection for a shoe that speaks this protocol; `run` it."""
    # An Angel Eye keeps no events: a port that is being opened again is deaf, and silence is normal for it anyway.
    reopen_after = None if protocol == "angel-eye" else REOPEN_AFTER
    return ShoeConnection(transport, link, on_event, chance=chance, reopen_after=reopen_after, on_told=on_told)
