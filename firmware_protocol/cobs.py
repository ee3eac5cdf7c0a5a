"""Byte stuffing: COBS for bodies below 254 bytes, where it always costs exactly one byte.

In this range the 0xFF code (a block without a zero) cannot occur, so each code byte is the distance to the next one
and un-stuffing is a walk along that chain.
"""

from firmware_protocol.errors import MessageError

MAX_UNSTUFFED = 253


def stuff(body: bytes) -> bytes:
    """Remove the zeros from a body of at most MAX_UNSTUFFED bytes."""
    if len(body) > MAX_UNSTUFFED:
        raise MessageError(f"a body of {len(body)} bytes cannot be stuffed: the limit is {MAX_UNSTUFFED}")
    return b"".join([bytes((len(run) + 1,)) + run for run in body.split(b"\0")])


def unstuff(stuffed: bytes) -> bytes | None:
    """Put the zeros back, or give None if the chain of code bytes does not end where the bytes end."""
    out = bytearray(stuffed)
    size = len(out)
    at = 0
    while at < size:
        distance = out[at]
        if not distance:
            return None
        out[at] = 0
        at += distance
    if at != size or not size:
        return None
    return bytes(out[1:])
