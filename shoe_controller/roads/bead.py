"""One result as the roads see it, and the notation in which people write a row of results.

`B`, `P` and `T` are banker, player and tie; a small `b` or `p` after the letter marks a banker or a player pair.
Spaces, commas and line ends separate nothing and are skipped; `#` starts a comment to the end of the line.
Example: `B Pp T Bbp` is a banker, a player with a player pair, a tie, and a banker with both pairs.
"""

from collections.abc import Iterator
from typing import Literal, cast

import msgspec

Letter = Literal["B", "P", "T"]
PairLetter = Literal["B", "P"]


class RoadsError(ValueError):
    """A row of results is not as it must be; the text is a sentence that says where."""


class Bead(msgspec.Struct, frozen=True):
    """A round that has a result. `pairs` names the hands whose first two cards are a pair, banker first."""

    winner: Letter
    pairs: tuple[PairLetter, ...] = ()


def bead(winner: str, *, player_pair: bool = False, banker_pair: bool = False) -> Bead:
    """Return the bead of a round won by `player`, `banker` or `tie`."""
    pairs = {letter for letter, there in (("b", banker_pair), ("p", player_pair)) if there}
    return _made({"banker": "B", "player": "P", "tie": "T"}[winner], pairs)


def parse_beads(text: str) -> Iterator[Bead]:
    """Yield the beads of a text in the notation above; raise RoadsError with line and column at the first slip."""
    winner = ""
    pairs: set[str] = set()
    for line_number, line in enumerate(text.splitlines(), 1):
        for column, letter in enumerate(line.partition("#")[0], 1):
            if letter in "BPT":
                if winner:
                    yield _made(winner, pairs)
                winner, pairs = letter, set()
            elif letter in "bp":
                if not winner or letter in pairs:
                    fault = "is given twice" if winner else "comes before any result"
                    msg = f"line {line_number}, column {column}: the pair mark {letter!r} {fault}"
                    raise RoadsError(msg)
                pairs.add(letter)
            elif not (letter.isspace() or letter == ","):
                msg = (
                    f"line {line_number}, column {column}: {letter!r} is no result; "
                    "write B, P or T, and b or p after it for a pair"
                )
                raise RoadsError(msg)
    if winner:
        yield _made(winner, pairs)


def _made(winner: str, pairs: set[str]) -> Bead:
    return Bead(cast("Letter", winner), tuple(cast("PairLetter", letter.upper()) for letter in "bp" if letter in pairs))
