"""Tries single faults: `python -m tests.mutation "odds.py _draw_two"` those with this text in their name."""

import argparse
import sys

from tests.mutation.trial import NOT_LOADED, PASSED
from tests.soak.mutation import SOURCES, Part, trials

WORDS = {PASSED: "survived", NOT_LOADED: "not loaded"}


def main(argv: list[str] | None = None) -> int:
    """Try every fault that is named; exit code 1 if one survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("texts", nargs="+", metavar="TEXT", help="a fault's name, or any part of it")
    parser.add_argument("--seed", type=int, default=1, help="where rows lead instead is chosen by it")
    args = parser.parse_args(argv)
    survived = 0
    for name in SOURCES:
        part = Part(name, args.seed)
        faults = [fault for fault in part.faults if any(text in fault.name for text in args.texts)]
        if not faults:
            continue
        part.watch()
        for fault, ended in trials(part, faults):
            survived += ended == PASSED
            print(f"{WORDS.get(ended, 'noticed'):<10} {fault.name}", flush=True)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
