"""The host's link to an Angel Eye: what is handed out, in which words, with which identity, and what is ever sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.angel_eye_copies import HOLD
from firmware_protocol.angel_eye_frames import StartByte, unsolicited_frame
from firmware_protocol.angel_eye_happenings import OverdrawnMeaning
from firmware_protocol.angel_eye_link import SILENCE, AngelEyeHostLink, AngelEyeSettings
from firmware_protocol.angel_eye_messages import (
    CuttingCard,
    ErrorChanged,
    GameCard,
    Outside,
    OutsideCard,
    OverdrawnCard,
    Standby,
    Started,
)
from firmware_protocol.angel_eye_operations import Operation
from firmware_protocol.angel_eye_refusals import NakCode
from firmware_protocol.angel_eye_requests import ANSWER_TIME, TRIES
from firmware_protocol.angel_eye_sender import AngelEyeSender
from firmware_protocol.events import (
    BurnCountTold,
    CardDrawn,
    CardForeign,
    CardReturned,
    CardUnreadable,
    CommandAnswered,
    CutCardSeen,
    DeviceFault,
    DeviceResult,
    DeviceStandby,
    DeviceStarted,
    FaultChanged,
    HabitSeen,
    KeyLockChanged,
    LinkDown,
    LinkUp,
    NotUnderstood,
    PresetChanged,
    ShoeEvent,
    Target,
)
from tests.firmware_protocol.angel_eye_vectors import FRAMES, card

SESSION = 0xDEADBEEF


def link_up(now=0.0, **settings):
    link = AngelEyeHostLink(AngelEyeSettings(session=SESSION, **settings))
    link.connection_made(now)
    assert link.events() == [LinkUp("angel-eye", "", "", None, 0, SESSION, authenticated=False)]
    return link


def shoe_events(events):
    return [event for event in events if isinstance(event, ShoeEvent)]


def heard(data, **settings):
    """Give the happenings that bytes mean."""
    link = link_up(**settings)
    link.receive_data(data, 1.0)
    link.tick(1.0 + HOLD)
    return [event.happening for event in shoe_events(link.events())]


def said(*messages):
    sender = AngelEyeSender()
    return b"".join(map(sender.say, messages))


HAPPENINGS = [
    [DeviceStarted()],
    [DeviceStandby()],
    [CardDrawn(card("Ad"), Target.PLAYER, 1)],
    [CardDrawn(card("Kc"), Target.BANKER, 1)],
    [CardDrawn(card("7s"), outside_game="locked")],
    [CardDrawn(card("2h"), outside_game="error")],
    [CardDrawn(card("Th"), outside_game="setting")],
    [CardDrawn(card("4s"), Target.PLAYER, 1, overdrawn="next-round")],
    [DeviceResult("player", player_pair=True, banker_pair=False)],
    [DeviceResult("tie", player_pair=False, banker_pair=False)],
    [DeviceResult("banker", player_pair=True, banker_pair=True)],
    [DeviceResult(None, player_pair=False, banker_pair=False)],
    [CutCardSeen()],
    [CardUnreadable(), FaultChanged(DeviceFault.UNREADABLE, active=True, detail=1)],
    [FaultChanged(DeviceFault.UNREADABLE, active=False, detail=1)],
    [KeyLockChanged(locked=True)],
    [KeyLockChanged(locked=False)],
    [PresetChanged("12", "0345")],
    [CardDrawn(card("Kh"), Target.BURN, 2)],
    [CardDrawn(card("Jh"), Target.FIRST_CARD, 0)],
    [BurnCountTold(10)],
    [CardDrawn(card("9d"), Target.PLAYER, 2)],
]


@pytest.mark.parametrize(
    "frame, happenings",
    [(bytes.fromhex(frame), told) for (frame, _, _), told in zip(FRAMES, HAPPENINGS, strict=True)],
)
@pytest.mark.parametrize("copies", [1, 2, 3])
def test_each_frame_becomes_what_other_shoes_say_too(frame, happenings, copies):
    assert heard(frame * copies) == happenings


@pytest.mark.parametrize(
    "code, fault, about_the_card",
    [
        (1, DeviceFault.UNREADABLE, [CardUnreadable()]),
        (2, DeviceFault.OVERDRAW, []),
        (3, DeviceFault.BUTTON, []),
        (4, DeviceFault.REVERSE_RUN, [CardReturned(None)]),
        (5, DeviceFault.REVERSE_RUN, [CardReturned(None)]),
        (6, DeviceFault.CODE, [CardForeign(None)]),
        (7, DeviceFault.TIMEOUT, []),
        (8, DeviceFault.UNKNOWN, []),
        (63, DeviceFault.UNKNOWN, []),
    ],
)
def test_every_error_is_a_fault_and_what_it_says_of_a_card(code, fault, about_the_card):
    began = said(ErrorChanged(code, active=True, error_mode=True))
    assert heard(began) == [*about_the_card, FaultChanged(fault, active=True, detail=code)]
    over = said(ErrorChanged(code, active=False, error_mode=False))
    assert heard(over) == [FaultChanged(fault, active=False, detail=code)]


class TestAShoeThatGetsFromOneErrorIntoAnother:
    began = (ErrorChanged(2, active=True, error_mode=True), ErrorChanged(4, active=True, error_mode=True))

    def test_names_the_last_one_when_it_is_in_none_any_more_and_all_are_over(self):
        told = heard(said(*self.began, ErrorChanged(4, active=False, error_mode=False)))
        assert told[-2:] == [
            FaultChanged(DeviceFault.REVERSE_RUN, False, 4),
            FaultChanged(DeviceFault.OVERDRAW, False, 2),
        ]

    def test_says_so_while_it_is_still_in_the_other(self):
        told = heard(said(*self.began, ErrorChanged(4, active=False, error_mode=True)))
        assert told[-1] == FaultChanged(DeviceFault.REVERSE_RUN, False, 4)
        over = heard(
            said(*self.began, ErrorChanged(4, False, error_mode=True), ErrorChanged(2, active=False, error_mode=False))
        )
        assert over[-1] == FaultChanged(DeviceFault.OVERDRAW, False, 2)
        assert len(over) == len(told) + 1

    def test_has_told_nothing_of_it_any_more_after_a_start(self):
        told = heard(said(*self.began, Started(), ErrorChanged(4, active=False, error_mode=False)))
        assert told[-1] == FaultChanged(DeviceFault.REVERSE_RUN, False, 4)

    def test_has_told_nothing_of_it_any_more_after_the_line_was_gone(self):
        link = link_up()
        link.receive_data(said(*self.began), 1.0)
        link.connection_lost(2.0)
        link.connection_made(3.0)
        link.events()
        link.receive_data(AngelEyeSender(sequence=9).say(ErrorChanged(4, active=False, error_mode=False)), 4.0)
        assert [event.happening for event in shoe_events(link.events())] == [
            FaultChanged(DeviceFault.REVERSE_RUN, False, 4)
        ]


def test_a_card_frame_that_tells_no_card_is_a_card_that_could_not_be_read():
    assert heard(bytes.fromhex("05 01 44 80 91 03 35 37") * 3) == [CardUnreadable()]


def test_an_intact_frame_of_an_unknown_type_is_kept_not_understood():
    [happening] = heard(bytes.fromhex("05 01 58 03 35 41") * 3)
    assert isinstance(happening, NotUnderstood)


def test_copies_of_a_card_that_all_differ_are_a_card_that_could_not_be_read():
    frames = [unsolicited_frame(9, GameCard(Target.PLAYER, 1, card(code))) for code in ("Ad", "2d", "3d")]
    link = link_up()
    link.receive_data(b"".join(frames), 1.0)
    [event] = shoe_events(link.events())
    assert event.happening == CardUnreadable()
    assert event.raw == b"".join(frames)


def test_copies_of_something_else_that_all_differ_are_not_understood():
    [happening] = heard(unsolicited_frame(9, Standby()) + unsolicited_frame(9, CuttingCard()))
    assert isinstance(happening, NotUnderstood)
    assert "50, 43" in happening.reason


class TestOverdrawnCard:
    DRAWN = OutsideCard(Outside.ERROR, card("4s"))
    KEPT = OverdrawnCard(Target.PLAYER, 1, card("4s"))

    @pytest.mark.parametrize("meaning", OverdrawnMeaning)
    def test_means_what_the_setting_says(self, meaning):
        [happening] = heard(said(self.KEPT), overdrawn_card=meaning)
        assert happening == CardDrawn(card("4s"), Target.PLAYER, 1, overdrawn=meaning.value)

    def test_that_was_told_when_it_left_the_shoe_is_not_another_card(self):
        [first, second] = heard(said(self.DRAWN, self.KEPT))
        assert first == CardDrawn(card("4s"), outside_game="error")
        assert second == CardDrawn(card("4s"), Target.PLAYER, 1, overdrawn="next-round", told_before=True)

    @pytest.mark.parametrize(
        "between", [Started(), GameCard(Target.BANKER, 1, card("5d")), OverdrawnCard(Target.PLAYER, 1, card("4s"))]
    )
    def test_of_an_earlier_incident_was_not_told_before(self, between):
        *_, last = heard(said(self.DRAWN, between, self.KEPT))
        assert not last.told_before

    def test_that_is_another_card_than_the_one_drawn_in_error_was_not_told_before(self):
        *_, last = heard(said(OutsideCard(Outside.ERROR, card("5s")), self.KEPT))
        assert not last.told_before

    def test_leaves_a_note_of_what_this_shoe_does(self):
        link = link_up()
        link.receive_data(said(self.DRAWN, self.KEPT), 1.0)
        assert HabitSeen("overdrawn_card", "told before") in link.events()


def test_events_are_numbered_by_the_link_and_keep_their_raw_frame():
    link = link_up()
    link.receive_data(said(Started(), ErrorChanged(1, active=True, error_mode=True), Standby()), 1.0)
    link.tick(2.0)
    events = shoe_events(link.events())
    assert [(event.session, event.number) for event in events] == [(SESSION, n) for n in (1, 2, 3, 4)]
    assert events[1].raw == events[2].raw == unsolicited_frame(1, ErrorChanged(1, active=True, error_mode=True))


def test_numbers_go_on_over_reconnects_and_restarts():
    link = AngelEyeHostLink(AngelEyeSettings(session=SESSION), first_number=41)
    link.connection_made(0.0)
    link.receive_data(said(Started()), 0.0)
    link.connection_lost(1.0)
    link.connection_made(2.0)
    link.receive_data(said(Started(), Standby())[18:], 5.0)
    assert [event.number for event in shoe_events(link.events())] == [41, 42]


def test_a_copy_that_is_still_on_its_way_after_a_restart_of_the_host_is_recognised():
    frame = unsolicited_frame(5, GameCard(Target.PLAYER, 1, card("Ad")))
    link = AngelEyeHostLink(AngelEyeSettings(session=SESSION), first_number=2, already_handled=[frame, b"rubbish"])
    link.connection_made(10.0)
    link.receive_data(frame * 2 + unsolicited_frame(6, Standby()) * 3, 10.1)
    assert [event.happening for event in shoe_events(link.events())] == [DeviceStandby()]


def test_acknowledging_sends_nothing():
    link = link_up()
    link.acknowledge(SESSION, 1)
    assert link.data_to_send() == b""


@pytest.mark.parametrize("lost", range(9))
def test_a_whole_shoe_arrives_once_and_in_order_when_one_or_two_copies_of_each_event_are_lost(lost):
    cards = [GameCard(Target.PLAYER, 1, card(rank + suit)) for rank in "A23456789TJQK" for suit in "cdhs"] * 8
    sender, link, now, got = AngelEyeSender(sequence=77), link_up(), 0.0, []
    for number, message in enumerate(cards):
        copies = sender.say(message)
        size = len(copies) // 3
        keep = [copy for copy in range(3) if copy not in {lost % 3, (lost + lost // 3 * (1 + number % 2)) % 3}]
        now += 1.0
        for copy in keep:
            link.receive_data(copies[copy * size : (copy + 1) * size], now)
        link.tick(now + HOLD)
        got += shoe_events(link.events())
    assert [event.happening.card for event in got] == [message.card for message in cards]
    assert [event.number for event in got] == list(range(1, len(cards) + 1))


class TestOperations:
    @pytest.mark.parametrize(
        "ask, frame",
        [
            (lambda link: link.lock(), "02 4F 50 4C 4B 30 32 03 31 42"),
            (lambda link: link.unlock(), "02 4F 50 4C 4B 30 31 03 31 38"),
            (lambda link: link.gate(True), "02 4F 50 4C 4B 30 31 03 31 38"),
            (lambda link: link.gate(False), "02 4F 50 4C 4B 30 32 03 31 42"),
            (lambda link: link.clear_error(), "02 4F 50 45 43 30 30 03 31 38"),
            (lambda link: link.clear_overdraw(keep=True), "02 4F 50 45 43 30 31 03 31 39"),
            (lambda link: link.clear_overdraw(keep=False), "02 4F 50 45 43 30 32 03 31 41"),
            (lambda link: link.confirm_game(), "02 4F 50 47 50 30 30 03 30 39"),
        ],
    )
    def test_are_written_and_answered_by_ack(self, ask, frame):
        link = link_up()
        number = ask(link)
        assert link.data_to_send() == bytes.fromhex(frame)
        assert link.data_to_send() == b""
        link.receive_data(b"\x06", 0.1)
        assert CommandAnswered(number, ok=True) in link.events()

    @pytest.mark.parametrize("reason", NakCode)
    def test_are_answered_with_the_sentence_of_the_refusal(self, reason):
        link = link_up()
        number = link.lock()
        for step in range(TRIES):
            link.tick(step * 1.0)
            link.receive_data(bytes((0x15, reason.code)), step * 1.0)
        assert CommandAnswered(number, ok=False, reason=reason.sentence) in link.events()

    def test_use_the_check_of_the_setting(self):
        link = link_up(bcc_operations=StartByte.EXCLUDE)
        link.lock()
        assert link.data_to_send() == bytes.fromhex("02 4F 50 4C 4B 30 32 03 31 39")

    def test_that_stay_unanswered_put_the_link_down_until_the_shoe_is_heard(self):
        link = link_up()
        number = link.lock()
        now = 0.0
        for _ in range(100):
            now = max(now, link.next_deadline() or now)
            link.tick(now)
        [answer, down] = link.events()
        assert (answer.command_id, answer.ok) == (number, False)
        assert isinstance(down, LinkDown)
        assert link.data_to_send() == Operation.LOCK.to_bytes() * TRIES
        link.receive_data(unsolicited_frame(1, Standby()), now + 1)
        assert isinstance(link.events()[0], LinkUp)

    def test_to_clear_an_overdraw_are_not_repeated_when_only_the_answer_was_lost(self):
        link = link_up()
        number = link.clear_overdraw(keep=False)
        link.tick(0.0)
        link.receive_data(said(ErrorChanged(2, active=False, error_mode=False)), 0.1)
        link.data_to_send()
        link.tick(ANSWER_TIME)
        assert link.data_to_send() == b""
        assert CommandAnswered(number, ok=True) in link.events()

    def test_are_refused_at_once_without_a_connection(self):
        link = AngelEyeHostLink(AngelEyeSettings(session=SESSION))
        number = link.lock()
        [answer] = link.events()
        assert (answer.command_id, answer.ok) == (number, False)
        assert "not connected" in answer.reason
        assert link.data_to_send() == b""

    def test_under_way_are_answered_when_the_line_goes(self):
        link = link_up()
        numbers = [link.lock(), link.unlock()]
        link.connection_lost(1.0)
        *answers, down = link.events()
        assert [(answer.command_id, answer.ok) for answer in answers] == [(number, False) for number in numbers]
        assert isinstance(down, LinkDown)
        assert link.data_to_send() == b""

    def test_note_which_check_the_shoe_took(self):
        link = link_up()
        link.lock()
        link.receive_data(b"\x06", 0.1)
        assert HabitSeen("bcc_operations", "included") in link.events()
        link.lock()
        link.receive_data(b"\x15\x02", 0.2)
        assert HabitSeen("bcc_operations", "not included") in link.events()


class TestListenOnly:
    ASK = (
        AngelEyeHostLink.lock,
        AngelEyeHostLink.unlock,
        AngelEyeHostLink.clear_error,
        AngelEyeHostLink.confirm_game,
        lambda link: link.clear_overdraw(keep=True),
        lambda link: link.gate(True),
    )

    def test_operations_are_answered_at_once_with_the_reason(self):
        link = link_up(listen_only=True)
        for ask in self.ASK:
            number = ask(link)
            [answer] = link.events()
            assert (answer.command_id, answer.ok) == (number, False)
            assert "listen" in answer.reason
            assert link.data_to_send() == b""

    def test_answers_to_the_host_beside_us_are_no_fault(self):
        link = link_up(listen_only=True)
        link.receive_data(b"\x06\x15\x21" + Operation.LOCK.to_bytes(), 1.0)
        assert link.events() == []
        assert not link.counters["stray-answer"]

    @given(st.lists(st.one_of(st.binary(max_size=30), st.sampled_from(range(6)), st.floats(0, 5)), max_size=30))
    def test_not_one_byte_is_ever_written(self, steps):
        link, now = AngelEyeHostLink(AngelEyeSettings(session=1, listen_only=True)), 0.0
        link.connection_made(now)
        for step in steps:
            if isinstance(step, bytes):
                link.receive_data(step, now)
            elif isinstance(step, int):
                self.ASK[step](link)
            else:
                now += step
                link.tick(now)
            assert link.data_to_send() == b""


def test_a_register_answer_that_nobody_asked_for_is_counted():
    link = link_up()
    link.receive_data(bytes.fromhex("02 31 32 03 30 32"), 1.0)
    assert link.counters["stray-answer"] == 1


def test_a_shoe_that_computes_the_check_the_other_way_is_noticed():
    link = link_up()
    link.receive_data(unsolicited_frame(1, Standby(), StartByte.INCLUDE) * 3, 1.0)
    assert link.events() == [HabitSeen("bcc_unsolicited", "included")]
    assert link.counters["other-check"] == 3


def test_the_check_that_fits_is_noted_once():
    link = link_up()
    link.receive_data(said(Standby(), Started()), 1.0)
    notes = [event for event in link.events() if isinstance(event, HabitSeen)]
    assert notes == [HabitSeen("bcc_unsolicited", "excluded")]


def test_a_frame_with_the_other_check_among_good_ones_is_damage_not_a_habit():
    link = link_up()
    link.receive_data(said(Standby()) + unsolicited_frame(1, Standby(), StartByte.INCLUDE), 1.0)
    assert HabitSeen("bcc_unsolicited", "included") not in link.events()


def test_silence_is_not_a_fault():
    link = link_up()
    assert link.next_deadline() is None
    link.tick(1e6)
    assert link.events() == []


def test_a_frame_that_was_begun_is_given_up_after_silence():
    link = link_up()
    link.receive_data(b"\x05\x01D", 10.0)
    assert link.next_deadline() == 10.0 + SILENCE
    link.tick(10.0 + SILENCE)
    assert link.counters["silence"] == 1
    assert link.next_deadline() is None


def test_losing_a_line_that_was_never_up_says_nothing():
    link = AngelEyeHostLink(AngelEyeSettings(session=SESSION))
    link.connection_lost(0.0)
    assert link.events() == []


def test_the_last_card_before_the_line_went_is_handed_out_though_one_copy_came():
    link = link_up()
    link.receive_data(unsolicited_frame(1, GameCard(Target.PLAYER, 1, card("Ad"))), 1.0)
    link.connection_lost(1.01)
    assert CardDrawn(card("Ad"), Target.PLAYER, 1) in [e.happening for e in shoe_events(link.events())]


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=200),
            st.sampled_from([bytes.fromhex(frame) for frame, _, _ in FRAMES]),
            st.sampled_from(["lost", "made", "lock", "keep"]),
            st.floats(0, 3),
        ),
        max_size=40,
    )
)
def test_whatever_comes_the_link_never_raises_and_numbers_without_a_gap(steps):
    link, now, numbers = AngelEyeHostLink(AngelEyeSettings(session=1)), 0.0, []
    for step in steps:
        match step:
            case bytes():
                link.receive_data(step, now)
            case "lost":
                link.connection_lost(now)
            case "made":
                link.connection_made(now)
            case "lock":
                link.lock()
            case "keep":
                link.clear_overdraw(keep=True)
            case _:
                now += step
                link.tick(now)
        numbers += [event.number for event in shoe_events(link.events())]
        assert len(link.data_to_send()) <= 10 * TRIES * 40
    assert numbers == list(range(1, len(numbers) + 1))
