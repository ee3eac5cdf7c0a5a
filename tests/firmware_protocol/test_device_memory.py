import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.codes import Kind
from firmware_protocol.device_memory import (
    CAPACITY,
    CARD_RECORD,
    LARGEST_SHOE,
    MIN_CAPACITY,
    DeviceMemory,
    EventMemory,
)
from firmware_protocol.errors import MessageError, SettingError
from firmware_protocol.happenings import pack_happening
from tests.firmware_protocol import strategies

records = st.lists(st.binary(min_size=1, max_size=240), max_size=20).map(tuple)
memories = st.builds(
    DeviceMemory, strategies.sessions, strategies.numbers, st.booleans(), st.booleans(), strategies.u32, records
)


def test_there_is_room_for_the_largest_shoe_with_the_largest_cards_and_more():
    memory = EventMemory(DeviceMemory(7))
    for _ in range(LARGEST_SHOE):
        assert memory.may_feed
        assert memory.add(Kind.CARD_DRAWN, bytes(CARD_RECORD - 2))
    assert memory.may_feed
    assert LARGEST_SHOE * CARD_RECORD == 24_700
    assert CAPACITY == 25_600


@given(memories)
def test_memory_survives_in_a_file(memory):
    assert DeviceMemory.from_bytes(memory.to_bytes()) == memory


@given(memories, st.data())
def test_a_file_that_is_cut_short_within_a_record_is_not_believed(memory, data):
    kept = memory.to_bytes()
    short = kept[: data.draw(st.integers(0, len(kept) - 1))]
    try:
        again = DeviceMemory.from_bytes(short)
    except MessageError:
        return
    assert again.records == memory.records[: len(again.records)]


def test_a_record_of_no_bytes_is_not_believed():
    with pytest.raises(MessageError, match="begin a new session"):
        DeviceMemory.from_bytes(DeviceMemory(7).to_bytes() + b"\0")


def test_a_memory_too_small_for_a_hand_is_a_wrong_setting():
    EventMemory(DeviceMemory(7), MIN_CAPACITY)
    with pytest.raises(SettingError, match="too small"):
        EventMemory(DeviceMemory(7), MIN_CAPACITY - 1)


@given(st.lists(st.tuples(strategies.happenings, st.integers(0, 3)), max_size=60))
def test_what_is_kept_is_never_lost_and_the_bytes_never_exceed_the_capacity(steps):
    """A model: a list. Everything that was kept comes out in order; a loss is always marked on both sides."""
    memory = EventMemory(DeviceMemory(7), MIN_CAPACITY + 200)
    model = []
    lost = 0
    for happening, dropped in steps:
        kind, content = pack_happening(happening)
        before = memory.overflowed
        if memory.add(kind, content):
            model.append((kind, content))
        else:
            if not before:
                model.append((Kind.OVERFLOW, b"\1\0\0\0\0"))
            lost += 1
        before = memory.overflowed
        memory.drop_before(memory.first + dropped)
        del model[:dropped]
        if before and not memory.overflowed:
            model.append((Kind.OVERFLOW, b"\0" + lost.to_bytes(4, "little")))
            lost = 0
        assert memory._used <= memory.capacity
        assert [memory.record(memory.first + place) for place in range(len(memory))] == model
        again = EventMemory(memory.snapshot(), memory.capacity)
        assert (again.next, again.overflowed, again.lost, again._used) == (
            memory.next,
            memory.overflowed,
            memory.lost,
            memory._used,
        )
