"""The benches: each measures ours against a floor in the same run, interleaved, and says whether the target is met.

    python -m tests.bench                 every subject, short
    python -m tests.bench rules verify    these subjects
    python -m tests.bench --full          every subject, with the long ones at full size
    python -m tests.bench --write-docs    docs/performance.md from what was measured last

Figures go to build/bench.json, where a subject that was not measured again keeps the figures that it has.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence

import msgspec

from tests.bench import report
from tests.bench.figures import BUILD, Figure, Options
from tests.bench.machine import this_machine
from tests.bench.report import Subject

SUBJECTS = ("decoder", "rules", "verify", "replay", "odds", "card_path", "display", "growth", "daemon")
FILE = BUILD / "bench.json"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, keep; return 1 if a target is not met."""
    args = _arguments(argv)
    kept = _kept()
    if args.write_docs:
        report.write_docs([kept[name] for name in SUBJECTS if name in kept])
        return 0
    missed: list[str] = []
    for name in args.name or SUBJECTS:
        module = importlib.import_module(f"tests.bench.{name}")
        machine, figures = this_machine(), []
        print(report.heading(module.__doc__ or name))
        for figure in module.measure(Options(full=args.full)):
            figures.append(figure)
            print(report.line(figure), flush=True)
            if figure.met is False:
                missed.append(f"{name}: {figure.name}")
        kept[name] = Subject(name, report.described(module.__doc__ or name), machine, figures)
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1))
    for what in missed:
        print(f"target missed: {what}")
    return 1 if missed else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="*", choices=[*SUBJECTS, []], metavar="NAME", help=", ".join(SUBJECTS))
    parser.add_argument("--full", action="store_true", help="measure at full size: a million rounds where it matters")
    parser.add_argument("--write-docs", action="store_true", help="write docs/performance.md, measure nothing")
    return parser.parse_args(argv)


def _kept() -> dict[str, Subject]:
    try:
        return msgspec.json.decode(FILE.read_bytes(), type=dict[str, Subject])
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


__all__ = ["SUBJECTS", "Figure", "main"]

if __name__ == "__main__":
    sys.exit(main())
