"""The table's clock: stamps for the journal, and word of a wall clock that was set."""

import time
from collections.abc import Callable

from shoe_controller.clock_sync import clock_synced
from shoe_controller.journal.entry import Stamp
from shoe_controller.session.inputs import ClockStep

# A clock that is only slewed drifts by less in a second; one that is set moves by more.
STEP_NS = 1_000_000_000


class TableClock:
    """Order and durations come from the monotonic clock; the wall clock is noted and may do what it likes."""

    def __init__(
        self,
        boot: str,
        *,
        mono: Callable[[], int] = time.monotonic_ns,
        wall: Callable[[], int] = time.time_ns,
        synced: Callable[[], bool] = clock_synced,
    ) -> None:
        self.boot = boot
        self._mono = mono
        self._wall = wall
        self._ask_synced = synced
        self._synced = synced()
        self._offset = wall() - mono()

    def stamp(self) -> Stamp:
        """Return the present moment."""
        return Stamp(boot=self.boot, mono_ns=self._mono(), wall_ns=self._wall(), synced=self._synced)

    def look(self) -> ClockStep | None:
        """Tell if the wall clock was set, or its synchronisation changed, since the last look."""
        offset, synced = self._wall() - self._mono(), self._ask_synced()
        step = offset - self._offset
        if abs(step) < STEP_NS and synced == self._synced:
            # A slewed clock drifts without end; only a jump counts.
            self._offset = offset
            return None
        self._offset, self._synced = offset, synced
        return ClockStep(synced=synced, step_ms=step // 1_000_000 if abs(step) >= STEP_NS else 0)
