import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.cobs import MAX_UNSTUFFED, stuff, unstuff
from firmware_protocol.errors import MessageError
from tests.firmware_protocol import golden


@given(st.binary(max_size=MAX_UNSTUFFED))
def test_stuffing_costs_one_byte_has_no_zero_and_comes_back(body):
    stuffed = stuff(body)
    assert len(stuffed) == len(body) + 1
    assert 0 not in stuffed
    assert unstuff(stuffed) == body


@given(st.binary())
def test_unstuffing_anything_gives_a_body_or_none(noise):
    body = unstuff(noise)
    if body is not None and len(body) <= MAX_UNSTUFFED:
        assert stuff(body) == noise


@pytest.mark.parametrize("stuffed", [b"", b"\0", b"\x03\x11", b"\x02\x11\0", b"\x01\x05\x01"])
def test_a_chain_that_does_not_end_with_the_bytes_is_no_body(stuffed):
    assert unstuff(stuffed) is None


@pytest.mark.parametrize("byte", [b"\0", b"\1"])
def test_a_body_at_the_limit_is_stuffed(byte):
    assert unstuff(stuff(byte * MAX_UNSTUFFED)) == byte * MAX_UNSTUFFED


def test_a_body_beyond_the_limit_is_refused_in_a_sentence():
    with pytest.raises(MessageError, match="254 bytes cannot be stuffed: the limit is 253"):
        stuff(bytes(254))


@pytest.mark.parametrize("vector", golden.load("frames"), ids=lambda vector: vector["name"])
def test_stuffed_form_is_the_golden_one(vector):
    assert stuff(golden.body(vector)).hex() == vector["stuffed"]
    assert unstuff(bytes.fromhex(vector["stuffed"])) == golden.body(vector)
