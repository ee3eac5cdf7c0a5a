"""Odds: exact probabilities and house edges of every wager of a game, from a fresh start of the program."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from shoe_controller.rules.games import load_all
from tests.bench.figures import Figure, Options, interleaved

PAIRS = 7


def run(*words: str) -> None:
    subprocess.run([Path(sys.executable).with_name("shoe-controller"), *words], capture_output=True, check=True)


def measure(options: Options) -> Iterator[Figure]:
    works = {game: partial(run, "odds", game, "--decks", "8") for game in load_all()}
    works["--version"] = partial(run, "--version")
    taken = interleaved(works, PAIRS)
    start = median(taken.pop("--version"))
    for game, times in taken.items():
        yield Figure(f"odds {game} --decks 8", "s", median(times), start, note="floor: --version")
