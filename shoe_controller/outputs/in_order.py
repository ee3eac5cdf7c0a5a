"""What a consumer does with seq: each event once and in order, whatever was repeated, lost or sent again."""

from typing import Generic, TypeVar

T = TypeVar("T")
# Events held back behind a gap. When it is full the consumer stops holding: the journal has them all anyway.
MAX_HELD = 10_000


class InOrder(Generic[T]):
    """Hands out events in the order of their seq; holds back those behind a gap; forgets repetitions."""

    def __init__(self, first: int | None = None) -> None:
        self._next = first  # None: begin with whatever comes first
        self._held: dict[int, T] = {}
        self._told = 0
        self.repeated = 0
        self.skipped = 0

    @property
    def next(self) -> int | None:
        """The seq that is due."""
        return self._next

    @property
    def gap(self) -> tuple[int, int] | None:
        """The first and last seq that are missing now."""
        if self._next is None:
            return None
        last = min(self._held) - 1 if self._held else self._told
        return (self._next, last) if last >= self._next else None

    def take(self, seq: int, event: T) -> list[T]:
        """Take an event and return what may be handed on now, in order."""
        if self._next is None:
            self._next = seq
        if seq < self._next or seq in self._held:
            self.repeated += 1
            return []
        if seq == self._next:
            self._next += 1
            return [event, *self._release()]
        if len(self._held) < MAX_HELD:
            self._held[seq] = event
        self._told = max(self._told, seq)
        return []

    def told(self, seq: int) -> None:
        """Note that the table has events up to seq, as its state and health say."""
        self._told = max(self._told, seq)

    def skip(self, until: int) -> list[T]:
        """Give up what is missing up to `until` and return what was held back behind it."""
        if self._next is None or until < self._next:
            return []
        released = [self._held.pop(seq) for seq in sorted(self._held) if seq <= until]
        self.skipped += until + 1 - self._next - len(released)  # counted, not walked through: a seq may say anything
        self._next = until + 1
        return released + self._release()

    def _release(self) -> list[T]:
        released = []
        while self._next in self._held:
            released.append(self._held.pop(self._next))
            self._next += 1
        return released
