"""List serial ports, USB devices that look like shoes and GPIO chips, and say what to write into the configuration.

Each free serial port, and each USB device with the id of our shoes, is asked for the hello of the open protocol: that
writes a few bytes to whatever is on it. With --no-probe no port is opened and nothing is written. A port that another
program holds is never asked. An Angel Eye shoe answers no question; its port is listed, and the lines for it with it.

With PORTs, only these are asked: a path, usb:VID:PID[:SERIAL], usb-raw:VID:PID[:SERIAL], socket://HOST:PORT or
rfc2217://HOST:PORT. Exit code 0; 1 if a PORT that was named did not answer.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, get_args

from shoe_controller.config.hardware import Baud
from shoe_controller.errors import UsageError

if TYPE_CHECKING:
    from drivers.discovery import Discovery, Found
    from drivers.gpio_chips import GpioChip

EXAMPLES = """\
  shoe-controller devices
  shoe-controller devices --no-probe --format json
  shoe-controller devices /dev/ttyUSB0 socket://10.0.0.7:4001"""

SPEEDS = tuple(speed for speed in get_args(Baud) if speed)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `devices`."""
    parser.add_argument("ports", nargs="*", metavar="PORT", help="ask these and list nothing else")
    parser.add_argument("--no-probe", action="store_true", help="list only: open no port, write nothing")
    parser.add_argument(
        "--wait",
        type=float,
        default=1.5,
        metavar="SECONDS",
        help="how long to wait for an answer (default: %(default)s)",
    )
    parser.add_argument(
        "--baud",
        type=int,
        choices=SPEEDS,
        default=0,
        metavar="N",
        help="ask at this speed (default: 115200)",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")


def run(args: argparse.Namespace) -> int:
    """Look, ask and tell."""
    from drivers.discovery import ask_named, discover  # noqa: PLC0415 - other commands need no drivers
    from drivers.errors import DeviceAddressError  # noqa: PLC0415
    from drivers.shoe_device import transport_for  # noqa: PLC0415

    if args.ports and args.no_probe:
        raise UsageError("--no-probe asks nothing: leave the PORTs out, or leave it out")
    if not 0 < args.wait <= 60:
        raise UsageError(f"--wait {args.wait:g}: say more than 0 and at most 60 seconds")
    reach = partial(transport_for, baud=args.baud)
    try:
        found = asyncio.run(
            ask_named(args.ports, wait=args.wait, reach=reach)
            if args.ports
            else discover(probe=not args.no_probe, wait=args.wait, reach=reach)
        )
    except DeviceAddressError as error:
        raise UsageError(str(error)) from error
    if args.format == "json":
        print(json.dumps(_answer(found, args.baud)))
    else:
        print("\n".join(_text(found, args.baud)))
    return 1 if any(one.probe is None or one.probe.shoe is None for one in found.named) else 0


def shoe_lines(found: "Found", baud: int = 0) -> list[str]:
    """Return the lines of the configuration for a shoe at this address; none while it cannot be used."""
    probe = found.probe
    if probe is not None and not probe.asked:
        return []
    shoe = None if probe is None else probe.shoe
    # A serial shoe that was asked and said nothing may be the one that never answers.
    silent = probe is not None and shoe is None and not _is_raw(found)
    lines = ["[shoe]", f'protocol = "{"angel-eye" if silent else "open"}"']
    lines.append(f"device = {json.dumps(found.device, ensure_ascii=False)}")
    if baud and shoe is not None and not _is_raw(found):
        lines.append(f"baud = {baud}")
    if shoe is not None and shoe.requires_key:
        lines.append('auth_key_file = "/etc/shoe-controller/shoe.key"   # the shoe demands the key that it was given')
    return lines


def _answer(found: "Discovery", baud: int) -> dict[str, object]:
    import msgspec  # noqa: PLC0415

    answer: dict[str, object] = msgspec.to_builtins(found)
    for name in ("serial_ports", "usb_devices", "named"):
        answer[name] = [
            msgspec.to_builtins(one) | {"configuration": shoe_lines(one, baud)} for one in getattr(found, name)
        ]
    answer["gpio_chips"] = [
        msgspec.to_builtins(chip) | {"configuration": _panel_lines(chip)} for chip in found.gpio_chips
    ]
    return answer


def _text(found: "Discovery", baud: int) -> Iterator[str]:
    if found.named:
        for one in found.named:
            yield one.device
            yield from _came(one, baud)
        return
    yield "Serial ports"
    for one in found.serial_ports:
        yield f"  {_port_line(one)}"
        yield from _came(one, baud)
    yield from ["  none"] * (not found.serial_ports)
    yield "USB devices that look like shoes"
    for one in found.usb_devices:
        yield f"  {_usb_line(one)}"
        yield from _came(one, baud)
    yield from ["  none"] * (not found.usb_devices)
    yield "GPIO chips"
    for chip in found.gpio_chips:
        yield f"  {chip.path}  " + (chip.trouble or f"{chip.label}, {chip.lines} lines")
        yield from _lines(_panel_lines(chip))
    yield from ["  none"] * (not found.gpio_chips)
    yield from found.notes


def _port_line(found: "Found") -> str:
    from drivers.discovery import SerialPort  # noqa: PLC0415

    port = found.what
    assert isinstance(port, SerialPort)
    words = [port.path, port.usb_id, port.serial_number, port.description]
    return "  ".join(word for word in words if word) + "".join(f"\n    {link}" for link in port.links)


def _usb_line(found: "Found") -> str:
    from drivers.usb_listing import UsbShoe  # noqa: PLC0415

    usb = found.what
    assert isinstance(usb, UsbShoe)
    return "  ".join(word for word in (usb.usb_id, usb.serial_number, usb.product) if word)


def _came(found: "Found", baud: int) -> Iterator[str]:
    probe = found.probe
    if probe is None:
        yield "    not asked; if it is a shoe, write:"
    elif probe.shoe is None:
        yield f"    {probe.trouble}"
        if probe.asked:
            yield "    if it is a shoe, write:" if _is_raw(found) else "    if it is an Angel Eye, write:"
    else:
        shoe = probe.shoe
        yield (
            f"    answers: {shoe.kind} shoe {shoe.serial_number}, firmware {shoe.firmware_version}, protocol"
            f" {shoe.protocol_version}, keeps {shoe.buffer_cards} cards"
        )
        if shoe.capabilities:
            yield f"    has: {', '.join(name.replace('_', ' ') for name in shoe.capabilities)}"
        yield "    write:"
    yield from _lines(shoe_lines(found, baud))


def _is_raw(found: "Found") -> bool:
    return found.device.startswith("usb-raw:")


def _panel_lines(chip: "GpioChip") -> list[str]:
    return ["[panel]", 'factory = "lgpio"'] if chip.has_header else []


def _lines(lines: list[str]) -> Iterator[str]:
    yield from (f"      {line}" for line in lines)
