"""Play one world again: `python -m tests.simulation --seed N [--rounds R]`."""

import argparse
import sys

from tests.simulation.plan import ROUNDS, plan_for
from tests.simulation.shrink import failure_report
from tests.simulation.world import play


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--lie", action="store_true", help="let the disk lie about its syncs: something must be found")
    args = parser.parse_args()
    outcome = play(plan_for(args.seed, args.rounds), lie=args.lie)
    print(outcome.plan)
    for name, count in sorted((outcome.counts + outcome.irregularities).items()):
        print(f"  {name:45} {count:>9,}")
    speed = outcome.hours * 3600 / outcome.seconds
    print(f"{outcome.hours:.2f} h in {outcome.seconds:.2f} s: {speed:,.0f} times real time")
    if outcome.breach:
        print(outcome.breach if args.lie else failure_report(outcome))
    return 1 if outcome.breach else 0


if __name__ == "__main__":
    sys.exit(main())
