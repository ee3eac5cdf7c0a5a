"""PyBaccarat, the fastest engine in Python that we know of: fetched from PyPI, pinned, and used by this bench only.

Its sdist cannot be installed on Linux (its setup imports a module of Windows), so it is unpacked and imported as it is,
with a stand-in for that module: the functions which are measured never call it.
"""

import hashlib
import importlib
import io
import random
import sys
import tarfile
import types
import urllib.request
from collections.abc import Callable
from typing import Any

from tests.bench.figures import BUILD

VERSION = "0.18"
URL = (
    "https://files.pythonhosted.org/packages/e7/f7/6271fbbf797e5daa578dfc231e8d45ee189375d537a3783b6b773ea645b9/"
    f"pybaccarat-{VERSION}.tar.gz"
)
SHA256 = "a7b754f8c485598c3aa6b7c8ef08c72fa9d10c4d358f93c5d44d5015380fe29c"
FOLDER = BUILD / f"pybaccarat-{VERSION}"


def fetch() -> None:
    """Unpack the pinned sdist below build/, once."""
    if FOLDER.exists():
        return
    with urllib.request.urlopen(URL, timeout=60) as answer:
        archive = answer.read()
    if hashlib.sha256(archive).hexdigest() != SHA256:
        raise AssertionError(f"{URL} is not the file that this bench was written for")
    BUILD.mkdir(exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(BUILD, filter="data")


def shoes(number: int, seed: int) -> tuple[list[Any], Callable[[Any, int], None]]:
    """Return shuffled shoes of eight decks, and a function that plays rounds from one as the engine's own loop does."""
    fetch()
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    sys.modules.setdefault("msvcrt", types.SimpleNamespace(getch=None))  # type: ignore[arg-type]
    baccarat = importlib.import_module("pybaccarat.baccarat")
    playingcards = importlib.import_module("pybaccarat.playingcards")
    random.seed(seed)
    shuffled = [playingcards.Shoe(8) for _ in range(number)]
    for shoe in shuffled:
        shoe.shuffle()

    def play(shoe: Any, rounds: int) -> None:
        shoe.reset()
        player, banker = baccarat.Hand(), baccarat.Hand()
        game = baccarat.Game(shoe=shoe, player=player, banker=banker)
        for _ in range(rounds):
            player.empty()
            banker.empty()
            game.play_hand()

    return shuffled, play
