"""The daemon killed 2,000 times, at random moments and at named points: no card lost or doubled, no seq missing."""

import tempfile
from itertools import cycle
from pathlib import Path

from tests.broker import program
from tests.system.killing import kills_at, random_kills
from tests.system.rigged_daemon import POINTS

NAME = "kills"
KILLS = 2_000  # half of them at random moments, with a broker and a subscriber
BATCH = 50  # deaths of one table; then the next seed, another game and other troubles of the shoe
GAMES = ("no-commission", "fortune-six", "sands-elements", "six-star", "sands-super")
TROUBLES = ("", "together=0.05,pushback=0.04,unreadable=0.06,surplus=0.1,jam=0.02,lid=0.02")


def run(report):
    try:
        program("mosquitto", "mosquitto")
    except AssertionError as error:
        report.fault(str(error))
        return False
    half = report.sized(KILLS) // 2
    at_random = batches(half, (random_kills,))
    at_points = batches(report.sized(KILLS) - half, [at_point(point) for point in POINTS])
    totals = {"kills at random moments": 0, "kills at named points": 0, "cards": 0, "rounds": 0, "facts": 0}
    for name, plan in zip(list(totals), (at_random, at_points), strict=False):
        for number, (kill, kills) in enumerate(plan):
            facts = one_table(report, kill, kills, number)
            totals[name] += kills
            totals["facts"] += len(facts)
            totals["cards"] += sum(fact["type"] == "card" for fact in facts)
            totals["rounds"] += sum(fact["type"] == "round" for fact in facts)
            if number % 5 == 4:
                report.say(f"{name}: {totals[name]:,}")
    for name, total in totals.items():
        report.figure(name, total)
    report.figure("tables with something lost or doubled", len(report.faults))
    return True


def batches(kills, ways):
    """Yield (way, kills) until there are enough, each way in turn."""
    for way in cycle(ways):
        if kills <= 0:
            return
        yield way, min(kills, BATCH)
        kills -= BATCH


def at_point(point):
    def kill(folder, kills, seed, **table):
        return kills_at(point, folder, kills, seed, **table)

    kill.__name__ = f"kills {point}"
    return kill


def one_table(report, kill, kills, number):
    """Let a table die so many times; return its facts, none if anything was wrong."""
    seed = report.seed * 1_000 + number
    table = {"game": GAMES[number % len(GAMES)], "faults": TROUBLES[number % len(TROUBLES)]}
    with tempfile.TemporaryDirectory() as folder:
        try:
            return kill(Path(folder), kills, seed, **table)
        except AssertionError as error:
            log = Path(folder) / "daemon.log"
            last = log.read_text()[-1500:] if log.exists() else ""
            report.fault(f"{kill.__name__}, seed {seed}, {table}: {error}\n{last}")
            return []
