"""The table: takes inputs in order, gives them their meaning, commits, and only then lets anybody know.

    submit -> queue -> session.handle -> journal.append -> acknowledge -> on_disk -> publish

Commits are made in the event loop while the disk is quick, because handing one to a thread and back costs more than
the commit itself. When one was slow, the next ones are made in the journal's thread: an SD card that needs a second
must not stop the event loop. What arrives meanwhile is committed together.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from shoe_controller.journal.codec import encode_fact, encode_input
from shoe_controller.journal.entry import NewEntry
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.store import Journal
from shoe_controller.service.clock import TableClock
from shoe_controller.session.facts import AnyFact, Round, ShoeEnded
from shoe_controller.session.inputs import AnyInput
from shoe_controller.session.session import Session
from shoe_controller.session.view import TableView

logger = logging.getLogger(__name__)

MAX_BATCH = 64
SLOW_SECONDS = 0.02
# Commits in the thread after a slow one: a card that tidies itself up is slow several times in a row, but one slow
# commit in a hundred, as on a busy disk, must not make all of them slower.
STAY_ASIDE = 16
TIDY_AFTER_SECONDS = 2.0
SIGNED = (Round, ShoeEnded)

Answer = Callable[[Sequence[AnyFact]], None]


class Arrived(msgspec.Struct, frozen=True):
    """One input with where it came from. `answer` gets its facts once they are on disk."""

    happened: AnyInput
    source: str
    device: tuple[int, int] | None = None
    raw: bytes = b""
    answer: Answer | None = None


Consider = Callable[[TableView], Iterable[Arrived]]
"""Tells which inputs something amounts to at a table that stands like this."""


class Committed(msgspec.Struct, frozen=True):
    """A batch that is on disk now, and the table after it."""

    view: TableView
    seq: int
    batch: Sequence[Arrived]
    facts: Sequence[Sequence[AnyFact]]
    seconds: float


class Table:
    """One table in an event loop.

    `on_shut` is called before a commit if the gate must be shut, which cannot wait; `acknowledge` after it for the last
    event of each session of the shoe; then `on_disk`, for those to whom the journal says all, and `publish`, for those
    who want the table as it stands.

    If a commit fails, nothing is acknowledged or published, `on_failed` is called once and nothing is taken any more.
    """

    def __init__(
        self,
        session: Session,
        journal: Journal,
        clock: TableClock,
        *,
        on_shut: Callable[[], None],
        acknowledge: Callable[[int, int], None],
        on_disk: Callable[[], None],
        publish: Callable[[Committed], None],
        on_failed: Callable[[JournalError], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()  # asked once: Python 3.11 makes a system call of each time
        self._session = session
        self._journal = journal
        self._clock = clock
        self._on_shut = on_shut
        self._acknowledge = acknowledge
        self._on_disk = on_disk
        self._publish = publish
        self._on_failed = on_failed
        self._queue: deque[Arrived | Consider] = deque()
        self._probes: list[Callable[[], None]] = []
        self._thread: ThreadPoolExecutor | None = None
        self._aside_left = 0
        self._busy = False
        self._due = False
        self._failed = False
        self._settled = asyncio.Event()  # set when nothing waits, and when nothing more will be taken
        self._tidying: asyncio.TimerHandle | None = None
        self.view = session.view()

    @property
    def failed(self) -> bool:
        """Whether a commit failed: only a new start helps."""
        return self._failed

    @property
    def waiting(self) -> int:
        """How many inputs wait for the disk."""
        return len(self._queue)

    def submit(self, arrived: Arrived) -> None:
        """Take an input; it is committed with all that come in the same turn of the loop."""
        if not self._failed:
            self._queue.append(arrived)
            self._wake()

    def consider(self, what: Consider) -> None:
        """Take what depends on the table as it stands when all that was submitted before is on disk.

        `view` may be behind that: on a slow disk a card waits, and whoever asks it decides about the past.
        """
        if not self._failed:
            self._queue.append(what)
            self._wake()

    def probe(self, passed: Callable[[], None]) -> None:
        """Have a function called when everything that was submitted before is done."""
        self._probes.append(passed)
        self._wake()

    def _wake(self) -> None:
        if not self._due and not self._busy:
            self._due = True
            self._loop.call_soon(self.work)

    def work(self) -> None:
        """Take at once what was submitted, for a caller that has no more for now: a turn of the loop is saved."""
        self._due = False
        while self._queue and not self._busy and not self._failed:
            first = self._queue.popleft()
            if isinstance(first, Arrived):
                self._take(self._batch(first))
            else:
                self._queue.extendleft(reversed(list(first(self.view))))
        if not self._busy and not self._failed:
            self._settled.set()
            probes, self._probes = self._probes, []
            for passed in probes:
                passed()

    def _batch(self, first: Arrived) -> list[Arrived]:
        """Return what can be committed together: what waits, up to something that must be considered after it."""
        batch = [first]
        while self._queue and len(batch) < MAX_BATCH:
            following = self._queue[0]
            if not isinstance(following, Arrived):
                break
            batch.append(following)
            self._queue.popleft()
        return batch

    def _take(self, batch: list[Arrived]) -> None:
        facts = [self._session.handle(arrived.happened) for arrived in batch]
        if self.view.gate_open and not self._session.gate_open:
            self._on_shut()
        entries = [self._entry(arrived, caused) for arrived, caused in zip(batch, facts, strict=True)]
        started = time.perf_counter()

        def finished(error: BaseException | None) -> None:
            if error is None:
                self._finish(batch, facts, time.perf_counter() - started)
            else:
                self._fail(error)

        if self._aside_left:
            self._busy = True
            self._aside(lambda: self._commit(entries), finished)
            return
        try:
            self._commit(entries)
        except JournalError as error:
            finished(error)
        else:
            finished(None)

    def _entry(self, arrived: Arrived, facts: Sequence[AnyFact]) -> NewEntry:
        return NewEntry(
            stamp=self._clock.stamp(),
            source=arrived.source,
            kind=arrived.happened.__struct_config__.tag,  # type: ignore[arg-type]
            body=encode_input(arrived.happened),
            facts=tuple([encode_fact(fact) for fact in facts]),
            device=arrived.device,
            raw=arrived.raw,
            signed=any(isinstance(fact, SIGNED) for fact in facts),
        )

    def _commit(self, entries: list[NewEntry]) -> None:
        self._journal.append(entries)

    def _aside(self, work: Callable[[], None], finished: Callable[[BaseException | None], None]) -> None:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "journal")
        future = self._loop.run_in_executor(self._thread, work)

        def done(result: asyncio.Future[None]) -> None:
            self._busy = False
            finished(None if result.cancelled() else result.exception())
            self._wake()

        future.add_done_callback(done)

    def _finish(self, batch: list[Arrived], facts: list[list[AnyFact]], seconds: float) -> None:
        if seconds > SLOW_SECONDS:
            self._aside_left = STAY_ASIDE
        elif self._aside_left:
            self._aside_left -= 1
        self._confirm(batch)
        self._on_disk()
        self.view = self._session.view()
        self._publish(Committed(self.view, self._journal.last_seq, batch, facts, seconds))
        for arrived, caused in zip(batch, facts, strict=True):
            if arrived.answer is not None:
                arrived.answer(caused)
        self._tidy_later()

    def _confirm(self, batch: Sequence[Arrived]) -> None:
        last = {arrived.device[0]: arrived.device[1] for arrived in batch if arrived.device is not None}
        for session, number in last.items():
            self._acknowledge(session, number)

    def _fail(self, error: BaseException) -> None:
        self._failed = True
        self._settled.set()
        self._queue.clear()
        self._on_shut()
        if not isinstance(error, JournalError):
            raise error
        self._on_failed(error)

    def _tidy_later(self) -> None:
        if self._tidying is not None:
            self._tidying.cancel()
        self._tidying = self._loop.call_later(TIDY_AFTER_SECONDS, self._tidy)

    def _tidy(self) -> None:
        if self._busy or self._failed or self._queue:
            return
        self._busy = True

        def finished(error: BaseException | None) -> None:
            if error is not None:
                self._fail(error)

        self._aside(self._journal.tidy, finished)

    async def close(self) -> None:
        """Commit what waits, then let go of the thread. The journal stays open."""
        while (self._queue or self._busy) and not self._failed:
            self._settled.clear()
            await self._settled.wait()
        if self._tidying is not None:
            self._tidying.cancel()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.shutdown)
