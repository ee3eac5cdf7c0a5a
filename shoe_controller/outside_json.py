"""JSON and TOML from outside: what decoding can raise, for every place that reads what anybody may have written.

msgspec says DecodeError for text that cannot be read or is not of the type, but bytes that are no UTF-8 and brackets
within brackets without end come through as Python's own errors.
"""

import msgspec

# The names of unknown fields are in what msgspec says, and the sender chooses how long they are.
LONGEST_REASON = 200
# Longer than anybody writes a line of TOML. A key of n dots takes tomllib memory in the order of n squared: 20,000 dots
# are 1.6 GB, 512 are 1 MB.
LONGEST_LINE = 1024
NOT_UNDERSTOOD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def why(error: Exception) -> str:
    """Return the reason in words that are fit to be shown: of bounded length, and nothing that a terminal obeys."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    reason = str(error)
    shown = reason if len(reason) <= LONGEST_REASON else reason[:LONGEST_REASON] + "…"
    return printable(shown)


def long_line(text: str) -> int | None:
    """Return the number of the first line of TOML that is too long to be read."""
    return next((number for number, line in enumerate(text.split("\n"), 1) if len(line) > LONGEST_LINE), None)


def printable(text: str) -> str:
    """Return text with an escape in the place of each sign that is not for reading."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
