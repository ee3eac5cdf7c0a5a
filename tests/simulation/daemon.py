"""The daemon in the world: the production Controller, its sockets and cables replaced, which can die at any moment."""

import contextlib
import functools
from types import SimpleNamespace
from unittest import mock

from shoe_controller.app import controller as app
from shoe_controller.app import shoe_source, table_shoe
from shoe_controller.app.opening import open_table
from shoe_controller.app.outlets import Outlets
from shoe_controller.decks.book import DeckBook
from shoe_controller.journal import layout, store
from shoe_controller.journal.errors import JournalError
from shoe_controller.outputs import broker_link, mqtt_feed, resend, serial_feed, wagers
from shoe_controller.outputs import retry as feed_retry
from shoe_controller.service import recovery, table
from shoe_controller.service.clock import TableClock
from shoe_controller.session.session import Session
from shoe_controller.vitals import Vitals
from tests.simulation.broker import SimulatedConnection, SimulatedLine
from tests.simulation.virtual_time import VirtualLoop, VirtualTime


class PowerCut(SystemExit):
    """The daemon ends here, in the middle of a call. Nothing catches it on its way out, as nothing catches a cut."""


class DyingController(app.Controller):
    """The production controller, with the points at which it may die."""

    def __init__(self, config, *, die_at, on_commit):
        super().__init__(config, on_commit=on_commit)
        self._die_at = die_at
        self.journal = None

    async def _open_journal(self):
        opened = await super()._open_journal()
        if opened is not None:
            self.journal = opened.journal
            append = opened.journal.append

            def append_or_die(batch):
                self._die_at("before commit")
                seqs = append(batch)
                self._die_at("after commit, before publication")
                return seqs

            opened.journal.append = append_or_die
        return opened

    def _put_together(self, opened, tail, source):
        play = super()._put_together(opened, tail, source)
        publish = play.table._publish
        connection = play.shoe._connection
        send = connection._send_receipts

        def publish_and_die(committed):
            self._die_at("after the feeds, before the display")
            publish(committed)
            self._die_at("after publication, before the receipt")

        def send_and_die():
            send()
            self._die_at("after the receipt")

        play.table._publish = publish_and_die
        connection._send_receipts = send_and_die
        return play


class NoSocket:
    """Stands where the controller has its Unix socket."""

    def __init__(self, path, group, status, new_shoe):
        self.decide = None

    async def open(self):
        pass

    async def close(self):
        pass


class TableSession(Session):
    """A session whose engine is the faster one of the two, which a test of their own proves equal."""

    def __init__(self, engine="table"):
        super().__init__(engine)

    @classmethod
    def resume(cls, load, loaded, engine="table"):
        return super().resume(load, loaded, engine)


class _Secrets:
    """Stands where production modules have the module `secrets`: the seed decides these too."""

    def __init__(self, chance):
        self.token_bytes = chance.randbytes
        self.token_hex = lambda size: chance.randbytes(size).hex()
        self.randbelow = chance.randrange


async def _inline(call, *, undo=None):
    return call()


def _served_by(display):
    """Give what stands where the outlets have their web server."""

    async def serve(outlets):
        await display.serve(outlets)

    return serve


class Machine:
    """The Raspberry Pi of a world: production modules get its clocks, its chance, its cable and its broker."""

    def __init__(self, time, chance, cable, broker, display, deck_set, engine, *, on_opened, sync_folder):
        self._time = time
        self._on_opened = on_opened
        self.opened = []  # journals that this machine holds open
        book = DeckBook([deck_set])
        clock = VirtualTime(time)
        chosen = _Secrets(chance)
        none = Vitals(disk_free_mb=None, memory_mb=None, cpu_celsius=None, load=None)
        SimulatedConnection.home = SimulatedLine.home = broker
        self._stack = contextlib.ExitStack()
        for module, name, stand_in in (
            (app, "time", clock),
            (app, "secrets", chosen),
            (shoe_source, "transport_for", lambda *_, **__: cable),
            (app, "ControlSocket", NoSocket),
            (app, "TableClock", self._table_clock),
            (app, "open_table", self._open_table),
            (app, "measure", lambda _: none),
            (shoe_source, "DeckBook", SimpleNamespace(load=lambda _: book)),
            (recovery, "Session", Session if engine == "transitions" else TableSession),
            (table, "time", clock),
            (table_shoe, "time", clock),
            (table_shoe, "secrets", chosen),
            (table_shoe, "SystemRandom", lambda: chance),
            (store, "secrets", chosen),
            (layout, "sync_folder", sync_folder),
            (broker_link, "time", clock),
            (broker_link, "MqttConnection", SimulatedConnection),
            (serial_feed, "SerialLine", SimulatedLine),
            (wagers, "aside", _inline),
            (resend, "aside", _inline),
            (mqtt_feed, "ResendDesk", functools.partial(resend.ResendDesk, clock=clock.monotonic)),
            (feed_retry, "random", chance),
            (Outlets, "_serve", _served_by(display)),
        ):
            self._stack.enter_context(mock.patch.object(module, name, stand_in))

    def _table_clock(self, boot):
        time = self._time
        return TableClock(boot, mono=time.mono_ns, wall=time.wall_ns, synced=lambda: time.synced)

    def _open_table(self, config, clock):
        opened = open_table(config, clock)
        self.opened.append(opened.journal)
        self._on_opened(opened)
        return opened

    def close_files(self):
        """Close what a program that was killed had open, as the kernel does."""
        for journal in self.opened:
            with contextlib.suppress(JournalError):
                journal.close()
        self.opened.clear()

    def switch_off(self):
        self._stack.close()


class Daemon:
    """One life of the daemon."""

    def __init__(self, time, config, cable, broker, *, die_at, on_commit, aside_seconds):
        self.loop = VirtualLoop(time)
        self.loop.aside_seconds = aside_seconds
        self._cable = cable
        self._broker = broker
        with self.loop.running():
            self.controller = DyingController(config, die_at=die_at, on_commit=on_commit)
            self._task = self.loop.create_task(self.controller.run())

    @property
    def ready(self):
        return self.controller.ready.is_set() and not self._task.done()

    @property
    def task_done(self):
        return self._task.done()

    def exit_code(self):
        """Return how it ended; an error that nobody caught is raised here."""
        return self._task.result()

    @property
    def drops(self):
        """What the link did not use, by reason."""
        link = self.controller.play and self.controller.play.shoe._link
        counts = getattr(link, "drops", None) or getattr(link, "counters", None) or {}
        return {str(reason): count for reason, count in counts.items() if reason != "repeated"}

    @property
    def view(self):
        return self.controller.play.view() if self.controller.play is not None else None

    def submit(self, arrived):
        self.controller.play.submit(arrived)

    def press(self, event):
        self.controller._on_panel(event)

    def die(self):
        """End it without a word. The disk must have been stopped: nothing of this may reach it."""
        self._cable.hang_up()
        try:
            for connection in tuple(self._broker.connections):
                connection.vanish()
        finally:
            self._broker.connections.clear()
            self._put_away()

    def _put_away(self):
        controller, play, loop = self.controller, self.controller.play, self.loop
        controller._die_at = lambda _: None
        tasks = [self._task]
        if play is not None:
            play.table._failed = True
            play.table._thread = None
            play.table._finish = lambda *_: None  # of a commit that is on its way nobody hears any more
            tasks += play.outlets._tasks
        with loop.running():
            loop.end(tasks)
        for task in tasks:
            if task.done() and not task.cancelled():
                task.exception()  # nobody is left to be told
