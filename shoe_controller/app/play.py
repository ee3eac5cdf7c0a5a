"""A table in play: the parts that are there while its journal is open, and what follows each commit.

    bytes -> link -> shoe -> Table -> journal -> acknowledgement -> panel, gate, feeds, display

Everything that happens goes through `submit`, whatever it came from, and nothing is told to anybody before it is on
disk.
"""

import asyncio
from collections.abc import Callable, Sequence

from shoe_controller.app.opening import Opened
from shoe_controller.app.outlets import Outlets
from shoe_controller.app.shoe_source import ShoeSource
from shoe_controller.app.story import log_facts
from shoe_controller.app.table_panel import PANEL_FAULT, TablePanel
from shoe_controller.app.table_shoe import TableShoe, make_link
from shoe_controller.config import Config
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.tail import Tail
from shoe_controller.messages import HealthReport, Identity
from shoe_controller.metrics import Metrics
from shoe_controller.service.clock import TableClock
from shoe_controller.service.table import Arrived, Committed, Table
from shoe_controller.session import inputs as i
from shoe_controller.session.facts import AnyFact
from shoe_controller.session.view import TableView


class Play:
    """One table in play, complete when it is made: `begin`, then `shoe.run` until `leave`, then `end`.

    `stopping` tells whether the gate must stay shut from now on, `on_failed` is called once if the journal fails.
    """

    def __init__(
        self,
        config: Config,
        opened: Opened,
        tail: Tail,
        source: ShoeSource,
        panel: TablePanel,
        *,
        clock: TableClock,
        identity: Identity,
        metrics: Metrics,
        report: Callable[[], HealthReport],
        stopping: Callable[[], bool],
        on_commit: Callable[[Committed], None],
        on_failed: Callable[[JournalError], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._panel = panel
        self._metrics = metrics
        self._stopping = stopping
        self._on_commit = on_commit
        self.tail = tail
        self.device = source.device
        self.simulation = source.simulation
        self.table = Table(
            opened.session,
            opened.journal,
            clock,
            on_shut=self._shut_gate,
            acknowledge=self._acknowledge,
            on_disk=self._on_disk,
            publish=self._publish,
            on_failed=on_failed,
        )
        self.submit = self.table.submit
        self.outlets = Outlets(
            config,
            tail,
            identity,
            metrics,
            now=clock.stamp,
            view=self.view,
            report=report,
            submit=lambda wager: self.submit(Arrived(wager, "wagers")),
        )
        self.shoe = TableShoe(
            config.shoe,
            source.transport,
            make_link(config.shoe, opened.journal, opened.frames),
            source.faces,
            recorded=opened.journal.last_event,
            submit=self.submit,
            consider=self.table.consider,
            told=self.table.work,
            view=self.view,
            metrics=metrics,
        )

    def view(self) -> TableView:
        """Return the table as it stands."""
        return self.table.view

    def begin(self) -> None:
        """Start feeds and display, and have the panel show the table."""
        self.outlets.start()
        if (self._panel.trouble is not None) != (PANEL_FAULT in self.view().faults):
            self.panel_trouble(self._panel.trouble)  # it came, or ended, while there was no journal to record it in
        self._panel.show(self.view())

    def panel_trouble(self, sentence: str | None) -> None:
        """Record that the panel was lost, or that it is there again."""
        cleared = i.ClearFault(fault=PANEL_FAULT)
        happened = cleared if sentence is None else i.RaiseFault(fault=PANEL_FAULT, detail=sentence)
        self.submit(Arrived(happened, "panel"))

    def leave(self) -> None:
        """Shut the gate and let go of the shoe in good order."""
        self._panel.gate(False)
        self.shoe.leave()

    async def end(self) -> None:
        """Commit what waits, and let each feed say good-bye."""
        await self.table.close()
        await self.outlets.stop()

    # ---- what follows a commit -------------------------------------------------------------------------------

    def _shut_gate(self) -> None:
        self._panel.gate(False)
        self.shoe.gate(False)

    def _acknowledge(self, session: int, number: int) -> None:
        self.shoe.acknowledge(session, number)

    def _on_disk(self) -> None:
        self.outlets.on_disk()

    def _publish(self, committed: Committed) -> None:
        view = committed.view
        facts = [fact for caused in committed.facts for fact in caused]
        if not self._stopping():
            self._panel.gate(view.gate_open)
            self.shoe.gate(view.gate_open)
        self.outlets.publish(committed)
        self._panel.show(view)
        if self.simulation is not None and any(fact.__struct_config__.tag == "shoe_loaded" for fact in facts):
            self.simulation.refill()
        self.shoe.committed(facts)
        self._on_commit(committed)
        # Log and metrics can wait until the displays have been served, which is their turn of the loop.
        self._loop.call_soon(self._note, committed, facts)

    def _note(self, committed: Committed, facts: Sequence[AnyFact]) -> None:
        self._metrics.committed(committed.seconds, len(committed.batch))
        for fact in facts:
            self._metrics.fact(fact)
        log_facts(committed.seq - len(facts) + 1, facts)
