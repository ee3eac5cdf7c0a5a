"""A shoe on a serial line, of this machine or of a device server on the network."""

import errno
import os
import socket
import termios
from contextlib import suppress
from typing import Any

import serial

from drivers.aside import aside
from drivers.errors import DeviceGoneError
from drivers.fd_stream import FdStream
from drivers.serial_address import LineSettings, SerialAddress, resolve
from drivers.thread_stream import ThreadStream
from drivers.transport import OnData, OnGone

# termios.error is not an OSError; SerialException is one; pyserial raises ValueError for a speed that the port
# cannot do and for malformed answers of a device server.
GONE = (OSError, termios.error, ValueError)
# How long a thread that reads an rfc2217 port may stay in a read after the port was closed.
READ_TIMEOUT = 0.5
# A device server that lost its power sends no FIN. Three probes unanswered, 25 s in all, and the port is gone.
KEEP_ALIVE = {socket.TCP_KEEPIDLE: 10, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}


class SerialTransport:
    """Opens the port exclusively and moves bytes through the event loop, or two threads if it has no descriptor.

    With `listen_only` not one byte is written to the shoe, whatever the caller does. (rfc2217:// still
    negotiates with the device server; the shoe does not see that.)
    """

    def __init__(self, address: SerialAddress, line: LineSettings, *, listen_only: bool = False) -> None:
        self._address = address
        self._line = line
        self._listen_only = listen_only
        self._port: Any = None
        self._stream: FdStream | ThreadStream | None = None

    @property
    def description(self) -> str:
        """The device as the configuration names it."""
        return self._address.text

    async def open(self, on_data: OnData, on_gone: OnGone) -> None:
        """Find and open the port, or raise DeviceGoneError."""
        port = await aside(self._open_port, undo=_close_port)
        self._port = port
        descriptor = _descriptor(port)
        if descriptor is None:
            self._stream = ThreadStream(port, self.description, on_data, on_gone)
        else:
            self._stream = FdStream(descriptor, self.description, on_data, on_gone)

    def write(self, data: bytes) -> None:
        """Send without blocking."""
        if self._stream is not None and not self._listen_only:
            self._stream.write(data)

    async def close(self) -> None:
        """Let go of the port."""
        stream, self._stream = self._stream, None
        port, self._port = self._port, None
        if stream is not None:
            stream.stop()
        if port is not None:
            await aside(lambda: _close_port(port))

    def _open_port(self) -> Any:
        path = resolve(self._address)
        try:
            port = serial.serial_for_url(
                path,
                baudrate=self._line.baud,
                bytesize=self._line.bits,
                parity=self._line.parity,
                stopbits=self._line.stop_bits,
                timeout=READ_TIMEOUT,
                exclusive=True,
            )
        except GONE as error:
            raise DeviceGoneError(_open_sentence(path, error)) from error
        try:
            _prepare(port)
        except GONE as error:
            _close_port(port)
            raise DeviceGoneError(f"{path} went away while it was being opened ({error})") from error
        return port


def _descriptor(port: Any) -> int | None:
    try:
        return int(port.fileno())
    except OSError:  # io.UnsupportedOperation: rfc2217:// has its own thread and queue
        return None


def _socket(port: Any) -> socket.socket | None:
    connection = getattr(port, "_socket", None)
    return connection if isinstance(connection, socket.socket) else None


def _prepare(port: Any) -> None:
    connection = _socket(port)
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for option, seconds in KEEP_ALIVE.items():
            connection.setsockopt(socket.IPPROTO_TCP, option, seconds)
        return
    descriptor = _descriptor(port)
    if descriptor is not None and os.isatty(descriptor):
        # pyserial leaves VMIN at 0: then a read without data gives b"", as a hang-up does. With 1 the two differ.
        attributes = termios.tcgetattr(descriptor)
        attributes[6][termios.VMIN] = 1
        termios.tcsetattr(descriptor, termios.TCSANOW, attributes)


def _close_port(port: Any) -> None:
    # Unsent output would hold up the close of a tty for up to 30 s (closing_wait); nobody needs it any more.
    descriptor = _descriptor(port)
    if descriptor is not None:
        with suppress(*GONE):
            termios.tcflush(descriptor, termios.TCOFLUSH)
    connection = _socket(port)
    with suppress(*GONE):
        port.close()
    if connection is not None:
        # pyserial forgets to close a socket that the other end has reset.
        connection.close()


def _open_sentence(path: str, error: Exception) -> str:
    number = getattr(error, "errno", None)
    if "://" in path:
        return f"the serial server at {path} cannot be reached ({error}): check its power, address and port"
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
        return f"there is no serial port {path}: plug the shoe in, or see `shoe-controller devices` for what is there"
    if number in (errno.EACCES, errno.EPERM):
        return (
            f"no permission to open {path}: install 99-shoe-controller.rules in /etc/udev/rules.d, or add the user"
            " that runs the controller to the group dialout"
        )
    if number in (errno.EAGAIN, errno.EBUSY):
        return f"{path} is in use by another program: stop it, or give it another port"
    return f"{path} cannot be opened as a serial port ({error})"
