"""The world: shoe, cable, machine, disk, broker and people, and everything that goes wrong with them.

`play(plan)` runs one world from its first shoe to its last round, lets everything come to rest and returns an Outcome.
The same plan gives the same outcome, to the last byte on the disk.
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
from shoe_controller import config as c
from shoe_controller.cards import DECKS
from shoe_controller.decks.deck_set import make_set as register_set
from shoe_controller.journal import reading, volumes
from shoe_controller.journal.codec import decode_facts, decode_input
from shoe_controller.journal.rows import entries_from
from shoe_controller.journal.verification import verify
from shoe_controller.messages import EventEncoder
from shoe_controller.rules.games import find
from tests.simulation import referee
from tests.simulation.auditor import Auditor
from tests.simulation.broker import Broker
from tests.simulation.cable import Cable
from tests.simulation.daemon import Daemon, Machine, PowerCut
from tests.simulation.disk import SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_READONLY, Disk
from tests.simulation.people import People
from tests.simulation.plan import GENTLE_WIRES, WIRES
from tests.simulation.shoes import make_shoe
from tests.simulation.virtual_time import START, WorldTime

POINTS = (
    "before commit",
    "after commit, before acknowledgement",
    "after acknowledgement, before publication",
    "after publication",
)
# The shoe gives a silent host up after 5 s; a shut command is repeated for 2 s, and again with every heartbeat.
GATE_GRACE = 12.0
STANDSTILL = 900.0
REST_WITHIN = 600.0
SITE, TABLE = "sim", "t1"


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
    seconds: float = 0.0  # that it took
    digest: str = ""  # of everything that was published
    inputs: list = field(default_factory=list)
    schedule: list = field(default_factory=list)


def play(plan, *, lie=False, check=True):
    """Run one world. `lie`: the disk says that it has synced and has not. `check`: verify the journal at the end."""
    started = real_time.perf_counter()
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
        gc.collect()
    outcome.seconds = real_time.perf_counter() - started
    return outcome


class World:
    """Everything that there is."""

    def __init__(self, plan, disk):
        self.plan = plan
        self.disk = disk
        self.time = WorldTime()
        self.counts = Counter()
        self.schedule = deque(maxlen=2000)
        self._chance = self._source("hazards")
        deck = find(plan.game).deck
        stock = make_set(faces(deck.size), plan.decks, self._source("ids"))
        self.faces = faces(deck.size)
        self.wager_names = [*referee.wagers(plan.game), "player", "banker", "tie", "no_such_wager"]
        key = self._source("key").randbytes(32) if plan.key else None
        self.twin = make_shoe(plan, stock, key, self._source)
        self.cable = Cable(self.time, self.twin, self._source("wire"))
        self.broker = Broker(self.time, self._source("broker"), self.breach)
        self.auditor = Auditor({card.uid: card.code for card in stock}, self.breach)
        self.twin.on_report = self._at_shoe_happened
        self.people = People(self, self._source("people"))
        deck_set = register_set(
            "sim",
            game=plan.game,
            deck=DECKS[deck.size],
            decks=plan.decks,
            cards=[(card.uid, card.code) for card in stock],
            registered="",
            source="simulated",
        )
        self.machine = Machine(
            self.time,
            self._source("machine"),
            self.cable,
            self.broker,
            deck_set,
            plan.engine,
            on_opened=self._opened,
        )
        self.config = self._configuration(key)
        self.daemon = None
        self._doom = None  # (point, how often it is passed before)
        self._cut_planned = False
        self._failing = False
        self._slow_until = 0.0
        self._gate_since = None
        self._rounds_seen = 0
        self._progress_at = START
        self._resting = False
        self._drops = Counter()

    def _source(self, matter):
        return Random(f"{self.plan.seed}/{matter}")

    def _configuration(self, key):
        plan, folder = self.plan, self.disk.folder
        key_file = folder / "shoe.key"
        if key is not None:
            key_file.touch(mode=0o600)
            key_file.write_bytes(key)
        return c.Config(
            table=c.Table(site=SITE, name=TABLE, game=plan.game, decks=plan.decks),
            policy=c.Policy(
                burn=plan.burn,
                surplus=plan.surplus,
                early_card=plan.early_card,
                rounds_after_cut=plan.rounds_after_cut,
                rounding=plan.rounding,
            ),
            shoe=c.Shoe(
                protocol=plan.protocol,
                device="/dev/simulated",
                auth_key_file=str(key_file) if key else "",
                require_auth=key is not None,
            ),
            panel=c.Panel(factory="none"),
            journal=c.Journal(
                directory=str(folder / "journal"), signing_key_file=str(folder / "signing.key"), archive=plan.archive
            ),
            web=c.Web(enabled=False),
            metrics=c.Metrics(enabled=False),
            mqtt=c.Mqtt(brokers=("mqtt://broker",), wagers=plan.terminal),
            serial_feed=c.SerialFeed(device="/dev/feed" if plan.serial else "", format="jsonl", resume="cursor"),
        )

    # --- running ----------------------------------------------------------------------------------------------------

    def run(self, *, verified):
        self.cable.plug()
        self._start()
        self.time.call_later(1.0, self._act)
        if self.plan.late_consumer or self.plan.terminal:
            self.time.call_later(2.0, self._clients)
        self._until(lambda: self._rounds_seen >= self.plan.rounds)
        self._come_to_rest()
        self._compare_with_consumers()
        self._end_in_good_order(verified=verified)

    def _until(self, finished, within=None):
        deadline = None if within is None else self.time.now + within
        while not finished():
            try:
                self.time.turn()
            except PowerCut as cut:
                self._die(str(cut))
                continue
            if self._cut_planned and self.disk.dead:
                self._die("at a disk operation")
            daemon = self.daemon
            if daemon is not None and daemon.task_done:
                self._ended(daemon)
            if deadline is not None and self.time.now > deadline:
                return False
        return True

    def leave(self):
        """Let go of everything, whatever state it is in."""
        with suppress(Breach):
            if self.daemon is not None:
                self._kill()
        self.machine.switch_off()

    def breach(self, sentence):
        raise Breach(sentence)

    def note(self, what):
        self.schedule.append((self.time.now - START, what))

    def tell(self, outcome):
        outcome.counts = self.counts + self.auditor.counts
        outcome.counts["cable cuts"] = self.cable.cuts
        outcome.counts["broker outages"] = self.broker.outages
        outcome.counts["bad frames"] = sum(self._drops.values())
        outcome.counts["repeated messages"] = self.broker.events.repeated + self.broker.serial.repeated
        outcome.counts["requests for missed events"] = self.broker.late.asked
        outcome.counts["wagers over the network"] = self.broker.terminal.answered
        outcome.counts["facts"] = self.auditor.next_seq - 1
        outcome.counts["unsynced writes at power cuts"] = self.disk.unsynced
        outcome.counts["unsynced writes lost or torn"] = self.disk.lost
        outcome.counts[f"rounds with a shoe that speaks {self.plan.protocol}"] = self.auditor.counts["rounds begun"]
        outcome.counts[f"rounds with the engine `{self.plan.engine}`"] = self.auditor.counts["rounds begun"]
        outcome.irregularities = self.auditor.irregularities
        outcome.hours = (self.time.now - START) / 3600
        # What the controller says at its start has a hash of its configuration, and that the name of a folder.
        told = [event for event in self.broker.events.events if not event.startswith(b'{"type":"started"')]
        outcome.digest = hashlib.sha256(b"\n".join(told)).hexdigest()
        outcome.inputs = self.auditor.inputs
        outcome.schedule = list(self.schedule)

    # --- people -----------------------------------------------------------------------------------------------------

    def _act(self):
        if self._resting:
            return
        # The next thing first: whatever comes of this one, people go on.
        self.time.call_later(self._chance.uniform(0.2, 1.8) * self.plan.pace, self._act)
        self._check_gate()
        controller = self.daemon and self.daemon.controller
        if controller and controller._condition == "fault" and not self._failing and not self._cut_planned:
            self.breach(f"the journal cannot be opened: {controller._problem}")
        if self.time.now - self._progress_at > STANDSTILL:
            view = self.daemon.view if self.daemon else None
            self.breach(f"no round began for {STANDSTILL:.0f} s: {view}")
        self.people.act()

    def _clients(self):
        self.time.call_later(2.0, self._clients)
        if self.plan.late_consumer:
            # Away for a while, now and then; at the end it stays.
            self.broker.late.away = not self._resting and self._chance.random() < 0.2
        else:
            self.broker.late.away = True
        self.broker.look_after_clients(self.auditor.next_seq - 1)

    def at_shoe(self, line):
        with suppress(CannotDoError):
            run_line(self.twin.actions, line, self.time.now)
            self.note(f"at the shoe: {line}")
        self.cable.turn()

    def pressed(self, event):
        self.note(f"panel: {event}")

    def _at_shoe_happened(self, happening):
        self.auditor.happened_at_shoe(happening)

    def _check_gate(self):
        """The gate itself may lag behind the controller, but not for long."""
        open_, daemon = self.twin.body.gate_open, self.daemon
        wanted = daemon is not None and daemon.view is not None and daemon.view.gate_open
        if not open_ or wanted:
            self._gate_since = None
        elif self._gate_since is None:
            self._gate_since = self.time.now
        elif self.time.now - self._gate_since > GATE_GRACE:
            self.breach(f"the gate stood open for {self.time.now - self._gate_since:.1f} s and no card was due")

    # --- the daemon -------------------------------------------------------------------------------------------------

    def _start(self):
        self.note("the controller starts")
        if not self._resting and self._chance.random() < 0.03:
            self.disk.plan_cut(self._chance.randint(1, 60))
            self._cut_planned = True
        self.daemon = Daemon(
            self.time,
            self.config,
            self.cable,
            self.broker,
            die_at=self._pass,
            on_commit=self._committed,
            aside_seconds=self._aside_seconds,
        )
        events._set_running_loop(self.daemon.loop)

    def _opened(self, opened):
        """The daemon has read its journal and committed that it started: what is in it that nobody was told of?"""
        auditor, journal = self.auditor, opened.journal
        if journal.last_seq < auditor.next_seq - 1:
            self.breach(f"facts {journal.last_seq + 1} to {auditor.next_seq - 1} were committed and are gone")
        first = True
        here = auditor.next_seq >= journal.volume.first_seq
        untold = entries_from(journal._connection, auditor.next_seq) if here else None
        for entry in untold or reading.entries(journal.folder, auditor.next_seq):
            if first and auditor.head is not None and entry.prev != auditor.head:
                self.breach(f"entry {entry.seq} does not follow the last entry that was told")
            first = False
            auditor.entry(decode_input(entry.body), decode_facts(entry.facts), entry.device)
        auditor.head = journal.head
        auditor.check_view(opened.session.view())

    def _committed(self, committed):
        auditor = self.auditor
        for arrived, facts in zip(committed.batch, committed.facts, strict=True):
            auditor.entry(arrived.happened, facts, arrived.device)
        auditor.head = self.daemon.controller.journal.head
        if committed.seq != auditor.next_seq - 1:
            self.breach(f"told was fact {committed.seq}, the last is {auditor.next_seq - 1}")
        auditor.check_view(committed.view, whole=auditor.next_seq % 8 == 0)
        begun = auditor.counts["rounds begun"]
        if begun != self._rounds_seen:
            self._rounds_seen = begun
            self._progress_at = self.time.now
            self._hazards()

    def _pass(self, point):
        """The daemon passes a point at which it may die."""
        if point == "before commit" and self.time.now < self._slow_until and not self._table_is_aside():
            self.time.now += self._chance.choice((0.01, 0.03, 0.3))
        if self._doom is not None and self._doom[0] == point:
            left = self._doom[1]
            self._doom = (point, left - 1) if left else None
            if not left:
                raise PowerCut(point)

    def _table_is_aside(self):
        table = self.daemon.controller.table
        return table is not None and table._busy

    def _aside_seconds(self):
        if self.time.now < self._slow_until:
            return self._chance.choice(((0.0, 0.5), (0.5, 0.0), (0.2, 0.2)))
        return (0.0, 0.001)

    def _die(self, where, *, power=None):
        """The power fails, or somebody kills the program: then what is in the cache survives."""
        power = self._chance.random() < 0.7 if power is None else power
        self.note(f"{'power cut' if power else 'killed'} {where}")
        self.counts["crashes"] += 1
        self.counts[f"crashes {where}"] += 1
        self.counts["power cuts" if power else "kills"] += 1
        self._kill()
        if power:
            self.disk.lose_cache(self._chance.getrandbits(63))
        self.time.call_later(self._chance.choice((0.1, 0.5, 1.0, 7.0)), self._start)

    def _kill(self):
        daemon, self.daemon = self.daemon, None
        self.disk.stop()
        self._drops.update(daemon.drops)
        daemon.die()
        self.machine.close_files()
        self.disk.go_on()
        self._cut_planned = self._failing = False
        self._doom = None
        self.cable.turn()

    def _ended(self, daemon):
        """It ended by itself, which it must do when the journal fails, and only then."""
        code = daemon.exit_code()
        if not self._failing or code != 1:
            why = daemon.controller._problem or daemon.loop.defects
            self.breach(f"the controller ended with {code}: {why}")
        self.note("the controller gave up because of the disk")
        self.counts["ends for a failing disk"] += 1
        self._kill()
        self.time.call_later(2.0, self._start)

    # --- hazards ----------------------------------------------------------------------------------------------------

    def _hazards(self):
        """Decide what goes wrong in the round that began."""
        if self._resting:
            return
        plan, chance, time = self.plan, self._chance, self.time
        length = 14 * plan.pace
        if chance.random() < plan.crashes:
            self._plan_crash(length)
        if chance.random() < plan.cuts:
            time.call_later(chance.uniform(0, length), self._pull)
        if chance.random() < plan.noise:
            self._disturb()
        if chance.random() < plan.outages:
            time.call_later(chance.uniform(0, length), self._broker_away)
        if chance.random() < plan.disk_failures and not self._cut_planned:
            self._fail_disk()
        if chance.random() < plan.slow_disk:
            self._slow_until = time.now + chance.choice((1.0, 10.0))
            self.counts["slow spells of the disk"] += 1
        if chance.random() < plan.clock_steps:
            time.wall_offset_ns += chance.choice((-3_600, -2, 2, 86_400 * 365)) * 1_000_000_000
            time.synced = chance.random() < 0.7
            self.counts["clock steps"] += 1

    def _plan_crash(self, length):
        kind, chance = self._chance.random(), self._chance
        if kind < 0.3:
            self.time.call_later(chance.uniform(0, length), self._strike)
        elif kind < 0.8 or self._failing:
            self._doom = (chance.choice(POINTS), chance.randint(0, 12))
        else:
            self.disk.plan_cut(chance.randint(1, 60))
            self._cut_planned = True

    def _strike(self):
        if self.daemon is not None and not self._resting:
            self._die("at a moment")

    def _pull(self):
        if self.cable.plugged and not self._resting:
            self.note("the cable is pulled")
            self.time.call_later(self._chance.choice((0.05, 0.5, 2.0, 8.0)), self._plug)
            self.cable.pull()

    def _plug(self):
        self.note("the cable is plugged in")
        self.cable.plug()

    def _disturb(self):
        chance = self._chance
        self.counts["disturbances of the line"] += 1
        if chance.random() < 0.5:
            wire = chance.choice((self.cable.to_host, self.cable.to_shoe))
            most = 3 if self.plan.protocol == "open" else 1  # an Angel Eye says everything three times, and no more
            (wire.damage_next if chance.random() < 0.5 else wire.swallow_next)(chance.randint(1, most))
        else:
            self.note("the line is bad")
            self.cable.err(chance.choice(WIRES if self.plan.protocol == "open" else GENTLE_WIRES))
            self.time.call_later(chance.choice((1.0, 5.0, 20.0)), self.cable.err, GOOD_WIRE)

    def _broker_away(self):
        if self.broker.up and not self._resting:
            self.note("the broker is away")
            self.broker.go_down()
            self.time.call_later(self._chance.choice((0.1, 2.0, 30.0)), self.broker.come_up)

    def _fail_disk(self):
        code = self._chance.choice((SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_READONLY))
        self.note(f"the disk will fail ({code})")
        self.counts["disk failures"] += 1
        self._failing = True
        self.disk.plan_failure(self._chance.randint(1, 60), code)

    # --- the end ----------------------------------------------------------------------------------------------------

    def _come_to_rest(self):
        """Nothing goes wrong any more: everything that is under way must arrive."""
        self._resting = True
        self._doom = None
        self._slow_until = 0.0
        if self._failing or self._cut_planned:
            self.disk.go_on()
        self._cut_planned = False
        self.cable.err(GOOD_WIRE)
        self.cable.plug()
        self.broker.come_up()
        if not self._until(self._at_rest, REST_WITHIN):
            self.breach(f"it does not come to rest: {self._unrest()}")

    def _at_rest(self):
        daemon = self.daemon
        if daemon is None or not daemon.ready or self.twin.untold:
            return False
        last, table = self.auditor.next_seq - 1, daemon.controller.table
        heard = len(self.broker.events.events), len(self.broker.serial.events) if self.plan.serial else last
        if self.plan.late_consumer and len(self.broker.late.events) != last:
            return False
        return not (self.broker.terminal.waiting or table.waiting or table._busy) and heard == (last, last)

    def _unrest(self):
        daemon = self.daemon
        return (
            f"daemon {daemon and daemon.ready}, the shoe keeps {self.twin.untold} events, "
            f"{self.auditor.next_seq - 1} facts, {len(self.broker.events.events)} at the broker, "
            f"{len(self.broker.serial.events)} on the serial line, {len(self.broker.late.events)} with the late "
            f"consumer, {len(self.broker.terminal.waiting)} wagers unanswered"
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
        payloads = [encoder.encode(record) for record in records]
        if payloads != self.broker.events.events:
            self.breach("what the broker has is not what stands in the journal")
        if self.plan.serial and payloads != self.broker.serial.events:
            self.breach("what went over the serial line is not what stands in the journal")
        rounds = {
            record.seq: payload for record, payload in zip(records, payloads, strict=True) if record.type == "round"
        }
        if rounds != self.broker.rounds:
            self.breach("what the broker has on `rounds` is not what stands in the journal")

    def _end_in_good_order(self, *, verified):
        daemon = self.daemon
        daemon.controller.stop()
        while not daemon.task_done and self.time.turn():
            pass
        if daemon.exit_code() != 0:
            self.breach(f"the controller was stopped and ended with {daemon.exit_code()}")
        self._drops.update(daemon.drops)
        self.daemon = None
        self.machine.close_files()
        if verified:
            files = volumes.volume_paths(self.disk.folder / "journal")
            self.counts["volumes verified"] += len(files)
            found = verify(files, jobs=1)
            if not found.ok:
                self.breach(f"the journal does not verify: {found.problems}")
