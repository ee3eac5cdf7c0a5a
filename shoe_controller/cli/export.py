"""Write what a journal holds as CSV, as JSON lines, or as a table script that replays to the same rounds.

Takes one or several files, or folders, live or archived. CSV and JSON lines carry, for each fact, its number, the time
and whether the clock was synchronised, the source, and the raw frame in hexadecimal where a shoe sent one.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from shoe_controller.cli.progress import Report, progress_bar
from shoe_controller.errors import UsageError

if TYPE_CHECKING:
    from shoe_controller.journal.planning import KnownVolume

EXAMPLES = """\
  shoe-controller export /var/lib/shoe-controller/journal --what rounds > rounds.csv
  shoe-controller export journal/ --what cards --format jsonl --from shoe=S-0412 --to shoe=S-0412
  shoe-controller export journal/ --format script --from shoe=S-0412 | shoe-controller replay -"""

_LAST = 2**63 - 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `export`."""
    parser.add_argument("journal", nargs="+", type=Path, metavar="JOURNAL", help="a journal's folder, or files of it")
    parser.add_argument(
        "--what",
        choices=("rounds", "cards", "irregularities", "events"),
        default="rounds",
        help="what to write (default: rounds); 'events' is every fact",
    )
    parser.add_argument(
        "--format",
        choices=("csv", "jsonl", "script"),
        default="csv",
        help="csv (default), one JSON object a line, or a table script of all that happened",
    )
    for name, words in (("from", "first"), ("to", "last")):
        parser.add_argument(
            f"--{name}",
            dest=f"{name}_place",
            type=_place,
            metavar="PLACE",
            help=f"the {words} fact, by its number, or 'shoe=ID'",
        )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to a file, not to standard output")


def _place(text: str) -> int | str:
    if text.startswith("shoe="):
        return text.removeprefix("shoe=")
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is neither the number of a fact nor shoe=ID")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Export."""
    from shoe_controller.journal.planning import Findings, look_at_volumes  # noqa: PLC0415 - only for this command
    from shoe_controller.journal.volumes import files_of  # noqa: PLC0415

    findings = Findings()
    known = look_at_volumes(files_of(args.journal), findings)
    unreadable = [problem for problem in findings.problems if problem.kind == "file"]
    if unreadable:
        raise UsageError(f"{unreadable[0].volume}: {unreadable[0].what}")
    first, last = _bounds(known, args.from_place, args.to_place)
    with ExitStack() as stack:
        output = sys.stdout
        if args.output:
            try:
                output = stack.enter_context(args.output.open("w", encoding="utf-8", newline=""))
            except OSError as error:
                raise UsageError(f"{args.output} cannot be written: {error.strerror}") from error
        # A bar between lines of output on the same terminal would spoil both.
        hidden = output is sys.stdout and sys.stdout.isatty()
        report = None if hidden else stack.enter_context(progress_bar("exporting", sys.stderr))
        for text in _texts(args, known, first, last, report):
            output.write(text)
    return 0


def _bounds(known: "list[KnownVolume]", from_place: int | str | None, to_place: int | str | None) -> tuple[int, int]:
    from shoe_controller.journal.exporting import shoe_bounds  # noqa: PLC0415

    first, last = 1, _LAST
    if from_place is not None:
        first = shoe_bounds(known, from_place)[0] if isinstance(from_place, str) else from_place
    if to_place is not None:
        last = shoe_bounds(known, to_place)[1] if isinstance(to_place, str) else to_place
    if first > last:
        raise UsageError(f"nothing lies between {first} and {last}: --from is after --to")
    return first, last


def _texts(
    args: argparse.Namespace, known: "list[KnownVolume]", first: int, last: int, report: Report | None
) -> Iterator[str]:
    from shoe_controller.journal import exporting  # noqa: PLC0415

    entries = exporting.entries_between(known, first, last, report)
    if args.format == "script":
        from shoe_controller.journal.scripting import script_lines  # noqa: PLC0415

        return script_lines(entries)
    found = exporting.records(entries, args.what, first, last)
    return exporting.json_lines(found) if args.format == "jsonl" else exporting.csv_lines(found, args.what)
