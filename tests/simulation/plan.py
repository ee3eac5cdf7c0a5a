"""The plan of one world: which game is played and how often what goes wrong. The seed decides it."""

from dataclasses import dataclass, replace
from random import Random

from drivers.simulated.wire import WireFaults

ROUNDS = 100  # of one world, unless somebody says otherwise
ANGEL_EYE_GAMES = ("no-commission", "fortune-six", "sands-super")
GAMES = ("no-commission", "fortune-six", "sands-elements", "six-star", "sands-super")
WIRES = (
    WireFaults(lose=0.002),
    WireFaults(flip=0.002),
    WireFaults(drop=0.1),
    WireFaults(repeat=0.2),
    WireFaults(reorder=0.2),
    WireFaults(late=0.3),
    WireFaults(split=True),
    WireFaults(lose=0.001, flip=0.001, drop=0.05, repeat=0.05, reorder=0.05, late=0.2, split=True),
)
# What three copies of everything survive: an Angel Eye keeps nothing that could be asked for again.
GENTLE_WIRES = (WireFaults(repeat=0.2), WireFaults(late=0.1), WireFaults(split=True))
ANGEL_EYE_ONE_IN = 16
DISPLAY_ONE_IN = 7
TOO_MANY = 12


@dataclass(frozen=True)
class Plan:
    """Rates are for each round of play, unless they say otherwise."""

    seed: int
    rounds: int = ROUNDS
    protocol: str = "open"
    game: str = "no-commission"
    decks: int = 4
    cut_card: int = 150
    burn: object = "none"
    surplus: str = "next-round"
    early_card: str = "decision"
    rounds_after_cut: int = 1
    rounding: str = "half-up"
    archive: str = "size"
    key: bool = False
    too_many: int = 0  # copies of one face in the shoe of an Angel Eye
    engine: str = "transitions"
    serial: bool = False
    display: str = ""  # what is revealed on it; empty: there is none
    late_consumer: bool = False  # one that misses events and asks for them again
    terminal: bool = False  # wagers come over the network
    wagers: tuple = (0, 1, 2, 3)
    pace: float = 0.6  # seconds between two things that people do, on average
    quick: float = 0.0  # share of initial deals that are drawn at once
    slips: float = 0.01  # share of things that people do wrong
    crashes: float = 0.1
    cuts: float = 0.1
    noise: float = 0.02
    outages: float = 0.02
    disk_failures: float = 0.005
    slow_disk: float = 0.002
    clock_steps: float = 0.002


def plan_for(seed, rounds=ROUNDS):
    """Draw the plan of a seed."""
    plan = _open_plan(seed, rounds)
    if seed % DISPLAY_ONE_IN == 3:
        plan = replace(plan, display=("as-drawn", "on-result")[seed // DISPLAY_ONE_IN % 2])
    if seed % ANGEL_EYE_ONE_IN != 1:
        return plan
    # It speaks of 52 cards only, has no word for an empty shoe, and what it says while nobody listens is gone.
    game = plan.game if plan.game in ANGEL_EYE_GAMES else "fortune-six"
    too_many = TOO_MANY if seed // ANGEL_EYE_ONE_IN % 3 == 0 else 0
    shoe = {"cut_card": 120, "burn": "none", "key": False, "too_many": too_many}
    return replace(plan, protocol="angel-eye", game=game, **shoe)


def _open_plan(seed, rounds):
    chance = Random(f"{seed}/plan")
    deck = chance.choice(GAMES)
    size = 65 if deck in ("sands-elements", "six-star") else 52
    decks = 4
    cards = decks * size
    # Most shoes are short, so that a restart has not much to replay; some are played to their end.
    played = chance.choice((40, 40, 40, 60, 60, 80, cards - 16, cards))
    return Plan(
        seed=seed,
        rounds=rounds,
        game=deck,
        decks=decks,
        cut_card=cards - played,
        burn=chance.choice(("none", "none", "first-card", "decks", 1, 8)),
        surplus=chance.choice(("next-round", "burn")),
        early_card=chance.choice(("decision", "decision", "first-card", "void")),
        rounds_after_cut=chance.choice((0, 1, 1, 1, 2)),
        rounding=chance.choice(("half-up", "half-even", "down", "up")),
        archive=chance.choice(("size", "size", "size", "never", "shoe")),
        key=chance.random() < 0.12,
        # The engine of the table in one of six worlds, its twin, which is built much faster, in the others.
        engine="transitions" if chance.random() < 1 / 6 else "table",
        late_consumer=chance.random() < 0.1,
        terminal=chance.random() < 0.06,
        serial=chance.random() < 0.07,
        wagers=chance.choice(((0,), (0, 1), (0, 1, 2), (1, 2, 3, 4))),
        pace=chance.choice((0.3, 0.5, 0.6, 0.8)),
        quick=chance.choice((0.0, 0.8, 1.0, 1.0)),
        slips=chance.choice((0.0, 0.005, 0.01, 0.01, 0.02, 0.02, 0.04, 0.1)),
        crashes=chance.choice((0.08, 0.09, 0.12, 0.15)) if played < cards / 2 else 0.05,
        cuts=chance.choice((0.05, 0.1, 0.12, 0.2)),
        noise=chance.choice((0.0, 0.02, 0.05)),
        outages=chance.choice((0.0, 0.02, 0.05)),
        disk_failures=chance.choice((0.0, 0.005, 0.01)),
        slow_disk=chance.choice((0.0, 0.0, 0.01)),
        clock_steps=chance.choice((0.0, 0.01)),
    )
