"""The mutation check itself: which faults it puts in, and that a trial tells a noticed one from one that is not."""

import ast
import os
import sys
from types import ModuleType

import pytest

from shoe_controller.machine.rows import ROWS
from tests.mutation.changes import faults_of, with_fault
from tests.mutation.row_changes import PATH, row_faults, with_row_fault
from tests.mutation.trial import NOT_LOADED, NOTICED, PASSED, ROOT, fork_trial, module_name

PLAY = "shoe_controller/rules/play.py"


def after(source):
    """Give what is left of a module for each fault that can be put into it."""
    return {ast.unparse(with_fault(source, fault)) for fault in faults_of("one.py", source)}


@pytest.mark.parametrize(
    "source, faults",
    [
        ("a = b < c", {"a = b <= c"}),
        ("a = b == c", {"a = b != c"}),
        ("a = b in c", {"a = b not in c"}),
        ("a = b and c", {"a = b or c"}),
        ("a = not b", {"a = b"}),
        ("a = b + c", {"a = b - c"}),
        ("a = 9", {"a = 10", "a = 8"}),
        ("a = True", {"a = False"}),
        ("a += b", {"a -= b", "pass"}),
        ("def a():\n    b.c = d", {"def a():\n    pass"}),
        ("a = 'text' % b", set()),
        ("A = B | C", set()),
        ("a: Literal[1]", set()),
        ("import a", set()),
        ("assert a < 1, 'why'", set()),
        ("'''What it is.'''", set()),
        ("raise A(f'{b + 1}')", {"pass"}),
        ("if a:\n    b()", {"if not a:\n    b()", "if a:\n    pass"}),
        ("for a in b:\n    break", {"for a in b:\n    continue"}),
        ("def a():\n    return b", {"def a():\n    return None"}),
        ("if __name__ == '__main__':\n    a()", set()),
    ],
)
def test_a_line_has_the_faults_that_a_programmer_makes_in_it(source, faults):
    assert after(source) == faults


def test_every_fault_of_a_module_has_a_name_of_its_own_that_lines_above_do_not_change():
    source = "def f(a):\n    return a < 1 or a < 1\n"
    names = [fault.name for fault in faults_of("one.py", source)]
    assert len(set(names)) == len(names)
    assert names == [fault.name for fault in faults_of("one.py", "# more\n\n" + source)]
    assert "one.py f: a < 1 → a < 2 (2)" in names


def test_a_fault_that_is_not_there_is_told():
    fault = faults_of("one.py", "a = 1")[1]
    with pytest.raises(ValueError, match="has no fault 1"):
        with_fault("a = b", fault)


def test_every_row_is_dropped_led_elsewhere_given_another_action_and_each_of_its_guards_taken(monkeypatch):
    faults = row_faults(1)
    guards = sum(len(row.when.split(" and ")) for row in ROWS if row.when)
    assert len(faults) == 3 * len(ROWS) + guards
    source = (ROOT / PATH).read_text(encoding="utf-8")
    for fault, line in faults[:: len(ROWS) // 10]:
        table = ModuleType("rows_with_a_fault")
        monkeypatch.setitem(sys.modules, table.__name__, table)
        exec(compile(with_row_fault(source, line), PATH, "exec"), table.__dict__)
        assert repr(table.ROWS) != repr(ROWS), fault.name


@pytest.mark.parametrize(
    "line, ended",
    [
        ("", PASSED),
        ("BANKER_DRAWS_ON[3] = frozenset(range(10))", NOTICED),
        ("raise OSError", NOT_LOADED),
    ],
)
def test_a_trial_tells_whether_the_tests_notice(line, ended):
    source = (ROOT / PLAY).read_text(encoding="utf-8").replace("\n\ndef total(", f"\n{line}\n\ndef total(")
    child = fork_trial(PLAY, compile(source, PLAY, "exec"), ["tests/rules/test_play.py"], {})
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == ended


def test_a_module_is_named_by_its_path():
    assert module_name(PLAY) == "shoe_controller.rules.play"
