"""The lives of the daemon: it starts, dies at any moment, and starts again from what the disk has kept."""

from asyncio import events

from shoe_controller.journal import reading
from shoe_controller.journal.codec import decode_facts, decode_input
from shoe_controller.journal.rows import entries_from
from tests.simulation.daemon import Daemon, PowerCut
from tests.simulation.disk import SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_READONLY

POINTS = (
    "before commit",
    "after commit, before publication",
    "after the feeds, before the display",
    "after publication, before the receipt",
    "after the receipt",
)
DIES_AT_NAMES = 0.05  # of the moments at which a file has got a name that is not durable yet
POWER_FAILS = 0.7  # of all crashes; the others are kills, after which the cache is still there
AWAY = (0.1, 0.5, 1.0, 7.0)  # seconds until it is started again
# Operations of the disk: a commit has about four, a start about sixty.
SOON = 60
TRIES_AGAIN_WITHIN = 5.0


class Lives:
    """Owns the daemon of a world, None while it is down, and what is planned for it."""

    def __init__(self, world, config, chance):
        self._world = world
        self._config = config
        self._chance = chance
        self.daemon = None
        self.failing = False  # the disk fails, or is about to
        self._giving_up = False
        self._doom = None  # (point, how often it is passed before)
        self._cut_planned = False
        self._slow_until = 0.0
        self._mended_at = -TRIES_AGAIN_WITHIN

    # --- up ---------------------------------------------------------------------------------------------------------

    def start(self):
        world, chance = self._world, self._chance
        world.note("the controller starts")
        if not world.resting:
            what = chance.random()
            if what < 0.03:
                if world.plan.crashes:
                    self.plan_cut()
            elif what < 0.03 + world.plan.disk_failures:
                self.fail_disk()
        self.daemon = Daemon(
            world.time,
            self._config,
            world.cable,
            world.broker,
            die_at=self._pass,
            on_commit=self._committed,
            aside_seconds=self._aside_seconds,
        )
        events._set_running_loop(self.daemon.loop)

    def opened(self, opened):
        """The daemon has read its journal and committed that it started: what is in it that nobody was told of?"""
        auditor, journal = self._world.auditor, opened.journal
        if journal.last_seq < auditor.next_seq - 1:
            self._world.breach(f"facts {journal.last_seq + 1} to {auditor.next_seq - 1} were committed and are gone")
        here = auditor.next_seq >= journal.volume.first_seq
        untold = entries_from(journal._connection, auditor.next_seq) if here else None
        head = auditor.head
        for entry in untold or reading.entries(journal.folder, auditor.next_seq):
            if head is not None and entry.prev != head:
                self._world.breach(f"entry {entry.seq} does not follow the last entry that was told")
            head = None  # the journal's own check has looked at the others
            self._audit(decode_input(entry.body), decode_facts(entry.facts), entry.device)
        if not self._world.twin.keeps:
            auditor.nobody_heard()
        auditor.head = journal.head
        auditor.check_view(opened.session.view())

    def _committed(self, committed):
        auditor = self._world.auditor
        for arrived, facts in zip(committed.batch, committed.facts, strict=True):
            self._audit(arrived.happened, facts, arrived.device)
        auditor.head = self.daemon.controller.journal.head
        if committed.seq != auditor.next_seq - 1:
            self._world.breach(f"told was fact {committed.seq}, the last is {auditor.next_seq - 1}")
        # The facts are compared each time; the whole view, which costs as much, now and then and after every start.
        auditor.check_view(committed.view, whole=auditor.next_seq % 8 == 0)
        if self._world.display is not None:
            self._world.display.committed(committed.view, committed.seq)
        self._world.committed()

    def _audit(self, happened, facts, device):
        auditor, display = self._world.auditor, self._world.display
        if display is not None:
            for seq, fact in enumerate(facts, auditor.next_seq):
                display.happened(seq, fact)
        auditor.entry(happened, facts, device)

    # --- down -------------------------------------------------------------------------------------------------------

    def look(self):
        """See whether it has ended, or the disk has."""
        if self._cut_planned and self._world.disk.dead:
            self.die("at a disk operation")
        elif self.daemon is not None and self.daemon.task_done:
            self._ended()

    def die(self, where):
        """The power fails, or somebody kills the program: then what is in the cache survives."""
        power = self._chance.random() < POWER_FAILS
        counts = self._world.counts
        self._world.note(f"{'power cut' if power else 'killed'} {where}")
        counts["crashes"] += 1
        counts[f"crashes {where}"] += 1
        counts["power cuts" if power else "kills"] += 1
        self.kill()
        if power:
            self._world.disk.lose_cache(self._chance.getrandbits(63))
            self._world.disk.lose_names(self._chance)
        self._world.time.call_later(self._chance.choice(AWAY), self.start)

    def kill(self):
        world, daemon, self.daemon = self._world, self.daemon, None
        if world.display is not None:
            world.display.gone()
        world.disk.stop()
        world.drops.update(daemon.drops)
        try:
            daemon.die()
        finally:
            world.machine.close_files()
            self.spare()
        world.cable.turn()

    def spare(self):
        """Nothing is planned any more, and the disk is well."""
        # A controller that has met the failing disk ends, however well the disk is by then.
        self._giving_up = self.failing and self.daemon is not None and bool(self.daemon.controller._problem)
        self._world.disk.go_on()
        self._doom = None
        self._cut_planned = self.failing = False
        self._slow_until = 0.0

    def _ended(self):
        """It ended by itself, which it must do when the journal fails, and only then."""
        world, daemon = self._world, self.daemon
        code = daemon.exit_code()
        if not (self.failing or self._giving_up) or code != 1:
            world.breach(f"the controller ended with {code}: {daemon.controller._problem or daemon.loop.defects}")
        world.note("the controller gave up because of the disk")
        world.counts["ends for a failing disk"] += 1
        self.kill()
        world.time.call_later(2.0, self.start)

    def check_condition(self):
        """A journal that cannot be opened although the disk is well is lost; one that cannot yet may be mended."""
        controller = self.daemon and self.daemon.controller
        if not controller or controller._condition != "fault":
            return
        if self.failing:
            self._world.note("somebody mends the disk")
            self._world.counts["starts on a failing disk"] += 1
            self.spare()
            self._mended_at = self._world.time.now
        elif not self._cut_planned and self._world.time.now - self._mended_at > TRIES_AGAIN_WITHIN:
            self._world.breach(f"the journal cannot be opened: {controller._problem}")

    # --- what is planned --------------------------------------------------------------------------------------------

    def plan_death(self, length):
        """Let it die within a round: at a moment, at a point of its work, or at an operation of the disk."""
        kind, chance = self._chance.random(), self._chance
        if kind < 0.3:
            self._world.time.call_later(chance.uniform(0, length), self._strike)
        elif kind < 0.8 or self.failing:
            self._doom = (chance.choice(POINTS), chance.randint(0, 12))
        else:
            self.plan_cut()

    def plan_cut(self):
        self._world.disk.plan_cut(self._chance.randint(1, SOON))
        self._cut_planned = True

    def fail_disk(self):
        """Let the disk fail soon; after a while somebody makes room, or mends it."""
        if self._cut_planned or self.failing:
            return
        code = self._chance.choice((SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_READONLY))
        self._world.note(f"the disk will fail ({code})")
        self._world.counts["disk failures"] += 1
        self.failing = True
        self._world.disk.plan_failure(self._chance.randint(1, SOON), code)

    def slow_disk(self, seconds):
        self._slow_until = self._world.time.now + seconds
        self._world.counts["slow spells of the disk"] += 1

    def _strike(self):
        if self.daemon is not None and not self._world.resting:
            self.die("at a moment")

    def _pass(self, point):
        """The daemon passes a point at which it may die."""
        if point == "before commit" and self._world.time.now < self._slow_until and not self._commits_aside():
            self._world.time.now += self._chance.choice((0.01, 0.03, 0.3))
        if self._doom is not None and self._doom[0] == point:
            left = self._doom[1]
            self._doom = (point, left - 1) if left else None
            if not left:
                raise PowerCut(point)

    def sync_folder(self, folder):
        """Make the names in a folder durable; just before is a good moment to die."""
        if not self._world.resting and self._world.plan.crashes and self._chance.random() < DIES_AT_NAMES:
            raise PowerCut("before a folder is synced")
        self._world.disk.sync_names(folder)

    def _commits_aside(self):
        play = self.daemon.controller.play
        return play is not None and play.table._busy

    def _aside_seconds(self):
        if self._world.time.now < self._slow_until:
            return self._chance.choice(((0.0, 0.5), (0.5, 0.0), (0.2, 0.2)))
        return (0.0, 0.001)
