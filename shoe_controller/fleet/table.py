"""One table of the fleet: a real session, journal and feed, with a simulated dealer in place of the hardware."""

import asyncio
import secrets
import time
from contextlib import suppress
from pathlib import Path
from random import Random

from shoe_controller import __version__
from shoe_controller.fleet.dealer import Dealer
from shoe_controller.fleet.order import FleetOrder
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.signing import SigningKey
from shoe_controller.journal.store import Journal
from shoe_controller.journal.tail import Tail
from shoe_controller.messages import HealthReport, Identity
from shoe_controller.outputs.mqtt_feed import MqttFeed
from shoe_controller.service.clock import TableClock
from shoe_controller.service.table import Arrived, Table
from shoe_controller.session.inputs import AnnounceResult, AnyInput
from shoe_controller.session.session import Session
from shoe_controller.session.view import TableView

# Without a pace a table would fill its journal long before the broker has anything of it.
MOST_AHEAD = 512
# What a round is made of beside its wagers: called bets, five cards, the result. For the pace alone.
STEPS = 8


class FleetTable:
    """A table that plays by itself."""

    def __init__(self, order: FleetOrder, number: int, folder: Path) -> None:
        self._order = order
        self._chance = Random(order.seed * 1_000_003 + number)  # noqa: S311  (a simulated shoe)
        self._dealer = Dealer(self._chance, wagers=order.wagers)
        folder.mkdir(parents=True)
        key = SigningKey.open_or_create(folder / "signing.key")
        self._journal = Journal.open(folder / "journal", table=order.name(number), signer=key)
        self._tail = Tail(self._journal)
        clock = TableClock(secrets.token_hex(16))
        self._started = time.monotonic()
        self._passed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._table = Table(
            Session(),
            self._journal,
            clock,
            on_shut=lambda: None,
            acknowledge=lambda *_: None,
            on_disk=self._on_disk,
            publish=lambda _committed: None,
            on_failed=self._fail,
        )
        self.feed = MqttFeed(
            self._tail,
            order.mqtt,
            Identity(order.site, order.name(number), clock.boot, __version__),
            now=clock.stamp,
            snapshot=self._snapshot,
            report=self._report,
        )
        self.rounds = 0

    @property
    def events(self) -> int:
        """Facts in the journal."""
        return self._journal.last_seq

    async def play(self, until: float | None = None) -> None:
        """Play rounds, as many as were ordered, or until that time of the loop's clock."""
        steps = STEPS + self._order.wagers
        interval = 60 / self._order.rate / steps if self._order.rate else 0.0
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                # Tables of a casino are not in step.
                await asyncio.sleep(self._chance.random() * interval * steps)
                while self._order.rounds is None or self.rounds < self._order.rounds:
                    await self._round(interval)
                    self.rounds += 1

    async def close(self) -> None:
        """End the table; its feed has ended before."""
        await self._table.close()
        self._tail.close()
        self._journal.close()

    async def _round(self, interval: float) -> None:
        for happened in self._dealer.round(self._table.view):
            await self._happen(happened, interval)
        while self._table.view.next is not None:
            for happened in self._dealer.card():
                await self._happen(happened, interval)
        await self._happen(AnnounceResult(), interval)

    async def _happen(self, happened: AnyInput, interval: float) -> None:
        self._passed = passed = asyncio.get_running_loop().create_future()

        def answer(_facts: object) -> None:
            if not passed.done():  # it is, if the play was ended meanwhile
                passed.set_result(None)

        self._table.submit(Arrived(happened=happened, source="shoe", answer=answer))
        await passed
        if interval:
            await asyncio.sleep(interval * self._chance.uniform(0.5, 1.5))
        while self.feed.health().lag > MOST_AHEAD:  # noqa: ASYNC110  (the feed tells nobody when it has caught up)
            await asyncio.sleep(0.01)

    def _on_disk(self) -> None:
        self.feed.wake()

    def _snapshot(self) -> tuple[int, TableView]:
        return self._journal.last_seq, self._table.view

    def _report(self) -> HealthReport:
        return HealthReport(uptime_s=int(time.monotonic() - self._started), shoe_connected=True)

    def _fail(self, error: JournalError) -> None:
        self._passed.set_exception(error)
