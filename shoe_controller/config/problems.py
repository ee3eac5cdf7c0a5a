"""What is wrong with a configuration: one problem, and the errors that carry them all.

ConfigError                 (UsageError, so also ValueError) the content is not as it must be
└── ConfigUnreadableError   (OSError) the file itself cannot be read
"""

from collections.abc import Iterable

import msgspec

from shoe_controller.errors import UsageError
from shoe_controller.outside_json import printable

# A file with more is no configuration, and nobody reads on.
MOST_TOLD = 50
LONGEST_KEY = 100
LONGEST_MESSAGE = 500


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong: where it stands, what it is, what is allowed, what was probably meant."""

    file: str
    line: int | None = None  # None: neither the key nor its section is in the file
    key: str = ""
    message: str
    allowed: str = ""
    suggestion: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        message = _shown(self.message, LONGEST_MESSAGE)
        text = f"{place}: {_shown(self.key, LONGEST_KEY)}: {message}" if self.key else f"{place}: {message}"
        if self.allowed:
            text += f"; allowed: {self.allowed}"
        if self.suggestion:
            text += f"; {self.suggestion}"
        return printable(text)  # a quoted key or value may hold anything, even what a terminal obeys


class ConfigError(UsageError):
    """The configuration is refused; `problems` has every reason, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self._text())

    def _text(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        told = [str(problem) for problem in self.problems[:MOST_TOLD]]
        if len(self.problems) > MOST_TOLD:
            told.append(f"… and {len(self.problems) - MOST_TOLD} more")
        return "\n  ".join((f"the configuration has {len(self.problems)} problems:", *told))


class ConfigUnreadableError(ConfigError, OSError):
    """The configuration file is not there, may not be read, or is no text."""


def _shown(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"
