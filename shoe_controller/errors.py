"""The error tree of the program.

ControllerError          anything a person can be told in one sentence
├── UsageError           wrong use or wrong input: exit code 2
└── CheckFailedError     the answer is no (verification, check): exit code 1
"""


class ControllerError(Exception):
    """Something a person can be told in one sentence; the text is that sentence.

    A sentence that begins with its file (`FILE:LINE: …`) is printed as it is, so that editors and programs find the
    place; any other is printed behind the program's name.
    """

    exit_code = 2
    begins_with_file = False


class UsageError(ControllerError, ValueError):
    """The command line, a file or another input is not as it must be."""


class CheckFailedError(ControllerError):
    """A check or a verification came out negative."""

    exit_code = 1
