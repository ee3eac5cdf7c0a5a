"""One connection of a display: small buffers, a deadline for the request, and a way to cut the line.

uvicorn closes a connection politely, which waits for ever on a client that does not read. Here a connection can be
aborted: `scope["state"]["abort"]` does it. And a part of a response that has begun can be sent in the very turn of the
event loop in which it is known: `scope["state"]["push"]`.
"""

import asyncio
import contextlib
import socket
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

# What a client that does not read can hold of our memory is about twice this in the kernel and once here.
BUFFER = 64 * 1024
# A connection on which no request arrives in this time is of no use to anybody.
REQUEST_SECONDS = 10.0


class DisplayConnection(H11Protocol):
    """A connection that never costs more than its small buffers."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "abort": self.abort, "push": self.push}, _loop)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Limit the buffers and start the deadline."""
        line: socket.socket = transport.get_extra_info("socket")
        with contextlib.suppress(OSError):  # the client may be gone already
            line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        transport.set_write_buffer_limits(high=BUFFER)
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came; a request that is not whole must become so before the deadline."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._forget_deadline()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP. uvicorn would answer twice if it comes behind a request that is being served."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            if cycle.response_started:  # it cannot be taken back
                self.abort()
                return
            cycle.disconnected = True
            cycle.message_event.set()
        super().send_400_response(msg)

    def push(self, body: bytes) -> bool:
        """Send a part of the response at once; False if it cannot be sent now without waiting."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.disconnected or cycle.response_complete or not cycle.response_started:
            return False
        if self.flow.write_paused or self.conn.our_state is not h11.SEND_BODY:
            return False
        if self.conn.their_http_version != b"1.1":
            return False  # an older client gets no chunks
        # One chunk, as h11 would frame it: it keeps no account of them, and a display is served sooner.
        self.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
        return True

    def abort(self) -> None:
        """Cut the line now, whatever is still unsent."""
        self.transport.abort()

    def _watch(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._forget_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.abort)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
