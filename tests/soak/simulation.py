"""Worlds that try to break the table: a million rounds, a hundred thousand crashes and cable cuts, no breach.

A world is a seed; `python -m tests.simulation --seed N` plays one again. At full size docs/campaign.md is written anew.
"""

import gc
from collections import Counter
from multiprocessing import get_context
from pathlib import Path

from tests.bench.machine import this_machine
from tests.simulation.plan import ROUNDS, plan_for
from tests.simulation.shrink import failure_report
from tests.simulation.world import play

NAME = "simulation"
WORLDS = 10_000
WORKERS = 2
VERIFY_ONE_IN = 10  # the whole journal of every world is compared with what was published; verified is one in so many
DOCUMENT = Path(__file__).parents[2] / "docs" / "campaign.md"
TOLD = 25  # words about progress
# Then the next process begins. Nothing is collected in one: what is left of its worlds, some 5 MB each, goes with it.
WORLDS_IN_A_PROCESS = 150


def one_world(seed):
    """Play a world in a worker; give what is to be added up, and the report of a failure."""
    outcome = play(plan_for(seed), check=seed % VERIFY_ONE_IN == 0, tidy=False)
    found = failure_report(outcome) if outcome.breach else ""
    return outcome.counts, outcome.irregularities, outcome.hours, outcome.seconds, found


def run(report):
    worlds, machine = report.sized(WORLDS), this_machine()
    seeds = range(report.seed * 1_000_000, report.seed * 1_000_000 + worlds)
    report.say(f"{worlds:,} worlds of {ROUNDS} rounds in {WORKERS} processes, seeds from {seeds[0]}")
    counts, kinds, hours, busy, breaches = Counter(), Counter(), 0.0, 0.0, 0
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with context.Pool(WORKERS, initializer=gc.disable, maxtasksperchild=WORLDS_IN_A_PROCESS) as workers:
        for done, world in enumerate(workers.imap_unordered(one_world, seeds), 1):
            world_counts, world_kinds, world_hours, seconds, found = world
            counts += world_counts
            kinds += world_kinds
            hours += world_hours
            busy += seconds
            if found:
                breaches += 1
                report.fault(found)
            if done % max(1, worlds // TOLD) == 0:
                report.say(f"{done:,} worlds, {counts['rounds begun']:,} rounds, {counts['crashes']:,} crashes")
    figures = {
        "seeds": worlds,
        "simulated hours": round(hours),
        "times real time, by a process's own time": round(hours * 3600 / busy),
        "milliseconds of processor time a round": round(busy * 1000 / counts["rounds begun"], 2),
        "rounds": counts["rounds begun"],
        "crashes": counts["crashes"],
        "cable cuts": counts["cable cuts"],
        "broker outages": counts["broker outages"],
        "bad frames": counts["bad frames"],
        "irregularities": kinds.total(),
        "invariant breaches": breaches,
    }
    for name, value in figures.items():
        report.figure(name, value)
    if report.size >= 1:
        DOCUMENT.write_text(document(figures, counts, kinds, seeds, report.seconds, machine))
        report.say(f"written to {DOCUMENT.name}")
    return not breaches


def document(figures, counts, kinds, seeds, seconds, machine):
    """Give the report of a campaign as it stands in docs."""
    crashes = {name.removeprefix("crashes "): n for name, n in counts.items() if name.startswith("crashes ")}
    also = ("facts", "shoes", "void rounds", "clean rounds", "device events", "refusals", "settlements", "wagers")
    also += ("wagers over the network", "repeated wagers")
    disk = ("power cuts", "kills", "unsynced writes at power cuts", "unsynced writes lost or torn", "disk failures")
    disk += (
        "unsynced names of files lost",
        "starts on a failing disk",
        "ends for a failing disk",
        "slow spells of the disk",
        "volumes verified",
    )
    shown = ("facts on the display", "states of the display")
    line = (
        "losses of the shoe's memory",
        "events that the shoe forgot",
        "deals stopped for cards that nobody heard of",
        "results although a card is missing, by a supervisor's word",
        "disturbances of the line",
        "repeated messages",
        "requests for missed events",
        "clock steps",
    )
    kinds_of_worlds = sorted(name for name in counts if name.startswith("rounds with "))
    parts = [
        "# The last campaign of the simulated world",
        "",
        "What `make soak` measured, written by it (`tests/soak/simulation.py`). How the world works, what goes wrong",
        "in it and what must hold all the same is in [simulation.md](simulation.md).",
        "",
        f"Begun {machine.when} at {machine.commit}, and played in {seconds / 60:.1f} minutes by {WORKERS} processes on",
        f"{machine.cores} cores ({machine.processor}, Python {machine.python}, SQLite {machine.sqlite}).",
        f"Seeds {seeds[0]} to {seeds[-1]}, {ROUNDS} rounds each. One of them again:",
        f"`python -m tests.simulation --seed {seeds[0]}`.",
        "",
        *_table("", figures),
        *_table("Irregularities by kind", dict(sorted(kinds.items()))),
        *_table("Crashes by where they struck", dict(sorted(crashes.items()))),
        *_table("The disk", {name: counts[name] for name in disk}),
        *_table("The lines", {name: counts[name] for name in line}),
        *_table("What was played", {name: counts[name] for name in (*also, *shown, *kinds_of_worlds)}),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _table(title, figures):
    head = [f"## {title}", ""] if title else []
    return [*head, "| | |", "|---|---:|", *(f"| {name} | {value:,} |" for name, value in figures.items()), ""]
