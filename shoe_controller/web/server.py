"""The display's server: its addresses, and how it runs inside the controller's event loop.

GET /            the page          GET /state.json   the display state, once
GET /events      the event stream  GET /healthz      whether it is fit for play
GET /static/…    files of the page GET /texts/…      texts of one language
GET /metrics     where the controller offers metrics
"""

import asyncio
import contextlib
import errno
import ipaddress
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Protocol

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from shoe_controller.web.assets import Asset, assets
from shoe_controller.web.connection import DisplayConnection
from shoe_controller.web.errors import PortError
from shoe_controller.web.feed import DisplaySource
from shoe_controller.web.guard import Guard, host_names
from shoe_controller.web.settings import DisplaySettings
from shoe_controller.web.stream import EventStream

# Beside the streams: page, files and a monitor that asks at the same moment.
OTHER_CONNECTIONS = 16
NO_STORE = {"Cache-Control": "no-store"}


class MetricsPage(Protocol):
    """What is shown at /metrics."""

    content_type: str

    def render(self) -> bytes:
        """Return the metrics as text."""
        ...


def create_app(
    source: DisplaySource,
    settings: DisplaySettings,
    *,
    metrics: MetricsPage | None = None,
    metrics_for_others: bool = False,
) -> ASGIApp:
    """Return the application. Metrics are for this machine alone unless `metrics_for_others`."""
    stream = EventStream(source, settings.max_clients)

    async def state(_: Request) -> Response:
        body = msgspec.json.encode(source.snapshot())
        return Response(body, media_type="application/json", headers=NO_STORE)

    async def health(_: Request) -> Response:
        now = source.snapshot()
        status = "fault" if now.phase == "fault" else "ok"
        body = {"status": status, "seq": now.seq, "boot": now.boot, "phase": now.phase, "clients": stream.clients}
        # 503 is what monitors and load balancers understand without reading the body.
        code = 503 if status == "fault" else 200
        return Response(msgspec.json.encode(body), code, media_type="application/json", headers=NO_STORE)

    async def measured(request: Request) -> Response:
        assert metrics is not None  # the route is there only then
        if not (metrics_for_others or _is_local(request)):
            return PlainTextResponse("Metrics are for this machine alone; see [metrics] other_interfaces.\n", 403)
        return Response(metrics.render(), headers={**NO_STORE, "Content-Type": metrics.content_type})

    routes = [
        Route("/events", stream),
        Route("/state.json", state),
        Route("/healthz", health),
        *([Route("/metrics", measured)] if metrics is not None else []),
        *(Route(address, _file(asset)) for address, asset in assets().items()),
    ]
    return Guard(Starlette(routes=routes), host_names(settings.host, settings.allowed_hosts))


def _file(asset: Asset) -> Callable[[Request], "asyncio.Future[Response]"]:
    async def send(request: Request) -> Response:
        headers = {"ETag": asset.etag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == asset.etag:
            return Response(status_code=304, headers=headers)
        return Response(asset.body, headers={**headers, "Content-Type": asset.media_type})

    return send  # type: ignore[return-value]


def _is_local(request: Request) -> bool:
    if request.client is None:
        return False
    address = ipaddress.ip_address(request.client.host)
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


class _Server(uvicorn.Server):
    """uvicorn inside a program that handles its own signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Streams never end by themselves, and a display sees at once that we are gone.
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()
        await super().shutdown(sockets)


async def serve(app: ASGIApp, host: str, port: int, *, max_clients: int = 16) -> None:
    """Serve until cancelled; then everything is closed when this returns. Raise PortError if it cannot listen."""
    async with serving(app, host, port, max_clients=max_clients) as (_, done):
        await done


@contextlib.asynccontextmanager
async def serving(
    app: ASGIApp, host: str, port: int, *, max_clients: int = 16
) -> AsyncIterator[tuple[int, "asyncio.Future[None]"]]:
    """Serve while the block runs; give it the port (useful for port 0) and a future that ends if serving does."""
    listener = _listen(host, port)
    config = uvicorn.Config(
        app,
        http=DisplayConnection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=max_clients + OTHER_CONNECTIONS,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=16 * 1024,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]), name="display")
    try:
        yield listener.getsockname()[1], asyncio.shield(task)
    finally:
        server.should_exit = True
        await task


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise PortError(f"the display cannot listen on {host!r}: {error.strerror or error}") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise PortError(why(host, port, error.errno)) from error
    return listener


def why(host: str, port: int, number: int | None) -> str:
    """Return a sentence for an error number of the system: why the display cannot listen there, and what to do."""
    where = f"the display cannot listen on {host} port {port}"
    if number == errno.EADDRINUSE:
        return f"{where}: another program has that port; end it, or set another port in [web]"
    if number == errno.EADDRNOTAVAIL:
        return f"{where}: this machine has no such address; set host in [web] to one that it has"
    if number == errno.EACCES:
        return f"{where}: ports below 1024 need a privilege; set a port from 1024 in [web]"
    return f"{where}: {os.strerror(number or 0)}"
