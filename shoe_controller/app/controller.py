"""The controller: the life of one table's daemon, from its start until it ends in good order.

One event loop. Until the journal is open and replayed the gate is shut; if the journal cannot be opened the fault lamp
is lit and it is tried again, for somebody may mend it at any time. From then on the table is in play (`Play`), until
somebody stops it or the journal fails.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from drivers.panel.functions import PanelEvent
from shoe_controller import __version__, metrics
from shoe_controller.app.heartbeat import Heartbeat
from shoe_controller.app.litter import Litter
from shoe_controller.app.opening import Opened, open_table
from shoe_controller.app.play import Play
from shoe_controller.app.shoe_source import ShoeSource, reached
from shoe_controller.app.simulated_shoe import SimulationOrder
from shoe_controller.app.status import Condition, ShoeStatus, Status
from shoe_controller.app.table_panel import TablePanel
from shoe_controller.clock_sync import clock_synced
from shoe_controller.config import Config
from shoe_controller.errors import ControllerError
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.store import Journal
from shoe_controller.journal.tail import Tail
from shoe_controller.messages import HealthReport, Identity
from shoe_controller.notify import Notifier
from shoe_controller.outputs.retry import Complaint
from shoe_controller.service.clock import TableClock
from shoe_controller.service.control import ControlSocket
from shoe_controller.service.panel_words import from_panel
from shoe_controller.service.table import Arrived, Committed
from shoe_controller.session import inputs as i
from shoe_controller.session.facts import AnyFact
from shoe_controller.vitals import measure

logger = logging.getLogger(__name__)

RETRY_SECONDS = 2.0
TICK_SECONDS = 1.0
EXIT_FAILED = 1


class Controller:
    """One table. `run` ends after `stop`, or by itself with exit code 1 if the journal fails."""

    def __init__(
        self,
        config: Config,
        *,
        simulation: SimulationOrder | None = None,
        notifier: Notifier | None = None,
        litter: Litter | None = None,
        on_commit: Callable[[Committed], None] = lambda _committed: None,
    ) -> None:
        self.config = config
        self._order = simulation or SimulationOrder(seed=secrets.randbelow(2**31))
        self._heartbeat = Heartbeat(notifier or Notifier())
        self._litter = litter
        self._on_commit = on_commit
        self._started = time.monotonic()
        self._stop = asyncio.Event()
        self._exit_code = 0
        self._condition: Condition = "starting"
        self._problem = ""
        self.clock = TableClock(secrets.token_hex(16))
        self.identity = Identity(config.table.site, config.table.name, self.clock.boot, __version__)
        self.metrics = metrics.create(
            enabled=config.metrics.enabled and config.web.enabled,
            site=config.table.site,
            table=config.table.name,
            version=__version__,
        )
        self.panel = TablePanel(config.panel, self._on_panel, self._on_panel_trouble)
        self.control = ControlSocket(Path(config.local.socket), config.local.group, self.status, self.new_shoe)
        self.play: Play | None = None
        self.ready = asyncio.Event()
        self._disk_short = False

    def stop(self) -> None:
        """End in good order."""
        self._stop.set()

    async def run(self) -> int:
        """Run the table until it is stopped; return the exit code."""
        asyncio.get_running_loop().set_exception_handler(self._on_loop_error)
        await self.control.open()
        try:
            self.panel.open()
            opened = await self._open_journal()
            if opened is not None:
                await self._play(opened)
        except ControllerError:
            raise
        except Exception as defect:  # noqa: BLE001  (logged, and the exit code says it)
            self._fail(defect)
        finally:
            self._condition = "stopping"
            self._heartbeat.stopping()
            self.panel.gate(False)
            self.panel.close()
            await self.control.close()
        return self._exit_code

    def new_shoe(self, shoe_id: str) -> i.LoadShoe:
        """Return the input that puts a new shoe into play, with the house's policies."""
        table, policy = self.config.table, self.config.policy
        return i.LoadShoe(
            game=table.game,
            decks=table.decks,
            id=shoe_id,
            burn=policy.burn,
            surplus=policy.surplus,
            rounds_after_cut=policy.rounds_after_cut,
            early_card=policy.early_card,
            rounding=policy.rounding,
            deck_set=self.config.shoe.deck_set,
        )

    async def decide(self, happened: i.AnyInput, who: str) -> list[Any]:
        """Take a decision from a person on this machine and return its facts once they are on disk."""
        assert self.play is not None
        done: asyncio.Future[Sequence[AnyFact]] = asyncio.get_running_loop().create_future()

        def answer(facts: Sequence[AnyFact]) -> None:
            if not done.done():
                done.set_result(facts)

        self.play.submit(Arrived(happened, f"local:{who}", answer=answer))
        stopped = asyncio.ensure_future(self._stop.wait())
        either: set[asyncio.Future[Any]] = {done, stopped}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
        if not done.done():
            raise ControllerError("the controller is ending: nothing was decided")
        return [msgspec.to_builtins(fact) for fact in done.result()]

    def status(self) -> Status:
        """Tell what the controller is doing."""
        play = self.play
        health = play.shoe.health() if play else None
        return Status(
            condition=self._condition,
            site=self.config.table.site,
            table=self.config.table.name,
            version=__version__,
            boot=self.clock.boot,
            pid=os.getpid(),
            uptime_s=int(time.monotonic() - self._started),
            config_hash=self.config.hash,
            problem=self._problem,
            panel_problem=self.panel.trouble or "",
            seq=play.tail.last_seq if play else 0,
            view=play.view() if play else None,
            shoe=ShoeStatus(
                device=play.device,
                connected=health.link,
                frame_age_s=None if health.frame_age is None else round(health.frame_age, 1),
                connects=health.connects,
                trouble=health.trouble,
            )
            if play and health
            else None,
            feeds=play.outlets.health() if play else (),
            vitals=measure(Path(self.config.journal.directory)),
            display=play.outlets.display_url if play else "",
            wall_clock_synced=clock_synced(),
        )

    # ---- the journal -----------------------------------------------------------------------------------------

    async def _open_journal(self) -> Opened | None:
        """Open the journal, however long it takes somebody to mend it; None if we are stopped before."""
        complaint = Complaint(logger)
        while not self._stop.is_set():
            self._heartbeat.opening()
            try:
                opened = await asyncio.to_thread(open_table, self.config, self.clock)
            except JournalError as error:
                self._condition, self._problem = "fault", str(error)
                complaint.fail(
                    f"journal: {error}; the gate stays shut; 'shoe-controller doctor' tells what can be done"
                )
                self.panel.show_fault()
                self._heartbeat.fault(str(error))
                await self._pause(RETRY_SECONDS)
            else:
                if self._problem:
                    complaint.mend("journal: it can be used again")
                return opened
        return None

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    # ---- play ------------------------------------------------------------------------------------------------

    async def _play(self, opened: Opened) -> None:
        async with contextlib.AsyncExitStack() as at_end:
            at_end.callback(self._close, opened.journal)
            tail = at_end.enter_context(contextlib.closing(Tail(opened.journal)))
            source = await at_end.enter_async_context(reached(self.config, self._order))
            self.play = self._put_together(opened, tail, source)
            at_end.push_async_callback(self.play.end)
            self.control.decide = self.decide
            try:
                await self._until_stopped(self.play, opened.replayed)
            finally:
                self.control.decide = None

    async def _until_stopped(self, play: Play, replayed: int) -> None:
        play.begin()
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(play.shoe.run(), name="shoe")]
            running.append(tasks.create_task(self._tick(play), name="tick"))
            running.append(tasks.create_task(self._heartbeat.feed(play.table), name="watchdog"))
            self._ready(play, replayed)
            await self._stop.wait()
            self._condition = "stopping"
            play.leave()
            for task in running:
                task.cancel()

    def _put_together(self, opened: Opened, tail: Tail, source: ShoeSource) -> Play:
        return Play(
            self.config,
            opened,
            tail,
            source,
            self.panel,
            clock=self.clock,
            identity=self.identity,
            metrics=self.metrics,
            report=self._report,
            stopping=self._stop.is_set,
            on_commit=self._on_commit,
            on_failed=self._journal_failed,
        )

    def _ready(self, play: Play, replayed: int) -> None:
        if self._litter is not None:
            self._litter.begin()
        self._condition, self._problem = "running", ""
        view = play.view()
        logger.info("ready: %d entries replayed, the table is in phase %s", replayed, view.phase)
        self._heartbeat.ready(view)
        self.ready.set()

    def _close(self, journal: Journal) -> None:
        """Let go of the journal. Places of feeds that a full disk does not take are told again at the next start."""
        try:
            journal.close()
        except JournalError as error:
            logger.warning("journal: %s", error)
            self._exit_code = EXIT_FAILED

    def _on_panel(self, event: PanelEvent) -> None:
        if self.play is None:
            logger.warning("panel: pressed before the journal is open, and ignored: %s", event)
            return
        self.play.submit(Arrived(from_panel(event, self.play.view(), self.new_shoe), "panel"))

    def _on_panel_trouble(self, sentence: str | None) -> None:
        if self.play is not None:
            self.play.panel_trouble(sentence)

    # ---- what goes wrong -------------------------------------------------------------------------------------

    def _journal_failed(self, error: JournalError) -> None:
        """End: nothing is acknowledged any more, and a new start knows what is on disk."""
        logger.critical("journal: %s; the gate is shut, the controller ends and starts again", error)
        self._problem = str(error)
        self._exit_code = EXIT_FAILED
        self.panel.show_fault()
        self._stop.set()

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Take an error that reached the event loop itself: a callback of ours is broken."""
        error = context.get("exception")
        if isinstance(error, Exception):
            self._fail(error)
        else:
            loop.default_exception_handler(context)

    def _fail(self, defect: Exception) -> None:
        """End for a defect, not a condition of the table: all that helps is a new start from the journal."""
        logger.critical("a defect; the gate is shut, the controller ends and starts again", exc_info=defect)
        self._exit_code = EXIT_FAILED
        self._stop.set()

    # ---- time ------------------------------------------------------------------------------------------------

    async def _tick(self, play: Play) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._heartbeat.show(play.view())
            step = self.clock.look()
            if step is not None:
                play.submit(Arrived(step, "clock"))
            if self.metrics.enabled:
                play.outlets.measure()
            self._look_at_disk()
            if self._litter is not None:
                self._litter.look(play.tail.last_seq)

    def _look_at_disk(self) -> None:
        """Warn of a disk that fills up, once until there is room again: a full one stops play."""
        free = measure(Path(self.config.journal.directory)).disk_free_mb
        short = free is not None and free < self.config.journal.min_free_megabytes
        if short and not self._disk_short:
            logger.warning("disk: %d MB are free; play stops when it is full: archive old volumes of the journal", free)
        self._disk_short = short

    def _report(self) -> HealthReport:
        assert self.play is not None
        play, vitals = self.play, measure(Path(self.config.journal.directory))
        return HealthReport(
            uptime_s=int(time.monotonic() - self._started),
            shoe_connected=play.shoe.health().link,
            faults=play.view().faults,
            feeds=play.outlets.health(),
            disk_free_mb=vitals.disk_free_mb,
            memory_mb=vitals.memory_mb,
            cpu_celsius=vitals.cpu_celsius,
            load=vitals.load,
        )
