"""Playing a table script: lines in, facts out, one at a time, in constant memory."""

from collections.abc import Iterable, Iterator

from shoe_controller.script import ScriptError, parse_line
from shoe_controller.session.facts import (
    AnyFact,
    Irregularity,
    Refused,
    Round,
    Settlement,
    ShoeEnded,
    Wager,
)
from shoe_controller.session.session import Session

# What `replay` prints unless it is asked for everything: the results, and all that did not go as it should.
TOLD = (Round, Irregularity, Wager, Settlement, Refused, ShoeEnded)
LONGEST_LINE = 4096
BYTE_ORDER_MARK = "\ufeff"  # some editors begin a file with it


def replay(lines: Iterable[bytes], name: str, *, everything: bool = False) -> Iterator[AnyFact]:
    """Yield the facts of a script; `name` is the file for messages. Nothing is played after a line that is wrong."""
    session = Session("table")
    for number, line in enumerate(lines, 1):
        try:
            happened = parse_line(_text(line))
        except ScriptError as error:
            raise ScriptError(f"{name}:{number}: {error}") from error
        if happened is not None:
            for fact in session.handle(happened):
                if everything or isinstance(fact, TOLD):
                    yield fact
    yield from session.end_of_script()


def _text(line: bytes) -> str:
    if len(line) > LONGEST_LINE:
        raise ScriptError(f"the line is longer than {LONGEST_LINE} bytes")
    try:
        return line.decode().removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        raise ScriptError("the line is not UTF-8 text") from error
