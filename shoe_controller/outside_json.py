"""JSON from outside: what decoding it can raise, for every place that reads what anybody may have written.

msgspec says DecodeError for text that is no JSON or not of the type, but bytes that are no UTF-8 and brackets within
brackets without end come through as Python's own errors.
"""

import msgspec

NOT_UNDERSTOOD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def why(error: Exception) -> str:
    """Return the reason in words."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error)
