"""The event stream: server-sent events for the page and for other displays.

Each client has a loop of its own that sends what is newest when the client is ready for it: there is no queue to
grow. A client that takes nothing for SLOW_SECONDS is cut off.

    event: state   the whole display state; id = its seq. Sent at once on connecting and after each change.
    event: fact    one public fact; id = its seq. Sent before the state that contains it.
    event: gap     facts after the one the client knew are no longer kept; the state that follows is complete anyway.
    event: beat    once a second: {"seq", "boot"}. A display that hears nothing for 3 s is not live.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable

import msgspec
from starlette.datastructures import Headers, QueryParams
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from shoe_controller.web.feed import DisplaySource

logger = logging.getLogger(__name__)

BEAT_SECONDS = 1.0
SLOW_SECONDS = 5.0
# How long a browser waits before it connects anew.
RETRY_MS = 500
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
# No journal has more facts; a larger number in a request is a slip.
MAX_SEQ = 2**53


def message(event: str, data: bytes, seq: int | None = None) -> bytes:
    """Return one server-sent event. The data is one line of JSON."""
    name = b"event: " + event.encode() + b"\n"
    number = b"" if seq is None else b"id: %d\n" % seq
    return name + number + b"data: " + data + b"\n\n"


def known_seq(scope: Scope) -> int | None:
    """Return the fact that the client has already: Last-Event-ID, or `?after=` where headers cannot be set."""
    said = Headers(scope=scope).get("last-event-id") or QueryParams(scope["query_string"]).get("after", "")
    if said.isascii() and said.isdecimal() and len(said) <= 16 and int(said) <= MAX_SEQ:
        return int(said)
    return None


class EventStream:
    """The endpoint of the stream, for at most so many clients at a time."""

    def __init__(self, source: DisplaySource, max_clients: int) -> None:
        self._source = source
        self._max_clients = max_clients
        self.clients = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one client until it goes."""
        if self.clients >= self._max_clients:
            refusal = PlainTextResponse(
                f"This display has {self._max_clients} clients already; max_clients in [web] sets the limit.\n",
                503,
                {"Retry-After": "2"},
            )
            await refusal(scope, receive, send)
            return
        self.clients += 1
        try:
            await _Client(self._source, scope, receive, send).run()
        finally:
            self.clients -= 1


class _Client:
    """One client of the stream."""

    def __init__(self, source: DisplaySource, scope: Scope, receive: Receive, send: Send) -> None:
        self._source = source
        self._scope = scope
        self._receive = receive
        self._send = send
        self._wake = asyncio.Event()
        self._gone = False
        self._sent = -1
        self._push: Callable[[bytes], bool] | None = scope.get("state", {}).get("push")
        self._at_rest = False  # nothing is being sent: what is pushed now comes in its place

    async def run(self) -> None:
        listening = asyncio.create_task(self._listen())
        unsubscribe = self._source.subscribe(self._woken)
        try:
            await self._put({"type": "http.response.start", "status": 200, "headers": HEADERS})
            if self._scope["method"] == "HEAD":
                await self._put({"type": "http.response.body", "body": b""})
                return
            await self._speak()
        except TimeoutError:
            logger.warning("a display that does not read was cut off: %s", self._scope.get("client"))
            await self._cut_off(listening)
        finally:
            unsubscribe()
            listening.cancel()

    async def _speak(self) -> None:
        await self._put_body(b"retry: %d\n\n" % RETRY_MS + self._first())
        while not self._gone:
            news = await self._news()
            if not self._gone:
                await self._put_body(news)

    def _first(self) -> bytes:
        known = known_seq(self._scope)
        state = self._source.snapshot()
        self._sent = state.seq
        if known is None:
            return message("state", msgspec.json.encode(state), state.seq)
        self._sent = known
        return self._catch_up()

    def _woken(self) -> None:
        """Send new facts in the turn in which they were committed; the task sends the state that contains them."""
        if self._push is not None and self._at_rest:
            whole, facts = self._source.since(self._sent)
            if whole and facts and self._push(b"".join([message("fact", fact, seq) for seq, fact in facts])):
                self._sent = facts[-1][0]
        self._wake.set()

    async def _news(self) -> bytes:
        """Wait for a change or for the next beat; return what to send."""
        self._at_rest = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BEAT_SECONDS):
                await self._wake.wait()
        self._at_rest = False
        if self._wake.is_set():
            self._wake.clear()
            return self._catch_up()
        state = self._source.snapshot()
        return message("beat", msgspec.json.encode({"seq": state.seq, "boot": state.boot}))

    def _catch_up(self) -> bytes:
        state = self._source.snapshot()
        whole, facts = self._source.since(self._sent)
        parts = [message("fact", fact, seq) for seq, fact in facts]
        if not whole:
            # The facts that are kept would leave a hole; the state says it all.
            gap = {"after": self._sent, "seq": state.seq}
            parts = [message("gap", msgspec.json.encode(gap))]
        parts.append(message("state", msgspec.json.encode(state), state.seq))
        self._sent = state.seq
        return b"".join(parts)

    async def _put_body(self, body: bytes) -> None:
        await self._put({"type": "http.response.body", "body": body, "more_body": True})

    async def _put(self, message_: dict[str, object]) -> None:
        async with asyncio.timeout(SLOW_SECONDS):
            await self._send(message_)

    async def _listen(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        self._wake.set()

    async def _cut_off(self, listening: "asyncio.Task[None]") -> None:
        abort: Callable[[], None] | None = self._scope.get("state", {}).get("abort")
        if abort is not None:
            abort()
            await listening
