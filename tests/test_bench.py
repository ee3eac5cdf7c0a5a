"""The benches' own interface: targets, medians of pairs, and the page that is written from what was measured."""

import importlib

import msgspec
import pytest

from tests.bench import report
from tests.bench.__main__ import SUBJECTS
from tests.bench.figures import Figure, Target, at_least, at_most, interleaved, no_more_than, percentile, ratio
from tests.bench.machine import this_machine
from tests.bench.report import Subject


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_subject_says_what_it_measures_and_against_what(name):
    module = importlib.import_module(f"tests.bench.{name}")
    assert ":" in module.__doc__.splitlines()[0]
    assert callable(module.measure)


@pytest.mark.parametrize(
    "figure,met",
    [
        (Figure("a", "s", 1.0, target=no_more_than(1.0)), True),
        (Figure("a", "s", 1.1, target=no_more_than(1.0)), False),
        (Figure("a", "s", 3.0, 2.0, 1.5, at_most(1.6)), True),
        (Figure("a", "s", 3.0, 2.0, 1.5, at_least(1.6)), False),
        (Figure("a", "s", 3.0, 2.0, 1.0, Target("ratio", ">", 1)), False),
        (Figure("a", "s", 3.0), None),
    ],
)
def test_a_target_is_met_or_not(figure, met):
    assert figure.met is met
    assert ("MISSED" in report.line(figure)) == (met is False)


def test_works_are_run_in_turn_after_one_run_for_nothing():
    order = []
    taken = interleaved({"ours": lambda: order.append("o"), "floor": lambda: order.append("f")}, pairs=3)
    assert "".join(order) == "of" * 4
    assert {len(times) for times in taken.values()} == {3}


def test_a_ratio_is_the_median_of_the_pairs():
    assert ratio([2.0, 30.0, 4.0], [1.0, 10.0, 4.0]) == 2.0
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.99) == 4.0


def test_the_page_holds_every_figure_and_where_it_was_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(report, "DOCS", tmp_path / "performance.md")
    figures = [Figure("verify", "entries/s", 123456.0, 200000.0, 0.62, at_least(0.6), "all cores")]
    machine = this_machine()
    subjects = [Subject("verify", "Verify: all\n\nMore of it.", machine, figures)]
    report.write_docs([*subjects, *subjects])
    page = (tmp_path / "performance.md").read_text()
    assert "| verify (all cores), entries/s | 123,456 | 200,000 | 0.62 | ≥ 0.6 × | met |" in page
    assert page.count("on machine 1.") == 2
    assert f"Python {machine.python}" in page
    assert msgspec.json.decode(msgspec.json.encode(subjects), type=list[Subject]) == subjects
