import asyncio
import errno
import subprocess
import sys
import threading

import pytest
import usb.util

from drivers import usb_device, usb_transport
from drivers.errors import DeviceGoneError
from drivers.fd_stream import MAX_UNSENT
from drivers.serial_address import UsbId
from drivers.usb_simulated import SimulatedEndpoint, SimulatedInterface, SimulatedUsbBus, SimulatedUsbShoe
from drivers.usb_transport import UsbTransport

SHOE = UsbId(0x1209, 0x5A0E)


def transport_on(*shoes, wanted=SHOE, **options):
    bus = SimulatedUsbBus(*shoes)
    return UsbTransport(wanted, backend=lambda: bus, **options)


def endpoints(incoming, outgoing, kind, packet=64):
    return (SimulatedEndpoint(incoming, kind, packet), SimulatedEndpoint(outgoing, kind, packet))


BULK, INTERRUPT, ISOCHRONOUS = 2, 3, 1


@pytest.mark.parametrize(
    "interfaces, number",
    [
        pytest.param((SimulatedInterface(endpoints(0x81, 0x02, BULK)),), 0, id="bulk"),
        pytest.param((SimulatedInterface(endpoints(0x83, 0x04, INTERRUPT, 16)),), 0, id="interrupt"),
        pytest.param(
            (
                SimulatedInterface(endpoints(0x81, 0x01, INTERRUPT), usb_class=3),
                SimulatedInterface((SimulatedEndpoint(0x82, ISOCHRONOUS), *endpoints(0x84, 0x05, BULK, 512))),
            ),
            1,
            id="vendor interface first, isochronous endpoints left alone",
        ),
        pytest.param(
            (SimulatedInterface((SimulatedEndpoint(0x81, BULK),)), SimulatedInterface(endpoints(0x82, 0x02, BULK), 3)),
            1,
            id="an interface with both directions",
        ),
    ],
)
def test_the_descriptors_decide_where_the_bytes_go(run, until, ears, interfaces, number):
    heard = []
    shoe = SimulatedUsbShoe(interfaces=interfaces, on_data=heard.append)

    async def scenario():
        transport = transport_on(shoe)
        await transport.open(ears.on_data, ears.on_gone)
        assert shoe.claimed == {number}
        long = bytes(range(256)) * 20
        shoe.send(long)
        await until(lambda: ears.data == long)
        transport.write(long)
        await until(lambda: b"".join(heard) == long)
        await transport.close()
        assert shoe.claimed == set()
        await transport.close()

    run(scenario())
    assert ears.gone == []


def test_unplug_and_replug_again_and_again(run, until, ears):
    shoe = SimulatedUsbShoe()

    async def scenario():
        transport = transport_on(shoe)
        for turn in range(10):
            await transport.open(ears.on_data, ears.on_gone)
            shoe.send(bytes([turn]))
            await until(lambda turn=turn: len(ears.data) == turn + 1)
            shoe.unplug()
            await until(lambda: ears.gone)
            transport.write(b"too late")
            await transport.close()
            assert [str(error) for error in ears.gone] == [
                "usb-raw:1209:5a0e was unplugged: check cable and power of the shoe"
            ]
            ears.gone.clear()
            with pytest.raises(DeviceGoneError, match="is not plugged in"):
                await transport.open(ears.on_data, ears.on_gone)
            shoe.plug()

    run(scenario())


def test_a_replug_that_nobody_noticed_still_ends_the_old_connection(run, until, ears):
    shoe = SimulatedUsbShoe()

    async def scenario():
        transport = transport_on(shoe)
        await transport.open(ears.on_data, ears.on_gone)
        shoe.unplug()
        shoe.plug()
        await until(lambda: ears.gone)
        await transport.close()

    run(scenario())


def test_the_serial_number_chooses_among_equals(run, until, ears):
    shoes = [SimulatedUsbShoe(serial_number=name) for name in ("T1", "T2", None)]

    async def scenario():
        with pytest.raises(DeviceGoneError, match="3 USB devices match 1209:5a0e: add the serial number"):
            await transport_on(*shoes).open(ears.on_data, ears.on_gone)
        transport = transport_on(*shoes, wanted=UsbId(0x1209, 0x5A0E, "T2"))
        await transport.open(ears.on_data, ears.on_gone)
        assert [bool(shoe.claimed) for shoe in shoes] == [False, True, False]
        await transport.close()

    run(scenario())


@pytest.mark.parametrize("wanted", [SHOE, UsbId(0x1209, 0x5A0E, "SIM-1")])
def test_missing_permission_names_the_udev_rule(run, ears, wanted):
    transport = transport_on(SimulatedUsbShoe(permitted=False), wanted=wanted)
    with pytest.raises(DeviceGoneError) as caught:
        run(transport.open(ears.on_data, ears.on_gone))
    assert "no permission" in str(caught.value)
    assert "99-shoe-controller.rules" in str(caught.value)


def test_the_kernel_driver_is_set_aside_and_given_back(run, ears):
    shoe = SimulatedUsbShoe(kernel_driver=True)

    async def scenario():
        transport = transport_on(shoe)
        await transport.open(ears.on_data, ears.on_gone)
        assert not shoe.kernel_driver
        await transport.close()
        assert shoe.kernel_driver

    run(scenario())


def test_a_device_that_another_program_has_is_left_to_it(run, ears):
    shoe = SimulatedUsbShoe()

    async def scenario():
        first, second = transport_on(shoe), transport_on(shoe)
        await first.open(ears.on_data, ears.on_gone)
        with pytest.raises(DeviceGoneError, match="in use by another program"):
            await second.open(ears.on_data, ears.on_gone)
        await first.close()

    run(scenario())


def test_a_device_without_configuration_gets_its_first(run, ears):
    shoe = SimulatedUsbShoe(configured=False)

    async def scenario():
        transport = transport_on(shoe)
        await transport.open(ears.on_data, ears.on_gone)
        assert shoe.configuration == 1
        await transport.close()

    run(scenario())


def test_a_device_that_cannot_be_a_shoe_is_refused(run, ears):
    keyboard = SimulatedUsbShoe(interfaces=(SimulatedInterface((SimulatedEndpoint(0x81, INTERRUPT, 8),), 3),))
    with pytest.raises(DeviceGoneError, match="it is not a shoe"):
        run(transport_on(keyboard).open(ears.on_data, ears.on_gone))


def test_a_short_stall_is_cleared_and_an_endless_one_ends_the_connection(run, until, ears):
    shoe = SimulatedUsbShoe()

    async def scenario():
        transport = transport_on(shoe)
        await transport.open(ears.on_data, ears.on_gone)
        shoe.stalled = usb_transport.MAX_STALLS
        await until(lambda: shoe.stalled == 0)
        shoe.send(b"after the stall")
        await until(lambda: ears.data == b"after the stall")
        shoe.stalled = 100
        await until(lambda: ears.gone)
        assert "failed" in str(ears.gone[0])
        await transport.close()

    run(scenario())


def test_a_part_that_was_taken_before_the_time_out_is_not_sent_twice(run, until, ears):
    heard = []
    shoe = SimulatedUsbShoe(on_data=heard.append)
    shoe.takes = 7

    async def scenario():
        transport = transport_on(shoe)
        await transport.open(ears.on_data, ears.on_gone)
        transport.write(bytes(range(100)))
        await until(lambda: b"".join(heard) == bytes(range(100)))
        await transport.close()

    run(scenario())


def test_a_device_that_takes_nothing_is_gone(run, until, ears):
    shoe = SimulatedUsbShoe()
    shoe.deaf = True

    async def scenario():
        transport = transport_on(shoe)
        await transport.open(ears.on_data, ears.on_gone)
        transport.write(b"hello")
        await until(lambda: ears.gone)
        assert "does not take our data" in str(ears.gone[0])
        await transport.close()

    run(scenario())


def test_what_waits_for_the_device_is_bounded(run, until, ears):
    busy = threading.Event()
    shoe = SimulatedUsbShoe(on_data=lambda _: busy.wait(20))

    async def scenario():
        transport = transport_on(shoe)
        await transport.open(ears.on_data, ears.on_gone)
        for _ in range(MAX_UNSENT // 1000 + 1):
            transport.write(bytes(1000))
        await until(lambda: ears.gone)
        busy.set()
        assert "bytes wait" in str(ears.gone[0])
        await transport.close()

    run(scenario())


def test_listen_only_writes_not_one_byte(run, until, ears):
    heard = []
    shoe = SimulatedUsbShoe(on_data=heard.append)

    async def scenario():
        transport = transport_on(shoe, listen_only=True)
        await transport.open(ears.on_data, ears.on_gone)
        transport.write(b"never")
        shoe.send(b"card")
        await until(lambda: ears.data == b"card")
        await transport.close()

    run(scenario())
    assert heard == []


def test_no_callback_comes_after_close(run, ears):
    shoe = SimulatedUsbShoe()

    async def scenario():
        transport = transport_on(shoe)
        await transport.open(ears.on_data, ears.on_gone)
        shoe.send(b"x")
        closing = asyncio.create_task(transport.close())
        await asyncio.sleep(0)
        shoe.unplug()
        await closing

    run(scenario())
    assert ears.gone == []


def test_without_libusb_there_is_a_sentence(run, ears):
    transport = UsbTransport(SHOE, backend=lambda: None)
    with pytest.raises(DeviceGoneError, match="install the package libusb"):
        run(transport.open(ears.on_data, ears.on_gone))


REALLY_WITHOUT_LIBUSB = """
import asyncio, ctypes.util
ctypes.util.find_library = lambda name: None  # a machine without the library
from drivers.errors import DeviceGoneError
from drivers.shoe_device import transport_for
try:
    asyncio.run(transport_for("usb-raw:1209:5a0e").open(print, print))
except DeviceGoneError as error:
    print(error)
"""


def test_a_machine_without_the_library_gives_the_same_sentence_and_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", REALLY_WITHOUT_LIBUSB], capture_output=True, text=True, timeout=60, check=False
    )
    assert "libusb-1.0 is not installed" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_real_library_says_that_the_shoe_is_not_plugged_in(run, ears):
    assert usb_device.libusb() is not None, "this test needs the package libusb-1.0-0"
    with pytest.raises(DeviceGoneError, match="the USB device dead:beef is not plugged in"):
        run(UsbTransport(UsbId(0xDEAD, 0xBEEF)).open(ears.on_data, ears.on_gone))


class BrokenBus(SimulatedUsbBus):
    def enumerate_devices(self):
        raise usb.core.USBError("Input/Output Error", -1, errno.EIO)


def test_a_bus_that_fails_is_the_same_error(run, ears):
    bus = BrokenBus()
    with pytest.raises(DeviceGoneError, match="the USB bus failed"):
        run(UsbTransport(SHOE, backend=lambda: bus).open(ears.on_data, ears.on_gone))


class VanishingBus(SimulatedUsbBus):
    """The device goes away at the n-th call after it was found."""

    def __init__(self, shoe, calls):
        super().__init__(shoe)
        self.calls = calls

    def _count(self, handle):
        self.calls -= 1
        if self.calls == 0:
            handle.shoe.unplug()

    def get_configuration(self, dev_handle):
        self._count(dev_handle)
        return super().get_configuration(dev_handle)

    def is_kernel_driver_active(self, dev_handle, intf):
        self._count(dev_handle)
        return super().is_kernel_driver_active(dev_handle, intf)

    def claim_interface(self, dev_handle, intf):
        self._count(dev_handle)
        return super().claim_interface(dev_handle, intf)

    def ctrl_transfer(self, dev_handle, *args):
        self._count(dev_handle)
        return super().ctrl_transfer(dev_handle, *args)


@pytest.mark.parametrize("calls", [1, 2, 3, 4, 5])
def test_an_unplug_at_every_step_of_the_opening_is_the_same_error(run, ears, calls):
    shoe = SimulatedUsbShoe()
    bus = VanishingBus(shoe, calls)
    transport = UsbTransport(UsbId(0x1209, 0x5A0E, "SIM-1"), backend=lambda: bus)
    with pytest.raises(DeviceGoneError):
        run(transport.open(ears.on_data, ears.on_gone))
    assert not shoe.claimed
    assert usb.util.ENDPOINT_IN == 0x80
