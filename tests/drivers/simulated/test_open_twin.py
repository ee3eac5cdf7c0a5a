"""The twin of the open protocol: what each thing done to it tells the host, and how it survives."""

from dataclasses import replace

import pytest

from drivers.simulated.errors import CannotDoError, OrderError
from drivers.simulated.open_device import OpenOptions
from drivers.simulated.order import ShoeOrder
from firmware_protocol.codes import DeviceKind, LampMode
from firmware_protocol.device_memory import FEEDING_ROOM
from firmware_protocol.events import (
    CardDrawn,
    CardForeign,
    CardReturned,
    CardsTogether,
    CardUnreadable,
    CutCardSeen,
    DeviceFault,
    DeviceStarted,
    FaultChanged,
    Heartbeat,
    LidMoved,
    LinkRefused,
    LinkUp,
    SelfTestDone,
    ShoeEmptied,
)
from tests.drivers.simulated.twin_rig import TwinRig

KEY = b"a key of a table, 32 bytes long."


def up(order=None, **more):
    rig = TwinRig(order, **more)
    rig.run_until(lambda: any(isinstance(notice, LinkUp) for notice in rig.notices))
    rig.run_until(lambda: rig.journal)
    assert rig.happenings() == [DeviceStarted()]
    rig.journal.clear()
    return rig


def open_gate(order=None, **more):
    rig = up(order, **more)
    assert rig.gate(True).ok
    return rig


def told(rig, line):
    """Do something and give what the host was told of it."""
    before = len(rig.journal)
    rig.do(line)
    rig.run_for(1)
    return rig.happenings()[before:]


def test_the_shoe_says_what_it_is():
    rig = up(ShoeOrder(seed=5, open_options=OpenOptions(serial_number="SIM-5")))
    [notice] = [notice for notice in rig.notices if isinstance(notice, LinkUp)]
    assert (notice.kind, notice.serial_number, notice.firmware_version) == ("rfid", "SIM-5", "simulated 1.0")


def test_a_card_leaves_only_through_an_open_gate():
    rig = up()
    with pytest.raises(CannotDoError, match="gate is shut"):
        rig.do("deal")
    assert rig.gate(True).ok
    rig.do("deal")
    assert rig.gate(False).ok
    with pytest.raises(CannotDoError, match="gate is shut"):
        rig.do("deal")
    assert rig.codes() == rig.out()


def test_a_strong_hand_draws_through_a_shut_gate_and_the_host_is_told():
    rig = up()
    [drawn] = told(rig, "deal force")
    assert isinstance(drawn, CardDrawn)


def test_a_whole_shoe_is_dealt_with_its_cut_card_and_its_end():
    rig = open_gate(ShoeOrder(deck=65, decks=2, cut_card=16))
    for _ in range(130):
        rig.do("deal")
    rig.run_for(5)
    assert rig.codes() == rig.out()
    assert sorted(rig.out()) == sorted(card.code for card in rig.twin.body.set)
    assert rig.happenings().index(CutCardSeen()) == 130 - 16
    assert rig.happenings()[-1] == ShoeEmptied()
    with pytest.raises(CannotDoError, match="empty"):
        rig.do("deal")


@pytest.mark.parametrize(
    "kind, has_uid, has_face",
    [(DeviceKind.RFID, True, False), (DeviceKind.OPTICAL, False, True), (DeviceKind.HYBRID, True, True)],
)
def test_each_kind_of_reader_sees_what_it_can(kind, has_uid, has_face):
    rig = open_gate(ShoeOrder(open_options=OpenOptions(kind=kind, deck_set=9)))
    [drawn] = told(rig, "deal")
    assert (drawn.card.uid is not None) == has_uid
    assert (drawn.card.rank is not None) == has_face
    assert (drawn.card.deck_set == 9) == has_face
    assert drawn.card.exit_us > drawn.card.entry_us


@pytest.mark.parametrize("words, known", [("", True), (" known", True), (" unknown", False)])
def test_two_cards_together_tell_whether_their_order_is_known(words, known):
    rig = open_gate()
    [together] = told(rig, f"together{words}")
    assert isinstance(together, CardsTogether)
    assert together.order_known is known
    assert sorted(rig.codes()) == sorted(rig.out())
    if known:
        assert rig.codes() == rig.out()


def test_two_cards_cannot_be_drawn_when_one_is_left():
    rig = open_gate(ShoeOrder(decks=1, cut_card=0))
    for _ in range(51):
        rig.do("deal")
    with pytest.raises(CannotDoError, match="one card left"):
        rig.do("together")


def test_a_card_pushed_back_is_told_and_comes_again():
    rig = open_gate()
    rig.do("deal")
    [returned] = told(rig, "pushback")
    assert isinstance(returned, CardReturned)
    [again] = told(rig, "deal")
    assert again.card.uid == returned.card.uid
    assert told(rig, "pushback unseen") == [CardReturned(None)]


def test_no_card_can_be_pushed_back_before_one_was_drawn():
    with pytest.raises(CannotDoError, match="no"):
        open_gate().do("pushback")


def test_an_unreadable_card_is_out_of_the_shoe():
    rig = open_gate()
    [happening] = told(rig, "unreadable")
    assert isinstance(happening, CardUnreadable)
    assert rig.twin.body.cards_left == 415


def test_a_foreign_card_has_an_id_of_no_register_and_leaves_the_stock_alone():
    rig = open_gate()
    told(rig, "foreign")
    assert rig.codes() == ["??"]
    [refused] = told(rig, "foreign refused")
    assert isinstance(refused, CardForeign)
    assert rig.twin.body.cards_left == 416


def test_a_duplicate_has_the_id_of_the_last_card():
    rig = open_gate()
    with pytest.raises(CannotDoError, match="no id"):
        rig.do("duplicate")
    [drawn] = told(rig, "deal")
    [again] = told(rig, "duplicate")
    assert again.card.uid == drawn.card.uid


@pytest.mark.parametrize(
    "line, happening",
    [
        ("cut", CutCardSeen()),
        ("empty", ShoeEmptied()),
        ("lid open", LidMoved(is_open=True)),
        ("lid close", LidMoved(is_open=False)),
        ("sensor", FaultChanged(DeviceFault.SENSOR, active=True)),
        ("sensor off", FaultChanged(DeviceFault.SENSOR, active=False)),
        ("tamper on", FaultChanged(DeviceFault.TAMPER, active=True)),
        ("jam", FaultChanged(DeviceFault.JAM, active=True)),
        ("jam off", FaultChanged(DeviceFault.JAM, active=False)),
        ("self-test", SelfTestDone(0)),
        ("self-test 5", SelfTestDone(5)),
    ],
)
def test_what_else_can_happen_is_told(line, happening):
    assert told(open_gate(), line) == [happening]


def test_a_jam_stops_cards_and_shuts_the_gate_until_it_is_cleared():
    rig = open_gate()
    rig.do("jam on")
    assert not rig.twin.ready
    with pytest.raises(CannotDoError, match="jammed"):
        rig.do("deal force")
    assert not rig.gate(True).ok
    rig.do("jam off")
    assert rig.gate(True).ok
    rig.do("deal")


def test_an_open_lid_keeps_a_dealer_from_drawing():
    rig = open_gate()
    assert rig.twin.ready
    rig.do("lid open")
    assert rig.twin.troubled
    assert not rig.twin.ready


def test_the_hosts_commands_are_answered_and_narrated():
    rig = up()
    rig.twin.body.story()
    for command in (
        rig.host.lamp(1, LampMode.ON),
        rig.host.set_time(1_700_000_000_000_000),
        rig.host.identify(3),
        rig.host.self_test(),
    ):
        assert rig.answer_to(command).ok
    rig.run_for(1)
    assert rig.happenings() == [SelfTestDone(0)]
    assert "the host commands: lamp" in rig.twin.body.story()


def test_the_heartbeat_tells_of_gate_and_reading():
    rig = open_gate()
    rig.do("deal")
    rig.do("unreadable")
    rig.run_for(3)
    beat = [notice for notice in rig.notices if isinstance(notice, Heartbeat)][-1]
    assert (beat.reads, beat.misses, beat.gate_open, beat.lid_open) == (1, 1, True, False)


def test_the_gate_shuts_when_the_host_is_gone():
    rig = open_gate()
    rig.disconnect()
    assert not rig.twin.body.gate_open
    assert "gate shut: the host is gone" in rig.twin.body.story()


def test_cards_drawn_without_a_cable_are_kept_and_arrive_later():
    rig = open_gate()
    rig.do("deal")
    rig.disconnect()
    for _ in range(20):
        rig.do("deal force")
    assert len(rig.codes()) == 1
    rig.connect()
    rig.run_until(lambda: len(rig.codes()) == 21)
    assert rig.codes() == rig.out()


def test_a_reboot_in_mid_round_loses_nothing_that_was_not_yet_told():
    rig = open_gate()
    for _ in range(3):
        rig.do("deal")
    rig.disconnect()
    rig.do("deal force")
    assert rig.do("reboot") == "rebooted"
    assert not rig.twin.body.gate_open
    rig.connect()
    rig.run_until(lambda: DeviceStarted() in rig.happenings())
    assert rig.codes() == rig.out()


def test_a_reboot_without_memory_begins_another_session_and_says_what_it_forgot():
    rig = open_gate()
    rig.do("deal")
    rig.run_for(1)
    first = rig.journal[-1].session
    rig.disconnect()
    rig.do("deal force")
    assert "1 events forgotten" in rig.do("reboot forget")
    rig.connect()
    rig.run_until(lambda: DeviceStarted() in rig.happenings())
    assert rig.journal[-1].session != first
    assert rig.gate(True).ok
    rig.do("deal")
    rig.run_for(1)
    assert rig.codes() == [rig.out()[0], rig.out()[2]]


def test_a_reboot_by_the_host_is_answered_before_it_happens():
    rig = up()
    assert rig.answer_to(rig.host.reboot()).ok
    rig.run_until(lambda: rig.happenings() == [DeviceStarted()])


def test_event_numbers_that_end_begin_another_session_and_lose_nothing():
    rig = open_gate()
    rig.do("wrap 4")
    rig.run_until(lambda: rig.happenings() == [DeviceStarted()])
    for _ in range(8):
        rig.run_until(lambda: rig.gate(True).ok)
        rig.do("deal")
    rig.run_until(lambda: len(rig.codes()) == 8)
    assert rig.codes() == rig.out()
    sessions = [event.session for event in rig.journal]
    assert len(set(sessions)) == 2
    assert sessions.index(sessions[-1]) == 1 + 4
    assert rig.journal[-1].number == 4


def test_numbers_that_end_while_nobody_listens_lose_nothing_either():
    rig = open_gate()
    rig.disconnect()
    rig.do("wrap 4")
    for _ in range(20):
        rig.do("deal force")
    rig.connect()
    rig.run_until(lambda: len(rig.codes()) == 20)
    assert rig.codes() == rig.out()


def test_a_full_memory_shuts_the_gate_and_tells_what_was_not_kept():
    rig = open_gate(ShoeOrder(open_options=OpenOptions(memory=FEEDING_ROOM + 100)))
    rig.disconnect()
    for _ in range(30):
        rig.do("deal force")
    assert "the memory for events is full: this event is lost" in rig.twin.body.story()
    rig.connect()
    overflow = FaultChanged(DeviceFault.OVERFLOW, active=True)
    rig.run_until(lambda: [h for h in rig.happenings() if isinstance(h, FaultChanged) and not h.active])
    assert overflow in rig.happenings()
    [over] = [h for h in rig.happenings() if isinstance(h, FaultChanged) and not h.active]
    assert over.detail + len(rig.codes()) == 30
    assert rig.gate(True).ok


def test_a_memory_that_fills_up_while_the_host_does_not_acknowledge_shuts_the_gate():
    rig = open_gate(ShoeOrder(open_options=OpenOptions(memory=FEEDING_ROOM + 60)))
    rig.host.acknowledge = lambda *_: None
    for _ in range(3):
        if rig.twin.body.gate_open:
            rig.do("deal")
    assert not rig.twin.body.gate_open
    answer = rig.gate(True)
    assert not answer.ok
    assert "gate shut: the memory for events is nearly full" in rig.twin.body.story()


def test_a_new_shoe_is_the_same_set_in_another_order():
    rig = open_gate()
    first = [rig.do("deal") for _ in range(20)]
    rig.do("jam on")
    assert told(rig, "new-shoe") == [
        LidMoved(is_open=True),
        FaultChanged(DeviceFault.JAM, active=False),
        LidMoved(is_open=False),
    ]
    assert rig.twin.body.cards_left == 416
    rig.gate(True)
    assert [rig.do("deal") for _ in range(20)] != first


def test_with_the_right_key_the_link_is_authenticated():
    order = ShoeOrder(open_options=OpenOptions(key=KEY, require_auth=True))
    rig = open_gate(order, key=KEY)
    [notice] = [notice for notice in rig.notices if isinstance(notice, LinkUp)]
    assert notice.authenticated
    assert "a host has welcomed the shoe with its key" in rig.twin.body.story()


def test_with_another_key_the_shoe_is_refused_and_says_so():
    rig = TwinRig(ShoeOrder(open_options=OpenOptions(key=KEY)), key=KEY[::-1])
    rig.run_until(lambda: any(isinstance(notice, LinkRefused) for notice in rig.notices))
    rig.run_for(1)
    assert "the host refused the shoe: wrong key" in rig.twin.body.story()


@pytest.mark.parametrize("line", ["deal twice", "cut now", "lid ajar", "jam 3", "wrap -1", "wrap 1 2", "together two"])
def test_words_that_are_not_understood_are_refused_with_a_sentence(line):
    with pytest.raises(OrderError, match=r"\.$"):
        open_gate().do(line)


def test_one_seed_gives_one_run():
    def run(seed):
        rig = open_gate(replace(ShoeOrder(), seed=seed))
        for _ in range(50):
            rig.do("deal")
        rig.run_for(1)
        return rig.happenings()

    assert run(3) == run(3)
    assert run(3) != run(4)
