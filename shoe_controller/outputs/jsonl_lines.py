"""Messages as lines with a checksum: the JSON object, `*`, its CRC-32 in eight hex digits, a line feed."""

from zlib import crc32

# Sent whenever the line was opened: a line that was cut before would swallow the first one after it.
OPENING = b"\n"


def to_line(message: bytes) -> bytes:
    """Return the line of a message. JSON as we write it holds no line feed."""
    return b"%b*%08X\n" % (message, crc32(message))


def from_line(line: bytes) -> bytes | None:
    """Return the message of a line, None if it is empty, or was cut, joined or changed on its way."""
    message, star, digits = line.rstrip(b"\r\n").rpartition(b"*")
    if not star or digits != b"%08X" % crc32(message):
        return None
    return message
