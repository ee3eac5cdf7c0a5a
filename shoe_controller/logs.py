"""The program's own log: for the system's journal with priorities, for a terminal as readable lines.

A record may carry fields beside its sentence: `logger.info("card dealt", extra=fields(card="Th", hand="player"))`
is written as `card dealt card=Th hand=player`, which people read and programs can split.
"""

import logging
import os
import re
import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

# syslog's priorities, as sd-daemon(3) reads them at the beginning of a line.
PRIORITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6), (logging.NOTSET, 7))
COLOURS = {logging.CRITICAL: "\x1b[1;31m", logging.ERROR: "\x1b[31m", logging.WARNING: "\x1b[33m"}
PLAIN = "\x1b[0m"
# These say on INFO what only a developer wants to know.
CHATTY = ("asyncio", "gpiozero", "transitions", "uvicorn")
_BARE = re.compile(r"[^\s\"'=\x00-\x1f]+")


def fields(**values: object) -> dict[str, dict[str, object]]:
    """Return the `extra` of a log call that carries these fields."""
    return {"fields": values}


def setup(level: str = "info", stream: TextIO | None = None, environment: Mapping[str, str] = os.environ) -> None:
    """Send the log of the whole program to standard error, in the form that its reader understands."""
    target = sys.stderr if stream is None else stream
    root = logging.getLogger()
    for old in list(root.handlers):
        if isinstance(old, _OurHandler):
            root.removeHandler(old)
    ours = _OurHandler(target)
    ours.setFormatter(_formatter(target, environment))
    root.addHandler(ours)
    root.setLevel(level.upper())
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.DEBUG if level == "debug" else logging.WARNING)


class _OurHandler(logging.StreamHandler[TextIO]):
    """Marks the handler that `setup` added, so that a second call replaces it."""


class JournalFormatter(logging.Formatter):
    """Lines for journald: the priority in front of each line, no time (journald has its own)."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record, every line of it with its priority."""
        priority = next(number for level, number in PRIORITIES if record.levelno >= level)
        text = f"{record.name}: {_sentence(self, record)}"
        return "\n".join(f"<{priority}>{line}" for line in text.splitlines())


class TerminalFormatter(logging.Formatter):
    """Lines for people: time, level, sentence, fields; in colour if the terminal has it."""

    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line."""
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        line = f"{clock} {record.levelname:<8} {_sentence(self, record)}"
        paint = COLOURS.get(record.levelno, "") if self._colour else ""
        return f"{paint}{line}{PLAIN}" if paint else line


def _formatter(stream: TextIO, environment: Mapping[str, str]) -> logging.Formatter:
    if _is_journal(stream, environment.get("JOURNAL_STREAM", "")):
        return JournalFormatter()
    return TerminalFormatter(colour=stream.isatty() and not environment.get("NO_COLOR"))


def _is_journal(stream: TextIO, journal_stream: str) -> bool:
    """Tell whether the stream is the one that systemd connected: the variable alone is inherited by children."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return journal_stream == f"{status.st_dev}:{status.st_ino}"


def _sentence(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    text = record.getMessage()
    values: dict[str, Any] = getattr(record, "fields", {})
    for key, value in values.items():
        text += f" {key}={_field(value)}"
    if record.exc_info:
        text += "\n" + formatter.formatException(record.exc_info)
    return text


def _field(value: object) -> str:
    """Return a field's value, in quotes if it could not be told apart otherwise."""
    text = str(value)
    if _BARE.fullmatch(text):
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{quoted}"'
