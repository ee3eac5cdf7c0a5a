"""The serial feed: every fact to a scoreboard or bridge on a serial line, as Angel Eye frames or as JSON lines.

The receiver never answers. A fact counts as taken when the port has sent its bytes; then the cursor moves. The feed
has a task of its own: however slow the line is, nothing else waits for it.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from shoe_controller.journal.entry import FactRecord, FactSource
from shoe_controller.journal.errors import JournalError
from shoe_controller.messages import EventEncoder, FeedHealth, Identity
from shoe_controller.outputs.angel_eye_words import AngelEyeWords
from shoe_controller.outputs.errors import FeedError, ReceiverGoneError
from shoe_controller.outputs.jsonl_lines import OPENING, to_line
from shoe_controller.outputs.lookback import current_round
from shoe_controller.outputs.retry import Backoff, Complaint
from shoe_controller.outputs.serial_line import SerialLine
from shoe_controller.outputs.settings import SerialFeedSettings

LOGGER = logging.getLogger(__name__)
NAME = "serial"
# Facts sent before the cursor moves: a cable that is pulled repeats at most so many.
CHUNK = 16


class SerialFeed:
    """The feed as a sink of the journal. All calls are made in the event loop."""

    def __init__(self, source: FactSource, settings: SerialFeedSettings, identity: Identity) -> None:
        self._source = source
        self._settings = settings
        self._encode: Callable[[FactRecord], bytes]
        self._opening = b""
        if settings.format == "jsonl":
            self._opening = OPENING
            encoder = EventEncoder(identity.site, identity.table)
            self._encode = lambda record: to_line(encoder.encode(record))
        else:
            self._encode = AngelEyeWords().encode
        self._cursor = source.cursor(NAME)
        self._backoff = Backoff(*settings.backoff)
        self._complaint = Complaint(LOGGER)
        self._news = asyncio.Event()
        self._connected = False
        self._primed = False
        self._detail = "not opened yet"

    @property
    def name(self) -> str:
        """The name of the feed, and of its cursor in the journal."""
        return NAME

    def wake(self) -> None:
        """Something was committed."""
        self._news.set()

    async def run(self) -> None:
        """Feed the receiver until cancelled."""
        while True:
            line = SerialLine(self._settings)
            try:
                await line.open()
                self._begin()
                await self._feed(line)
            except (FeedError, JournalError) as error:
                self._detail = str(error)
                self._complaint.fail(self._detail)
            finally:
                self._connected = False
                await line.close()
            await asyncio.sleep(self._backoff.wait())

    def health(self) -> FeedHealth:
        """Tell how far the receiver is."""
        lag = self._source.last_seq - self._cursor
        return FeedHealth(name=NAME, connected=self._connected, cursor=self._cursor, lag=lag, detail=self._detail)

    def _begin(self) -> None:
        """Decide where to go on now that the receiver is there."""
        begin = current_round(self._source) - 1
        told = self._source.facts(begin, self._cursor - begin) if begin < self._cursor else []
        if self._settings.resume == "current-round" and not any(record.type == "round" for record in told):
            # What is older is of no use to a scoreboard; and the round so far is told again, for it may have lost it.
            # A result that was told already is not: a scoreboard would draw it twice.
            self._move(begin)
        elif not self._primed:
            # After a restart: what was told of this round tells which errors are lit.
            for record in told:
                self._encode(record)
        self._primed = True

    async def _feed(self, line: SerialLine) -> None:
        if self._opening:
            await line.send(self._opening)
        while True:
            self._news.clear()
            while records := self._source.facts(self._cursor, CHUNK):
                data = b"".join(self._encode(record) for record in records)
                if data:
                    await line.send(data)
                self._works()
                self._move(records[-1].seq)
            self._works()
            await self._wait_for_news(line)

    def _works(self) -> None:
        if not self._connected:
            self._connected = True
            self._backoff.reset()
            self._detail = f"{self._settings.device}, {self._settings.format}"
            self._complaint.mend(f"the receiver on {self._settings.device} takes our facts")

    async def _wait_for_news(self, line: SerialLine) -> None:
        news = asyncio.get_running_loop().create_task(self._news.wait())
        either: set[asyncio.Future[Any]] = {news, line.gone}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
        if line.gone.done():
            raise ReceiverGoneError(line.gone_sentence)

    def _move(self, seq: int) -> None:
        self._cursor = seq
        self._source.move_cursor(NAME, seq)
