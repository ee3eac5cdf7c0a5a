"""Drop reasons: why something that arrived was not used. Every decoder and link counts by these."""

from enum import StrEnum


class Drop(StrEnum):
    """Why a frame, or what looked like one, was not used."""

    OVERSIZED = "oversized"  # no delimiter within the longest frame
    TOO_SHORT = "too-short"  # fewer bytes than the shortest frame
    BAD_CRC = "bad-crc"
    BAD_STUFFING = "bad-stuffing"  # right CRC, but not COBS: a sender with a fault
    MALFORMED = "malformed"  # a known message whose fields are impossible
    UNKNOWN_TYPE = "unknown-type"  # a message of a newer minor version
    WRONG_DIRECTION = "wrong-direction"  # our own direction: an echo or a looped cable
    BAD_SEAL = "bad-seal"  # the MAC is not that of this link
    NOT_SEALED = "not-sealed"  # no MAC in an authenticated link
    OUT_OF_PLACE = "out-of-place"  # a good message that this state does not expect
    STALE = "stale"  # of another session or of an earlier greeting
    DUPLICATE = "duplicate"
    GAP = "gap"  # an event after a missing one; it will come again in the replay


DropCounts = dict[Drop, int]


def no_drops() -> DropCounts:
    """Give counters at zero for every reason: their number is fixed, whatever arrives."""
    return dict.fromkeys(Drop, 0)
