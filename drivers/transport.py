"""What carries bytes to and from a shoe, and what decides about them: the two seams of this package."""

from collections.abc import Callable
from typing import Protocol

from drivers.errors import DeviceGoneError
from firmware_protocol.events import LinkEvent

OnData = Callable[[bytes], None]
OnGone = Callable[[DeviceGoneError], None]


class Transport(Protocol):
    """A cable to one shoe. It can be opened again after it was closed; it never tries again by itself.

    Everything is called from the event loop and both callbacks are called in it, never after `close`.
    """

    @property
    def description(self) -> str:
        """The device as the configuration names it, for sentences and logs."""

    async def open(self, on_data: OnData, on_gone: OnGone) -> None:
        """Connect, or raise DeviceGoneError. From here on `on_gone` is called at most once."""

    def write(self, data: bytes) -> None:
        """Send without blocking. Data for a device that is gone is dropped: the link sends it again."""

    async def close(self) -> None:
        """Let go of the device. Harmless when it is not open."""


class ShoeLink(Protocol):
    """The host's end of a protocol, without I/O and without a clock: it never acts, it answers."""

    def connection_made(self, now: float) -> None:
        """Begin a handshake."""

    def connection_lost(self, now: float) -> None:
        """Forget what depended on the connection; keep what must outlive it."""

    def receive_data(self, data: bytes, now: float) -> None:
        """Take bytes in, however they were cut."""

    def tick(self, now: float) -> None:
        """Do what is due by now."""

    def next_deadline(self) -> float | None:
        """Tell when `tick` is wanted next."""

    def events(self) -> list[LinkEvent]:
        """Hand out what happened since the last call."""

    def data_to_send(self) -> bytes:
        """Hand out what must be written."""

    def acknowledge(self, session: int, number: int) -> None:
        """Tell the device that the event is on disk."""

    def gate(self, is_open: bool) -> int:
        """Command the shoe's gate; the id comes back in CommandAnswered."""
