"""Mutation check: faults put one at a time into rules, machine and protocol decoder; the tests must notice 90 %.

One number reproduces a run: `python -m tests.soak mutation --seed N --size FACTOR`. The seed chooses which faults are
tried if not all are. docs/mutation.md says why each survivor may live; at full size its figures are written anew.
"""

import os
import platform
import re
import signal
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from random import Random

from tests.mutation.changes import faults_of, with_fault
from tests.mutation.row_changes import PATH as ROWS_PATH
from tests.mutation.row_changes import row_faults, with_row_fault
from tests.mutation.trial import NOT_LOADED, PASSED, ROOT, fork_trial, watch

NAME = "mutation"
LEAST_NOTICED = 0.90
AT_ONCE = 2
PAGE = ROOT / "docs" / "mutation.md"
FIGURES_BEGIN, FIGURES_END = "<!-- the last full run: written by it -->", "<!-- the end of what it wrote -->"

SOURCES = {
    "rules": ["shoe_controller/rules/*.py"],
    "machine": [*(f"shoe_controller/machine/{name}.py" for name in ("engines", "lean", "states")), ROWS_PATH],
    "rows": [ROWS_PATH],
    "decoder": [
        *(f"firmware_protocol/{name}.py" for name in ("cobs", "crc", "frames", "card_block", "messages", "delivery")),
        *(f"firmware_protocol/{name}.py" for name in ("fields", "happenings", "commands", "greeting", "auth")),
        *(f"firmware_protocol/angel_eye_{name}.py" for name in ("frames", "messages", "copies", "operations")),
    ],
}
SESSION_TESTS = ["tests/session/test_clauses.py", "tests/session/test_examples.py"]
TESTS = {
    "rules": ["tests/rules/test_*.py", *SESSION_TESTS],
    "machine": ["tests/machine/test_*.py", "tests/session/test_*.py"],
    "rows": ["tests/machine/test_*.py", "tests/session/test_*.py"],
    "decoder": ["tests/firmware_protocol/test_*.py"],
}
# They build the C library and play for minutes: the campaigns of their own do that.
TOO_SLOW = {"tests/firmware_protocol/test_c_reference.py", "tests/firmware_protocol/test_broken_wires.py"}


def found(patterns):
    files = [str(path.relative_to(ROOT)) for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    return [file for file in files if file not in TOO_SLOW and not file.endswith("__init__.py")]


class Part:
    """One part of the program: its faults, and what its tests pass over."""

    def __init__(self, name, seed):
        self.name = name
        self.sources = {path: (ROOT / path).read_text(encoding="utf-8") for path in found(SOURCES[name])}
        self.lines = {}
        if name == "rows":
            self.lines = dict(row_faults(seed))
            self.faults = list(self.lines)
        else:
            self.faults = [fault for path, source in self.sources.items() for fault in faults_of(path, source)]

    def watch(self):
        self.seen = {file: _watched(file) for file in found(TESTS[self.name])}

    def code(self, fault):
        source = self.sources[fault.path]
        tree = with_row_fault(source, self.lines[fault]) if fault in self.lines else with_fault(source, fault)
        return compile(tree, str(ROOT / fault.path), "exec")

    def tests_of(self, fault):
        """Give the files of tests that pass over a fault, and their tests: those that pass over it and are quick first.

        All tests of such a file take part: a fixture or a remembered value may have carried what one test passed over
        to the next.
        """
        files, first, rest = [], {}, {}
        for file, seen in self.seen.items():
            passing = self._over_cell(fault, file, seen) if self.name == "rows" else self._over_line(fault, seen)
            if passing is None:
                continue
            files.append(file)
            for test, seconds in seen["seconds"].items():
                (first if test in passing else rest)[test] = seconds
        return files, dict(sorted(first.items(), key=lambda item: item[1])) | rest

    def _over_cell(self, fault, file, seen):
        """Give the tests of a file that play through the cell of a row, or that read the table and play nothing."""
        _, source, trigger, *_ = fault.name.split()
        passing = seen["cells"].get((source, trigger))
        if not file.startswith("tests/machine/"):
            return passing
        return (passing or set()) | set(seen["seconds"]).difference(*seen["cells"].values())

    def _over_line(self, fault, seen):
        """Give the tests of a file that pass over a fault, or None if none does, not even by loading the module."""
        lines = seen["lines"][fault.path]
        if not lines:
            return None
        return lines.get(fault.line, None if fault.line in _function_lines(self, fault) else set())


@cache
def _watched(file):
    return watch(file, [path for patterns in SOURCES.values() for path in found(patterns)])


def _function_lines(part, fault):
    """Lines that some test passes over: a fault on any other line runs when the module is loaded."""
    return {line for seen in part.seen.values() for line in seen["lines"][fault.path]}


def run(report):
    chance = Random(report.seed)
    survivors = []
    there_are, tried, noticed, not_loaded = Counter(), Counter(), Counter(), Counter()
    for name in SOURCES:
        part = Part(name, report.seed)
        there_are[name] = len(part.faults)
        chosen = chance.sample(part.faults, min(there_are[name], report.sized(there_are[name])))
        report.say(f"{name}: {len(chosen):,} of {there_are[name]:,} faults")
        part.watch()
        for fault, ended in trials(part, chosen):
            if ended == NOT_LOADED:
                not_loaded[name] += 1
                continue
            tried[name] += 1
            noticed[name] += ended != PASSED
            if ended == PASSED:
                survivors.append(fault)
                report.say(f"survived {fault.name}   [line {fault.line}, {fault.kind}]")
        report.figure(f"{name}: faults tried", tried[name])
        report.figure(f"{name}: noticed %", 100 * noticed[name] / max(1, tried[name]))
    page = PAGE.read_text(encoding="utf-8")
    explained = reasons(page)
    unexplained = [fault for fault in survivors if fault.name not in explained]
    score = noticed.total() / max(1, tried.total())
    report.figure("faults tried", tried.total())
    report.figure("not counted: would not load", not_loaded.total())
    report.figure("noticed", noticed.total())
    report.figure("survivors", len(survivors))
    report.figure("survivors without a reason", len(unexplained))
    report.figure("noticed %", 100 * score)
    for fault in unexplained:
        report.say(f"no reason in {PAGE.name}: {fault.name}")
    if report.size >= 1:
        for name in explained - {fault.name for fault in survivors}:
            report.say(f"a reason in {PAGE.name} that is no longer needed: {name}")
        figures = document(there_are, tried, noticed, unexplained, report)
        PAGE.write_text(with_figures(page, figures), encoding="utf-8")
        report.say(f"written to {PAGE.name}")
    if score < LEAST_NOTICED:
        report.fault(f"the tests notice {score:.1%} of the faults; {LEAST_NOTICED:.0%} is the least")
    return score >= LEAST_NOTICED


def reasons(page):
    """Give the names of the survivors that the page has a reason for: lines like "* `name`: reason"."""
    return set(re.findall(r"^\* `(.+)`: \S", page, re.MULTILINE))


def document(there_are, tried, noticed, unexplained, report):
    """Give what a run of all faults found, as it stands in docs."""
    rows = [(name, there_are[name], tried[name], noticed[name]) for name in there_are]
    rows.append(("all", there_are.total(), tried.total(), noticed.total()))
    lines = [
        f"All faults, seed {report.seed}, tried on {datetime.now(UTC):%Y-%m-%d} in {report.seconds / 60:.0f} minutes,",
        f"{AT_ONCE} at a time on {os.cpu_count()} cores ({platform.machine()}, Python {platform.python_version()}).",
        "",
        "| part | faults | would not load | tried | noticed | survivors | noticed % |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, faults, trials_made, found in rows:
        left, share = trials_made - found, 100 * found / max(1, trials_made)
        lines.append(
            f"| {name} | {faults:,} | {faults - trials_made:,} | {trials_made:,} | {found:,} | {left:,} | {share:.2f} |"
        )
    lines += ["", f"Survivors without a reason in the list below: {len(unexplained)}.", ""]
    lines += [f"- `{fault.name}`" for fault in unexplained]
    return "\n".join(lines).rstrip()


def with_figures(page, figures):
    """Give the page with new figures between its two marks."""
    before, _, rest = page.partition(FIGURES_BEGIN)
    _, end, after = rest.partition(FIGURES_END)
    if not end:
        raise ValueError(f"{PAGE.name} has no place for the figures: its marks are gone")
    return f"{before}{FIGURES_BEGIN}\n\n{figures}\n\n{FIGURES_END}{after}"


def trials(part, faults):
    """Yield each fault with the exit status of its trial; some run at a time."""
    running = {}
    waiting = list(reversed(faults))
    try:
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                fault = waiting.pop()
                files, order = part.tests_of(fault)
                if files:
                    running[fork_trial(fault.path, part.code(fault), files, order)] = fault
                else:
                    yield fault, PASSED
            if running:
                child, status = os.wait()
                if child in running:
                    yield running.pop(child), os.waitstatus_to_exitcode(status)
    finally:
        for child in running:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
