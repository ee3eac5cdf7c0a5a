"""Hazards: what goes wrong around the table, as often as the plan says. Each round draws its own."""

from drivers.simulated.wire import GOOD_WIRE
from tests.simulation.plan import GENTLE_WIRES, WIRES

ACTS_IN_A_ROUND = 14
UNPLUGGED = (0.05, 0.5, 2.0, 8.0)
FORGETS = 0.1
LINE_IS_BAD = (1.0, 5.0, 20.0)
BROKER_IS_AWAY = (0.1, 2.0, 30.0)
DISK_IS_SLOW = (1.0, 10.0)
CLOCK_STEPS = (-3_600, -2, 2, 86_400 * 365)  # seconds


class Hazards:
    """Cable, line, broker, disk, clock and the daemon itself."""

    def __init__(self, world, lives, chance):
        self._world = world
        self._lives = lives
        self._chance = chance

    def round_begins(self):
        """Decide what goes wrong in this round."""
        world, chance = self._world, self._chance
        plan, later = world.plan, world.time.call_later
        length = ACTS_IN_A_ROUND * plan.pace
        if chance.random() < plan.crashes:
            self._lives.plan_death(length)
        if chance.random() < plan.cuts:
            later(chance.uniform(0, length), self._pull)
        if chance.random() < plan.noise:
            self._disturb()
        if chance.random() < plan.outages:
            later(chance.uniform(0, length), self._broker_away)
        if chance.random() < plan.disk_failures:
            self._lives.fail_disk()
        if chance.random() < plan.slow_disk:
            self._lives.slow_disk(chance.choice(DISK_IS_SLOW))
        if chance.random() < plan.clock_steps:
            self._step_clock()

    def _pull(self):
        cable = self._world.cable
        if cable.plugged and not self._world.resting:
            self._world.note("the cable is pulled")
            self._world.time.call_later(self._chance.choice(UNPLUGGED), self._plug)
            cable.pull()

    def _plug(self):
        if self._chance.random() < FORGETS and self._world.plan.protocol == "open":
            self._world.at_shoe("reboot forget")  # it had no power, and its memory needs some
        self._world.note("the cable is plugged in")
        self._world.cable.plug()

    def _disturb(self):
        world, cable, chance = self._world, self._world.cable, self._chance
        keeps = world.plan.protocol == "open"  # an Angel Eye says everything three times, and no more
        world.counts["disturbances of the line"] += 1
        if chance.random() < 0.5:
            wire = chance.choice((cable.to_host, cable.to_shoe))
            (wire.damage_next if chance.random() < 0.5 else wire.swallow_next)(chance.randint(1, 3 if keeps else 1))
        else:
            world.note("the line is bad")
            cable.err(chance.choice(WIRES if keeps else GENTLE_WIRES))
            world.time.call_later(chance.choice(LINE_IS_BAD), cable.err, GOOD_WIRE)

    def _broker_away(self):
        broker = self._world.broker
        if broker.up and not self._world.resting:
            self._world.note("the broker is away")
            broker.go_down()
            self._world.time.call_later(self._chance.choice(BROKER_IS_AWAY), broker.come_up)

    def _step_clock(self):
        time = self._world.time
        time.wall_offset_ns += self._chance.choice(CLOCK_STEPS) * 1_000_000_000
        time.synced = self._chance.random() < 0.7
        self._world.counts["clock steps"] += 1
