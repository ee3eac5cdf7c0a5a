"""Replay: lines of a table script a second, from the file to the printed facts.

The floor reads the same lines and prints as many lines of JSON of the same size, and knows nothing of baccarat.
"""

import io
import random
import statistics
from collections.abc import Iterator

import msgspec

from shoe_controller.replay import replay
from shoe_controller.script import to_line
from shoe_controller.session.session import Session
from tests.bench.figures import PROCESSOR, Figure, Options, interleaved, ratio
from tests.journal.table import shoe_inputs

SHOES = 30


def script() -> list[bytes]:
    """Return the lines of shoes that a dealer played, with a wager of three players in each round."""
    session, chance = Session("table"), random.Random(3)
    lines = []
    for number in range(SHOES):
        for happened in shoe_inputs(session, chance, name=f"S{number}", wagers=3, trouble=0.0005):
            session.handle(happened)
            lines.append((to_line(happened) or "#").encode() + b"\n")
    return lines


def plain(lines: list[bytes]) -> list[bytes]:
    """Return the script as a person writes it: cards without ids, no wagers."""
    return [line.partition(b" uid=")[0].rstrip() + b"\n" for line in lines if not line.startswith(b"wager")]


def measure(options: Options) -> Iterator[Figure]:
    exported = script()
    yield _figure("a script as a person writes it", plain(exported))
    yield _figure("an exported one, with ids and wagers", exported)


def _figure(name: str, lines: list[bytes]) -> Figure:
    encode = msgspec.json.Encoder().encode
    printed = [encode(fact) for fact in replay(lines, "bench")]

    def ours() -> None:
        out = io.BytesIO()
        for fact in replay(lines, "bench"):
            out.write(encode(fact))
            out.write(b"\n")

    def floor() -> None:
        out = io.BytesIO()
        for line in lines:
            line.decode().split()
        for text in printed:
            out.write(encode(msgspec.json.decode(text)))
            out.write(b"\n")

    taken = interleaved({"ours": ours, "floor": floor}, clock=PROCESSOR)
    speeds = {kind: len(lines) / statistics.median(times) for kind, times in taken.items()}
    share = ratio(taken["floor"], taken["ours"])
    return Figure(name, "lines/s", speeds["ours"], speeds["floor"], share, note=f"{len(lines):,} lines")
