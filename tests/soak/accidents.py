"""Accidents of cable, host and device at every byte of a round, and many in one shoe: each card arrives once."""

from random import Random

from firmware_protocol.events import EventsMissing
from tests.firmware_protocol.test_broken_wires import ACCIDENTS, ROUND, breaks, rig_that_breaks
from tests.firmware_protocol.wires import KEY, BrokenWire, Rig, shoe

NAME = "accidents"
RUNS = 2_000
CARDS = 100  # of one run
LONGEST_PIECE = 1_500  # bytes from one accident to the next, at most


def run(report):
    for words, key in (("open", None), ("sealed", KEY)):
        places = breaks(key)
        places = Random(report.seed).sample(places, report.sized(len(places)) if report.size < 1 else len(places))
        for name, accident in ACCIDENTS.items():
            for direction, after in places:
                fault = one_accident(direction, after, accident, key)
                if fault:
                    report.fault(f"{words} round, {name} at byte {after} to the {direction}: {fault}")
        report.figure(f"places, {words}", len(places))
    report.figure("kinds of accident", len(ACCIDENTS))
    runs = report.sized(RUNS)
    report.say(f"{runs:,} runs of {CARDS} cards with one accident after the other")
    happened = 0
    for seed in range(report.seed, report.seed + runs):
        count, fault = many_accidents(seed)
        happened += count
        if fault:
            report.fault(f"many accidents, seed {seed}: {fault}")
    report.figure("runs", runs)
    report.figure("accidents in them", happened)
    return True


def one_accident(direction, after, accident, key):
    rig = rig_that_breaks(direction, after, accident, key)
    return went_wrong(rig, ROUND)


def many_accidents(seed):
    """Play a run in which an accident follows the other, in both directions; give how many, and what went wrong."""
    chance = Random(seed)
    rig = Rig(key=chance.choice((None, KEY)), seed=seed)
    rig.commit_after = chance.choice((0.0, 0.002, 0.1))
    cards = shoe(CARDS, seed)
    count = 0

    def arm(direction):
        wire = BrokenWire(chance.randrange(LONGEST_PIECE), lambda: strike(direction))
        setattr(rig, f"to_{direction}", wire)

    def strike(direction):
        nonlocal count
        count += 1
        arm(direction)
        chance.choice(list(ACCIDENTS.values()))(rig)

    arm("host")
    arm("device")
    rig.deal(cards, every=0.05)
    fault = went_wrong(rig, cards)
    return count, fault


def went_wrong(rig, happenings):
    try:
        rig.run_until(lambda: len(rig.journal) >= len(happenings) and not rig.device.memory, 600)
    except AssertionError as error:
        return str(error)
    if rig.happenings() != happenings:
        return "what arrived is not what was dealt"
    return "the host missed events" if rig.seen(EventsMissing) else ""
