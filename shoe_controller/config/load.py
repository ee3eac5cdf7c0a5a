"""Reading the configuration file: from its path to a checked `Config`, or to every reason why not."""

import re
import tomllib
from pathlib import Path

from shoe_controller.config import relations
from shoe_controller.config.decode import Finding, decode
from shoe_controller.config.lines import key_lines, line_of
from shoe_controller.config.model import Config
from shoe_controller.config.problems import ConfigError, ConfigUnreadableError, Problem
from shoe_controller.outside_json import LONGEST_LINE, long_line

DEFAULT_PATH = Path("/etc/shoe-controller/shoe-controller.toml")
# A file of this size is no configuration; 64 KiB is some thirty times the sample with all its comments.
MAX_BYTES = 65_536
_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def load(path: Path | str) -> Config:
    """Read and check the configuration file, or raise ConfigError with all that is wrong with it."""
    return parse(_read(Path(path)), str(path))


def parse(text: str, file: str) -> Config:
    """Check the text of a configuration file; `file` is its name in messages."""
    if number := long_line(text):
        problem = Problem(file=file, line=number, message=f"is longer than {LONGEST_LINE} characters")
        raise ConfigError([problem])
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([_not_toml(text, file, str(error))]) from error
    except RecursionError as error:
        raise ConfigError([Problem(file=file, message="has brackets within brackets without end")]) from error
    config, findings = decode(values)
    bad = [finding.path for finding in findings]
    for finding in relations.check(config):
        # A key that is refused already has its default here: what follows from that would be about no file.
        if not any(_within(path, one) for path in (finding.path, *finding.also) for one in bad):
            findings.append(finding)
    if findings:
        lines = key_lines(text)
        problems = [_problem(finding, file, _line(lines, finding)) for finding in findings]
        raise ConfigError(sorted(problems, key=lambda problem: (problem.line or 0, problem.key)))
    return config


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise _unreadable(path, "does not exist; systemd/shoe-controller.toml is a sample to begin with") from error
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise _unreadable(path, f"is larger than {MAX_BYTES} bytes: this is no configuration file")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"is no UTF-8 text: {error.reason} at byte {error.start}") from error


def _unreadable(path: Path, message: str) -> ConfigUnreadableError:
    return ConfigUnreadableError([Problem(file=str(path), message=message)])


def _not_toml(text: str, file: str, message: str) -> Problem:
    found = _AT_LINE.search(message)
    line = int(found[1]) if found and found[1] else text.count("\n") + 1
    return Problem(file=file, line=line, message=f"this is not TOML: {_AT_LINE.sub('', message)}")


def _line(lines: dict[tuple[str | int, ...], int], finding: Finding) -> int | None:
    """Return the line to look at: of the key, else of a key that clashes with its default, else of its section."""
    written = [lines[path] for path in (finding.path, *finding.also) if path in lines]
    return written[0] if written else line_of(lines, finding.path)


def _problem(finding: Finding, file: str, line: int | None) -> Problem:
    return Problem(
        file=file,
        line=line,
        key=".".join(str(part) for part in finding.path),
        message=finding.message,
        allowed=finding.allowed,
        suggestion=finding.suggestion,
    )


def _within(path: tuple[str | int, ...], outer: tuple[str | int, ...]) -> bool:
    """Tell whether one key is the other or lies in it, either way round."""
    shared = min(len(path), len(outer))
    return path[:shared] == outer[:shared]
