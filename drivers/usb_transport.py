"""A shoe that is a vendor USB device: the frames travel through one thread that owns the device."""

import asyncio
import errno
import queue
import threading

import usb.core

from drivers.aside import aside, post, start_thread
from drivers.errors import DeviceGoneError
from drivers.fd_stream import MAX_UNSENT
from drivers.serial_address import UsbId
from drivers.transport import OnData, OnGone
from drivers.usb_device import Backend, ClaimedDevice, libusb, usb_sentence

# The thread reads and writes in turn, so this is how long a command (gate) may wait for the read to end.
READ_MS = 10
WRITE_MS = 1_000
# A stalled endpoint is cleared and used again; one that stalls each time is broken.
MAX_STALLS = 3


class UsbTransport:
    """Owns the device from `open` to `close`; libusb is only ever called from one thread at a time."""

    def __init__(self, wanted: UsbId, *, backend: Backend = libusb, listen_only: bool = False) -> None:
        self._wanted = wanted
        self._backend = backend
        self._listen_only = listen_only
        self._traffic: _Traffic | None = None

    @property
    def description(self) -> str:
        """The device as the configuration names it."""
        return f"usb-raw:{self._wanted}"

    async def open(self, on_data: OnData, on_gone: OnGone) -> None:
        """Find and claim the device, or raise DeviceGoneError."""
        claimed = await aside(lambda: ClaimedDevice(self._wanted, self._backend), undo=ClaimedDevice.release)
        self._traffic = _Traffic(claimed, self.description, on_data, on_gone)

    def write(self, data: bytes) -> None:
        """Send without blocking."""
        if self._traffic is not None and not self._listen_only:
            self._traffic.write(data)

    async def close(self) -> None:
        """Release the device and wait until the thread has let go of it."""
        traffic, self._traffic = self._traffic, None
        if traffic is not None:
            await traffic.end()


class _Traffic:
    """The thread of one claimed device."""

    def __init__(self, claimed: ClaimedDevice, name: str, on_data: OnData, on_gone: OnGone) -> None:
        self._claimed = claimed
        self._name = name
        self._on_data = on_data
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._stopped = False  # the loop's
        self._unsent = 0  # the loop's
        self._stalls = 0  # the thread's
        self._quit = threading.Event()
        self._outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._thread = start_thread("usb", self._run)

    def write(self, data: bytes) -> None:
        if self._stopped:
            return
        self._unsent += len(data)
        if self._unsent > MAX_UNSENT:
            self._gone(f"{self._name} does not take our data ({self._unsent} bytes wait): switch the shoe off and on")
        else:
            self._outgoing.put(data)

    async def end(self) -> None:
        self._stopped = True
        self._quit.set()
        await aside(self._thread.join)

    def _run(self) -> None:
        try:
            while not self._quit.is_set():
                self._send_waiting()
                self._receive()
        except usb.core.USBTimeoutError:
            post(self._loop, self._gone, f"{self._name} does not take our data: switch the shoe off and on")
        except usb.core.USBError as error:
            post(self._loop, self._gone, usb_sentence(self._name, error))
        finally:
            self._claimed.release()

    def _send_waiting(self) -> None:
        while not self._outgoing.empty():
            data = self._outgoing.get()
            rest = data
            while rest:
                # libusb may have sent a part when the time was over: never send that part twice.
                rest = rest[self._claimed.endpoints.outgoing.write(rest, WRITE_MS) :]
            post(self._loop, self._sent, len(data))

    def _receive(self) -> None:
        endpoint = self._claimed.endpoints.incoming
        try:
            # A multiple of the packet size: a shorter buffer would overflow and lose the packet.
            data = bytes(endpoint.read(endpoint.wMaxPacketSize * 16, READ_MS))
        except usb.core.USBTimeoutError:
            return
        except usb.core.USBError as error:
            if error.errno != errno.EPIPE or self._stalls >= MAX_STALLS:
                raise
            self._stalls += 1
            self._claimed.clear_halt(endpoint)
            return
        self._stalls = 0
        if data:
            post(self._loop, self._received, data)

    def _received(self, data: bytes) -> None:
        if not self._stopped:
            self._on_data(data)

    def _sent(self, count: int) -> None:
        self._unsent -= count

    def _gone(self, sentence: str) -> None:
        if not self._stopped:
            self._stopped = True
            self._quit.set()
            self._loop.call_soon(self._on_gone, DeviceGoneError(sentence))
