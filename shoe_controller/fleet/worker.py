"""One process of the fleet: `python -m shoe_controller.fleet.worker ORDER`, with the order as JSON.

It says `ready` when its tables are connected, waits for a line, lets them play, and says its share as JSON. If whoever
started it goes away, it ends.
"""

import asyncio
import logging
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from shoe_controller import messages
from shoe_controller.errors import ControllerError
from shoe_controller.fleet.order import FleetOrder, Share
from shoe_controller.fleet.table import FleetTable
from shoe_controller.messages import topic
from shoe_controller.outputs.broker_link import BrokerLink
from shoe_controller.outputs.errors import BrokerError
from shoe_controller.outputs.mqtt_connection import MqttConnection
from shoe_controller.vitals import measure

READY = "ready"
_LOOK = 0.02


async def work(order: FleetOrder, say: Callable[[str], None], heard: asyncio.Event) -> Share:
    """Let the tables of an order play: `say` that they are ready, begin when `heard`, and return their share."""
    before = _memory_mb()
    with tempfile.TemporaryDirectory(prefix="shoe-fleet-", dir=order.directory or None) as folder:
        numbers = range(order.first, order.first + order.tables)
        tables = [FleetTable(order, number, Path(folder) / order.name(number)) for number in numbers]
        feeds = [asyncio.ensure_future(table.feed.run()) for table in tables]
        try:
            await _connected(tables, order.patience)
            say(READY)
            await heard.wait()
            share = await _play(order, tables, before)
        finally:
            for feed in feeds:
                feed.cancel()
            await asyncio.gather(*feeds, return_exceptions=True)
            for table in tables:
                await table.close()
    await _tidy_broker(order)
    return share


async def _connected(tables: list[FleetTable], patience: float) -> None:
    end = time.monotonic() + patience
    while missing := [table for table in tables if not table.feed.health().connected]:
        if time.monotonic() > end:
            raise BrokerError(
                f"{len(missing)} of {len(tables)} tables were not connected within {patience:g} s:"
                f" {missing[0].feed.health().detail}"
            )
        await asyncio.sleep(_LOOK)


async def _play(order: FleetOrder, tables: list[FleetTable], memory_before: float) -> Share:
    began, cpu = time.monotonic(), time.process_time()
    until = None if order.seconds is None else asyncio.get_running_loop().time() + order.seconds
    await asyncio.gather(*(table.play(until) for table in tables))
    untaken = await _taken(tables, order.patience)
    return Share(
        tables=len(tables),
        rounds=sum(table.rounds for table in tables),
        events=sum(table.events for table in tables),
        untaken=untaken,
        seconds=time.monotonic() - began,
        cpu_seconds=time.process_time() - cpu,
        memory_mb=_memory_mb() - memory_before,
    )


async def _taken(tables: list[FleetTable], patience: float) -> int:
    """Wait until the broker has everything, or has taken nothing for so long; return how much it has not."""
    left, since = -1, time.monotonic()
    while now := sum(table.feed.health().lag for table in tables):
        if now != left:
            left, since = now, time.monotonic()
        elif time.monotonic() - since > patience:
            break
        await asyncio.sleep(_LOOK)
    return now


async def _tidy_broker(order: FleetOrder) -> None:
    """Take the retained messages of our tables off the broker: they never were."""
    done = asyncio.Event()

    def up(connection: MqttConnection) -> None:
        names = [
            topic(order.site, order.name(number), channel)
            for number in range(order.first, order.first + order.tables)
            for channel in (messages.STATUS, messages.STATE)
        ]

        def step() -> None:
            if names:
                connection.publish(names.pop(), b"", step, retain=True)
            else:
                done.set()

        step()

    client_id = f"fleet-tidy-{order.site}-{order.first}"
    link = BrokerLink(order.mqtt, client_id, on_up=up, on_down=lambda: None, on_message=lambda *_: None)
    task = asyncio.ensure_future(link.run())
    with suppress(TimeoutError):
        async with asyncio.timeout(order.patience):
            await done.wait()
    task.cancel()
    if link.connection is not None:
        await link.connection.close(1.0)


def _memory_mb() -> float:
    return float(measure(Path()).memory_mb or 0)


async def _main(order: FleetOrder) -> int:
    heard = asyncio.Event()
    loop = asyncio.get_running_loop()
    playing = asyncio.ensure_future(work(order, lambda word: print(word, flush=True), heard))

    def listen() -> None:
        if sys.stdin.readline():
            heard.set()
        else:
            playing.cancel()  # whoever started us is gone
            loop.remove_reader(sys.stdin)

    loop.add_reader(sys.stdin, listen)
    try:
        share = await playing
    except ControllerError as error:
        print(error, file=sys.stderr)
        return 2
    except asyncio.CancelledError:
        return 1
    print(msgspec.json.encode(share).decode(), flush=True)
    return 0


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR, format="%(message)s", stream=sys.stderr)
    # Each table has a journal and a connection: more files than a shell allows by default.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    sys.exit(asyncio.run(_main(msgspec.json.decode(sys.argv[1], type=FleetOrder))))
