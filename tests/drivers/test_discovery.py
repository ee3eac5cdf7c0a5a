"""What is plugged in: ports and links, USB devices as the kernel lists them, GPIO chips, and who holds what."""

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path
from struct import pack
from types import SimpleNamespace

import pytest

from drivers.discovery import ask_named, discover, serial_ports
from drivers.errors import DeviceAddressError
from drivers.gpio_chips import chip_info, gpio_chips
from drivers.port_holders import holder
from drivers.serial_address import UsbId
from drivers.shoe_device import transport_for
from drivers.simulated.order import ShoeOrder, build_twin
from drivers.simulated.pty_shoe import SimulatedShoe
from drivers.usb_listing import usb_shoes
from drivers.usb_simulated import SimulatedUsbBus
from drivers.usb_transport import UsbTransport

SHORT = 0.05


def port(device, vid=None, pid=None, serial_number=None, description="n/a"):
    return SimpleNamespace(device=device, vid=vid, pid=pid, serial_number=serial_number, description=description)


# --- serial ports ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ports, devices",
    [
        ([port("/dev/ttyS0")], ["/dev/ttyS0"]),
        ([port("/dev/ttyUSB0", 0x0403, 0x6001, "A5")], ["usb:0403:6001"]),
        (
            [port("/dev/ttyUSB0", 0x0403, 0x6001, "A5"), port("/dev/ttyUSB1", 0x0403, 0x6001, "B6")],
            ["usb:0403:6001:A5", "usb:0403:6001:B6"],
        ),
        (
            [port("/dev/ttyUSB0", 0x1A86, 0x7523), port("/dev/ttyUSB1", 0x1A86, 0x7523)],
            ["/dev/ttyUSB0", "/dev/ttyUSB1"],
        ),
        (
            [port("/dev/ttyUSB1", 0x1A86, 0x7523, "0001"), port("/dev/ttyUSB0", 0x1A86, 0x7523, "0001")],
            ["/dev/ttyUSB0", "/dev/ttyUSB1"],
        ),
    ],
    ids=["no USB", "one of its kind", "two with serial numbers", "two without", "two with the same number"],
)
def test_the_device_to_configure_survives_being_plugged_in_elsewhere(tmp_path, ports, devices):
    assert [found.device for found in serial_ports(ports, tmp_path)] == devices


def test_a_by_id_link_is_the_best_name(tmp_path):
    tty = tmp_path / "ttyUSB0"
    tty.touch()
    links = tmp_path / "serial" / "by-id"
    links.mkdir(parents=True)
    (links / "usb-Maker_Shoe_7-if00").symlink_to("../../ttyUSB0")
    (found,) = serial_ports([port(str(tty), 0x0403, 0x6001, "7", "Maker Shoe")], links)
    assert found.device == str(links / "usb-Maker_Shoe_7-if00")
    assert found.links == (found.device,)
    assert (found.usb_id, found.serial_number, found.description) == ("0403:6001", "7", "Maker Shoe")


# --- USB -------------------------------------------------------------------------------------------------------------


class UsbTree:
    """/sys/bus/usb/devices and /dev/bus/usb as the kernel fills them."""

    def __init__(self, folder):
        self.sys, self.dev = folder / "sys", folder / "dev"
        self.devices = self.sys / "bus" / "usb" / "devices"
        self.devices.mkdir(parents=True)
        self.count = 0

    def add(self, usb_id, *, usb_class="ff", driver=None, ends=("in", "out"), kind="Bulk", serial=None, **words):
        self.count += 1
        name = f"1-{self.count}"
        device = self.sys / "devices" / "usb1" / name
        vendor, product = usb_id.split(":")
        facts = {"idVendor": vendor, "idProduct": product, "busnum": "1", "devnum": str(self.count), **words}
        interface = device / f"{name}:1.0"
        for number, end in enumerate(ends):
            write(interface / f"ep_{number:02}", {"type": kind, "direction": end})
        write(interface, {"bInterfaceClass": usb_class})
        write(device, facts | ({"serial": serial} if serial else {}))
        if driver:
            (interface / "driver").symlink_to(f"/sys/bus/usb/drivers/{driver}")
        node = self.dev / "bus" / "usb" / "001" / f"{self.count:03}"
        node.parent.mkdir(parents=True, exist_ok=True)
        node.touch()
        for entry in (device, interface):
            (self.devices / entry.name).symlink_to(entry)
        return node


def write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n")


@pytest.fixture
def usb(tmp_path):
    return UsbTree(tmp_path)


def test_a_vendor_interface_with_both_directions_looks_like_a_shoe(usb):
    usb.add("abcd:0001", manufacturer="Maker", product="Thing", kind="Interrupt")
    usb.add("1209:5a0e", serial="S-1")
    first, second = usb_shoes(sys=usb.sys, dev=usb.dev, has_libusb=True)
    assert (first.usb_id, first.serial_number, first.is_open_shoe, first.trouble) == ("1209:5a0e", "S-1", True, None)
    assert (second.usb_id, second.product, second.is_open_shoe) == ("abcd:0001", "Maker Thing", False)


@pytest.mark.parametrize(
    "differs",
    [
        {"usb_class": "08"},
        {"ends": ("in",)},
        {"ends": ()},
        {"kind": "Isoc"},
        {"driver": "ftdi_sio"},
    ],
    ids=["a disk", "only a way in", "no endpoints", "a camera", "a serial adapter"],
)
def test_other_devices_do_not(usb, differs):
    usb.add("abcd:0001", **differs)
    assert usb_shoes(sys=usb.sys, dev=usb.dev, has_libusb=True) == []


def test_without_libusb_each_shoe_says_so(usb):
    usb.add("1209:5a0e")
    (found,) = usb_shoes(sys=usb.sys, dev=usb.dev, has_libusb=False)
    assert "install the package libusb-1.0-0" in found.trouble


def test_without_permission_the_udev_rule_is_named(usb):
    usb.add("1209:5a0e").unlink()  # root may use any node that exists
    (found,) = usb_shoes(sys=usb.sys, dev=usb.dev, has_libusb=True)
    assert "99-shoe-controller.rules" in found.trouble


# --- GPIO ------------------------------------------------------------------------------------------------------------


def info(label, lines):
    return lambda descriptor: pack("=32s32sI", b"gpiochip0", label, lines)


def test_chips_are_listed_by_number_with_their_label(tmp_path):
    for name in ("gpiochip10", "gpiochip2", "gpiochip-old"):
        (tmp_path / name).touch()
    chips = gpio_chips(dev=tmp_path, info=info(b"pinctrl-rp1", 54))
    assert [Path(chip.path).name for chip in chips] == ["gpiochip2", "gpiochip10"]
    assert all((chip.label, chip.lines, chip.has_header) == ("pinctrl-rp1", 54, True) for chip in chips)


def refuse(descriptor):
    raise PermissionError(errno.EPERM, "no")


@pytest.mark.parametrize("ask, says", [(chip_info, "does not answer as a GPIO chip"), (refuse, "to the group gpio")])
def test_a_chip_that_cannot_be_asked_says_why(tmp_path, ask, says):
    (tmp_path / "gpiochip0").touch()
    (chip,) = gpio_chips(dev=tmp_path, info=ask)
    assert says in chip.trouble
    assert not chip.has_header


# --- who holds a port ------------------------------------------------------------------------------------------------


HOLD = "import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); print(flush=True); sys.stdin.read()"


@pytest.fixture
def another_program(cable):
    """A program that has the port open and does not lock it."""
    program = subprocess.Popen([sys.executable, "-c", HOLD, cable.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    program.stdout.readline()
    yield program
    program.communicate()


def test_a_program_that_has_the_port_open_is_found(cable, another_program):
    assert f"(process {another_program.pid})" in holder(cable.path)


def test_a_port_that_is_held_is_not_written_to(run, cable, another_program):
    (found,) = run(ask_named([cable.path], wait=SHORT)).named
    assert not found.probe.asked
    assert f"not asked: {cable.path} is held by" in found.probe.trouble
    assert cable.device_read() == b""


def test_a_free_port_has_no_holder(cable, tmp_path):
    assert holder(cable.path) is None
    assert holder(str(tmp_path / "nothing")) is None
    (tmp_path / "file").touch()
    assert holder(str(tmp_path / "file")) is None


def test_the_console_of_the_kernel_holds_its_port(tmp_path, cable):
    device = Path(cable.path).stat().st_rdev
    (tmp_path / "consoles").write_text(f"ttyS0  -W- (EC p a) {os.major(device)}:{os.minor(device)}\n\n")
    assert holder(cable.path, proc=tmp_path) == "the kernel's console"


@pytest.mark.parametrize(
    "text, held",
    [("       812\n", "minicom (process 812)"), ("813", "a program (process 813)"), ("99", None), ("binary", None)],
    ids=["alive", "alive without a name", "dead", "not understood"],
)
def test_a_lock_file_counts_while_its_program_lives(tmp_path, cable, text, held):
    proc = tmp_path / "proc"
    write(proc / "812", {"comm": "minicom"})
    (proc / "813").mkdir()
    (proc / "not-a-process").mkdir()
    write(tmp_path / "lock", {f"LCK..{Path(cable.path).name}": text})
    assert holder(cable.path, proc=proc, locks=tmp_path / "lock") == held


# --- all of it -------------------------------------------------------------------------------------------------------


def test_everything_is_listed_and_what_may_be_asked_is_asked(run, usb):
    asked = []
    bus = SimulatedUsbBus()  # unplugged between the listing and the question
    usb.add("1209:5a0e", serial="S-1")
    usb.add("abcd:0001")
    usb.add("abcd:0002", driver="usbfs")
    (usb.dev / "gpiochip0").touch()

    def reach(device):
        asked.append(device)
        if device.startswith("/"):
            return transport_for(device)
        return UsbTransport(UsbId(0x1209, 0x5A0E), backend=lambda: bus)

    async def scenario():
        async with SimulatedShoe(build_twin(ShoeOrder())) as shoe:
            ports = [port(shoe.path, 0x0403, 0x6001, "7")]
            settings = {"ports": ports, "sys": usb.sys, "dev": usb.dev, "reach": reach, "has_libusb": True}
            return shoe.path, await discover(wait=20, **settings), await discover(probe=False, **settings)

    path, probed, listed = run(scenario())
    assert asked == [path, "usb-raw:1209:5a0e"]
    (serial,) = probed.serial_ports
    assert (serial.device, serial.probe.shoe.kind) == ("usb:0403:6001", "rfid")
    ours, other, held = probed.usb_devices
    assert "the USB device 1209:5a0e is not plugged in" in ours.probe.trouble
    assert (other.device, other.probe) == ("usb-raw:abcd:0001", None)
    assert "another program has claimed it" in held.probe.trouble
    assert len(probed.gpio_chips) == 1
    assert [one.probe for one in (*listed.serial_ports, *listed.usb_devices)] == [None] * 4


def test_two_usb_shoes_of_a_kind_are_told_apart_by_their_numbers(run, usb):
    usb.add("1209:5a0e", serial="S-1")
    usb.add("1209:5a0e", serial="S-2")
    found = run(discover(ports=[], sys=usb.sys, dev=usb.dev, has_libusb=False))
    assert [one.device for one in found.usb_devices] == ["usb-raw:1209:5a0e:S-1", "usb-raw:1209:5a0e:S-2"]
    assert all("libusb" in one.probe.trouble and not one.probe.asked for one in found.usb_devices)
    assert "libusb-1.0-0" in found.notes[0]


def test_this_machine_can_be_listed(run):
    assert run(discover(probe=False)).named == ()


def test_named_addresses_are_asked_together_and_each_has_its_answer(run):
    async def scenario():
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
        async with server, SimulatedShoe(build_twin(ShoeOrder())) as shoe:
            closes = f"socket://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            return await ask_named([shoe.path, closes, "usb:ffff:0001", "/nowhere/tty"], wait=20)

    shoe, closes, adapter, path = (found.probe for found in run(scenario()).named)
    assert shoe.shoe.kind == "rfid"
    assert "check cable and power" in closes.trouble
    assert "no serial port belongs to the USB device ffff:0001" in adapter.trouble
    assert "there is no serial port /nowhere/tty" in path.trouble


def test_an_address_that_is_not_understood_stops_all_before_any_is_asked(run, cable):
    with pytest.raises(DeviceAddressError, match="COM3"):
        run(ask_named([cable.path, "COM3"]))
    assert cable.device_read() == b""
