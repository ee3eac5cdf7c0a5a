"""Talk to systemd: ready, alive, stopping, and a line of status. Does nothing when systemd did not start us.

The protocol is one datagram of `KEY=value` lines to the socket that NOTIFY_SOCKET names (sd_notify(3)).
"""

import logging
import os
import socket
from collections.abc import Mapping

logger = logging.getLogger(__name__)


class Notifier:
    """Sends the service's state to systemd; never blocks and never raises: a card matters more than a status."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._address = _address(environment.get("NOTIFY_SOCKET", ""))
        self._failed = False
        self.watchdog_seconds = _watchdog_seconds(environment)

    @property
    def active(self) -> bool:
        """Tell whether there is a systemd to talk to."""
        return bool(self._address)

    def ready(self, status: str = "") -> None:
        """Say that the service is up: recovery is done and cards can be taken."""
        self._send(_lines("READY=1", status))

    def alive(self) -> None:
        """Feed the watchdog. Only for a caller that has just seen real progress."""
        self._send("WATCHDOG=1")

    def status(self, text: str) -> None:
        """Set the line that `systemctl status` shows."""
        self._send(_lines("", text))

    def stopping(self, status: str = "") -> None:
        """Say that the service is on its way down."""
        self._send(_lines("STOPPING=1", status))

    def _send(self, text: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(
                socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
            ) as sender:
                sender.sendto(text.encode(), self._address)
        except OSError as error:
            # The first time a person should see it; it would come again with every beat.
            logger.log(
                logging.DEBUG if self._failed else logging.WARNING,
                "systemd cannot be told %r: %s",
                text,
                error.strerror,
            )
            self._failed = True
        else:
            self._failed = False


def _address(text: str) -> str:
    """Return the socket's address: a path, or with a zero in place of `@` a name in the abstract namespace."""
    if text.startswith("@"):
        return "\0" + text[1:]
    return text if text.startswith("/") else ""


def _lines(first: str, status: str) -> str:
    # A line end in the status would begin a new assignment.
    rest = f"STATUS={' '.join(status.split())}" if status else ""
    return "\n".join(line for line in (first, rest) if line)


def _watchdog_seconds(environment: Mapping[str, str]) -> float | None:
    """Return the time within which systemd wants to hear from us, or None if it does not."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    microseconds = environment.get("WATCHDOG_USEC", "")
    return int(microseconds) / 1_000_000 if microseconds.isdecimal() and int(microseconds) else None
