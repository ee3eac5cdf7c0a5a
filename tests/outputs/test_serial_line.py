"""The serial feed over what stands between it and a receiver: device servers, telnet servers, ports that die."""

import asyncio
import os
import pty
import socket
import struct
import threading
import tty

import msgspec
import pytest
import serial
import serial.rfc2217

from shoe_controller.outputs.errors import ReceiverGoneError
from shoe_controller.outputs.jsonl_lines import from_line
from shoe_controller.outputs.serial_line import SerialLine
from shoe_controller.outputs.settings import SerialFeedSettings
from tests.outputs.feeding import running, until
from tests.outputs.test_serial_feed import feed_to

# pyserial starts its rfc2217 thread with names that Python 3.11 calls old.
old_names = pytest.mark.filterwarnings("ignore:set(Daemon|Name)\\(\\) is deprecated:DeprecationWarning")


class Rfc2217Server:
    """A telnet serial server: pyserial's port manager between a TCP client and a port in memory."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"rfc2217://127.0.0.1:{self._listener.getsockname()[1]}"
        self.received = b""
        self.port = serial.serial_for_url("loop://", timeout=0)
        self.client = None
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        try:
            self.client, _ = self._listener.accept()
            manager = serial.rfc2217.PortManager(self.port, self)
            while data := self.client.recv(4096):
                self.received += b"".join(manager.filter(data))
        except OSError:
            pass

    def write(self, data):
        self.client.sendall(data)

    def hang_up(self):
        self.client.shutdown(socket.SHUT_RDWR)

    def close(self):
        if self.client is not None:
            self.client.close()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)


@pytest.fixture
def server():
    server = Rfc2217Server()
    yield server
    server.close()


def whole(data):
    return [msgspec.json.decode(message)["seq"] for line in data.splitlines() if (message := from_line(line))]


@old_names
def test_a_telnet_server_gets_every_line_at_the_speed_of_the_format(table, server):
    async def scenario():
        async with running(feed_to(table, server.url, resume="cursor")) as feed:
            await until(lambda: whole(server.received) == list(range(1, 71)), "all lines")
            assert feed.health().lag == 0

    table.play(10)
    asyncio.run(scenario())
    assert server.port.baudrate == 115_200


@old_names
def test_a_telnet_server_that_hangs_up_is_told(table, server, caplog):
    async def scenario():
        async with running(feed_to(table, server.url, resume="cursor")) as feed:
            await until(lambda: feed.health().connected, "connected")
            server.hang_up()
            await until(lambda: table.play(1) or feed.wake() or "is gone" in caplog.text, "a complaint")

    asyncio.run(scenario())


def test_a_device_server_that_takes_nothing_is_told(table, caplog):
    async def scenario():
        # The kernel accepts and takes what fits into its small buffer; nobody ever reads.
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.bind(("127.0.0.1", 0))
            deaf.listen()
            device = f"socket://127.0.0.1:{deaf.getsockname()[1]}"
            async with running(feed_to(table, device, resume="cursor", stall=0.1)) as feed:
                await until(lambda: "has taken nothing for 0.1 s" in caplog.text, "a complaint")
                assert feed.health().lag > 0

    table.play(20)
    asyncio.run(scenario())


def test_a_device_server_that_resets_the_line_is_told(table, caplog):
    async def scenario():
        def reset(_reader, writer):
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

        rude = await asyncio.start_server(reset, "127.0.0.1", 0)
        async with running(feed_to(table, f"socket://127.0.0.1:{rude.sockets[0].getsockname()[1]}")):
            await until(lambda: "is gone: check its cable and power" in caplog.text, "a complaint")
        rude.close()

    asyncio.run(scenario())


def test_a_port_that_dies_under_our_hands_is_told():
    async def scenario():
        master, slave = pty.openpty()
        tty.setraw(slave)
        line = SerialLine(SerialFeedSettings(device=os.ttyname(slave)))
        await line.open()
        os.close(slave)
        line._readable()  # woken for nothing
        assert not line.gone.done()
        os.close(master)
        try:
            with pytest.raises(ReceiverGoneError, match="is gone: check its cable and power"):
                await line.send(b"x")
            with pytest.raises(ReceiverGoneError, match="is gone"):
                line._waiting()
        finally:
            await line.close()

    asyncio.run(scenario())
