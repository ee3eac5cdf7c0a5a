import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.auth import SEAL_BYTES, check_key, greeting_key, link_key, seal, unseal
from firmware_protocol.errors import SettingError
from tests.firmware_protocol import golden

SEALS = golden.load("seals")
KEYS = {"greeting": bytes.fromhex(SEALS["greeting_key"]), "link": bytes.fromhex(SEALS["link_key"])}
bodies = st.binary(min_size=1, max_size=241).map(lambda body: bytes((body[0] & 0xBF,)) + body[1:])


def hmac_by_the_book(key, message):
    """HMAC as RFC 2104 writes it, from nothing but SHA-256: what a firmware author will write."""
    key = hashlib.sha256(key).digest() if len(key) > 64 else key
    key = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest()


def test_keys_are_derived_as_the_golden_ones():
    key = bytes.fromhex(SEALS["key"])
    nonces = bytes.fromhex(SEALS["host_nonce"]), bytes.fromhex(SEALS["device_nonce"])
    assert greeting_key(key) == KEYS["greeting"] == hmac_by_the_book(key, b"shoe greeting 1")
    assert link_key(key, *nonces) == KEYS["link"] == hmac_by_the_book(key, b"shoe link 1" + nonces[0] + nonces[1])


@pytest.mark.parametrize("vector", SEALS["vectors"], ids=lambda vector: vector["name"])
def test_seal_is_the_golden_one(vector):
    key, body = KEYS[vector["sealed_with"]], golden.body(vector)
    sealed = bytes.fromhex(vector["sealed"])
    assert seal(body, key) == sealed
    assert sealed[-SEAL_BYTES:] == hmac_by_the_book(key, sealed[:-SEAL_BYTES])[:SEAL_BYTES]
    assert unseal(sealed, key) == body


@given(bodies, st.binary(min_size=16, max_size=40))
def test_what_was_sealed_is_opened_by_the_same_key_only(body, key):
    sealed = seal(body, key)
    assert len(sealed) == len(body) + SEAL_BYTES
    assert unseal(sealed, key) == body
    assert unseal(sealed, key + b"\1") is None
    assert unseal(body, key) is None or body[0] & 0x40


@given(bodies, st.data())
def test_no_bit_of_a_sealed_body_can_be_changed(body, data):
    key = bytes(16)
    sealed = bytearray(seal(body, key))
    place = data.draw(st.integers(0, len(sealed) * 8 - 1))
    sealed[place // 8] ^= 1 << place % 8
    assert unseal(bytes(sealed), key) is None


def test_a_body_that_is_shorter_than_a_seal_is_not_sealed():
    assert unseal(b"\x43" + bytes(7), bytes(16)) is None
    assert unseal(b"", bytes(16)) is None


def test_a_key_too_short_to_be_worth_anything_is_refused():
    assert check_key(bytes(16)) == bytes(16)
    with pytest.raises(SettingError, match="at least 16 bytes"):
        check_key(bytes(15))


def test_a_seal_around_nothing_is_no_message_though_it_is_right():
    keys = [bytes((number,)) * 32 for number in range(16)]
    for key in keys:
        assert unseal(hmac.digest(key, b"", "sha256")[:SEAL_BYTES], key) is None


def test_a_right_seal_behind_a_body_that_is_not_marked_as_sealed_is_none():
    key, body = bytes(32), b"\x03hello"
    assert unseal(body + hmac.digest(key, body, "sha256")[:SEAL_BYTES], key) is None
