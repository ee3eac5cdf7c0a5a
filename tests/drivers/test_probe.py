"""Asking a line who is on it: real ptys and sockets, the simulated shoe, and everything that is no answer."""

import asyncio
import os

import pytest

from drivers import probe
from drivers.probe import ask
from drivers.serial_address import UsbId
from drivers.shoe_device import transport_for
from drivers.simulated.angel_eye_device import AngelEyeOptions
from drivers.simulated.open_device import OpenOptions
from drivers.simulated.order import ShoeOrder, build_twin
from drivers.simulated.pty_shoe import SimulatedShoe
from drivers.usb_simulated import SimulatedUsbBus, SimulatedUsbShoe
from drivers.usb_transport import UsbTransport
from firmware_protocol.codes import MAJOR, DeviceKind
from firmware_protocol.device_link import DeviceLink
from firmware_protocol.device_memory import DeviceMemory
from firmware_protocol.frames import Decoder, encode_frame
from firmware_protocol.greeting import Query
from firmware_protocol.messages import read_from_host
from tests.drivers.wired_shoe import IDENTITY

SHORT = 0.05  # for lines on which nothing will answer


@pytest.mark.parametrize(
    "options, kind, requires_key",
    [
        (OpenOptions(serial_number="A-1"), "rfid", False),
        (OpenOptions(serial_number="A-1", kind=DeviceKind.OPTICAL, key=bytes(32), require_auth=True), "optical", True),
    ],
)
def test_a_shoe_tells_what_it_is(run, options, kind, requires_key):
    async def scenario():
        async with SimulatedShoe(build_twin(ShoeOrder(open_options=options))) as shoe:
            return await ask(transport_for(shoe.path), wait=20)

    found = run(scenario())
    assert found.asked
    assert found.trouble is None
    assert (found.shoe.kind, found.shoe.serial_number, found.shoe.requires_key) == (kind, "A-1", requires_key)
    assert found.shoe.protocol_version.startswith(f"{MAJOR}.")
    assert "gate" in found.shoe.capabilities
    assert len(bytes.fromhex(found.shoe.firmware_sha256)) == 32


def test_asking_takes_nothing_from_the_shoe(run, until):
    """What it keeps stays there for the host that will commit it."""

    async def scenario():
        async with SimulatedShoe(build_twin(ShoeOrder())) as shoe:
            shoe.do("deal force")
            kept = len(shoe.twin.link.memory)
            assert (await ask(transport_for(shoe.path), wait=20)).shoe is not None
            assert len(shoe.twin.link.memory) == kept > 0

    run(scenario())


def test_an_angel_eye_does_not_answer(run):
    async def scenario():
        order = ShoeOrder(protocol="angel-eye", angel_eye_options=AngelEyeOptions())
        async with SimulatedShoe(build_twin(order)) as shoe:
            return await ask(transport_for(shoe.path), wait=SHORT)

    found = run(scenario())
    assert found.shoe is None
    assert found.asked


def test_silence_is_told_with_the_time(run, cable):
    found = run(ask(transport_for(cable.path), wait=SHORT))
    assert found.trouble == f"nothing answered on {cable.path} within 0.05 s"


class Babbler:
    """A line on which something talks at once that is no shoe."""

    description = "/dev/babble"

    async def open(self, on_data, on_gone):
        on_data(b"login: " + encode_frame(b"\x02\x00"))

    def write(self, data):
        pass

    async def close(self):
        pass


def test_bytes_that_are_no_hello_are_told(run):
    found = run(ask(Babbler(), wait=SHORT))
    assert found.asked
    assert found.trouble.startswith("17 bytes came from /dev/babble, but no hello of the open protocol")


def test_the_query_is_repeated_until_the_answer_comes(run, cable):
    """The first is lost where a device starts when its port is opened."""

    async def scenario():
        asking = asyncio.create_task(ask(transport_for(cable.path), wait=20))
        decoder, queries = Decoder(), []
        while len(queries) < 2:
            queries += [read_from_host(frame.body) for frame in decoder.feed(cable.device_read())]
            await asyncio.sleep(0.001)
        cable.device_send(encode_frame(bytes((1, MAJOR + 1, 0))) * 2)
        return queries, await asking

    queries, found = run(scenario())
    assert all(isinstance(query, Query) for query in queries)
    assert found.shoe is None
    assert f"the shoe speaks version {MAJOR + 1}.0" in found.trouble


def test_a_port_that_goes_away_while_it_is_asked_is_told(run, until, cable):
    async def scenario():
        asking = asyncio.create_task(ask(transport_for(cable.path), wait=20))
        await until(cable.device_read)
        cable.unplug()
        return await asking

    found = run(scenario())
    assert not found.asked
    assert "check cable and power" in found.trouble


def test_a_server_that_does_not_take_the_connection_is_given_up(run, monkeypatch):
    monkeypatch.setattr(probe, "OPEN_WITHIN", SHORT)

    class Slow:
        description = "socket://slow:1"
        closed = False

        async def open(self, on_data, on_gone):
            await asyncio.Event().wait()

        async def close(self):
            self.closed = True

    slow = Slow()
    found = run(ask(slow))
    assert (found.asked, slow.closed) == (False, True)
    assert "could not be opened within" in found.trouble


def test_late_news_after_the_answer_change_nothing(run, cable):
    async def scenario():
        ears = probe._Ears()
        hello = encode_frame(bytes((1, MAJOR + 1, 0)))
        ears.on_data(hello)
        ears.on_data(hello)
        ears.on_gone(probe.DeviceGoneError("gone"))
        return ears.answer.result()

    assert run(scenario()).major == MAJOR + 1


@pytest.mark.parametrize("key", [None, bytes(32)])
def test_a_usb_shoe_answers_too(run, key):
    chance = os.urandom
    link = DeviceLink(IDENTITY, DeviceMemory(1), nonce=lambda: chance(16), new_session=lambda: 2, key=key)
    device = SimulatedUsbShoe()

    def hear(data):
        link.receive_data(data, 0.0)
        device.send(link.data_to_send())

    device.on_data = hear
    link.connection_made(0.0)
    bus = SimulatedUsbBus(device)
    found = run(ask(UsbTransport(UsbId(0x1209, 0x5A0E), backend=lambda: bus), wait=20))
    assert found.shoe.serial_number == "SHOE-1"
    assert found.shoe.has_key is (key is not None)
    assert device.claimed == set()
