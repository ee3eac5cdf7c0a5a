import asyncio
import contextlib
import errno
import os
import socket
import termios
import threading
import tty

import pytest
import serial
import serial.rfc2217

from drivers import fd_stream, serial_transport, thread_stream
from drivers.errors import DeviceGoneError
from drivers.serial_address import LINES, LineSettings, SerialAddress, parse_serial_address
from drivers.serial_transport import SerialTransport, _open_sentence
from drivers.shoe_device import transport_for
from tests.drivers.test_reconnect import connected, new_link
from tests.drivers.wired_shoe import WiredShoe

LINE = LINES["open"]


def transport_on(text, **options):
    return SerialTransport(parse_serial_address(text), LINE, **options)


def test_bytes_go_both_ways_through_a_serial_port(run, until, cable, ears):
    async def scenario():
        transport = transport_on(cable.path)
        await transport.open(ears.on_data, ears.on_gone)
        every_byte = bytes(range(256))
        cable.device_send(every_byte)
        await until(lambda: ears.data == every_byte)
        transport.write(every_byte)
        heard = b""
        while len(heard) < 256:
            heard += await until(cable.device_read)
        assert heard == every_byte
        await transport.close()
        await transport.close()

    run(scenario())
    assert ears.gone == []


def test_a_port_is_opened_for_one_program_only(run, cable, ears):
    async def scenario():
        first, second = transport_on(cable.path), transport_on(cable.path)
        await first.open(ears.on_data, ears.on_gone)
        with pytest.raises(DeviceGoneError, match="is in use by another program"):
            await second.open(ears.on_data, ears.on_gone)
        await first.close()
        await second.open(ears.on_data, ears.on_gone)
        await second.close()

    run(scenario())


def test_unplugging_is_told_once_and_the_port_can_be_opened_again(run, until, new_cable, tmp_path, ears):
    async def scenario():
        link = tmp_path / "by-id"
        transport = transport_on(str(link))
        for _ in range(3):
            cable = new_cable()
            link.unlink(missing_ok=True)
            link.symlink_to(cable.path)
            await transport.open(ears.on_data, ears.on_gone)
            cable.unplug()
            await until(lambda: ears.gone)
            transport.write(b"too late")
            await transport.close()
            assert len(ears.gone) == 1
            assert isinstance(ears.gone.pop(), DeviceGoneError)
        link.unlink()
        with pytest.raises(DeviceGoneError, match="there is no serial port"):
            await transport.open(ears.on_data, ears.on_gone)

    run(scenario())


def test_a_write_to_an_unplugged_port_is_the_same_news(run, until, cable, ears):
    async def scenario():
        transport = transport_on(cable.path)
        await transport.open(ears.on_data, ears.on_gone)
        cable.unplug()
        transport.write(b"hello")  # before the loop had a chance to see the hang-up
        await until(lambda: ears.gone)
        await asyncio.sleep(0)
        assert len(ears.gone) == 1
        await transport.close()

    run(scenario())


def test_no_callback_comes_after_close(run, cable, ears):
    async def scenario():
        transport = transport_on(cable.path)
        await transport.open(ears.on_data, ears.on_gone)
        cable.device_send(b"x")
        await transport.close()
        cable.unplug()
        await asyncio.sleep(0)

    run(scenario())
    assert ears.gone == []


def test_writing_never_blocks_and_a_deaf_device_is_gone(run, until, cable, ears):
    async def scenario():
        transport = transport_on(cable.path)
        await transport.open(ears.on_data, ears.on_gone)
        # Nobody reads at the other end: the kernel takes a few KiB, we keep up to the bound.
        for _ in range(100):
            transport.write(bytes(1000))
        await until(lambda: ears.gone)
        assert "does not take our data" in str(ears.gone[0])
        await transport.close()

    run(scenario())


def test_what_the_kernel_did_not_take_at_once_is_sent_later_in_order(run, until, cable, ears):
    async def scenario():
        transport = transport_on(cable.path)
        await transport.open(ears.on_data, ears.on_gone)
        sent = b"".join(n.to_bytes(4, "big") for n in range(12_000))
        for start in range(0, len(sent), 999):
            transport.write(sent[start : start + 999])
        heard = b""
        while len(heard) < len(sent):
            heard += await until(cable.device_read)
        assert heard == sent
        assert ears.gone == []
        await transport.close()

    run(scenario())


def test_a_full_line_is_waited_for_without_blocking(run, until, cable, ears):
    async def scenario():
        transport = transport_on(cable.path)
        await transport.open(ears.on_data, ears.on_gone)
        descriptor = transport._port.fileno()
        filled = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                filled += os.write(descriptor, bytes(512))
        transport.write(b"after")
        heard = b""
        while len(heard) < filled + 5:
            heard += await until(cable.device_read)
        assert heard.endswith(b"after")
        await transport.close()

    run(scenario())


def test_listen_only_writes_not_one_byte(run, until, cable, ears):
    async def scenario():
        transport = transport_on(cable.path, listen_only=True)
        await transport.open(ears.on_data, ears.on_gone)
        transport.write(b"never")
        cable.device_send(b"card")
        await until(lambda: ears.data == b"card")
        assert cable.device_read() == b""
        await transport.close()

    run(scenario())


def test_the_line_is_set_as_the_protocol_says(run, cable, ears):
    async def scenario():
        transport = SerialTransport(SerialAddress(cable.path), LineSettings(4800, 7, "E", 2))
        await transport.open(ears.on_data, ears.on_gone)
        control, speed = termios.tcgetattr(cable.master)[2], termios.tcgetattr(cable.master)[4]
        await transport.close()
        assert speed == termios.B4800
        assert control & termios.CSTOPB
        assert termios.tcgetattr(cable.master)[tty.CC][termios.VMIN] in (1, b"\x01")

    run(scenario())


def test_a_file_that_is_no_port_is_refused_with_a_sentence(run, tmp_path, ears):
    path = tmp_path / "file"
    path.write_bytes(b"")
    with pytest.raises(DeviceGoneError, match="cannot be opened as a serial port"):
        run(transport_on(str(path)).open(ears.on_data, ears.on_gone))


@pytest.mark.parametrize(
    "error, says",
    [
        (OSError(errno.EACCES, "Permission denied"), "99-shoe-controller.rules"),
        (serial.SerialException(errno.EBUSY, "busy"), "in use by another program"),
        (serial.SerialException(errno.ENODEV, "gone"), "there is no serial port /dev/x"),
        (termios.error(5, "Input/output error"), "cannot be opened as a serial port"),
    ],
)
def test_each_way_an_open_fails_has_its_sentence(error, says):
    assert says in _open_sentence("/dev/x", error)


def test_a_port_that_vanishes_while_it_is_prepared_is_closed_and_gone(run, cable, ears, monkeypatch):
    def vanish(*_):
        raise termios.error(5, "Input/output error")

    async def scenario():
        transport = transport_on(cable.path)
        with monkeypatch.context() as patched:
            patched.setattr(serial_transport.os, "isatty", vanish)
            with pytest.raises(DeviceGoneError, match="went away while it was being opened"):
                await transport.open(ears.on_data, ears.on_gone)
        await transport.open(ears.on_data, ears.on_gone)  # not left locked
        await transport.close()

    run(scenario())


def test_an_open_that_is_cancelled_leaves_no_port_locked(run, until, cable, ears, monkeypatch):
    go_on = threading.Event()
    really_open = SerialTransport._open_port

    def slow(self):
        assert go_on.wait(20)
        return really_open(self)

    async def scenario():
        with monkeypatch.context() as patched:
            patched.setattr(SerialTransport, "_open_port", slow)
            task = asyncio.create_task(transport_on(cable.path).open(ears.on_data, ears.on_gone))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            go_on.set()
        other = transport_on(cable.path)
        for _ in range(1000):
            try:
                await other.open(ears.on_data, ears.on_gone)
                break
            except DeviceGoneError:
                await asyncio.sleep(0.005)
        await other.close()

    run(scenario())


class Server:
    """A one-port serial device server in TCP server mode."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.client = None

    def accept(self):
        self.client, _ = self.listener.accept()
        self.client.settimeout(20)

    def close(self):
        if self.client is not None:
            self.client.close()
        self.listener.close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


def test_a_socket_url_carries_bytes_both_ways(run, until, server, ears):
    async def scenario():
        transport = transport_on(f"socket://127.0.0.1:{server.port}")
        accepting = asyncio.to_thread(server.accept)
        await asyncio.gather(accepting, transport.open(ears.on_data, ears.on_gone))
        assert transport._port._socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        server.client.sendall(bytes(range(256)) * 40)
        await until(lambda: len(ears.data) == 256 * 40)
        transport.write(b"answer")
        assert await asyncio.to_thread(server.client.recv, 100) == b"answer"
        server.client.close()
        await until(lambda: ears.gone)
        assert "closed from the other end" in str(ears.gone[0])
        await transport.close()

    run(scenario())


def test_a_reset_socket_is_gone_too(run, until, server, ears):
    async def scenario():
        transport = transport_on(f"socket://127.0.0.1:{server.port}")
        await asyncio.gather(asyncio.to_thread(server.accept), transport.open(ears.on_data, ears.on_gone))
        server.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        server.client.close()
        await until(lambda: ears.gone)
        assert "is gone" in str(ears.gone[0])
        await transport.close()

    run(scenario())


def test_a_serial_server_that_is_not_there_is_a_sentence(run, server, ears):
    server.listener.close()
    with pytest.raises(DeviceGoneError, match="cannot be reached"):
        run(transport_on(f"socket://127.0.0.1:{server.port}").open(ears.on_data, ears.on_gone))


class PtyPort(serial.Serial):
    """A pty has no modem lines (OSError 25): the far port of a serial server has."""

    cts = dsr = ri = cd = False

    def _update_dtr_state(self):
        pass

    def _update_rts_state(self):
        pass


class Rfc2217Server(Server):
    """pyserial's RFC 2217 port manager between a TCP client and a pty: a telnet serial server."""

    def serve(self, path):
        self.accept()
        self.port_to_shoe = PtyPort(path, timeout=0.05)
        manager = serial.rfc2217.PortManager(self.port_to_shoe, self)
        self.ended = threading.Event()
        threads = [threading.Thread(target=work, args=(manager,)) for work in (self._to_shoe, self._from_shoe)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        self.port_to_shoe.close()
        self.client.close()

    def write(self, data):
        self.client.sendall(data)

    def _to_shoe(self, manager):
        try:
            while data := self.client.recv(1024):
                self.port_to_shoe.write(b"".join(manager.filter(data)))
        except OSError:
            pass
        self.ended.set()

    def _from_shoe(self, manager):
        try:
            while not self.ended.is_set():
                if data := self.port_to_shoe.read(self.port_to_shoe.in_waiting or 1):
                    self.write(b"".join(manager.escape(data)))
        except OSError:
            pass
        with contextlib.suppress(OSError):
            self.client.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def rfc2217_server(cable):
    server = Rfc2217Server()
    thread = threading.Thread(target=server.serve, args=(cable.path,))
    thread.start()
    yield server
    server.close()
    thread.join(20)
    assert not thread.is_alive()


# pyserial starts its rfc2217 thread with names that Python 3.11 calls old.
old_names = pytest.mark.filterwarnings("ignore:set(Daemon|Name)\\(\\) is deprecated:DeprecationWarning")


@old_names
def test_rfc2217_sets_the_far_line_and_carries_every_byte(run, until, cable, rfc2217_server, ears):
    async def scenario():
        transport = SerialTransport(
            parse_serial_address(f"rfc2217://127.0.0.1:{rfc2217_server.port}"), LINES["angel-eye"]
        )
        await transport.open(ears.on_data, ears.on_gone)
        assert rfc2217_server.port_to_shoe.baudrate == 4800
        every_byte = bytes(range(256))  # 0xFF is telnet's escape and must come through doubled and undoubled
        cable.device_send(every_byte)
        await until(lambda: ears.data == every_byte)
        transport.write(every_byte)
        heard = b""
        while len(heard) < 256:
            heard += await until(cable.device_read)
        assert heard == every_byte
        await transport.close()
        assert ears.gone == []

    run(scenario())


@old_names
def test_a_lost_rfc2217_server_is_the_same_error_as_an_unplugged_port(run, until, cable, rfc2217_server, ears):
    async def scenario():
        transport = transport_on(f"rfc2217://127.0.0.1:{rfc2217_server.port}")
        await transport.open(ears.on_data, ears.on_gone)
        rfc2217_server.client.shutdown(socket.SHUT_RDWR)
        await until(lambda: ears.gone)
        assert isinstance(ears.gone[0], DeviceGoneError)
        transport.write(b"too late")
        await transport.close()
        assert len(ears.gone) == 1

    run(scenario())


@old_names
def test_a_deal_arrives_through_an_rfc2217_server(run, until, tmp_path):
    server = Rfc2217Server()

    async def scenario():
        shoe = WiredShoe(tmp_path / "shoe")
        shoe.plug()
        thread = threading.Thread(target=server.serve, args=(shoe.device,))
        thread.start()
        async with connected(transport_for(f"rfc2217://127.0.0.1:{server.port}"), new_link()) as consumer:
            for _ in range(20):
                shoe.deal()
            await until(lambda: consumer.cards == shoe.dealt)
            await until(lambda: not len(shoe.link.memory))
        await asyncio.to_thread(thread.join, 20)
        assert not thread.is_alive()
        shoe.unplug()

    run(scenario())
    server.close()


class StubbornPort:
    """A port whose writes block until it is told to fail: a network that swallows everything."""

    def __init__(self):
        self.fail = threading.Event()
        self.in_waiting = 0

    def read(self, size):
        self.fail.wait(0.05)
        return b""

    def write(self, data):
        self.fail.wait(20)
        raise serial.SerialException("connection failed")


@pytest.mark.parametrize("fail_first, says", [(True, "is gone"), (False, "does not take our data")])
def test_a_blocked_serial_server_never_blocks_the_loop(run, until, ears, fail_first, says):
    async def scenario():
        port = StubbornPort()
        stream = thread_stream.ThreadStream(port, "rfc2217://x:1", ears.on_data, ears.on_gone)
        stream.write(b"first")
        if fail_first:
            port.fail.set()
        else:
            for _ in range(fd_stream.MAX_UNSENT // 1000 + 1):
                stream.write(bytes(1000))
        await until(lambda: ears.gone)
        port.fail.set()
        stream.stop()
        assert says in str(ears.gone[0])
        assert len(ears.gone) == 1

    run(scenario())


def test_a_spurious_wake_up_is_not_a_hang_up(run, cable, ears):
    async def scenario():
        transport = transport_on(cable.path)
        await transport.open(ears.on_data, ears.on_gone)
        transport._stream._readable()
        await asyncio.sleep(0)
        assert ears.gone == []
        await transport.close()
        assert os.get_blocking(cable.master) is False

    run(scenario())
