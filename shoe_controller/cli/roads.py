"""Print the scoreboard roads of a shoe.

Bead plate, big road, big eye boy, small road and cockroach pig, what the next banker or player win would add, and the
counts of the shoe.

FILE is a text of results, a journal's file or its folder; '-' reads a text from standard input. In a text B, P and T
are the results in order; a small b or p after a letter marks a banker or a player pair; spaces, commas and line ends
are skipped and '#' starts a comment. Of a journal the last shoe is shown, or the one named with --shoe.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from shoe_controller.errors import UsageError

if TYPE_CHECKING:
    from shoe_controller.roads.grid import Tail
    from shoe_controller.roads.roads import RoadsView
    from shoe_controller.roads.scoreboard import Statistics

EXAMPLES = """\
  echo 'B B Pp T P Bb' | shoe-controller roads -
  shoe-controller roads shoe.txt --tail stay --format json
  shoe-controller roads /var/lib/shoe-controller/journal --shoe S-0412"""

# A text of results is a few hundred bytes; what is much larger is something else.
MAX_TEXT = 10_000_000
SQLITE_MAGIC = b"SQLite format 3\x00"
_LAST = 2**63 - 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `roads`."""
    parser.add_argument("file", metavar="FILE|-", help="a text of B, P and T, or a journal; '-' is standard input")
    parser.add_argument(
        "--tail",
        choices=("redrop", "stay"),
        default="redrop",
        help="a dragon tail drops again where the cell below is free (redrop, the default), or stays on its row",
    )
    parser.add_argument("--shoe", metavar="ID", help="the shoe of a journal to show (default: the last)")
    parser.add_argument("--format", choices=("json", "text"), default="text", help="how to print (default: text)")


def run(args: argparse.Namespace) -> int:
    """Print the roads."""
    import msgspec  # noqa: PLC0415 - only for this command

    from shoe_controller.roads.text import roads_text, statistics_text  # noqa: PLC0415

    if args.file != "-" and _is_journal(Path(args.file)):
        view, statistics = _from_journal(Path(args.file), args.shoe, args.tail)
    elif args.shoe is not None:
        raise UsageError("--shoe names a shoe of a journal, but a text of results is one shoe.")
    else:
        view, statistics = _from_text(args.file, args.tail)
    if args.format == "json":
        print(msgspec.json.encode(msgspec.to_builtins(view) | {"statistics": statistics}).decode())
    else:
        print(roads_text(view) + "\n" + statistics_text(statistics), end="")
    return 0


def _from_text(name: str, tail: "Tail") -> "tuple[RoadsView, Statistics]":
    from shoe_controller.roads.bead import RoadsError, parse_beads  # noqa: PLC0415
    from shoe_controller.roads.roads import Roads  # noqa: PLC0415
    from shoe_controller.roads.scoreboard import statistics_of  # noqa: PLC0415

    try:
        roads = Roads(tail, parse_beads(_text(name)))
    except RoadsError as error:
        raise UsageError(f"{name}: {error}.") from error
    return roads.view(), statistics_of(roads.beads)


def _text(name: str) -> str:
    try:
        if name == "-":
            data = sys.stdin.buffer.read(MAX_TEXT + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(MAX_TEXT + 1)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}.") from error
    if len(data) > MAX_TEXT:
        raise UsageError(f"{name} is larger than {MAX_TEXT:,} bytes, so it is no text of results.")
    try:
        return data.decode("ascii")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is no text of results: byte {error.start} is no letter of B, P or T.") from error


def _is_journal(path: Path) -> bool:
    if path.is_dir():
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def _from_journal(path: Path, shoe: str | None, tail: "Tail") -> "tuple[RoadsView, Statistics]":
    import msgspec  # noqa: PLC0415

    from shoe_controller.journal.exporting import entries_between, records, shoe_bounds  # noqa: PLC0415
    from shoe_controller.journal.planning import Findings, look_at_volumes  # noqa: PLC0415
    from shoe_controller.journal.volumes import files_of  # noqa: PLC0415
    from shoe_controller.roads.scoreboard import Scoreboard  # noqa: PLC0415
    from shoe_controller.session.facts import Round  # noqa: PLC0415

    findings = Findings()
    known = look_at_volumes(files_of([path]), findings)
    unreadable = [problem for problem in findings.problems if problem.kind == "file"]
    if unreadable:
        raise UsageError(f"{unreadable[0].volume}: {unreadable[0].what}")
    if shoe is None:
        first, last = max((seq for one in known for seq in one.shoes), default=0), _LAST
        if not first:
            raise UsageError(f"no shoe came into play in {path}.")
    else:
        first, last = shoe_bounds(known, shoe)
    board = Scoreboard(tail)
    for record in records(entries_between(known, first, last), "rounds", first, last):
        board.take(msgspec.json.decode(record.fact, type=Round))
    return board.roads(), board.statistics()
