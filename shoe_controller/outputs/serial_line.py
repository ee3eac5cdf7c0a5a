"""The line to a receiver on a serial port: opens it, writes all that it is given, and notices when nobody reads."""

import asyncio
import errno
import fcntl
import os
import struct
import termios
from contextlib import suppress
from typing import Any

import serial

from drivers.aside import aside
from drivers.errors import DriverError
from drivers.serial_address import parse_serial_address, resolve
from shoe_controller.outputs.errors import FeedSettingsError, ReceiverGoneError
from shoe_controller.outputs.settings import SerialFeedSettings

# What formats expect of a line unless a baud rate is set.
BAUDS = {"angel-eye": 4800, "jsonl": 115_200}
# Between two looks at what the port still has to send. A frame at 4800 baud takes 15 ms.
LOOK_AGAIN = 0.01
_READ_SIZE = 4096
# termios.error is not an OSError; pyserial raises ValueError for a speed that a port cannot do.
_GONE = (OSError, termios.error, ValueError)


class SerialLine:
    """One opening of the port. `gone` is set when the receiver has hung up; what it says is not listened to."""

    def __init__(self, settings: SerialFeedSettings) -> None:
        self._settings = settings
        self._port: Any = None
        self._fd = -1
        self._loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = self._loop.create_future()

    async def open(self) -> None:
        """Open the port, or raise ReceiverGoneError or FeedSettingsError."""
        self._port = await aside(self._open_port, undo=_close)
        self._fd = _descriptor(self._port)
        if self._fd >= 0:
            os.set_blocking(self._fd, False)
            self._loop.add_reader(self._fd, self._readable)

    async def send(self, data: bytes) -> None:
        """Send everything and wait until the port has sent it, or raise ReceiverGoneError."""
        if self._fd < 0:
            await self._send_aside(data)
            return
        unsent = memoryview(data)
        while unsent:
            try:
                unsent = unsent[os.write(self._fd, unsent) :]
            except BlockingIOError:
                await self._until_writable()
            except OSError as error:
                raise self._lost(error) from error
        await self._until_sent()

    async def close(self) -> None:
        """Let go of the port; bytes that nobody has taken are forgotten."""
        port, self._port = self._port, None
        self.gone.cancel()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            self._fd = -1
        if port is not None:
            await aside(lambda: _close(port))

    def _open_port(self) -> Any:
        given = self._settings
        try:
            path = resolve(parse_serial_address(given.device))
            # pyserial's rfc2217 takes no such setting; its writes end with an error after 5 s.
            patience = {} if path.startswith("rfc2217://") else {"write_timeout": given.stall}
            return serial.serial_for_url(
                path,
                baudrate=given.baud or BAUDS[given.format],
                bytesize=int(given.framing[0]),
                parity=given.framing[1],
                stopbits=int(given.framing[2]),
                rtscts=given.flow == "rtscts",
                xonxoff=given.flow == "xonxoff",
                exclusive=True,
                timeout=0,
                **patience,
            )
        except DriverError as error:
            kind = FeedSettingsError if isinstance(error, ValueError) else ReceiverGoneError
            raise kind(f"serial feed: {error}") from error
        except _GONE as error:
            raise ReceiverGoneError(_open_sentence(given.device, error)) from error

    def _readable(self) -> None:
        try:
            if os.read(self._fd, _READ_SIZE) or not _is_stream(self._port):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._loop.remove_reader(self._fd)
        _settle(self.gone)

    async def _until_writable(self) -> None:
        writable: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_writer(self._fd, _settle, writable)
        try:
            await self._not_longer_than_a_stall({writable, self.gone})
        finally:
            self._loop.remove_writer(self._fd)

    async def _until_sent(self) -> None:
        waiting = before = self._waiting()
        since = self._loop.time()
        while waiting:
            await asyncio.sleep(LOOK_AGAIN)
            waiting = self._waiting()
            if waiting < before:
                before, since = waiting, self._loop.time()
            elif self._loop.time() - since > self._settings.stall:
                raise self._stalled()

    def _waiting(self) -> int:
        """Return how many bytes the port, or the socket, has not sent yet."""
        try:
            return _unsent(self._fd)
        except OSError as error:
            raise self._lost(error) from error

    async def _send_aside(self, data: bytes) -> None:
        """Write to a port that has no descriptor (rfc2217), in a thread."""
        port = self._port
        try:
            await aside(lambda: port.write(data))
        except _GONE as error:
            raise ReceiverGoneError(f"the receiver at {self._settings.device} is gone ({error})") from error

    async def _not_longer_than_a_stall(self, events: set[asyncio.Future[None]]) -> None:
        done, _ = await asyncio.wait(events, timeout=self._settings.stall, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            raise self._stalled()
        if self.gone in done:
            raise ReceiverGoneError(self.gone_sentence)

    @property
    def gone_sentence(self) -> str:
        """What to say when the receiver has hung up."""
        return f"the receiver on {self._settings.device} is gone: check its cable and power"

    def _stalled(self) -> ReceiverGoneError:
        return ReceiverGoneError(
            f"the receiver on {self._settings.device} has taken nothing for {self._settings.stall:g} s:"
            " is it switched on, and is `flow` set as it expects?"
        )

    def _lost(self, error: OSError) -> ReceiverGoneError:
        return ReceiverGoneError(f"{self.gone_sentence} ({error.strerror})")


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _descriptor(port: Any) -> int:
    try:
        return int(port.fileno())
    except OSError:  # io.UnsupportedOperation: rfc2217:// has a thread of its own
        return -1


def _unsent(fd: int) -> int:
    return int(struct.unpack("i", fcntl.ioctl(fd, termios.TIOCOUTQ, b"\0" * 4))[0])


def _is_stream(port: Any) -> bool:
    # pyserial leaves VMIN at 0, so that a tty without data reads as empty; a socket reads empty at its end only.
    return not os.isatty(port.fileno())


def _close(port: Any) -> None:
    # Unsent output would hold up the close of a tty for up to 30 s. Only what is unsent may be thrown away: on a
    # pseudo-terminal the flush would take what was sent long ago and merely not yet read.
    fd = _descriptor(port)
    if fd >= 0:
        with suppress(*_GONE):
            if _unsent(fd):
                termios.tcflush(fd, termios.TCOFLUSH)
    connection = getattr(port, "_socket", None)
    with suppress(*_GONE):
        port.close()
    if connection is not None:
        connection.close()  # pyserial forgets to close a socket that the other end has reset


def _open_sentence(device: str, error: Exception) -> str:
    number = getattr(error, "errno", None)
    reasons = {
        errno.ENOENT: "there is no such port: check the adapter",
        errno.EACCES: "no permission: add the user that runs the controller to the group dialout",
        errno.EAGAIN: "another program uses it",
        errno.EBUSY: "another program uses it",
    }
    reason = reasons.get(number, str(error)) if number is not None else str(error)
    return f"serial feed: {device} cannot be opened ({reason})"
