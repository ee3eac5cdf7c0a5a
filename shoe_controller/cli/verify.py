"""Prove a journal: hash chain, signatures, and that replaying the inputs gives the recorded facts.

Takes one or several files, or folders, live or archived; the daemon may go on writing. Says exactly which entry is
wrong and how. Exit code 0 if all is sound, 1 if anything is wrong, 2 if the files are no journals.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from shoe_controller.cli.progress import progress_bar
from shoe_controller.errors import UsageError

if TYPE_CHECKING:
    from shoe_controller.journal.verification import Verification

EXAMPLES = """\
  shoe-controller verify /var/lib/shoe-controller/journal
  shoe-controller verify --public-key table.pub.pem journal-000000000001.db journal-000000004712.db
  shoe-controller verify --all-signatures --format json archive/ > report.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `verify`."""
    parser.add_argument("journal", nargs="+", type=Path, metavar="JOURNAL", help="a journal's folder, or files of it")
    parser.add_argument(
        "--public-key",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="the table's public key (PEM); may be given again for a key that was used earlier. "
        "Without it the keys that the journal itself lists are used",
    )
    parser.add_argument(
        "--all-signatures",
        action="store_true",
        help="check every signature one by one (slow), not only the last of each shoe, which vouches for the others",
    )
    parser.add_argument("--no-replay", action="store_true", help="check chain and signatures only")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="processes to use (default: one for each core)")
    parser.add_argument("--limit", type=_positive, default=20, metavar="N", help="problems to tell (default: 20)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to answer (default: text)")


def _positive(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return number


def run(args: argparse.Namespace) -> int:
    """Verify and tell."""
    from shoe_controller.journal.signing import read_public_key  # noqa: PLC0415 - only for this command
    from shoe_controller.journal.verification import verify  # noqa: PLC0415
    from shoe_controller.journal.volumes import files_of  # noqa: PLC0415

    files = files_of(args.journal)
    keys = [read_public_key(path).public_bytes_raw() for path in args.public_key]
    with progress_bar("verifying", sys.stderr) as progress:
        outcome = verify(
            files,
            public_keys=keys,
            all_signatures=args.all_signatures,
            derive=not args.no_replay,
            limit=args.limit,
            jobs=args.jobs,
            progress=progress,
        )
    if len(outcome.problems) == len(files) and all(problem.kind == "file" for problem in outcome.problems):
        raise UsageError(outcome.problems[0].what)
    if args.format == "json":
        import msgspec  # noqa: PLC0415

        print(msgspec.json.encode(outcome).decode())
    else:
        for line in _lines(outcome, replayed=not args.no_replay, all_signatures=args.all_signatures):
            print(line)
    return 0 if outcome.ok else 1


def _lines(outcome: "Verification", *, replayed: bool, all_signatures: bool) -> Iterator[str]:
    bad = set(outcome.problem_kinds)
    volumes = f"{len(outcome.volumes)} files" if len(outcome.volumes) > 1 else outcome.volumes[0]
    yield f"{volumes}: {outcome.entries:,} entries, {outcome.facts:,} facts, {outcome.rounds:,} rounds announced"
    yield f"  hash chain  {_verdict(not bad & {'hash', 'link', 'gap', 'origin', 'seal', 'schema', 'file'})}"
    if outcome.signatures:
        how = "each one" if all_signatures else "the last of each shoe, which vouches for those before it"
        yield (
            f"  signatures  {_verdict('signature' not in bad)}, {outcome.signatures_checked:,} of "
            f"{outcome.signatures:,} checked ({how}), key {', '.join(outcome.keys)}"
        )
    else:
        yield "  signatures  none"
    if replayed:
        left = f", {outcome.not_derived:,} entries not replayed" if outcome.not_derived else ""
        yield f"  replay      {_verdict('facts' not in bad)}, {outcome.derived:,} inputs give the recorded facts{left}"
    else:
        yield "  replay      not done"
    for note in outcome.notes:
        yield f"  note: {note}"
    if outcome.ok:
        yield "The journal is sound."
        return
    yield f"The journal is NOT sound: {outcome.problem_count:,} problem{'s' if outcome.problem_count > 1 else ''}."
    for problem in outcome.problems:
        yield f"  {problem}"
    if outcome.problem_count > len(outcome.problems):
        yield f"  … and {outcome.problem_count - len(outcome.problems):,} more"


def _verdict(good: bool) -> str:
    return "sound" if good else "NOT SOUND"
