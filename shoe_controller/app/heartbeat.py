"""What systemd hears from us: ready, a line about the table, and that the one consumer of all inputs makes progress.

In play the watchdog is fed through the consumer's own queue: an event loop that turns while inputs wait for ever does
not feed it. While the journal cannot be opened there is no consumer; what must go on then is the trying.
"""

import asyncio
import time

from shoe_controller.notify import Notifier
from shoe_controller.service.table import Table
from shoe_controller.session.view import TableView

# The watchdog is fed this many times in the time that systemd allows.
FEEDINGS = 3
# One try to open the journal may take as long as systemd gives a start: the end of an archiving on a slow SD card.
LONGEST_OPENING_SECONDS = 90.0


class Heartbeat:
    """Tells systemd how the controller is. Used in the event loop."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._line = ""
        self._began = 0.0
        self._in_fault: asyncio.Task[None] | None = None

    def opening(self) -> None:
        """Note that a try to open the journal begins."""
        self._began = time.monotonic()

    def fault(self, problem: str) -> None:
        """Tell that the journal cannot be opened: ready in systemd's sense, for we answer and a restart is no help."""
        self._notifier.ready(f"fault: {problem}")
        if self._in_fault is None:
            self._in_fault = asyncio.get_running_loop().create_task(self._feed_in_fault(), name="watchdog in fault")

    def ready(self, view: TableView) -> None:
        """Tell that recovery is done and cards can be taken."""
        self._end_fault()
        self._line = in_one_line(view)
        self._notifier.ready(self._line)

    def show(self, view: TableView) -> None:
        """Tell what the table does, if that has changed."""
        line = in_one_line(view)
        if line != self._line:
            self._line = line
            self._notifier.status(line)

    def stopping(self) -> None:
        """Tell that we end."""
        self._end_fault()
        self._notifier.stopping()

    async def feed(self, table: Table) -> None:
        """Feed the watchdog each time when the consumer has passed everything that was there before."""
        while self._notifier.watchdog_seconds is not None:
            table.probe(self._notifier.alive)
            await asyncio.sleep(self._notifier.watchdog_seconds / FEEDINGS)

    async def _feed_in_fault(self) -> None:
        while self._notifier.watchdog_seconds is not None:
            if time.monotonic() - self._began < LONGEST_OPENING_SECONDS:
                self._notifier.alive()
            await asyncio.sleep(self._notifier.watchdog_seconds / FEEDINGS)

    def _end_fault(self) -> None:
        if self._in_fault is not None:
            self._in_fault.cancel()
            self._in_fault = None


def in_one_line(view: TableView) -> str:
    """Return what `systemctl status` shows of a table."""
    parts = [f"fault ({', '.join(view.faults)})" if view.faults else view.phase]
    if view.shoe is not None:
        parts.append(f"shoe {view.shoe.id}")
    if view.round is not None:
        parts.append(f"round {view.round.round}")
    return f"running: {', '.join(parts)}"
