"""Verification of whole journals: which files belong together, what each worker verifies, what comes out.

Signatures: each entry's link contains the signature of the one before, so a good signature vouches for every entry
and every signature before it. By default the last signature of each shoe and of the journal is checked, which
proves the same as checking all, and where one is not good those before it are checked one by one.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import msgspec

from shoe_controller.journal.check import Problem
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.planning import (
    Findings,
    KnownVolume,
    check_seal,
    look_at_volumes,
    runs,
    stretches,
)
from shoe_controller.journal.signing import key_id
from shoe_controller.journal.stretch import Plan, Result, Stretch, verify_stretch

# Below this, starting workers costs more than they save.
PARALLEL_FACTS = 200_000

Progress = Callable[[int, int], None]


class Verification(msgspec.Struct, kw_only=True):
    """What a verification looked at and what it found."""

    ok: bool = True
    volumes: list[str] = []
    entries: int = 0
    facts: int = 0
    rounds: int = 0
    signatures: int = 0
    signatures_checked: int = 0
    keys: list[str] = []
    keys_given: bool = False
    derived: int = 0
    not_derived: int = 0
    problem_count: int = 0
    problem_kinds: list[str] = []
    problems: list[Problem] = []
    notes: list[str] = []


def verify(
    files: Sequence[Path],
    *,
    public_keys: Sequence[bytes] = (),
    all_signatures: bool = False,
    derive: bool = True,
    limit: int = 20,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Verify volumes, in whatever order they are named."""
    findings = Findings()
    known = look_at_volumes(files, findings)
    keys = {name: public for one in known for name, public in one.keys.items()}
    if public_keys:
        keys = {key_id(public): public for public in public_keys}
    plan = Plan(keys=keys, all_signatures=all_signatures, derive=derive, limit=limit)
    work: list[Stretch] = []
    for run in runs(known, findings):
        for one in run:
            check_seal(one, keys, findings)
        work += stretches(run, findings)
    total = sum(one.next_seq - one.volume.first_seq for one in known)
    results: list[Result] = []
    done = 0
    for result in _work(work, plan, jobs=jobs, facts=total):
        results.append(result)
        done += result.facts
        if progress:
            progress(done, total)
    outcome = Verification(
        volumes=[str(path) for path in files],
        keys_given=bool(public_keys),
        problems=findings.problems,
        notes=findings.notes,
    )
    _conclude(outcome, results, known, limit)
    return outcome


def _work(work: list[Stretch], plan: Plan, *, jobs: int | None, facts: int) -> Iterator[Result]:
    workers = jobs or (len(os.sched_getaffinity(0)) if facts >= PARALLEL_FACTS else 1)
    if workers == 1 or len(work) == 1:
        for stretch in work:
            yield verify_stretch(stretch, plan)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        pending = [pool.submit(verify_stretch, stretch, plan) for stretch in work]
        try:
            for future in as_completed(pending):
                yield future.result()
        except BrokenProcessPool as error:
            raise JournalError("a worker process ended before it was done; try again with --jobs 1") from error
        finally:
            for future in pending:
                future.cancel()


def _conclude(outcome: Verification, results: list[Result], known: list[KnownVolume], limit: int) -> None:
    for name in ("entries", "facts", "rounds", "signatures", "signatures_checked"):
        setattr(outcome, name, sum(getattr(result, name) for result in results))
    outcome.not_derived = sum(result.underived for result in results)
    outcome.derived = outcome.entries - outcome.not_derived
    outcome.keys = sorted({key.hex() for result in results for key in result.keys})
    kinds = {problem.kind for problem in outcome.problems}
    outcome.problem_kinds = sorted(kinds.union(*(result.problem_kinds for result in results)))
    outcome.problem_count = len(outcome.problems) + sum(result.problem_count for result in results)
    outcome.problems += [problem for result in results for problem in result.problems]
    outcome.problems.sort(key=lambda problem: (problem.seq is not None, problem.seq or 0))
    del outcome.problems[limit:]
    outcome.ok = not outcome.problem_count
    others = sum(result.other_version for result in results)
    if others:
        outcome.notes.append(
            f"{others} entries were written by another version of the program; their meaning is the same"
        )
    newest = max((one.next_seq - 1 for one in known), default=0)
    signed = max((result.last_signed for result in results), default=0)
    if outcome.signatures == 0 and outcome.entries:
        outcome.notes.append("nothing in it is signed: the chain shows damage, but not who wrote it")
    elif outcome.entries and not known[-1].volume.sealed and newest > signed:
        outcome.notes.append(f"the facts after {signed} are not signed yet")
    if outcome.signatures and not outcome.keys_given:
        outcome.notes.append(
            "signatures were checked with the keys that the journal itself lists; "
            "give --public-key with the table's key to prove who signed"
        )
