"""Frame check: CRC-32 of IEEE 802.3, written as five bytes that are never zero.

The CRC is taken over the *stuffed* bytes, as they travel. Taken before stuffing, one flipped bit in a COBS code byte
would move zeros about and turn into many wrong bits, for which a CRC guarantees nothing. Taken after it, wire bits and
code word bits are the same: up to MAX_STUFFED bytes every pattern of one to four flipped bits is found (Hamming
distance 5, proved by a test over all patterns), and every burst of up to 32 bits.
"""

from zlib import crc32

CHECK_BYTES = 5


def check_bytes(stuffed: bytes) -> bytes:
    """Give the CRC as five bytes of seven bits, lowest first, each with its top bit set so that none is zero."""
    crc = crc32(stuffed)
    return bytes(
        (
            0x80 | crc & 0x7F,
            0x80 | crc >> 7 & 0x7F,
            0x80 | crc >> 14 & 0x7F,
            0x80 | crc >> 21 & 0x7F,
            0x80 | crc >> 28,
        )
    )
