"""Fixed fields: packed and read with errors that this package knows."""

from struct import Struct, error
from typing import Any

from firmware_protocol.errors import MessageError


def pack(layout: Struct, what: str, *values: int | bytes) -> bytes:
    """Pack the fixed fields of a message; a value that does not fit raises MessageError."""
    try:
        return layout.pack(*values)
    except error as reason:
        raise MessageError(f"a {what} cannot be sent: a value does not fit its field ({reason})") from None


def unpack(layout: Struct, body: bytes, what: str) -> tuple[Any, ...]:
    """Read the fixed fields; bytes behind them are the business of the caller or of a newer minor version."""
    if len(body) < layout.size:
        raise MessageError(f"a {what} has {layout.size} bytes or more, not {len(body)}")
    return layout.unpack_from(body)


def exactly(size: int, value: bytes, what: str) -> bytes:
    """Give bytes of a fixed size back: `struct` would cut or pad them without a word."""
    if len(value) != size:
        raise MessageError(f"{what} has {size} bytes, not {len(value)}")
    return value
