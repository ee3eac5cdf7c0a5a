"""A feed that runs beside a test, and waiting for it."""

import asyncio
import time
from contextlib import asynccontextmanager, suppress

from shoe_controller.outputs.mqtt_feed import MqttFeed
from shoe_controller.outputs.settings import MqttSettings
from tests.broker import DEADLINE
from tests.outputs.table import IDENTITY, Table, now


async def until(condition, what: str, deadline: float = DEADLINE) -> None:
    end = time.monotonic() + deadline
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline:g} s: {what}")
        await asyncio.sleep(0.005)


def quick(*brokers: str, **other) -> MqttSettings:
    """Settings with the patience of a test."""
    given = {"connect_timeout": 3.0, "ack_timeout": 0.5, "backoff": (0.02, 0.2), "health_interval": 30.0}
    return MqttSettings(brokers=brokers, **(given | other))


def mqtt_feed(table: Table, settings: MqttSettings, **other) -> MqttFeed:
    return MqttFeed(table.source, settings, IDENTITY, now=now, snapshot=table.snapshot, report=table.report, **other)


@asynccontextmanager
async def running(sink):
    task = asyncio.get_running_loop().create_task(sink.run())
    try:
        yield sink
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def feeding(table: Table, settings: MqttSettings, **other):
    async with running(mqtt_feed(table, settings, **other)) as feed:
        yield feed


async def fed(table: Table, feed) -> None:
    await until(lambda: feed.health().lag == 0, f"the receiver has everything; {feed.health()}")
