"""Play a table script and print what the rules say: results, irregularities, settlements.

A script has one thing that happened at the table per line. FILE may be - for standard input.
"""

import argparse
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from shoe_controller.errors import UsageError

EXAMPLES = """\
  shoe-controller replay incident.table
  printf 'shoe no-commission decks=8\\nbets\\nclose\\ncard 9h\\n' | shoe-controller replay - --format json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE", help="the script, or - for standard input")
    parser.add_argument(
        "--format", choices=("text", "json"), help="text for people, json a line a fact (default: text on a terminal)"
    )
    parser.add_argument("--all", action="store_true", help="print every fact, cards and calls too")


def run(args: argparse.Namespace) -> int:
    """Play the script."""
    from shoe_controller.replay import replay  # noqa: PLC0415 (loaded only when asked for)

    chosen = args.format or ("text" if sys.stdout.isatty() else "json")
    with _opened(args.file) as file:
        # Whoever writes the script may wait for our answer: nothing stays in a buffer unless the input is a file.
        at_once = not stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        _print(replay(_lines(file, args.file), args.file, everything=args.all), chosen, at_once=at_once)
    return 0


def _opened(name: str) -> "AbstractContextManager[BinaryIO]":
    if name == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from error


def _lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield lines, none longer than the script allows by much: a file without line ends must not fill the memory."""
    from shoe_controller.replay import LONGEST_LINE  # noqa: PLC0415

    try:
        yield from iter(lambda: file.readline(LONGEST_LINE + 2), b"")
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from error


def _print(facts: "Iterator[object]", chosen: str, *, at_once: bool) -> None:
    import msgspec  # noqa: PLC0415

    from shoe_controller.words import tell  # noqa: PLC0415

    out = sys.stdout.buffer
    encode = msgspec.json.Encoder().encode
    try:
        for fact in facts:
            out.write(encode(fact) if chosen == "json" else tell(fact).encode())  # type: ignore[arg-type]
            out.write(b"\n")
            if at_once:
                out.flush()
    finally:
        out.flush()
