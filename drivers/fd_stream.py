"""Bytes through a file descriptor (serial port, socket) with the event loop: no thread, no blocking."""

import asyncio
import os

from drivers.errors import DeviceGoneError
from drivers.transport import OnData, OnGone

READ_SIZE = 4096
# A shoe's answer window is a few hundred bytes. 64 KiB unsent means that nobody reads at the other end; waiting
# longer would only make old commands arrive late.
MAX_UNSENT = 65_536


class FdStream:
    """Reads and writes a non-blocking descriptor that somebody else opened and will close."""

    def __init__(self, fd: int, name: str, on_data: OnData, on_gone: OnGone) -> None:
        self._fd = fd
        self._name = name
        self._on_data = on_data
        self._on_gone = on_gone
        self._unsent = bytearray()
        self._waiting = False  # the loop tells when there is room for what is unsent
        self._stopped = False
        self._loop = asyncio.get_running_loop()
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._readable)

    def write(self, data: bytes) -> None:
        """Send now what the kernel takes, the rest as soon as it can."""
        if self._stopped:
            return
        self._unsent += data
        if not self._waiting:
            self._writable()
        if len(self._unsent) > MAX_UNSENT:
            self._end(f"{self._name} does not take our data ({len(self._unsent)} bytes wait): is the shoe switched on?")
        elif self._unsent and not self._waiting and not self._stopped:
            self._waiting = True
            self._loop.add_writer(self._fd, self._writable)

    def stop(self) -> None:
        """Let go of the descriptor; no callback follows."""
        if not self._stopped:
            self._stopped = True
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            self._end(f"{self._name} is gone ({error.strerror}): check cable and power of the shoe")
            return
        if data:
            self._on_data(data)
        else:
            self._end(f"{self._name} was closed from the other end: check cable and power of the shoe")

    def _writable(self) -> None:
        try:
            sent = os.write(self._fd, self._unsent)
        except BlockingIOError:
            return
        except OSError as error:
            self._end(f"{self._name} is gone ({error.strerror}): check cable and power of the shoe")
            return
        del self._unsent[:sent]
        if self._waiting and not self._unsent:
            self._waiting = False
            self._loop.remove_writer(self._fd)

    def _end(self, sentence: str) -> None:
        if self._stopped:
            return
        self.stop()
        # Later, not now: the caller may be in the middle of sending.
        self._loop.call_soon(self._on_gone, DeviceGoneError(sentence))
