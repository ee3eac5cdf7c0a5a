"""A shoe on a cable: the device end of the open protocol in the test's own event loop.

The cable is a real pty, a simulated USB bus, or a TCP server as a serial device server is one.
"""

import asyncio
import contextlib
import os
import pty
import random
import socket
import struct
import tty

from drivers.usb_simulated import SimulatedUsbBus, SimulatedUsbShoe
from firmware_protocol.codes import DeviceKind
from firmware_protocol.device_link import DeviceLink
from firmware_protocol.device_memory import DeviceMemory
from firmware_protocol.events import Card, CardDrawn
from firmware_protocol.greeting import Identity

IDENTITY = Identity(DeviceKind.RFID, "SHOE-1", "1.0.0", bytes(32), 0, 650)


class WiredShoe:
    """Deals numbered cards whether or not the cable is in; `path` is a link to the port of today."""

    def __init__(self, path, seed=1):
        self.path = path
        self.chance = random.Random(seed)
        self.dealt = []
        self.commands = []
        self.sent = 0  # bytes through the present cable, each way
        self.heard = 0
        self.cut_sent = None  # unplug after so many bytes
        self.cut_heard = None
        self.master = None
        self._slave = None
        self._timer = None
        self._loop = asyncio.get_running_loop()
        self.link = DeviceLink(
            IDENTITY,
            DeviceMemory(session=self.chance.randrange(1, 1 << 32)),
            nonce=lambda: self.chance.randbytes(16),
            new_session=lambda: self.chance.randrange(1, 1 << 32),
        )

    @property
    def device(self):
        return str(self.path)

    @property
    def plugged(self):
        return self.master is not None

    def plug(self, *, cut_sent=None, cut_heard=None):
        self.sent = self.heard = 0
        self.cut_sent, self.cut_heard = cut_sent, cut_heard
        self._insert()
        self.link.connection_made(self._loop.time())
        self._pump()

    def unplug(self):
        if not self.plugged:
            return
        self._pull()
        self.link.connection_lost(self._loop.time())
        if self._timer is not None:
            self._timer.cancel()

    def deal(self):
        uid = len(self.dealt).to_bytes(7, "big")
        self.dealt.append(uid)
        assert self.link.report(CardDrawn(Card(uid=uid, entry_us=1, exit_us=2, confidence=99)), self._loop.time())
        self._pump()

    # --- the cable: a pty ---

    def _insert(self):
        # The port exists as long as the cable is in, whether or not the host has it open: keep our slave open.
        self.master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        self.path.unlink(missing_ok=True)
        self.path.symlink_to(os.ttyname(self._slave))
        self._loop.add_reader(self.master, self._readable)

    def _pull(self):
        self._loop.remove_reader(self.master)
        self.path.unlink(missing_ok=True)
        os.close(self._slave)
        os.close(self.master)
        self.master = None

    def _readable(self):
        with contextlib.suppress(OSError):
            self._hear(os.read(self.master, 4096))

    def _write(self, data):
        with contextlib.suppress(OSError):  # nobody reads: as lost as on a real line
            os.write(self.master, data)

    # --- the device ---

    def _hear(self, data):
        cut = self.cut_heard is not None and self.heard + len(data) >= self.cut_heard
        if cut:
            data = data[: self.cut_heard - self.heard]
        self.heard += len(data)
        self.link.receive_data(data, self._loop.time())
        if cut:
            self.unplug()
        else:
            self._pump()

    def _tick(self):
        self.link.tick(self._loop.time())
        self._pump()

    def _pump(self):
        self.commands += self.link.events()
        if not self.plugged:
            return
        data = self.link.data_to_send()
        cut = self.cut_sent is not None and self.sent + len(data) >= self.cut_sent
        if cut:
            data = data[: self.cut_sent - self.sent]
        self.sent += len(data)
        if data:
            self._write(data)
        if cut:
            self.unplug()
            return
        deadline = self.link.next_deadline()
        if self._timer is not None:
            self._timer.cancel()
        if deadline is not None:
            self._timer = self._loop.call_later(max(0.0, deadline - self._loop.time()), self._tick)


class UsbWiredShoe(WiredShoe):
    """The same device on a simulated USB bus."""

    def __init__(self, _path, seed=1):
        super().__init__(None, seed)
        self.usb = SimulatedUsbShoe(on_data=lambda data: self._loop.call_soon_threadsafe(self._hear_usb, data))
        self.usb.unplug()
        self.bus = SimulatedUsbBus(self.usb)

    @property
    def device(self):
        return "usb-raw:1209:5a0e"

    @property
    def plugged(self):
        return self.usb.plugged

    def _insert(self):
        self.usb.plug()

    def _pull(self):
        self.usb.unplug()

    def _hear_usb(self, data):
        if self.plugged:
            self._hear(data)

    def _write(self, data):
        self.usb.send(data)


class ServedShoe(WiredShoe):
    """The same device behind a serial device server: what is cut is the network, and the device does not see it."""

    def __init__(self, _path, seed=1):
        super().__init__(None, seed)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self._client = None
        self._serves = False
        self._loop.add_reader(self._listener, self._accept)
        self.link.connection_made(self._loop.time())

    @property
    def device(self):
        return f"socket://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def plugged(self):
        return self._serves

    def plug(self, *, cut_sent=None, cut_heard=None):
        self.sent = self.heard = 0
        self.cut_sent, self.cut_heard = cut_sent, cut_heard
        self._serves = True
        self._pump()

    def unplug(self):
        self._serves = False
        self._hang_up()

    def close(self):
        self.unplug()
        self._timer.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()

    def _accept(self):
        client, _ = self._listener.accept()
        self._hang_up()
        if not self._serves:
            client.close()
            return
        client.setblocking(False)
        self._client = client
        self._loop.add_reader(client, self._client_readable)

    def _hang_up(self):
        if self._client is not None:
            self._loop.remove_reader(self._client)
            # With a reset, as a server that loses its power or its cable does.
            self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._client.close()
            self._client = None

    def _client_readable(self):
        data = b""
        with contextlib.suppress(OSError):
            data = self._client.recv(4096)
        if data:
            self._hear(data)
        else:
            self._hang_up()

    def _write(self, data):
        if self._client is None:
            self.sent -= len(data)  # nobody was there to hear it
            return
        with contextlib.suppress(OSError):
            self._client.sendall(data)

    def _pump(self):
        if not self.plugged:
            self.link.data_to_send()
        super()._pump()
