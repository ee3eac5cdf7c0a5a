"""A shoe on a cable: the device end of the open protocol on a real pty, in the test's own event loop."""

import asyncio
import contextlib
import os
import pty
import random
import tty

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
    def plugged(self):
        return self.master is not None

    def plug(self, *, cut_sent=None, cut_heard=None):
        self.sent = self.heard = 0
        self.cut_sent, self.cut_heard = cut_sent, cut_heard
        # The port exists as long as the cable is in, whether or not the host has it open: keep our slave open.
        self.master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        self.path.unlink(missing_ok=True)
        self.path.symlink_to(os.ttyname(self._slave))
        self._loop.add_reader(self.master, self._readable)
        self.link.connection_made(self._loop.time())
        self._pump()

    def unplug(self):
        if self.master is None:
            return
        self._loop.remove_reader(self.master)
        self.path.unlink(missing_ok=True)
        os.close(self._slave)
        os.close(self.master)
        self.master = None
        self.link.connection_lost(self._loop.time())
        if self._timer is not None:
            self._timer.cancel()

    def deal(self):
        uid = len(self.dealt).to_bytes(7, "big")
        self.dealt.append(uid)
        assert self.link.report(CardDrawn(Card(uid=uid, entry_us=1, exit_us=2, confidence=99)), self._loop.time())
        self._pump()

    def _readable(self):
        data = b""
        with contextlib.suppress(OSError):
            data = os.read(self.master, 4096)
        if self.cut_heard is not None and self.heard + len(data) >= self.cut_heard:
            data = data[: self.cut_heard - self.heard]
            self.link.receive_data(data, self._loop.time())
            self.unplug()
            return
        self.heard += len(data)
        self.link.receive_data(data, self._loop.time())
        self._pump()

    def _tick(self):
        self.link.tick(self._loop.time())
        self._pump()

    def _pump(self):
        self.commands += self.link.events()
        if self.master is None:
            return
        data = self.link.data_to_send()
        if self.cut_sent is not None and self.sent + len(data) >= self.cut_sent:
            with contextlib.suppress(OSError):
                os.write(self.master, data[: self.cut_sent - self.sent])
            self.unplug()
            return
        self.sent += len(data)
        if data:
            with contextlib.suppress(BlockingIOError):  # nobody reads: as lost as on a real line
                os.write(self.master, data)
        deadline = self.link.next_deadline()
        if self._timer is not None:
            self._timer.cancel()
        if deadline is not None:
            self._timer = self._loop.call_later(max(0.0, deadline - self._loop.time()), self._tick)
