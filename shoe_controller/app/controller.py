"""The controller: puts the parts of one table together, runs them, and ends in good order.

    bytes -> link -> table_shoe -> Table -> journal -> acknowledgement -> panel, gate, feeds, display

One event loop. Everything that happens goes through `Table.submit`, whatever it came from, and nothing is told to
anybody before it is on disk. Until the journal is open and replayed the gate is shut; if the journal cannot be opened
the fault lamp is lit and it is tried again, for somebody may mend it at any time.
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
from drivers.shoe_device import transport_for
from drivers.transport import Transport
from shoe_controller import __version__, metrics
from shoe_controller.app.heartbeat import Heartbeat
from shoe_controller.app.litter import Litter
from shoe_controller.app.opening import Opened, open_table
from shoe_controller.app.outlets import Outlets
from shoe_controller.app.simulated_shoe import SimulationOrder, TableSimulation
from shoe_controller.app.status import Condition, ShoeStatus, Status
from shoe_controller.app.story import log_facts
from shoe_controller.app.table_panel import PANEL_FAULT, TablePanel
from shoe_controller.app.table_shoe import TableShoe, make_link
from shoe_controller.clock_sync import clock_synced
from shoe_controller.config import Config
from shoe_controller.decks.book import DeckBook
from shoe_controller.errors import ControllerError
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.store import Journal
from shoe_controller.journal.tail import Tail
from shoe_controller.messages import HealthReport, Identity
from shoe_controller.notify import Notifier
from shoe_controller.outputs.retry import Complaint
from shoe_controller.service.arrivals import Faces
from shoe_controller.service.clock import TableClock
from shoe_controller.service.control import ControlSocket
from shoe_controller.service.faces import PrintedFaces, RegisteredFaces
from shoe_controller.service.panel_words import from_panel
from shoe_controller.service.table import Arrived, Committed, Table
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
        self.simulation: TableSimulation | None = None
        self.table: Table | None = None
        self.shoe: TableShoe | None = None
        self.outlets: Outlets | None = None
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
        assert self.table is not None
        done: asyncio.Future[Sequence[AnyFact]] = asyncio.get_running_loop().create_future()

        def answer(facts: Sequence[AnyFact]) -> None:
            if not done.done():
                done.set_result(facts)

        self._submit(Arrived(happened, f"local:{who}", answer=answer))
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
        table, health = self.table, self.shoe.health() if self.shoe else None
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
            seq=self._tail.last_seq if table else 0,
            view=table.view if table else None,
            shoe=ShoeStatus(
                device=self._device,
                connected=health.link,
                frame_age_s=None if health.frame_age is None else round(health.frame_age, 1),
                connects=health.connects,
                trouble=health.trouble,
            )
            if health
            else None,
            feeds=self.outlets.health() if self.outlets else (),
            vitals=measure(Path(self.config.journal.directory)),
            display=self.outlets.display_url if self.outlets else "",
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
        journal = opened.journal
        self._tail = Tail(journal)
        self.table = Table(
            opened.session,
            journal,
            self.clock,
            on_shut=self._shut_gate,
            acknowledge=self._acknowledge,
            on_disk=self._on_disk,
            publish=self._publish,
            on_failed=self._journal_failed,
        )
        try:
            await self._assemble(opened)
            assert self.shoe is not None
            async with asyncio.TaskGroup() as tasks:
                running = [tasks.create_task(self.shoe.run(), name="shoe")]
                running.append(tasks.create_task(self._tick(), name="tick"))
                running.append(tasks.create_task(self._heartbeat.feed(self.table), name="watchdog"))
                self._ready(opened)
                await self._stop.wait()
                self._condition = "stopping"
                self.panel.gate(False)
                self.shoe.leave()
                for task in running:
                    task.cancel()
        finally:
            await self._end_play()
            self._close(journal)

    async def _assemble(self, opened: Opened) -> None:
        """Make the parts that need the journal. The shoe comes last: its cards need all the others."""
        assert self.table is not None
        self.outlets = Outlets(
            self.config,
            self._tail,
            self.identity,
            self.metrics,
            now=self.clock.stamp,
            view=self._view,
            report=self._report,
            submit=lambda wager: self._submit(Arrived(wager, "wagers")),
        )
        transport, faces = await self._shoe_parts()
        self.shoe = TableShoe(
            self.config.shoe,
            transport,
            make_link(self.config.shoe, opened.journal, opened.frames),
            faces,
            recorded=opened.journal.last_event,
            submit=self._submit,
            told=self.table.work,
            view=self._view,
            metrics=self.metrics,
        )
        self.outlets.start()
        self.control.decide = self.decide
        self._reconcile_panel()
        self.panel.show(self.table.view)

    async def _shoe_parts(self) -> tuple[Transport, Callable[[], Faces]]:
        """Return what reaches the shoe and what knows its cards, as the configuration has it."""
        shoe = self.config.shoe
        if shoe.protocol == "simulated":
            self.simulation = TableSimulation(self.config.table, self._order)
            await self.simulation.shoe.start()
            self._device = self.simulation.shoe.device
            book = self.simulation.book
            return transport_for(self._device), lambda: RegisteredFaces(book)
        self._device = shoe.device
        transport = transport_for(
            shoe.device, shoe.protocol, baud=shoe.baud, framing=shoe.framing, listen_only=shoe.listen_only
        )
        if shoe.protocol == "angel-eye":
            return transport, PrintedFaces
        return transport, self._registered_faces

    def _registered_faces(self) -> Faces:
        book = DeckBook.load(self.config.shoe.decks_directory)
        for problem in book.problems:
            logger.warning("decks: %s", problem)
        return RegisteredFaces(book, self.config.shoe.deck_set)

    def _ready(self, opened: Opened) -> None:
        if self._litter is not None:
            self._litter.begin()
        self._condition, self._problem = "running", ""
        where = self._view().phase
        logger.info("ready: %d entries replayed, the table is in phase %s", opened.replayed, where)
        self._heartbeat.ready(self._view())
        self.ready.set()

    async def _end_play(self) -> None:
        assert self.table is not None
        self.control.decide = None
        await self.table.close()
        if self.outlets is not None:
            await self.outlets.stop()
        if self.simulation is not None:
            await self.simulation.shoe.stop()
        self._tail.close()

    def _close(self, journal: Journal) -> None:
        """Let go of the journal. Places of feeds that a full disk does not take are told again at the next start."""
        try:
            journal.close()
        except JournalError as error:
            logger.warning("journal: %s", error)
            self._exit_code = EXIT_FAILED

    def _view(self) -> Any:
        assert self.table is not None
        return self.table.view

    def _submit(self, arrived: Arrived) -> None:
        assert self.table is not None
        self.table.submit(arrived)

    def _on_panel(self, event: PanelEvent) -> None:
        if self.table is None:
            logger.warning("panel: pressed before the journal is open, and ignored: %s", event)
            return
        self._submit(Arrived(from_panel(event, self.table.view, self.new_shoe), "panel"))

    def _on_panel_trouble(self, sentence: str | None) -> None:
        if self.table is not None:
            happened = i.ClearFault(fault=PANEL_FAULT) if sentence is None else _panel_fault(sentence)
            self._submit(Arrived(happened, "panel"))

    def _reconcile_panel(self) -> None:
        """Record the panel's trouble, or its end, if it came while there was no journal to record it in."""
        recorded = PANEL_FAULT in self._view().faults
        if self.panel.trouble is not None and not recorded:
            self._submit(Arrived(_panel_fault(self.panel.trouble), "panel"))
        elif self.panel.trouble is None and recorded:
            self._submit(Arrived(i.ClearFault(fault=PANEL_FAULT), "panel"))

    # ---- what follows a commit -------------------------------------------------------------------------------

    def _shut_gate(self) -> None:
        self.panel.gate(False)
        if self.shoe is not None:
            self.shoe.gate(False)

    def _acknowledge(self, session: int, number: int) -> None:
        if self.shoe is not None:
            self.shoe.acknowledge(session, number)

    def _on_disk(self) -> None:
        if self.outlets is not None:
            self.outlets.on_disk()

    def _publish(self, committed: Committed) -> None:
        view = committed.view
        facts = [fact for caused in committed.facts for fact in caused]
        if not self._stop.is_set():
            self.panel.gate(view.gate_open)
            if self.shoe is not None:
                self.shoe.gate(view.gate_open)
        if self.outlets is not None:
            self.outlets.publish(committed)
        self.panel.show(view)
        if self.simulation is not None and any(fact.__struct_config__.tag == "shoe_loaded" for fact in facts):
            self.simulation.refill()
        if self.shoe is not None:
            self.shoe.committed(facts)
        self._on_commit(committed)
        # Log and metrics can wait until the displays have been served, which is their turn of the loop.
        asyncio.get_running_loop().call_soon(self._note, committed, facts)

    def _note(self, committed: Committed, facts: Sequence[AnyFact]) -> None:
        self.metrics.committed(committed.seconds, len(committed.batch))
        for fact in facts:
            self.metrics.fact(fact)
        log_facts(committed.seq - len(facts) + 1, facts)

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

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._heartbeat.show(self._view())
            step = self.clock.look()
            if step is not None:
                self._submit(Arrived(step, "clock"))
            if self.outlets is not None and self.metrics.enabled:
                self.outlets.measure()
            self._look_at_disk()
            if self._litter is not None:
                self._litter.look(self._tail.last_seq)

    def _look_at_disk(self) -> None:
        """Warn of a disk that fills up, once until there is room again: a full one stops play."""
        free = measure(Path(self.config.journal.directory)).disk_free_mb
        short = free is not None and free < self.config.journal.min_free_megabytes
        if short and not self._disk_short:
            logger.warning("disk: %d MB are free; play stops when it is full: archive old volumes of the journal", free)
        self._disk_short = short

    def _report(self) -> HealthReport:
        vitals = measure(Path(self.config.journal.directory))
        return HealthReport(
            uptime_s=int(time.monotonic() - self._started),
            shoe_connected=self.shoe.health().link if self.shoe else None,
            faults=self._view().faults,
            feeds=self.outlets.health() if self.outlets else (),
            disk_free_mb=vitals.disk_free_mb,
            memory_mb=vitals.memory_mb,
            cpu_celsius=vitals.cpu_celsius,
            load=vitals.load,
        )


def _panel_fault(sentence: str) -> i.RaiseFault:
    return i.RaiseFault(fault=PANEL_FAULT, detail=sentence)
