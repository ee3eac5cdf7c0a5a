"""The whole shoe arrives once and in order, whatever one thing the wire does wrong."""

from itertools import pairwise

import pytest

from firmware_protocol.device_link import HostLost
from firmware_protocol.events import CutCardSeen, EventsMissing, LidMoved, LinkDown, LinkRefused, LinkUp, ShoeEmptied
from tests.firmware_protocol.wires import (
    KEY,
    WIRES,
    BrokenWire,
    ByteAtATimeWire,
    FrameLosingWire,
    LateWire,
    NoisyWire,
    Rig,
    Wire,
    shoe,
)

WHOLE_SHOE = [*shoe(300), CutCardSeen(), *shoe(349, seed=1), ShoeEmptied()]
ROUND = [LidMoved(is_open=False), *shoe(6), CutCardSeen()]
keyed = pytest.mark.parametrize("key", [None, KEY], ids=["open", "sealed"])


def arrives(rig, happenings, limit=600.0):
    rig.run_until(lambda: len(rig.journal) >= len(happenings), limit)
    rig.run_for(10)  # long enough for anything to be sent a second time
    assert rig.happenings() == happenings
    for one, other in pairwise(rig.journal):
        assert (one.session, one.number + 1) == (other.session, other.number)
    assert not rig.seen(EventsMissing)
    assert not rig.seen(LinkRefused)
    rig.run_until(lambda: not rig.device.memory, 30)  # and the device knows that it may forget it


@keyed
@pytest.mark.parametrize("wire", WIRES)
def test_whole_shoe_arrives_when_the_wire_to_the_host_does_it(wire, key):
    rig = Rig(wire(11), Wire(), key=key)
    for happening in WHOLE_SHOE[:400]:  # dealt while nobody listened
        assert rig.report(happening)
    rig.deal(WHOLE_SHOE[400:], every=0.1)
    arrives(rig, WHOLE_SHOE)


@keyed
@pytest.mark.parametrize("wire", WIRES)
def test_whole_shoe_arrives_when_the_wire_to_the_device_does_it(wire, key):
    rig = Rig(Wire(), wire(12), key=key)
    rig.deal(WHOLE_SHOE, every=0.05)
    arrives(rig, WHOLE_SHOE)


@keyed
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("seed", range(2))
def test_whole_shoe_arrives_when_both_wires_do_it(wire, key, seed):
    rig = Rig(wire(seed), wire(seed + 100), key=key, seed=seed)
    rig.commit_after = 0.03
    rig.deal(WHOLE_SHOE, every=0.05)
    arrives(rig, WHOLE_SHOE)


@pytest.mark.parametrize("commit_after", [0.0, 0.2, 0.5, 3.0])
def test_a_slow_disk_delays_the_acknowledgement_and_nothing_else(commit_after):
    rig = Rig()
    rig.commit_after = commit_after
    rig.deal(ROUND)
    arrives(rig, ROUND)


def bytes_of_a_round(key):
    """How many bytes go either way while a round is dealt, on a good line."""
    rig = Rig(key=key)
    rig.deal(ROUND)
    rig.run_until(lambda: len(rig.journal) == len(ROUND) and not rig.device.memory)
    return rig.to_host.sent, rig.to_device.sent


def breaks(key):
    to_host, to_device = bytes_of_a_round(key)
    return [("host", after) for after in range(to_host)] + [("device", after) for after in range(to_device)]


def rig_that_breaks(direction, after, accident, key):
    """A rig in which an accident happens when so many bytes have arrived at one end."""
    rig = Rig(key=key)
    wire = BrokenWire(after, lambda: accident(rig))
    setattr(rig, f"to_{direction}", wire)
    rig.commit_after = 0.002
    rig.deal(ROUND)
    return rig


def pull_the_cable(rig):
    rig.at(rig.now + 0.7, rig.connect)
    rig.disconnect()


def lose_what_is_on_the_way(rig):
    rig.to_host.clear()
    rig.to_device.clear()


ACCIDENTS = {
    "cable pulled": pull_the_cable,
    "bytes lost": lose_what_is_on_the_way,
    "host restarted": Rig.restart_host,
    "device restarted": Rig.restart_device,
}


@pytest.mark.parametrize("accident", ACCIDENTS.values(), ids=ACCIDENTS.keys())
@pytest.mark.parametrize("key, step", [(None, 1), (KEY, 5)], ids=["open", "sealed"])
def test_round_arrives_once_wherever_the_accident_happens(accident, key, step):
    """At every byte of a whole round, in both directions; of a sealed one at every fifth, as the state is the same."""
    places = breaks(key)
    assert len(places) > 800
    for direction, after in places[::step]:
        rig = rig_that_breaks(direction, after, accident, key)
        rig.run_until(lambda rig=rig: len(rig.journal) >= len(ROUND), 60)
        rig.run_until(lambda rig=rig: not rig.device.memory, 30)
        assert rig.happenings() == ROUND, (direction, after)
        assert getattr(rig, f"to_{direction}").is_broken
        assert not rig.seen(EventsMissing)


@pytest.mark.parametrize("after", range(0, 700, 7))
def test_a_device_without_memory_loses_what_it_had_and_doubles_nothing(after):
    rig = Rig(keeps=False)
    rig.to_host = BrokenWire(after, rig.restart_device)
    rig.deal(ROUND)
    rig.run_until(lambda: not rig.plan and not rig.device.memory and rig.seen(LinkUp), 60)
    rig.run_for(5)
    arrived = rig.happenings()
    assert sorted(map(ROUND.index, arrived)) == [ROUND.index(happening) for happening in arrived]
    assert len(set(arrived)) == len(arrived)
    assert len(ROUND) - len(arrived) <= 2  # no more than was on the line when the power went
    assert len({(event.session, event.number) for event in rig.journal}) == len(arrived)


@pytest.mark.parametrize("wire", [Wire, ByteAtATimeWire, FrameLosingWire, NoisyWire, LateWire])
def test_shoe_survives_one_accident_after_the_other(wire):
    rig = Rig(wire(5), wire(6), key=KEY, seed=9)
    rig.commit_after = 0.01
    cards = shoe(400)
    rig.deal(cards, every=0.1)
    accidents = list(ACCIDENTS.values())
    for index in range(20):
        rig.at(1.3 + 1.9 * index, lambda accident=accidents[index % 4]: accident(rig))
    rig.run_until(lambda: len(rig.journal) >= len(cards), 600)
    rig.run_for(10)
    assert rig.happenings() == cards
    assert not rig.seen(EventsMissing)


def test_both_ends_notice_a_line_that_has_gone_quiet_and_find_each_other_again():
    rig = Rig()
    rig.run_until(lambda: rig.seen(LinkUp))
    dead = Wire()
    dead.mangle = lambda _data: []
    good, rig.to_host = rig.to_host, dead
    rig.run_for(6)
    assert rig.seen(LinkDown)[-1].reason == "the shoe has not been heard for 5 seconds"
    rig.to_host = good
    rig.run_until(lambda: len(rig.seen(LinkUp)) == 2, 10)
    rig.to_device = dead
    rig.run_for(8)
    assert rig.device_events.count(HostLost()) == 2
