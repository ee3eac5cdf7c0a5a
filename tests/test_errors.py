"""The error tree: exit codes, and leaves that are also the matching builtin."""

from shoe_controller.errors import CheckFailedError, ControllerError, UsageError
from shoe_controller.rules.games import GameFileError
from shoe_controller.script import ScriptError


def test_wrong_use_is_a_value_error_and_exits_with_2():
    assert issubclass(UsageError, ControllerError)
    assert issubclass(UsageError, ValueError)
    assert UsageError("x").exit_code == 2


def test_a_check_that_says_no_exits_with_1():
    assert issubclass(CheckFailedError, ControllerError)
    assert CheckFailedError("x").exit_code == 1


def test_only_sentences_that_begin_with_a_file_stand_alone():
    assert ScriptError.begins_with_file
    assert GameFileError.begins_with_file
    assert not UsageError.begins_with_file
