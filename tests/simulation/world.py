"""The world: shoe, cable, machine, disk, broker and people, from the first shoe until everything has come to rest.

`play(plan)` runs one world and returns its Outcome. The same plan gives the same outcome.
"""

import gc
import hashlib
import logging
import time as real_time
from asyncio import events
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from drivers.simulated.actions import run_line
from drivers.simulated.errors import CannotDoError
from drivers.simulated.stock import faces, make_set
from drivers.simulated.wire import GOOD_WIRE
from shoe_controller.journal import reading, volumes
from shoe_controller.journal.verification import verify
from shoe_controller.messages import EventEncoder
from shoe_controller.rules.games import find
from tests.simulation import referee
from tests.simulation.auditor import Auditor
from tests.simulation.broker import Broker
from tests.simulation.cable import Cable
from tests.simulation.daemon import Machine, PowerCut
from tests.simulation.disk import Disk
from tests.simulation.display import Display
from tests.simulation.hazards import Hazards
from tests.simulation.lives import Lives
from tests.simulation.people import People
from tests.simulation.shoes import make_shoe
from tests.simulation.table_config import SITE, TABLE, configuration, register
from tests.simulation.virtual_time import START, WorldTime

# The shoe gives a silent host up after 5 s; a shut command is repeated for 2 s, and again with every heartbeat.
GATE_GRACE = 12.0
STANDSTILL = 900.0
REST_WITHIN = 600.0
CLIENTS_LOOK = 2.0
TURNS = 8  # of the world's time between two looks at how the daemon is


class Breach(SystemExit):
    """Something that must never happen has happened. Like a power cut, it passes through everything that it meets."""


@dataclass
class Outcome:
    """What one world was and whether anything was found in it."""

    plan: object
    breach: str = ""
    counts: Counter = field(default_factory=Counter)
    irregularities: Counter = field(default_factory=Counter)
    hours: float = 0.0  # of virtual time
    seconds: float = 0.0  # of processor time that it took
    digest: str = ""  # of everything that was published
    inputs: list = field(default_factory=list)
    schedule: list = field(default_factory=list)


def play(plan, *, lie=False, check=True, tidy=True):
    """Run one world.

    `lie`: the disk says that it has synced and has not. `check`: verify the journal at the end. `tidy`: collect what
    is left of it, which a process that ends soon need not do.
    """
    started = real_time.process_time()
    outcome = Outcome(plan)
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    loop_before = events._get_running_loop()
    collecting = gc.isenabled()
    gc.disable()  # a tenth of the time; what is left of a world is collected after it
    try:
        with Disk() as disk:
            if lie:
                disk.lie()
            world = World(plan, disk)
            try:
                world.run(verified=check)
            except Breach as breach:
                outcome.breach = str(breach)
            finally:
                world.leave()
                world.tell(outcome)
    finally:
        events._set_running_loop(loop_before)
        logging.disable(level)
        world = disk = None
        if collecting:
            gc.enable()
        if tidy:
            gc.collect()
    outcome.seconds = real_time.process_time() - started
    return outcome


class World:
    """Everything that there is."""

    def __init__(self, plan, disk):
        self.plan = plan
        self.disk = disk
        self.time = WorldTime()
        self.counts = Counter()
        self.drops = Counter()  # what the links did not use, by reason
        self.schedule = deque(maxlen=2000)
        self.resting = False  # nothing goes wrong any more
        self.faces = faces(find(plan.game).deck.size)
        self.wager_names = [*referee.wagers(plan.game), "player", "banker", "tie", "no_such_wager"]
        stock = make_set(self.faces, plan.decks, self._source("ids"))
        key = self._source("key").randbytes(32) if plan.key else None
        self.twin = make_shoe(plan, stock, key, self._source)
        self.cable = Cable(self.time, self.twin, self._source("wire"))
        self.broker = Broker(self.time, self._source("broker"), self.breach)
        self.broker.late.away = not plan.late_consumer
        self.display = Display(self.breach, self._known, squeeze=plan.display == "on-result") if plan.display else None
        self.auditor = Auditor({card.uid: card.code for card in stock}, self.breach)
        self.twin.on_report = self.auditor.happened_at_shoe
        self.twin.on_forget = self.auditor.shoe_forgot
        self.cable.on_open = self.auditor.line_opened
        self._chance = self._source("pace")
        self._people = People(self, self._source("people"))
        self._lives = Lives(self, configuration(plan, disk.folder, key), self._source("lives"))
        self._hazards = Hazards(self, self._lives, self._source("hazards"))
        self.machine = Machine(
            self.time,
            self._source("machine"),
            self.cable,
            self.broker,
            self.display,
            register(plan, stock),
            plan.engine,
            on_opened=self._lives.opened,
            sync_folder=self._lives.sync_folder,
        )
        self._gate_since = None
        self._rounds_seen = 0
        self._progress_at = START

    def _known(self):
        return self.auditor.shadow.view(), self.auditor.next_seq - 1

    def _source(self, matter):
        """Give the chance for one matter, so that more chance in one does not change another."""
        return Random(f"{self.plan.seed}/{matter}")

    @property
    def daemon(self):
        """The daemon, None while it is down."""
        return self._lives.daemon

    # --- running ----------------------------------------------------------------------------------------------------

    def run(self, *, verified):
        self.cable.plug()
        self._lives.start()
        self.time.call_later(1.0, self._act)
        if self.plan.late_consumer or self.plan.terminal:
            self.time.call_later(CLIENTS_LOOK, self._clients)
        self._until(lambda: self._rounds_seen >= self.plan.rounds)
        self._come_to_rest()
        self._compare_with_consumers()
        self._end_in_good_order()
        if verified:
            self._verify()

    def _until(self, finished, within=None):
        deadline = None if within is None else self.time.now + within
        lives, turns = self._lives, self.time.turns
        while not finished():
            try:
                turns(TURNS)
            except PowerCut as cut:
                lives.die(str(cut))
            else:
                lives.look()
            if deadline is not None and self.time.now > deadline:
                return False
        return True

    def leave(self):
        """Let go of everything, whatever state it is in."""
        with suppress(Breach):
            if self.daemon is not None:
                self._lives.kill()
        self.machine.switch_off()

    def breach(self, sentence):
        raise Breach(sentence)

    def note(self, *what):
        """Keep what happens for a report, which puts it into words."""
        self.schedule.append((self.time.now - START, *what))

    def committed(self):
        """Entries were committed and looked at; a round may have begun with them."""
        begun = self.auditor.counts["rounds begun"]
        if begun != self._rounds_seen:
            self._rounds_seen = begun
            self._progress_at = self.time.now
            if not self.resting:
                self._hazards.round_begins()

    # --- people and clients -----------------------------------------------------------------------------------------

    def _act(self):
        if self.resting:
            return
        # The next thing first: whatever comes of this one, people go on.
        self.time.call_later(self._chance.uniform(0.2, 1.8) * self.plan.pace, self._act)
        self._check_gate()
        self._lives.check_condition()
        if self.time.now - self._progress_at > STANDSTILL:
            self.breach(f"no round began for {STANDSTILL:.0f} s: {self.daemon and self.daemon.view}")
        self._people.act()

    def at_shoe(self, line):
        """Do something at the shoe, if it can be done."""
        with suppress(CannotDoError):
            run_line(self.twin.actions, line, self.time.now)
            self.note("at the shoe:", line)
        self.cable.turn()

    def _clients(self):
        self.time.call_later(CLIENTS_LOOK, self._clients)
        # The late consumer is away for a while, now and then; at the end it stays.
        away = self._chance.random() < 0.2 and not self.resting
        self.broker.late.away = away or not self.plan.late_consumer
        self.broker.look_after_clients(self.auditor.next_seq - 1)

    def _check_gate(self):
        """The gate itself may lag behind the controller, but not for long."""
        open_, daemon = self.twin.body.gate_open, self.daemon
        wanted = daemon is not None and daemon.view is not None and daemon.view.gate_open
        untold = not self.twin.keeps and not self.cable.taken  # it does not see that nobody is there
        if not open_ or wanted or untold:
            self._gate_since = None
        elif self._gate_since is None:
            self._gate_since = self.time.now
        elif self.time.now - self._gate_since > GATE_GRACE:
            self.breach(f"the gate stood open for {self.time.now - self._gate_since:.1f} s and no card was due")

    # --- the end ----------------------------------------------------------------------------------------------------

    def _come_to_rest(self):
        """Nothing goes wrong any more: everything that is under way must arrive."""
        self.resting = True
        self._lives.spare()
        self.cable.err(GOOD_WIRE)
        self.cable.plug()
        self.broker.come_up()
        if not self._until(self._at_rest, REST_WITHIN):
            self.breach(f"it does not come to rest: {self._unrest()}")

    def _at_rest(self):
        daemon, broker = self.daemon, self.broker
        if daemon is None or not daemon.ready or self.twin.untold or broker.terminal.waiting:
            return False
        last, table = self.auditor.next_seq - 1, daemon.controller.play.table
        if table.failed:
            return False  # it met the failing disk, and is about to end and start again
        heard = [len(consumer.events) for consumer in broker.consumers(self.plan)]
        return not table.waiting and not table._busy and all(events == last for events in heard)

    def _unrest(self):
        heard = {consumer.name: len(consumer.events) for consumer in self.broker.consumers(self.plan)}
        return (
            f"daemon {self.daemon and self.daemon.ready}, the shoe keeps {self.twin.untold} events, "
            f"{self.auditor.next_seq - 1} facts, of which consumers have {heard}, "
            f"{len(self.broker.terminal.waiting)} wagers unanswered"
        )

    def _compare_with_consumers(self):
        """What was published is what stands in the journal, to the byte, and everything that left the shoe is there."""
        if self.auditor.left_shoe:
            self.breach(f"{len(self.auditor.left_shoe)} events of the shoe are not in the journal")
        encoder = EventEncoder(SITE, TABLE)
        reader = reading.Reader(self.disk.folder / "journal")
        try:
            records = reader.facts(0, self.auditor.next_seq)
        finally:
            reader.close()
        messages = {record.seq: encoder.encode(record) for record in records}
        for consumer in self.broker.consumers(self.plan):
            if consumer.events != list(messages.values()):
                self.breach(f"{consumer.name}: what it has is not what stands in the journal")
        rounds = {record.seq: messages[record.seq] for record in records if record.type == "round"}
        if rounds != self.broker.rounds:
            self.breach("what the broker has on `rounds` is not what stands in the journal")

    def _end_in_good_order(self):
        daemon = self.daemon
        daemon.controller.stop()
        while not daemon.task_done and self.time.turn():
            pass
        if daemon.exit_code() != 0:
            self.breach(f"the controller was stopped and ended with {daemon.exit_code()}")
        self._lives.kill()

    def _verify(self):
        files = volumes.volume_paths(self.disk.folder / "journal")
        self.counts["volumes verified"] += len(files)
        found = verify(files, jobs=1)
        if not found.ok:
            self.breach(f"the journal does not verify: {found.problems}")

    def tell(self, outcome):
        """Say what this world was."""
        auditor, broker, rounds = self.auditor, self.broker, self.auditor.counts["rounds begun"]
        outcome.counts = self.counts + auditor.counts
        outcome.counts.update(
            {
                "cable cuts": self.cable.cuts,
                "broker outages": broker.outages,
                "bad frames": sum(self.drops.values()),
                "repeated messages": broker.events.repeated + broker.serial.repeated,
                "requests for missed events": broker.late.asked,
                "wagers over the network": broker.terminal.answered,
                "facts": auditor.next_seq - 1,
                "unsynced writes at power cuts": self.disk.unsynced,
                "unsynced writes lost or torn": self.disk.lost,
                "unsynced names of files lost": self.disk.names_lost,
                f"rounds with a shoe that speaks {self.plan.protocol}": rounds,
                f"rounds with the engine `{self.plan.engine}`": rounds,
            }
        )
        if self.display is not None:
            shown = {"facts on the display": self.display.facts, "states of the display": self.display.states}
            outcome.counts.update(shown | {"rounds with a display": rounds})
        outcome.irregularities = auditor.irregularities
        outcome.hours = (self.time.now - START) / 3600
        # What the controller says at its start has a hash of its configuration, and that the name of a folder.
        told = [event for event in broker.events.events if not event.startswith(b'{"type":"started"')]
        outcome.digest = hashlib.sha256(b"\n".join(told)).hexdigest()
        outcome.inputs = auditor.inputs
        outcome.schedule = list(self.schedule)
