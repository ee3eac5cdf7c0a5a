"""Keeping one shoe connected: open, shake hands, deliver events, and after any loss the same again, for ever."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from drivers.errors import DeviceGoneError
from drivers.transport import ShoeLink, Transport
from firmware_protocol.events import LinkDown, LinkEvent, LinkRefused, LinkUp

logger = logging.getLogger(__name__)

# A link whose deadline stays in the past must not turn the timer into a loop.
SHORTEST_TICK = 0.005
# USB adapters hang now and then until they are opened again. The link has given the device up before this counts.
REOPEN_AFTER = 15.0
# A device waits a hundred times longer for its receipt, and feeds and displays are served meanwhile.
RECEIPT_AFTER = 0.002
MAX_TOLD = 32  # different sentences in one outage; more would be a sentence with a counter in it


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before the next try: doubling from `first` to `longest`, each shifted by chance.

    The chance part keeps the tables of a pit from hammering one serial server in step after its power came back.
    """

    first: float = 0.2
    longest: float = 10.0
    jitter: float = 0.25

    def delay(self, failures: int, chance: Random) -> float:
        """Return the seconds to wait after this many failures in a row (at least one)."""
        # 2**16 * first is beyond any `longest` in use; without the limit the power grows with the outage.
        whole = min(self.longest, self.first * 2.0 ** min(failures - 1, 16))
        return whole * (1 + chance.uniform(-self.jitter, self.jitter))


DEFAULT_BACKOFF = Backoff()


@dataclass(frozen=True, slots=True)
class ShoeHealth:
    """The state of the connection. Ages are in seconds, None: never."""

    cable: bool  # the transport is open
    link: bool  # the device is known and accepted
    data_age: float | None  # since bytes last came in
    frame_age: float | None  # since bytes last came in that made sense
    connects: int  # how often the link has come up
    failures: int  # tries in a row that failed
    trouble: str | None  # the last sentence, until the link is up again


class ShoeConnection:
    """Runs one link over one transport and hands every event to `on_event`, in the event loop.

    Never gives up and never spins. An error raised by `on_event` or by the link is a defect: `run` ends with it.
    `on_told` is called when everything that came with one read was handed out.

    `reopen_after`: seconds of silence on an open cable, after the link has given the device up, until the cable is
    opened anew. None for a device that keeps nothing for us (Angel Eye): a card drawn meanwhile would be lost.
    """

    def __init__(
        self,
        transport: Transport,
        link: ShoeLink,
        on_event: Callable[[LinkEvent], None],
        *,
        chance: Random,
        backoff: Backoff = DEFAULT_BACKOFF,
        reopen_after: float | None = REOPEN_AFTER,
        clock: Callable[[], float] | None = None,
        on_told: Callable[[], None] = lambda: None,
    ) -> None:
        self._loop = asyncio.get_running_loop()  # asked once: Python 3.11 makes a system call of each time
        self._transport = transport
        self._link = link
        self._on_event = on_event
        self._chance = chance
        self._backoff = backoff
        self._reopen_after = reopen_after
        self._clock = clock or self._loop.time
        self._ended: asyncio.Future[DeviceGoneError] | None = None  # of the present connection
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._silence: asyncio.TimerHandle | None = None
        self._on_told = on_told
        self._pumping = False
        self._more = False  # somebody wanted to pump while we did
        self._receipts: dict[int, int] = {}  # what the device will be told is on disk: the last number by session
        self._link_up = False
        self._heard = False  # bytes came in during the present connection
        self._data_at: float | None = None
        self._frame_at: float | None = None
        self._connects = 0
        self._failures = 0
        self._trouble: str | None = None
        self._told: set[str] = set()

    async def run(self) -> None:
        """Keep the shoe connected until cancelled."""
        while True:
            try:
                error = await self._connect_once()
            except DeviceGoneError as not_opened:
                error = not_opened
            self._failures += 1
            delay = self._backoff.delay(self._failures, self._chance)
            self._tell(str(error))
            logger.debug("shoe: try %d in %.1f s", self._failures + 1, delay)
            await asyncio.sleep(delay)

    def acknowledge(self, session: int, number: int) -> None:
        """Tell the device that the event is on disk, as soon as those who wait for the event itself have it."""
        if not self._receipts:
            self._loop.call_later(RECEIPT_AFTER, self._send_receipts)
        self._receipts[session] = number

    def gate(self, is_open: bool) -> int:
        """Command the shoe's own gate; the answer comes as CommandAnswered with this id."""
        return self.command(lambda: self._link.gate(is_open))

    def command(self, ask: Callable[[], int]) -> int:
        """Have the link ask its device for something, and send it; the answer comes as CommandAnswered."""
        command = ask()
        self._pump()
        return command

    def health(self) -> ShoeHealth:
        """Tell how the connection is."""
        now = self._clock()
        return ShoeHealth(
            cable=self._ended is not None,
            link=self._link_up,
            data_age=None if self._data_at is None else now - self._data_at,
            frame_age=None if self._frame_at is None else now - self._frame_at,
            connects=self._connects,
            failures=self._failures,
            trouble=self._trouble,
        )

    async def _connect_once(self) -> DeviceGoneError:
        ended: asyncio.Future[DeviceGoneError] = self._loop.create_future()

        def gone(error: DeviceGoneError) -> None:
            if not ended.done():
                ended.set_result(error)

        try:
            await self._transport.open(self._on_data, gone)
            self._ended = ended
            self._heard = False
            self._link.connection_made(self._clock())
            self._guarded_pump()
            return await ended
        finally:
            if self._ended is not None and self._receipts:
                self._send_receipts()  # what is on disk the device need not keep, now that we leave
            was_open, self._ended = self._ended is not None, None
            self._listen_no_more()
            try:
                if was_open:
                    self._link.connection_lost(self._clock())
                    self._pump()
            finally:
                self._link_up = False
                await self._transport.close()

    def _on_data(self, data: bytes) -> None:
        if self._ended is None or self._ended.done():
            return
        now = self._data_at = self._clock()
        self._heard = True
        self._guarded(lambda: self._link.receive_data(data, now))

    def _on_timer(self) -> None:
        self._timer = None
        self._guarded(lambda: self._link.tick(self._clock()))

    def _guarded(self, call: Callable[[], None]) -> None:
        """Run a callback of the loop so that a defect in it ends `run` instead of a line in the loop's log."""
        try:
            call()
            self._move()
            self._on_told()
            self._schedule()
        except Exception as defect:  # noqa: BLE001  (raised again by run)
            if self._ended is not None and not self._ended.done():
                self._ended.set_exception(defect)

    def _listen_no_more(self) -> None:
        for timer in (self._timer, self._silence):
            if timer is not None:
                timer.cancel()
        self._timer = self._silence = None

    def _guarded_pump(self) -> None:
        self._guarded(lambda: None)

    def _send_receipts(self) -> None:
        receipts, self._receipts = self._receipts, {}
        for session, number in receipts.items():
            self._link.acknowledge(session, number)
        self._pump()

    def _pump(self) -> None:
        """Move everything the link has to say, until it has nothing more.

        A consumer may call `acknowledge` or `gate` from inside `on_event`; the outermost call then goes on.
        """
        if self._move():
            self._schedule()

    def _move(self) -> bool:
        self._more = True
        if self._pumping:
            return False
        self._pumping = True
        try:
            while self._more:
                self._more = False
                data = self._link.data_to_send()
                if data and self._ended is not None:
                    self._transport.write(data)
                for event in self._link.events():
                    self._note(event)
                    self._on_event(event)
        finally:
            self._pumping = False
        return True

    def _note(self, event: LinkEvent) -> None:
        if isinstance(event, LinkDown):
            self._link_up = False
            if self._ended is not None:
                self._given_up(event.reason)
            return
        if isinstance(event, LinkUp):
            logger.info("shoe: %s %s on %s", event.kind, event.serial_number, self._transport.description)
            self._link_up = True
            self._connects += 1
            self._trouble = None
        elif isinstance(event, LinkRefused):
            self._link_up = False
            logger.warning("shoe: refused on %s: %s", self._transport.description, event.reason)
        self._heard_sense()

    def _heard_sense(self) -> None:
        """Note a frame: only that ends a row of failures. A port that opens and says nothing is no success yet."""
        if self._heard:
            self._frame_at = self._data_at
            if self._link_up:
                self._failures = 0
                self._told.clear()

    def _given_up(self, reason: str) -> None:
        """Say that the device is silent, or has left us, on a cable that is open; and open it anew if it stays so."""
        self._tell(f"{self._transport.description}: {reason}")
        self._watch_silence()

    def _tell(self, trouble: str) -> None:
        """Log each trouble once as a warning until the shoe is back; the same every ten seconds buries other news."""
        logger.log(logging.DEBUG if trouble in self._told else logging.WARNING, "shoe: %s", trouble)
        if len(self._told) < MAX_TOLD:
            self._told.add(trouble)
        self._trouble = trouble

    def _watch_silence(self) -> None:
        if self._reopen_after is not None and self._silence is None:
            self._silence = self._loop.call_later(self._reopen_after, self._still_silent, self._data_at)

    def _still_silent(self, data_at: float | None) -> None:
        self._silence = None
        if self._link_up or self._ended is None or self._ended.done():
            return
        if self._data_at == data_at:
            self._ended.set_result(DeviceGoneError(f"{self._transport.description} is silent: opening it anew"))
        else:
            self._watch_silence()

    def _schedule(self) -> None:
        deadline = self._link.next_deadline()
        if self._ended is None or self._ended.done():
            deadline = None
        if self._timer is not None:
            # Each card moves the deadline on. A timer that rings too early finds nothing due and is set anew.
            if deadline is not None and self._timer_at <= deadline:
                return
            self._timer.cancel()
            self._timer = None
        if deadline is not None:
            now = self._clock()
            self._timer_at = max(deadline, now + SHORTEST_TICK)
            self._timer = self._loop.call_later(self._timer_at - now, self._on_timer)
