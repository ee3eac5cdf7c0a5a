"""The resend desk: gives a consumer that missed something the original messages again.

Read-only, and bounded in every direction: messages for each request, requests a minute, requests that wait, messages
on their way at once.
"""

import asyncio
import logging
import time
from collections.abc import Callable

import msgspec

from drivers.aside import aside
from shoe_controller.journal.entry import FactRecord, FactSource
from shoe_controller.journal.errors import JournalError
from shoe_controller.messages import EventEncoder, ResendEnd, ResendRequest
from shoe_controller.outputs.lookback import round_range
from shoe_controller.outputs.settings import ResendSettings
from shoe_controller.outside_json import NOT_UNDERSTOOD, why

LOGGER = logging.getLogger(__name__)
MAX_WAITING = 16
# Few beside a window of 20 or 64: a resend must not hold up a card.
MAX_ON_THE_WAY = 8

Send = Callable[[str, bytes, Callable[[], None]], None]  # consumer, payload, to be called when acknowledged
_DECODER = msgspec.json.Decoder(ResendRequest)


class Allowance:
    """So many a minute, and so many at once after a quiet minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._left = self._most
        self._clock = clock
        self._at = clock()

    def take(self) -> bool:
        """Take one, if there is one left."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._most / 60)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class _Refusal(Exception):  # noqa: N818  (a refusal is an answer, not an error)
    """What the consumer is told instead of messages."""


class ResendDesk:
    """Takes requests and answers them one after the other while a connection lasts."""

    def __init__(
        self,
        source: FactSource,
        settings: ResendSettings,
        encoder: EventEncoder,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._settings = settings
        self._encoder = encoder
        self._allowance = Allowance(settings.requests_per_minute, clock)
        # Refusals are answered too, but a flood of requests shall not become a flood of refusals.
        self._refusals = Allowance(settings.requests_per_minute, clock)
        self._waiting: asyncio.Queue[tuple[ResendRequest, str]] = asyncio.Queue()

    def take(self, payload: bytes) -> None:
        """Take a request from the network. What is not understood is not answered: nobody is there to answer."""
        try:
            request = _DECODER.decode(payload)
        except NOT_UNDERSTOOD as error:
            LOGGER.debug("a resend request was not understood: %s", why(error))
            return
        if not self._allowance.take():
            refusal = f"more than {self._settings.requests_per_minute} requests in a minute: ask again a little later"
        elif self._waiting.qsize() >= MAX_WAITING:
            refusal = "too many requests are waiting: ask again a little later"
        else:
            refusal = ""
        if not refusal or self._refusals.take():
            self._waiting.put_nowait((request, refusal))

    async def run(self, send: Send) -> None:
        """Answer requests until cancelled: once for each connection. Requests of an earlier one are forgotten."""
        self._waiting = asyncio.Queue()
        room = asyncio.Semaphore(MAX_ON_THE_WAY)
        while True:
            request, refusal = await self._waiting.get()
            if refusal:
                end = ResendEnd(
                    consumer=request.consumer, id=request.id, first=None, last=None, sent=0, error=refusal, later=True
                )
            else:
                end = await self._answer(request, send, room)
            await room.acquire()
            send(request.consumer, msgspec.json.encode(end), room.release)

    async def _answer(self, request: ResendRequest, send: Send, room: asyncio.Semaphore) -> ResendEnd:
        first = last = None
        sent = 0
        error = ""
        try:
            wanted, until = await self._range(request)
            limit = wanted + self._settings.max_messages - 1
            while records := self._read(wanted, min(until, limit)):
                for record in records:
                    await room.acquire()
                    send(request.consumer, self._encoder.encode(record), room.release)
                    sent += 1
                    first = first or record.seq
                    last = record.seq
                wanted = records[-1].seq + 1
            if until > limit and self._source.last_seq > limit:
                error = f"at most {self._settings.max_messages} messages at a time: ask again from {limit + 1}"
        except _Refusal as refusal:
            error = str(refusal)
        except JournalError as problem:
            error = f"the rest cannot be read: {problem}"
        return ResendEnd(consumer=request.consumer, id=request.id, first=first, last=last, sent=sent, error=error)

    def _read(self, first: int, last: int) -> list[FactRecord]:
        records = self._source.facts(first - 1, min(MAX_ON_THE_WAY, last - first + 1)) if first <= last else []
        return [record for record in records if record.seq <= last]

    async def _range(self, request: ResendRequest) -> tuple[int, int]:
        if request.first is not None and request.last is not None and request.shoe is None and request.round is None:
            if request.first > request.last:
                raise _Refusal(f"`first` ({request.first}) is greater than `last` ({request.last})")
            if request.first > self._source.last_seq:
                raise _Refusal(f"the newest event is {self._source.last_seq}")
            return request.first, request.last
        if request.shoe is not None and request.round is not None and request.first is None and request.last is None:
            shoe, number = request.shoe, request.round
            # In a thread: reading a week backwards takes a second.
            found = await aside(lambda: round_range(self._source, shoe, number))
            if found is None:
                raise _Refusal(f"there is no round {number} of shoe {shoe} among the last events: ask by seq")
            return found
        raise _Refusal("ask either for `first` to `last` or for a `round` of a `shoe`")
