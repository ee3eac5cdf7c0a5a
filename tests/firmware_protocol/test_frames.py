import itertools
import tracemalloc
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.crc import check_bytes
from firmware_protocol.drops import Drop
from firmware_protocol.errors import MessageError
from firmware_protocol.frames import MAX_BETWEEN, MAX_BODY, Decoder, encode_frame
from tests.firmware_protocol import golden

SEALED = golden.load("seals")["vectors"]
FRAMES = golden.load("frames")
ALL = [*golden.MESSAGES, *FRAMES, *({**vector, "body": vector["sealed"]} for vector in SEALED)]
each_vector = pytest.mark.parametrize("vector", ALL, ids=[vector["name"] for vector in ALL])


def decode(*pieces):
    decoder = Decoder()
    frames = [frame.body for piece in pieces for frame in decoder.feed(piece)]
    return frames, {reason: count for reason, count in decoder.drops.items() if count}


@each_vector
def test_vector_is_what_we_send(vector):
    assert encode_frame(golden.body(vector)) == golden.wire(vector)


@each_vector
def test_vector_arrives_whole(vector):
    decoder = Decoder()
    (frame,) = decoder.feed(golden.wire(vector))
    assert frame.body == golden.body(vector)
    assert frame.raw == golden.wire(vector)[1:-1]
    assert decoder.accepted == 1


@each_vector
def test_vector_arrives_byte_by_byte(vector):
    wire = golden.wire(vector)
    assert decode(*(wire[at : at + 1] for at in range(len(wire)))) == ([golden.body(vector)], {})


@each_vector
def test_vector_arrives_in_two_pieces_cut_anywhere(vector):
    wire = golden.wire(vector)
    for at in range(len(wire) + 1):
        assert decode(wire[:at], wire[at:]) == ([golden.body(vector)], {})


@each_vector
def test_vector_arrives_in_the_middle_of_noise(vector):
    random = Random(vector["name"])
    for size in (1, 2, 3, 40, 254, 255, 256, 700):
        for _ in range(3):
            before, after = random.randbytes(size), random.randbytes(size)
            frames, _ = decode(before + golden.wire(vector) + after + b"\0")
            assert frames == [golden.body(vector)]


@each_vector
def test_vector_arrives_among_others_with_shared_or_many_delimiters(vector):
    wire = golden.wire(vector)
    assert decode(wire + wire[1:] + b"\0\0\0" + wire) == ([golden.body(vector)] * 3, {})


@each_vector
def test_no_single_flipped_bit_makes_another_frame(vector):
    """Also where the flip makes or unmakes a delimiter, of which the CRC guarantees nothing."""
    wire = golden.wire(vector)
    for place, bit in itertools.product(range(len(wire)), range(8)):
        flipped = bytearray(wire)
        flipped[place] ^= 1 << bit
        frames, _ = decode(bytes(flipped) + b"\0")
        # A last delimiter that is hit can leave the frame whole in front of the one that follows.
        assert not frames or (frames == [golden.body(vector)] and place in (0, len(wire) - 1))


def test_no_two_flipped_bits_make_another_frame_of_a_card():
    vector = next(vector for vector in golden.MESSAGES if vector["name"] == "card-optical")
    wire = golden.wire(vector)
    for one, other in itertools.combinations(range(8, 8 * len(wire) - 8), 2):
        flipped = bytearray(wire)
        flipped[one // 8] ^= 1 << one % 8
        flipped[other // 8] ^= 1 << other % 8
        assert not Decoder().feed(bytes(flipped))


@pytest.mark.parametrize("vector", golden.load("refused"), ids=lambda vector: vector["name"])
def test_what_is_no_frame_is_counted_by_its_reason(vector):
    expected = {Drop(vector["reason"]): 1} if vector["reason"] else {}
    wire = golden.wire(vector)
    good = encode_frame(b"good")
    assert decode(wire + good) == ([b"good"], expected)
    assert decode(*(wire[at : at + 1] for at in range(len(wire))), good) == ([b"good"], expected)


@pytest.mark.parametrize("size", [0, MAX_BODY + 1])
def test_a_body_that_does_not_fit_is_refused_in_a_sentence(size):
    with pytest.raises(MessageError, match=f"{size} bytes does not fit in a frame"):
        encode_frame(bytes(size))


@given(st.binary(min_size=1, max_size=MAX_BODY))
def test_every_body_arrives(body):
    wire = encode_frame(body)
    assert 0 not in wire[1:-1]
    assert len(wire) == len(body) + 8
    assert decode(wire) == ([body], {})


@given(st.lists(st.binary(max_size=600)), st.binary(min_size=1, max_size=MAX_BODY))
def test_after_any_noise_the_next_frame_arrives(noise, body):
    frames, _ = decode(*noise, encode_frame(body))
    assert frames[-1] == body


def test_memory_is_bounded_however_long_no_delimiter_comes():
    decoder = Decoder()
    noise = b"\x55" * 997
    tracemalloc.start()
    for _ in range(2_000):
        decoder.feed(noise)
        assert decoder.held <= MAX_BETWEEN
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000
    assert decoder.drops[Drop.OVERSIZED] == 1
    assert [frame.body for frame in decoder.feed(encode_frame(b"card"))] == [b"card"]


def test_reset_forgets_the_frame_of_the_line_before():
    decoder = Decoder()
    decoder.feed(encode_frame(b"half")[:5])
    decoder.reset()
    assert decoder.held == 0
    assert [frame.body for frame in decoder.feed(encode_frame(b"whole"))] == [b"whole"]
    assert not any(decoder.drops.values())


def test_after_something_too_long_the_next_frame_is_read_byte_by_byte():
    decoder = Decoder()
    decoder.feed(b"x" * MAX_BETWEEN)
    decoder.feed(b"x")
    assert decoder.held == 0
    found = [frame.body for byte in encode_frame(b"whole") for frame in decoder.feed(bytes((byte,)))]
    assert found == [b"whole"]


def test_reset_forgets_that_the_line_before_said_something_too_long():
    decoder = Decoder()
    decoder.feed(b"x" * (MAX_BETWEEN + 1))
    decoder.reset()
    without_first_delimiter = encode_frame(b"whole")[1:]
    assert [frame.body for frame in decoder.feed(without_first_delimiter)] == [b"whole"]


def test_a_frame_around_nothing_is_too_short_though_its_check_is_right():
    stuffed = b"\1"
    decoder = Decoder()
    assert decoder.feed(b"\0" + stuffed + check_bytes(stuffed) + b"\0") == []
    assert decoder.drops[Drop.TOO_SHORT] == 1
