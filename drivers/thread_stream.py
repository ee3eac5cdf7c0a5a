"""Bytes through a pyserial port that has no file descriptor (rfc2217://): one thread reads, one writes."""

import asyncio
import queue
import threading
from typing import Protocol

from drivers.aside import post, start_thread
from drivers.errors import DeviceGoneError
from drivers.fd_stream import MAX_UNSENT
from drivers.transport import OnData, OnGone


class BlockingPort(Protocol):
    """The part of a pyserial port that is used here."""

    @property
    def in_waiting(self) -> int:
        """Bytes that can be read at once."""

    def read(self, size: int) -> bytes:
        """Wait for bytes; fewer, or none, after the port's time-out."""

    def write(self, data: bytes) -> int | None:
        """Send all of it."""


class ThreadStream:
    """Reads and writes a blocking port that somebody else opened and will close."""

    def __init__(self, port: BlockingPort, name: str, on_data: OnData, on_gone: OnGone) -> None:
        self._port = port
        self._name = name
        self._on_data = on_data
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._stopped = False  # touched by the loop only; the threads look at _quit
        self._quit = threading.Event()
        self._outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._unsent = 0  # touched by the loop only
        start_thread("serial-reader", self._read)
        start_thread("serial-writer", self._send)

    def write(self, data: bytes) -> None:
        """Hand the bytes to the writing thread."""
        if self._stopped:
            return
        self._unsent += len(data)
        if self._unsent > MAX_UNSENT:
            self._end(f"{self._name} does not take our data ({self._unsent} bytes wait): is the shoe switched on?")
        else:
            self._outgoing.put(data)

    def stop(self) -> None:
        """End both threads; no callback follows. They end when their present call on the port does."""
        self._stopped = True
        self._quit.set()
        self._outgoing.put(b"")

    def _read(self) -> None:
        try:
            while not self._quit.is_set():
                data = self._port.read(1)
                if data and (more := self._port.in_waiting):
                    data += self._port.read(more)
                if data:
                    post(self._loop, self._received, data)
        # pyserial's rfc2217 raises TypeError and AttributeError too when it is closed under a reader.
        except (OSError, TypeError, AttributeError) as error:
            post(self._loop, self._end, f"{self._name} is gone ({error}): check the serial server and its network")

    def _send(self) -> None:
        try:
            while data := self._outgoing.get():
                self._port.write(data)
                post(self._loop, self._sent, len(data))
        except (OSError, TypeError, AttributeError) as error:
            post(self._loop, self._end, f"{self._name} is gone ({error}): check the serial server and its network")

    def _received(self, data: bytes) -> None:
        if not self._stopped:
            self._on_data(data)

    def _sent(self, count: int) -> None:
        self._unsent -= count

    def _end(self, sentence: str) -> None:
        if not self._stopped:
            self.stop()
            self._loop.call_soon(self._on_gone, DeviceGoneError(sentence))
