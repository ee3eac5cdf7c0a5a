"""Authentication: keys of a link and the seal on its frames, all HMAC-SHA-256.

The table key never seals anything itself: one key derived from it seals the greeting, and another, fresh for each
pair of nonces, seals everything that follows. So a frame of an earlier link is worthless in a later one.
"""

import hmac

from firmware_protocol.codes import SEALED
from firmware_protocol.errors import SettingError

SEAL_BYTES = 8
MIN_KEY_BYTES = 16

_GREETING_LABEL = b"shoe greeting 1"
_LINK_LABEL = b"shoe link 1"


def check_key(key: bytes) -> bytes:
    """Give the key back, or raise SettingError if it is too short to be worth anything."""
    if len(key) < MIN_KEY_BYTES:
        raise SettingError(f"a table key has at least {MIN_KEY_BYTES} bytes (32 are advised), not {len(key)}")
    return key


def greeting_key(key: bytes) -> bytes:
    """Derive the key that seals hello and welcome."""
    return hmac.digest(key, _GREETING_LABEL, "sha256")


def link_key(key: bytes, host_nonce: bytes, device_nonce: bytes) -> bytes:
    """Derive the key that seals everything after the welcome."""
    return hmac.digest(key, _LINK_LABEL + host_nonce + device_nonce, "sha256")


def seal(body: bytes, key: bytes) -> bytes:
    """Mark a body as sealed and put its MAC behind it."""
    marked = bytes((body[0] | SEALED,)) + body[1:]
    return marked + hmac.digest(key, marked, "sha256")[:SEAL_BYTES]


def unseal(body: bytes, key: bytes) -> bytes | None:
    """Check the MAC and give the body as it was before it was sealed; None if it is not sealed by this key."""
    if len(body) <= SEAL_BYTES or not body[0] & SEALED:
        return None
    marked = body[:-SEAL_BYTES]
    if not hmac.compare_digest(hmac.digest(key, marked, "sha256")[:SEAL_BYTES], body[-SEAL_BYTES:]):
        return None
    return bytes((body[0] & ~SEALED,)) + marked[1:]
