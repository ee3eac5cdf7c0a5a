"""Runs the campaigns of this folder one after the other and ends with a table; exit code 1 if any failed."""

import argparse
import importlib
import pkgutil
import sys
import traceback
from pathlib import Path

from tests.soak.report import Report, written

FOLDER = Path(__file__).parent
NOT_CAMPAIGNS = {"__main__", "report"}


def find_campaigns(package="tests.soak", folder=FOLDER):
    """Give the campaigns by name; a module that cannot be loaded is a campaign that fails."""
    found = {}
    for module in sorted(pkgutil.iter_modules([str(folder)]), key=lambda module: module.name):
        if module.name in NOT_CAMPAIGNS:
            continue
        try:
            loaded = importlib.import_module(f"{package}.{module.name}")
        except Exception:  # noqa: BLE001 - told in its place in the table
            found[module.name] = NotLoaded(module.name, traceback.format_exc())
            continue
        if hasattr(loaded, "NAME") and hasattr(loaded, "run"):
            found[loaded.NAME] = loaded
    return found


class NotLoaded:
    """Stands for a module that cannot be imported."""

    def __init__(self, name, trace):
        self.__doc__ = f"cannot be loaded: {trace.splitlines()[-1]}"
        self.NAME = name
        self._trace = trace

    def run(self, report):
        report.fault(f"the module cannot be loaded\n{self._trace}")
        return False


def run_campaign(campaign, report):
    report.say(summary(campaign))
    try:
        passed = campaign.run(report)
    except Exception:  # noqa: BLE001 - one campaign that breaks must not take the others along
        report.fault(f"the campaign itself broke\n{traceback.format_exc()}")
        passed = False
    return bool(passed) and not report.faults


def summary(campaign):
    return (campaign.__doc__ or "").strip().split("\n", maxsplit=1)[0]


def table(results):
    lines = [f"{'campaign':<16} {'':<6} {'seconds':>8}  figures"]
    for report, passed, seconds in results:
        figures = ", ".join(f"{name} {written(value)}" for name, value in report.figures.items())
        lines.append(f"{report.name:<16} {'ok' if passed else 'FAILED':<6} {seconds:>8.1f}  {figures}")
        lines += [f"{'':<16} fault: {fault.splitlines()[0]}" for fault in report.faults[:5]]
        if len(report.faults) > 5:
            lines.append(f"{'':<16} and {len(report.faults) - 5:,} faults more")
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="the campaigns to run (default: all)")
    parser.add_argument("--list", action="store_true", help="say which campaigns there are")
    parser.add_argument("--seed", type=int, default=1, help="one number reproduces a run (default: %(default)s)")
    parser.add_argument("--size", type=float, default=1.0, metavar="FACTOR", help="0.01: a hundredth of each campaign")
    args = parser.parse_args(argv)
    campaigns = find_campaigns()
    if args.list:
        for name, campaign in campaigns.items():
            print(f"{name:<16} {summary(campaign)}")
        return 0
    unknown = [name for name in args.names if name not in campaigns]
    if unknown:
        parser.error(f"no campaign {', '.join(unknown)}; there are {', '.join(campaigns)}")
    results = []
    try:
        for name in args.names or campaigns:
            report = Report(name, seed=args.seed, size=args.size)
            passed = run_campaign(campaigns[name], report)
            results.append((report, passed, report.seconds))
    finally:  # Ctrl-C: what is known so far is told
        print("\n" + table(results))
    return 0 if all(passed for _, passed, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
