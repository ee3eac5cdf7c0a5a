"""The wire to a simulated shoe: each fault does its one thing, and the whole shoe arrives all the same."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.simulated.faults import parse_faults
from drivers.simulated.order import ShoeOrder
from drivers.simulated.wire import OVERTAKEN_WITHIN, FaultyWire, WireFaults
from firmware_protocol.drops import Drop
from firmware_protocol.events import CardDrawn, LinkUp
from tests.drivers.simulated.twin_rig import TwinRig

FRAMES = [bytes((0, index, index, 0)) for index in range(1, 101)]


def frames_of(data):
    return [data[at : at + 4] for at in range(0, len(data), 4)]


def through(faults, *, seed=1, before=lambda _wire: None, at_once=True):
    """Give what comes out when all frames go in."""
    wire = FaultyWire(faults, Random(seed), frames_of)
    before(wire)
    for data in [b"".join(FRAMES)] if at_once else FRAMES:
        wire.send(data, 0.0)
    out, now = [], 0.0
    while True:
        while data := wire.arrived(now):
            out.append((now, data))
        following = wire.next_arrival()
        if following is None:
            return out
        assert following >= now
        now = following


def all_of(out):
    return b"".join(data for _, data in out)


def test_a_good_wire_delivers_at_once_and_in_order():
    assert through(WireFaults()) == [(0.0, b"".join(FRAMES))]
    wire = FaultyWire(WireFaults(), Random(1), frames_of)
    wire.send(b"", 0.0)
    assert wire.next_arrival() is None


def test_lost_bytes_are_lost_and_nothing_else():
    got = all_of(through(WireFaults(lose=0.1)))
    assert 300 < len(got) < 400
    sent = iter(b"".join(FRAMES))
    assert all(byte in sent for byte in got)


def test_flipped_bytes_differ_in_one_bit():
    got = all_of(through(WireFaults(flip=0.1)))
    wrong = [one ^ other for one, other in zip(got, b"".join(FRAMES), strict=True) if one != other]
    assert 10 < len(wrong) < 80
    assert all(difference.bit_count() == 1 for difference in wrong)


def test_dropped_frames_are_dropped_whole():
    got = frames_of(all_of(through(WireFaults(drop=0.3))))
    assert 40 < len(got) < 90
    assert got == [frame for frame in FRAMES if frame in got]


def test_repeated_frames_come_twice():
    got = frames_of(all_of(through(WireFaults(repeat=0.3))))
    assert len(got) > 110
    assert list(dict.fromkeys(got)) == FRAMES


def test_reordered_frames_are_overtaken_by_the_next():
    got = frames_of(all_of(through(WireFaults(reorder=0.3))))
    assert sorted(got) == FRAMES
    assert got != FRAMES
    assert all(abs(got.index(frame) - at) <= 1 for at, frame in enumerate(FRAMES))


def test_a_frame_that_nothing_overtakes_comes_a_little_later():
    wire = FaultyWire(WireFaults(reorder=0.9999999), Random(1), frames_of)
    wire.send(FRAMES[0], 5.0)
    assert wire.arrived(5.0) == b""
    assert wire.next_arrival() == 5.0 + OVERTAKEN_WITHIN
    assert wire.arrived(5.0 + OVERTAKEN_WITHIN) == FRAMES[0]


def test_late_bytes_come_late_and_in_order():
    out = through(WireFaults(late=2.0), at_once=False)
    assert all_of(out) == b"".join(FRAMES)
    assert 0 < out[-1][0] <= 2.0


def test_split_data_comes_in_small_pieces():
    out = through(WireFaults(split=True))
    assert all_of(out) == b"".join(FRAMES)
    assert max(len(data) for _, data in out) <= 7


def test_frames_are_damaged_or_swallowed_to_order():
    damaged = frames_of(all_of(through(WireFaults(), before=lambda wire: wire.damage_next(3))))
    assert [one != other for one, other in zip(damaged, FRAMES, strict=True)] == [True] * 3 + [False] * 97
    swallowed = frames_of(all_of(through(WireFaults(), before=lambda wire: wire.swallow_next(3))))
    assert swallowed == FRAMES[3:]


def test_a_pulled_cable_loses_what_is_on_the_way():
    wire = FaultyWire(WireFaults(reorder=0.5, late=1.0), Random(1), frames_of)
    wire.send(b"".join(FRAMES), 0.0)
    wire.clear()
    assert wire.next_arrival() is None
    assert wire.arrived(100.0) == b""


@given(
    st.builds(
        WireFaults,
        lose=st.floats(0, 0.9),
        flip=st.floats(0, 0.9),
        drop=st.floats(0, 0.9),
        repeat=st.floats(0, 0.9),
        reorder=st.floats(0, 0.9),
        late=st.floats(0, 60),
        split=st.booleans(),
    ),
    st.integers(),
)
def test_one_seed_gives_one_wire(faults, seed):
    assert through(faults, seed=seed) == through(faults, seed=seed)


# --- the real host link at the other end ---

ONE_FAULT = ["lose", "flip", "drop", "repeat", "reorder", "late", "split", "wire"]


@pytest.mark.parametrize("fault", ONE_FAULT)
def test_a_shoe_of_the_open_protocol_arrives_once_and_in_order_on_each_bad_wire(fault):
    rig = TwinRig(ShoeOrder(decks=2), faults=parse_faults(fault).wire, seed=5)
    rig.run_until(lambda: any(isinstance(notice, LinkUp) for notice in rig.notices))
    for _ in range(104):
        rig.do("deal force")
        rig.run_for(0.2)
    rig.run_until(lambda: len(rig.codes()) == 104)
    rig.run_for(10)
    assert rig.codes() == rig.out()
    if fault == "flip":
        assert rig.host.drops[Drop.BAD_CRC]
    if fault in ("drop", "lose"):
        assert rig.host.drops[Drop.GAP]
    if fault == "repeat":
        assert rig.host.drops[Drop.DUPLICATE]


# An Angel Eye cannot be asked again. What a wire may do to it is limited by its three copies: any one of them is
# enough, so that these faults at their usual shares lose nothing (each seed is a fixed run, not a probability).
@pytest.mark.parametrize("fault", ["lose", "flip=0.0005", "drop", "repeat", "reorder", "late", "split"])
def test_a_shoe_of_the_angel_eye_arrives_once_and_in_order_on_each_bad_wire(fault):
    rig = TwinRig(ShoeOrder(protocol="angel-eye", decks=2), faults=parse_faults(fault).wire, seed=2)
    while rig.twin.body.cards_left:
        if rig.twin.ready:
            rig.do("deal")
        rig.run_for(0.5)
    rig.run_for(5)
    drawn = [h for h in rig.happenings() if isinstance(h, CardDrawn)]
    assert [card.card.rank + card.card.suit for card in drawn] == rig.out()
    assert len(drawn) == 104


def test_a_damaged_frame_of_either_protocol_is_counted_and_its_card_arrives():
    rig = TwinRig()
    rig.run_until(lambda: any(isinstance(notice, LinkUp) for notice in rig.notices))
    rig.run_for(0.5)
    before = sum(rig.host.drops.values())
    rig.to_host.damage_next(2)
    rig.do("deal force")
    rig.run_for(5)
    assert rig.codes() == rig.out()
    assert sum(rig.host.drops.values()) > before
    rig = TwinRig(ShoeOrder(protocol="angel-eye"))
    rig.run_for(1)
    rig.to_host.damage_next(2)
    rig.do("deal")
    rig.run_for(5)
    assert rig.codes() == rig.out()
    assert sum(rig.host.counters.values()) > 0
