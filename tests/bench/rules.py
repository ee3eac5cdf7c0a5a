"""Rules kernel: complete rounds a second, against PyBaccarat.

A round is dealt card by card from a shuffled shoe to whom `next_card` says, and its outcome holds the winner, whether
it is a natural, and every winning wager with its odds. PyBaccarat 0.18 deals, draws and finds the winner; it knows no
wagers. Both play 66 rounds of each of the same number of shoes, shuffled before, again and again.
"""

import random
import statistics
from collections.abc import Iterator
from functools import partial

from shoe_controller.rules.games import RuleSet, load_all
from shoe_controller.rules.play import next_card
from tests.bench import pybaccarat
from tests.bench.figures import PROCESSOR, Figure, Options, Target, interleaved, ratio

SHOES = 8
TIMES = 25  # each shoe is played again: few shoes stay in the processor's caches, which suits PyBaccarat best
ROUNDS = 66
SEED = 7


def shuffled_shoes(rules: RuleSet) -> list[list[str]]:
    """Return shuffled shoes of eight decks."""
    chance = random.Random(SEED)
    shoes = [list(rules.deck.faces) * 8 for _ in range(SHOES)]
    for shoe in shoes:
        chance.shuffle(shoe)
    return shoes


def play(rules: RuleSet, shoes: list[list[str]]) -> None:
    """Play complete rounds with their winning wagers."""
    for shoe in shoes * TIMES:
        draw = iter(shoe).__next__
        for _ in range(ROUNDS):
            player: tuple[str, ...] = ()
            banker: tuple[str, ...] = ()
            side = next_card(player, banker)
            while side:
                if side == "player":
                    player = (*player, draw())
                else:
                    banker = (*banker, draw())
                side = next_card(player, banker)
            rules.outcome(player, banker)


def measure(options: Options) -> Iterator[Figure]:
    their_shoes, play_theirs = pybaccarat.shoes(SHOES, SEED)

    def theirs() -> None:
        for shoe in their_shoes * TIMES:
            play_theirs(shoe, ROUNDS)

    for game, rules in load_all().items():
        taken = interleaved(
            {"ours": partial(play, rules, shuffled_shoes(rules)), "PyBaccarat": theirs}, clock=PROCESSOR
        )
        rounds = SHOES * TIMES * ROUNDS
        yield Figure(
            game,
            "rounds/s",
            rounds / statistics.median(taken["ours"]),
            rounds / statistics.median(taken["PyBaccarat"]),
            ratio(taken["PyBaccarat"], taken["ours"]),
            Target("ratio", ">", 1),
        )
