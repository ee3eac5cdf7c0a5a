"""Mutation check: faults put one at a time into rules, machine and protocol decoder; the tests must notice 90 %.

One number reproduces a run: `python -m tests.soak mutation --seed N --size FACTOR`. The seed chooses which faults are
tried if not all are; docs/mutation.md says what the last campaign found and why each survivor may live.
"""

import os
import signal
from collections import Counter
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
FULL = {"rules": 600, "machine": 400, "rows": 500, "decoder": 1400}  # faults tried of each part, if there are as many

SOURCES = {
    "rules": ["shoe_controller/rules/*.py"],
    "machine": ["shoe_controller/machine/engines.py", ROWS_PATH, "shoe_controller/machine/states.py"],
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
            passing = self._passing(fault, seen)
            if passing is None:
                continue
            files.append(file)
            for test, seconds in seen["seconds"].items():
                (first if test in passing else rest)[test] = seconds
        return files, dict(sorted(first.items(), key=lambda item: item[1])) | rest

    def _passing(self, fault, seen):
        """Give the tests of a file that pass over a fault, or None if none does, not even by loading the module."""
        lines = seen["lines"][fault.path]
        if not lines:
            return None
        if self.name == "rows":
            _, source, trigger, *_ = fault.name.split()
            return seen["cells"].get((source, trigger), set() if not seen["cells"] else None)
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
    tried, noticed, not_loaded = Counter(), Counter(), Counter()
    for name in SOURCES:
        part = Part(name, report.seed)
        chosen = chance.sample(part.faults, min(len(part.faults), report.sized(FULL[name])))
        report.say(f"{name}: {len(chosen):,} of {len(part.faults):,} faults")
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
    explained = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    unexplained = [fault for fault in survivors if f"`{fault.name}`" not in explained]
    score = noticed.total() / max(1, tried.total())
    report.figure("faults tried", tried.total())
    report.figure("not counted: would not load", not_loaded.total())
    report.figure("noticed", noticed.total())
    report.figure("survivors", len(survivors))
    report.figure("survivors without a reason", len(unexplained))
    report.figure("noticed %", 100 * score)
    for fault in unexplained:
        report.say(f"no reason in {PAGE.name}: {fault.name}")
    if score < LEAST_NOTICED:
        report.fault(f"the tests notice {score:.1%} of the faults; {LEAST_NOTICED:.0%} is the least")
    return score >= LEAST_NOTICED


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
