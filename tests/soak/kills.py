"""The daemon killed 2,000 times, at random moments and at named points: no card lost or doubled, no seq missing."""

import os
import tempfile
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from tests.broker import program
from tests.system.killing import kills_at, random_kills
from tests.system.rigged_daemon import POINTS

NAME = "kills"
KILLS = 2_000  # half of them at random moments, with a broker and a subscriber
BATCH = 50  # deaths of one table; then the next seed, another game and other troubles of the shoe
GAMES = ("no-commission", "fortune-six", "sands-elements", "six-star", "sands-super")
TROUBLES = ("", "together=0.05,pushback=0.04,unreadable=0.06,surplus=0.1,jam=0.02,lid=0.02")
RANDOM = "at random moments"


class Order(NamedTuple):
    """A table that is to die so many times in one way."""

    way: str  # RANDOM or a named point
    kills: int
    seed: int
    game: str
    troubles: str


def run(report):
    try:
        program("mosquitto", "mosquitto")
    except AssertionError as error:
        report.fault(str(error))
        return False
    kills = report.sized(KILLS)
    plan = [*orders((RANDOM,), kills // 2, report.seed), *orders(tuple(POINTS), kills - kills // 2, report.seed)]
    report.say(f"{kills:,} kills at {len(plan)} tables, {os.cpu_count()} at a time")
    totals = Counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        tables = {pool.submit(die, order): order for order in plan}
        for number, table in enumerate(as_completed(tables), 1):
            order, (counts, fault) = tables[table], table.result()
            totals += Counter(counts) + Counter({f"kills {order.way}": order.kills})
            if fault:
                report.fault(f"{order}: {fault}")
            if number % 5 == 0:
                report.say(f"{number} tables of {len(plan)}")
    for name in (f"kills {RANDOM}", *(f"kills {point}" for point in POINTS), "cards", "rounds", "facts"):
        report.figure(name, totals[name])
    report.figure("tables with something lost, doubled or changed", len(report.faults))
    return True


def orders(ways, kills, seed):
    """Yield orders until there are enough kills, each way in turn."""
    for number, way in enumerate(cycle(ways)):
        if kills <= 0:
            return
        game, troubles = GAMES[number % len(GAMES)], TROUBLES[number % len(TROUBLES)]
        yield Order(way, min(kills, BATCH), seed * 1_000 + number, game, troubles)
        kills -= BATCH


def die(order):
    """Let a table die as ordered; return what it recorded, and in words what is wrong with that."""
    table = {"game": order.game, "faults": order.troubles}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            if order.way == RANDOM:
                facts = random_kills(folder, order.kills, order.seed, **table)
            else:
                facts = kills_at(order.way, folder, order.kills, order.seed, **table)
        except AssertionError as error:
            log = folder / "daemon.log"
            words = str(error).partition("\n")[0] or "what must hold does not"
            told = log.read_text()[-1500:] if log.exists() else ""
            return {}, f"{words}\n{traceback.format_exc()}\n{told}"
    types = Counter(fact["type"] for fact in facts)
    return {"cards": types["card"], "rounds": types["round"], "facts": len(facts)}, ""
