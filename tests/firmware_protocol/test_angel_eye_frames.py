"""The reader of Angel Eye frames: every vector whole, in pieces, in noise and damaged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.angel_eye_frames import (
    Accepted,
    Drop,
    FrameReader,
    Register,
    Rejected,
    StartByte,
    Unsolicited,
    check_digits,
    unsolicited_frame,
)
from firmware_protocol.angel_eye_messages import Preset, Standby, Started
from firmware_protocol.angel_eye_refusals import NakCode
from tests.firmware_protocol.angel_eye_vectors import FRAMES

VECTORS = [(bytes.fromhex(frame), sequence, message) for frame, sequence, message in FRAMES]


def read(data, start=StartByte.EXCLUDE):
    return FrameReader(start).feed(data)


def read_bytewise(data):
    reader = FrameReader()
    return [found for byte in data for found in reader.feed(bytes((byte,)))]


def test_the_documented_operation_has_the_documented_check():
    frame = bytes.fromhex("02 4F 50 4C 4B 30 32 03")
    assert check_digits(frame, StartByte.INCLUDE) == b"1B"
    assert check_digits(frame, StartByte.EXCLUDE) == b"19"


@pytest.mark.parametrize("frame, sequence, message", VECTORS)
class TestVector:
    def test_is_read_whole(self, frame, sequence, message):
        assert read(frame) == [Unsolicited(sequence, message, frame)]

    def test_leaves_nothing_behind(self, frame, sequence, message):
        reader = FrameReader()
        reader.feed(frame)
        assert not reader.waiting
        assert not reader.dropped

    def test_is_written_with_the_same_bytes(self, frame, sequence, message):
        assert unsolicited_frame(sequence, message) == frame

    def test_is_read_byte_by_byte(self, frame, sequence, message):
        assert read_bytewise(frame) == [Unsolicited(sequence, message, frame)]

    def test_is_read_in_the_middle_of_noise(self, frame, sequence, message):
        for noise in (
            b"\x00\xff",
            b"\x05",
            b"\x05\x05\x05",
            b"\x02AB",
            b"\x05\x31D\x81",
            b"\x15",
            b"\x05\x31D\x81\x91\x03A",
        ):
            found = read_bytewise(noise + frame + noise)
            assert [f for f in found if isinstance(f, Unsolicited)] == [Unsolicited(sequence, message, frame)], noise

    def test_is_read_after_a_start_in_mid_frame(self, frame, sequence, message):
        for cut in range(1, len(frame)):
            found = read(frame[cut:] + frame + frame[:cut])
            assert Unsolicited(sequence, message, frame) in found
            assert len([f for f in found if isinstance(f, Unsolicited)]) == 1

    def test_glued_frames_are_read_apart(self, frame, sequence, message):
        assert read(frame * 20) == [Unsolicited(sequence, message, frame)] * 20

    def test_a_flipped_bit_never_makes_another_message(self, frame, sequence, message):
        for bit in range(len(frame) * 8):
            damaged = bytearray(frame)
            damaged[bit // 8] ^= 1 << bit % 8
            assert not [f for f in read(bytes(damaged)) if isinstance(f, Unsolicited)]

    def test_a_lost_byte_never_makes_a_message(self, frame, sequence, message):
        for lost in range(len(frame)):
            found = read(frame[:lost] + frame[lost + 1 :])
            assert not [f for f in found if isinstance(f, Unsolicited)]


@pytest.mark.parametrize("sequence", range(256))
def test_every_sequence_byte_is_carried(sequence):
    frame = unsolicited_frame(sequence, Started())
    assert read_bytewise(frame) == [Unsolicited(sequence, Started(), frame)]


@pytest.mark.parametrize("sequence", range(256))
def test_a_frame_that_lost_its_start_or_sequence_byte_is_never_a_message(sequence):
    for _, _, message in VECTORS:
        frame = unsolicited_frame(sequence, message)
        for damaged in (frame[1:], frame[:1] + frame[2:]):
            assert not [f for f in read(damaged) if isinstance(f, Unsolicited)]


def test_the_check_can_include_the_start_byte():
    frame = unsolicited_frame(7, Standby(), StartByte.INCLUDE)
    assert frame == bytes.fromhex("05 07 50 03 35 31")
    assert read(frame, StartByte.INCLUDE) == [Unsolicited(7, Standby(), frame)]


def test_a_frame_that_would_fit_with_the_other_setting_is_counted_as_such():
    reader = FrameReader(StartByte.EXCLUDE)
    assert not reader.feed(unsolicited_frame(7, Standby(), StartByte.INCLUDE))
    assert reader.dropped[Drop.OTHER_CHECK] == 1
    reader = FrameReader(StartByte.INCLUDE)
    assert not reader.feed(unsolicited_frame(7, Standby(), StartByte.EXCLUDE))
    assert reader.dropped[Drop.OTHER_CHECK] == 1


def test_answers_are_read_between_frames():
    frame = VECTORS[2][0]
    assert read(b"\x06" + frame + b"\x15\x21" + frame + b"\x06") == [
        Accepted(),
        Unsolicited(*VECTORS[2][1:], frame),
        Rejected(NakCode.BUSY),
        Unsolicited(*VECTORS[2][1:], frame),
        Accepted(),
    ]


@pytest.mark.parametrize(
    "code, reason",
    [
        (0x01, NakCode.DAMAGED),
        (0x02, NakCode.CHECK),
        (0x03, NakCode.NO_END),
        (0x11, NakCode.FORMAT),
        (0x12, NakCode.ADDRESS),
        (0x13, NakCode.COMMAND),
        (0x14, NakCode.TYPE),
        (0x21, NakCode.BUSY),
        (0x22, NakCode.WRITING),
        (0xFF, NakCode.OTHER),
    ],
)
def test_every_refusal_has_its_code_and_a_sentence(code, reason):
    reader = FrameReader()
    assert reader.feed(b"\x15") == []
    assert reader.feed(bytes((code,))) == [Rejected(reason)]
    assert not reader.waiting
    assert not reader.dropped
    assert reason.sentence.endswith(".")


def test_a_refusal_without_a_known_code_is_noise():
    reader = FrameReader()
    assert reader.feed(b"\x15\x99") == []
    assert reader.dropped == {Drop.NOISE: 2}


def test_an_answer_right_after_damage_is_not_believed():
    # 06 is the sequence byte of a frame whose start was damaged.
    reader = FrameReader()
    assert reader.feed(bytes.fromhex("04 06 53 03 35 36")) == []
    assert reader.dropped[Drop.UNTRUSTED] == 1


def test_an_answer_after_silence_is_believed_again():
    reader = FrameReader()
    reader.feed(b"\xff")
    assert reader.waiting
    reader.line_silent()
    assert not reader.waiting
    assert reader.feed(b"\x06") == [Accepted()]


def test_an_answer_after_an_intact_frame_is_believed_again():
    assert read(b"\xff" + VECTORS[0][0] + b"\x06")[-1] == Accepted()


def test_silence_ends_a_frame_that_was_begun():
    reader = FrameReader()
    reader.feed(VECTORS[2][0][:5])
    reader.line_silent()
    assert reader.dropped[Drop.SILENCE] == 1
    assert reader.feed(VECTORS[2][0][5:]) == []


@pytest.mark.parametrize("start", StartByte)
def test_register_answers_are_read_with_either_check(start):
    frame = b"\x0212034\x03"
    reader = FrameReader()
    assert reader.feed(frame + check_digits(frame, start)) == [Register(b"12034")]
    assert not reader.waiting
    assert not reader.dropped


def test_a_register_answer_with_a_wrong_check_is_dropped():
    reader = FrameReader()
    assert reader.feed(b"\x0212034\x0300") == []
    assert reader.dropped[Drop.CHECK] == 1


@pytest.mark.parametrize("length, read_at_all", [(125, True), (126, False), (500, False)])
def test_a_frame_longer_than_the_buffer_is_dropped_however_it_arrives(length, read_at_all):
    # `length` counts up to and including the end byte; the longest frame is 128 with its check.
    frame = b"\x05\x01" + b"Z" * (length - 2) + b"\x03"
    frame += check_digits(frame, StartByte.EXCLUDE)
    after = VECTORS[0][0]
    whole = read(frame + after)
    assert whole == read_bytewise(frame + after)
    assert [f.raw for f in whole] == ([frame, after] if read_at_all else [after])


@pytest.mark.parametrize("byte, dropped", [(0x20, {}), (0x1F, {Drop.BROKEN: 1})])
def test_a_frame_may_carry_a_space_but_no_control_character(byte, dropped):
    frame = bytes((0x05, 0x01, ord("M"), *b"01 12", byte, 0x03))
    reader = FrameReader()
    found = reader.feed(frame + check_digits(frame, StartByte.EXCLUDE))
    assert [f.message for f in found] == ([] if dropped else [Preset("01", " 12 ")])
    assert {why: n for why, n in reader.dropped.items() if why is not Drop.NOISE} == dropped


def test_each_way_to_break_a_frame_is_counted_by_its_name():
    cases = {
        Drop.NOISE: b"\xff",
        Drop.BROKEN: b"\x05\x01D\x05",
        Drop.CHECK: b"\x05\x01S\x0300",
        Drop.TOO_LONG: b"\x05" + b"Z" * 127,
        Drop.EMPTY: b"\x05\x01\x0302",
    }
    for why, data in cases.items():
        reader = FrameReader()
        assert reader.feed(data) == []
        assert reader.dropped[why] >= 1, why


@pytest.mark.parametrize(
    "why, data",
    [
        (Drop.CHECK, b"\x0212034\x0300"),
        (Drop.CHECK, b"\x05\x01S\x0300"),
        (Drop.OTHER_CHECK, unsolicited_frame(7, Standby(), StartByte.INCLUDE)),
        (Drop.EMPTY, b"\x05\x01\x0302"),
        (Drop.BROKEN, b"\x05\x01S\x03xx"),
        (Drop.TOO_LONG, b"\x05" + b"Z" * 127),
    ],
)
def test_of_a_frame_that_is_dropped_the_start_is_counted_and_then_each_byte_that_begins_nothing(why, data):
    reader = FrameReader()
    assert reader.feed(data) == []
    assert reader.dropped == {why: 1, Drop.NOISE: len(data) - 1}


alphabet = st.sampled_from([2, 3, 5, 6, 0x15, 0x30, 0x41, 0x44, 0x53, 0x81, 0x91, 0xFF])
streams = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.lists(alphabet, max_size=40).map(bytes),
        st.sampled_from([frame for frame, _, _ in VECTORS]),
    ),
    max_size=12,
).map(b"".join)


@given(streams, st.lists(st.integers(1, 300), max_size=20))
def test_any_bytes_in_any_pieces_give_the_same_and_never_raise(data, cuts):
    reader, found, rest = FrameReader(), [], data
    for cut in cuts:
        found += reader.feed(rest[:cut])
        assert len(reader._buffer) <= 128
        rest = rest[cut:]
    found += reader.feed(rest)
    assert found == read_bytewise(data)


@given(streams)
def test_after_any_noise_and_a_silence_the_next_frame_is_read(noise):
    reader = FrameReader()
    reader.feed(noise)
    reader.line_silent()
    frame, sequence, message = VECTORS[2]
    assert reader.feed(frame) == [Unsolicited(sequence, message, frame)]


@pytest.mark.parametrize("start", StartByte)
def test_a_stray_start_of_a_register_before_a_frame_does_not_swallow_it(start):
    frame = unsolicited_frame(0x31, Standby(), start)
    assert read(b"\x02" + frame, start) == [Unsolicited(0x31, Standby(), frame)]
