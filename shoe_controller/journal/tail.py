"""The tail: the newest facts in memory, older ones from disk; what every sink reads from.

Sinks that keep up never touch the disk. One that was away reads from the volumes until it has caught up.
"""

from collections.abc import Callable, Sequence
from threading import Lock

from shoe_controller.journal.entry import FactRecord, NewEntry
from shoe_controller.journal.reading import Reader
from shoe_controller.journal.rows import records_of_new
from shoe_controller.journal.store import Journal

DEFAULT_KEEP = 1024


class Tail:
    """Committed facts in order: a `FactSource`. Safe to use from several threads."""

    def __init__(self, journal: Journal, *, keep: int = DEFAULT_KEEP) -> None:
        self._journal = journal
        self._keep = keep
        self._reader = Reader(journal.folder)
        self._lock = Lock()
        self._recent: list[FactRecord] = []
        self._last = journal.last_seq
        self._wake: list[Callable[[], None]] = []
        journal.listen(self._committed)

    @property
    def last_seq(self) -> int:
        """The number of the newest committed fact, 0 if there is none."""
        return self._last

    def on_commit(self, wake: Callable[[], None]) -> None:
        """Have a function called after each commit, in the thread that appends; it must return at once."""
        self._wake.append(wake)

    def _committed(self, seq: int, batch: Sequence[NewEntry]) -> None:
        with self._lock:
            for entry in batch:
                self._recent += records_of_new(seq, entry)
                seq += len(entry.facts)
            # Cut in strides: cutting one for each that comes would move the whole list every time.
            if len(self._recent) > 2 * self._keep:
                del self._recent[: -self._keep]
            self._last = seq - 1
        for wake in self._wake:
            wake()

    def facts(self, after: int, limit: int) -> list[FactRecord]:
        """Return up to `limit` facts with seq > after, in order, without gaps."""
        with self._lock:
            last = self._last
            if after >= last:
                return []
            oldest = last - len(self._recent) + 1
            if after + 1 >= oldest:
                place = after + 1 - oldest
                return self._recent[place : place + limit]
        return self._reader.facts(after, min(limit, last - after))

    def cursor(self, sink: str) -> int:
        """Return the seq up to which the sink is done; 0 at first."""
        return self._journal.cursor(sink)

    def move_cursor(self, sink: str, seq: int) -> None:
        """Record that the sink is done up to seq; it reaches the disk with one of the next commits."""
        self._journal.move_cursor(sink, seq)

    def close(self) -> None:
        """Let go of the files that were read."""
        self._reader.close()
