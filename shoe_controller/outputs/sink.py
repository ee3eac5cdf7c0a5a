"""What every feed is: a cursor over the journal that moves only when the receiver has taken a fact."""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from shoe_controller.messages import FeedHealth


class Sink(Protocol):
    """A feed as the daemon sees it. None of the calls blocks, and none raises because of a receiver."""

    @property
    def name(self) -> str:
        """The name of the feed, and of its cursor in the journal."""

    def wake(self) -> None:
        """Something was committed: called in the event loop after each commit."""

    async def run(self) -> None:
        """Feed the receiver until cancelled; on the way out say good-bye."""

    def health(self) -> FeedHealth:
        """Tell how far the receiver is."""


class Acknowledgements:
    """Facts on their way, in order; `done` is called with the seq up to which all of them have arrived.

    A fact that goes out on several topics has arrived when each is acknowledged. Acks may come in any order; the
    cursor never passes a fact that is still on its way.
    """

    def __init__(self, done: Callable[[int], None]) -> None:
        self._done = done
        self._waiting: deque[list[int]] = deque()  # [seq, acks still to come]

    def expect(self, seq: int, acks: int) -> Callable[[], None]:
        """Note that a fact was sent; the returned function is to be called once for each ack."""
        entry = [seq, acks]
        self._waiting.append(entry)

        def acknowledged() -> None:
            entry[1] -= 1
            if entry[1] == 0 and self._waiting and self._waiting[0] is entry:
                self._settle()

        return acknowledged

    def _settle(self) -> None:
        arrived = 0
        while self._waiting and self._waiting[0][1] == 0:
            arrived = self._waiting.popleft()[0]
        self._done(arrived)

    def forget(self) -> None:
        """Forget what is on its way: the connection is gone, and it will be sent again."""
        self._waiting.clear()
