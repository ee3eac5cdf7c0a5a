"""Figures as people read them: lines in a terminal, and docs/performance.md."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests.bench.figures import Figure
from tests.bench.machine import Machine

DOCS = Path(__file__).parents[2] / "docs" / "performance.md"

INTRODUCTION = """\
# Performance as measured

`make bench` measures each subject against a floor in the same run where there is one. Decoder, rules, replay and
verify are medians of nine interleaved pairs; a card's way and growth alternate card by card; the display's floor, the
daemon's and those of the odds are taken beside, not in pairs, and the long runs of `verify` are single ones.
`.venv/bin/python -m tests.bench --full` does the same at full size, and `--write-docs` wrote this page from what it
found. Nothing on it was typed by hand. Read the ratios: they travel between machines, the times do not, and with
other work on the machine (its load stands under each table) times are worse than they need be. Work that only
computes, in one process, is counted in processor time.

On a real Pi, with the table's controller stopped: `shoe-controller bench --directory /var/lib/shoe-controller` measures
rules, disk (how long a card waits, what it writes), start, memory and CPU there, and says whether limits are kept.
"""


class Subject(msgspec.Struct, frozen=True):
    """What was measured of one subject, and where."""

    name: str
    what: str
    machine: Machine
    figures: list[Figure]


def heading(docstring: str) -> str:
    """Return the first line of a bench's docstring, over the columns."""
    title = docstring.strip().splitlines()[0]
    columns = f"  {'':44}{'ours':>12}{'floor':>12}{'ratio':>8}  {'target':<10}"
    return f"\n{title}\n{columns.rstrip()}"


def line(figure: Figure) -> str:
    """Return a figure as a line of a terminal's table."""
    cells = (
        f"  {figure.name + ', ' + figure.unit:<44}",
        f"{number(figure.ours):>12}",
        f"{number(figure.floor) if figure.floor is not None else '':>12}",
        f"{f'{figure.ratio:.2f}' if figure.ratio is not None else '':>8}",
        f"  {figure.target or ''!s:<10}",
        f" {verdict(figure)}",
        f"  ({figure.note})" if figure.note else "",
    )
    return "".join(cells).rstrip()


def verdict(figure: Figure) -> str:
    """Return whether the target is met, in one word."""
    return {None: "", True: "met", False: "MISSED"}[figure.met]


def number(value: float) -> str:
    """Return a value with three digits that matter, or all of a large one."""
    if value >= 1000:
        return f"{value:,.0f}"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def described(docstring: str) -> str:
    """Return a bench's docstring as paragraphs, its title first."""
    title, _, rest = docstring.strip().partition("\n")
    paragraphs = [" ".join(part.split()) for part in rest.strip().split("\n\n")]
    return "\n\n".join([title.rstrip("."), *filter(None, paragraphs)])


def write_docs(subjects: Sequence[Subject]) -> None:
    """Write docs/performance.md from what was measured."""
    parts = [INTRODUCTION]
    machines: list[Machine] = []
    for subject in subjects:
        title, _, rest = subject.what.partition("\n\n")
        parts.append(f"\n## {title}\n")
        if rest:
            parts.append(f"\n{rest}\n")
        parts.append("\n| | ours | floor | ratio | target | |\n|---|--:|--:|--:|---|---|\n")
        parts.extend(_row(figure) for figure in subject.figures)
        same = [number for number, one in enumerate(machines, 1) if _place(one) == _place(subject.machine)]
        if not same:
            machines.append(subject.machine)
        parts.append(
            f"\nMeasured {subject.machine.when} at {subject.machine.commit}, load {subject.machine.load:g}, "
            f"niceness {'not noted' if subject.machine.niceness is None else subject.machine.niceness}, "
            f"on machine {same[0] if same else len(machines)}.\n"
        )
    parts.append("\n## Machines\n\n")
    parts.extend(f"{place}. {_place(machine)}\n" for place, machine in enumerate(machines, 1))
    DOCS.write_text("".join(parts), encoding="utf-8")
    print(f"wrote {DOCS}")


def _row(figure: Figure) -> str:
    floor = number(figure.floor) if figure.floor is not None else ""
    ratio = f"{figure.ratio:.2f}" if figure.ratio is not None else ""
    name = figure.name + (f" ({figure.note})" if figure.note else "")
    target = str(figure.target) if figure.target else ""
    return f"| {name}, {figure.unit} | {number(figure.ours)} | {floor} | {ratio} | {target} | {verdict(figure)} |\n"


def _place(machine: Machine) -> str:
    return (
        f"{machine.processor}, {machine.cores} cores, {machine.memory_gb:g} GB, {machine.system}, "
        f"Python {machine.python}, SQLite {machine.sqlite}, {machine.openssl}, disk {machine.disk}"
    )
