"""The page of the mutation check: its figures are those of a run, and its reasons are of faults that there are."""

import io
from collections import Counter

import pytest

from tests.mutation.changes import Fault
from tests.soak.mutation import (
    FIGURES_BEGIN,
    FIGURES_END,
    PAGE,
    SOURCES,
    Part,
    document,
    reasons,
    with_figures,
)
from tests.soak.report import Report

SURVIVOR = Fault("one.py", 7, "comparison", "one.py f: a < 1 → a <= 1", 3)


def test_a_reason_stands_behind_the_name_of_its_fault():
    page = f"* `{SURVIVOR.name}`: it is so\n* `another`:\nand `a third`: in a sentence\n"
    assert reasons(page) == {SURVIVOR.name}


def test_every_reason_is_of_a_fault_that_there_is():
    faults = {fault.name for name in SOURCES for fault in Part(name, 1).faults}
    assert reasons(PAGE.read_text(encoding="utf-8")) <= faults


def test_figures_replace_those_of_the_run_before_and_nothing_else():
    page = f"before\n{FIGURES_BEGIN}\nold\n{FIGURES_END}\nafter\n"
    new = with_figures(page, "new")
    assert new == f"before\n{FIGURES_BEGIN}\n\nnew\n\n{FIGURES_END}\nafter\n"
    assert with_figures(new, "new") == new


def test_a_page_without_a_place_for_figures_is_told():
    with pytest.raises(ValueError, match="has no place for the figures"):
        with_figures("nothing", "new")


def test_the_page_has_a_place_for_figures():
    page = PAGE.read_text(encoding="utf-8")
    assert with_figures(page, "new") != page


def test_figures_tell_each_part_and_all_and_the_survivors_that_nobody_explained():
    report = Report("mutation", seed=4, out=io.StringIO())
    there_are, tried, noticed = Counter(rules=12, rows=1_000), Counter(rules=10, rows=1_000), Counter(rules=9, rows=990)
    text = document(there_are, tried, noticed, [SURVIVOR], report)
    assert "seed 4" in text
    assert "| rules | 12 | 2 | 10 | 9 | 1 | 90.00 |" in text
    assert "| all | 1,012 | 2 | 1,010 | 999 | 11 | 98.91 |" in text
    assert f"without a reason in the list below: 1.\n\n- `{SURVIVOR.name}`" in text
