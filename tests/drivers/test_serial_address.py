from types import SimpleNamespace

import pytest

from drivers.errors import DeviceAddressError, DeviceGoneError, DriverError
from drivers.serial_address import LINES, UsbId, parse_serial_address, resolve
from drivers.serial_transport import SerialTransport
from drivers.shoe_device import transport_for
from drivers.usb_transport import UsbTransport


def port(device, vid, pid, serial_number=None):
    return SimpleNamespace(device=device, vid=vid, pid=pid, serial_number=serial_number)


PORTS = [
    port("/dev/ttyS0", None, None),
    port("/dev/ttyUSB0", 0x0403, 0x6001, "A"),
    port("/dev/ttyUSB1", 0x0403, 0x6001, "B:1"),
    port("/dev/ttyACM0", 0x1209, 0x5A0E, "S1"),
]


@pytest.mark.parametrize(
    "text, path",
    [
        ("/dev/ttyUSB0", "/dev/ttyUSB0"),
        ("/dev/serial/by-id/usb-FTDI_x-if00-port0", "/dev/serial/by-id/usb-FTDI_x-if00-port0"),
        ("usb:1209:5a0e", "/dev/ttyACM0"),
        ("usb:1209:5A0E", "/dev/ttyACM0"),
        ("usb:0403:6001:A", "/dev/ttyUSB0"),
        ("usb:0403:6001:B:1", "/dev/ttyUSB1"),
        ("socket://10.0.0.7:4001", "socket://10.0.0.7:4001"),
        ("rfc2217://table-7:4001?ign_set_control", "rfc2217://table-7:4001?ign_set_control"),
        ("socket://[::1]:4001", "socket://[::1]:4001"),
    ],
)
def test_each_kind_of_address_leads_to_a_port(text, path):
    assert resolve(parse_serial_address(text), PORTS) == path


@pytest.mark.parametrize(
    "text, says",
    [
        ("usb:0403:6001", "2 serial ports match usb:0403:6001 (/dev/ttyUSB0, /dev/ttyUSB1): add the serial number"),
        ("usb:0403:6001:C", "no serial port belongs to the USB device 0403:6001:C: plug the shoe in"),
        ("usb:dead:beef", "no serial port belongs to the USB device dead:beef"),
    ],
)
def test_an_adapter_that_is_not_there_or_not_unique_is_never_guessed(text, says):
    with pytest.raises(DeviceGoneError) as caught:
        resolve(parse_serial_address(text), PORTS)
    assert says in str(caught.value)


def test_the_ports_of_this_machine_are_asked_when_none_are_given():
    with pytest.raises(DeviceGoneError, match="0000:0000"):
        resolve(parse_serial_address("usb:0000:0000"))


@pytest.mark.parametrize(
    "text, says",
    [
        ("ttyUSB0", "write a path such as /dev/ttyUSB0"),
        ("", "write a path"),
        ("usb:0403", "four hexadecimal digits each"),
        ("usb:0403:60011", "four hexadecimal digits each"),
        ("usb-raw:12:34", "four hexadecimal digits each"),
        ("http://10.0.0.7:80", "only socket:// and rfc2217://"),
        ("loop://", "only socket:// and rfc2217://"),
        ("socket://10.0.0.7", "needs a host and a port number, as in socket://10.0.0.7:4001"),
        ("socket://:4001", "needs a host"),
        ("socket://host:70000", "needs a host"),
        ("rfc2217://host:x", "needs a host"),
    ],
)
def test_an_address_that_is_no_address_is_refused_with_an_example(text, says):
    with pytest.raises(DeviceAddressError) as caught:
        transport_for(text)
    assert says in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, DriverError)


def test_the_setting_decides_the_transport():
    assert isinstance(transport_for("/dev/ttyUSB0"), SerialTransport)
    assert isinstance(transport_for("usb:0403:6001"), SerialTransport)
    raw = transport_for("usb-raw:1209:5a0e:T7")
    assert isinstance(raw, UsbTransport)
    assert raw.description == "usb-raw:1209:5a0e:T7"
    with pytest.raises(DeviceAddressError, match="'morse' is not known: use open or angel-eye"):
        transport_for("/dev/ttyUSB0", "morse")


def test_speed_and_framing_follow_the_protocol():
    assert (LINES["angel-eye"].baud, LINES["angel-eye"].bits, LINES["angel-eye"].parity) == (4800, 8, "N")
    assert LINES["open"].baud == 115_200


def test_the_configuration_may_set_another_speed_and_framing():
    line = transport_for("/dev/ttyUSB0", "angel-eye", baud=9600, framing="7E2")._line
    assert (line.baud, line.bits, line.parity, line.stop_bits) == (9600, 7, "E", 2)
    assert transport_for("/dev/ttyUSB0", "angel-eye")._line == LINES["angel-eye"]
    with pytest.raises(DeviceAddressError, match="the framing '9X1' is not understood"):
        transport_for("/dev/ttyUSB0", framing="9X1")


def test_a_usb_id_reads_as_it_is_written():
    assert str(UsbId(0x403, 0x6001)) == "0403:6001"
    assert str(UsbId(0x403, 0x6001, "A:B")) == "0403:6001:A:B"
