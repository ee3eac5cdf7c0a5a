"""Running a fleet: its processes are started, play together, and a consumer counts what arrives."""

import asyncio
import os
import sys
import time
from contextlib import suppress

import msgspec

from shoe_controller.errors import ControllerError
from shoe_controller.fleet.census import Census
from shoe_controller.fleet.figures import Figures, figures
from shoe_controller.fleet.order import FleetOrder, Share
from shoe_controller.fleet.watched import Watched
from shoe_controller.outputs.errors import BrokerError

# So many tables keep one process busy enough to be worth another.
TABLES_A_PROCESS = 50
TO_END = 10.0
_LOOK = 0.02


class FleetError(ControllerError):
    """A process of the fleet failed; the text is what it said."""


def processes_for(tables: int) -> int:
    """Return how many processes suit so many tables on this machine."""
    return max(1, min(os.cpu_count() or 1, -(-tables // TABLES_A_PROCESS)))


def split(order: FleetOrder, processes: int) -> list[FleetOrder]:
    """Share the tables of an order out."""
    shares = []
    first = order.first
    for place in range(processes):
        tables = order.tables // processes + (place < order.tables % processes)
        shares.append(msgspec.structs.replace(order, first=first, tables=tables))
        first += tables
    return [share for share in shares if share.tables]


async def run_fleet(order: FleetOrder, processes: int, watched: Watched | None = None) -> Figures:
    """Let the fleet play and return what was measured."""
    census = Census(order.mqtt, order.site)
    listening = asyncio.ensure_future(census.listener.run())
    workers: list[asyncio.subprocess.Process] = []
    try:
        await _listening(census, order.patience)
        for share in split(order, processes):
            workers.append(await _start(share))  # noqa: PERF401  (those that were started must be ended)
        await asyncio.gather(*(_ready(worker) for worker in workers))
        if watched is not None:
            watched.begin()
        shares = await asyncio.gather(*(_played(worker) for worker in workers))
        await _arrived(census, sum(share.events - share.untaken for share in shares), order.patience)
        return figures(shares, census, None if watched is None else watched.used())
    finally:
        await asyncio.gather(*(_end(worker) for worker in workers))
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening


async def _listening(census: Census, patience: float) -> None:
    try:
        async with asyncio.timeout(patience):
            await census.listener.connected.wait()
    except TimeoutError:
        raise BrokerError(
            f"the broker did not let the consumer in within {patience:g} s: {census.listener.detail}"
        ) from None


async def _start(order: FleetOrder) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    text = msgspec.json.encode(order).decode()
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "shoe_controller.fleet.worker", text, stdin=pipe, stdout=pipe, stderr=pipe
    )


async def _line(worker: asyncio.subprocess.Process) -> bytes:
    assert worker.stdout is not None
    assert worker.stderr is not None
    line = await worker.stdout.readline()
    if not line:
        said = (await worker.stderr.read()).decode(errors="replace").strip()
        raise FleetError(said.splitlines()[-1] if said else "a process of the fleet ended without a word")
    return line


async def _ready(worker: asyncio.subprocess.Process) -> None:
    await _line(worker)


async def _played(worker: asyncio.subprocess.Process) -> Share:
    assert worker.stdin is not None
    worker.stdin.write(b"play\n")
    return msgspec.json.decode(await _line(worker), type=Share)


async def _end(worker: asyncio.subprocess.Process) -> None:
    """Let a process go: at the end of its input it ends by itself and takes its files along."""
    assert worker.stdin is not None
    worker.stdin.close()
    try:
        async with asyncio.timeout(TO_END):
            await worker.wait()
    except TimeoutError:
        worker.kill()
        await worker.wait()


async def _arrived(census: Census, events: int, patience: float) -> None:
    """Wait until the consumer has everything, or has got nothing new for so long."""
    seen, since = -1, time.monotonic()
    while census.events < events and time.monotonic() - since < patience:
        if census.events != seen:
            seen, since = census.events, time.monotonic()
        await asyncio.sleep(_LOOK)
