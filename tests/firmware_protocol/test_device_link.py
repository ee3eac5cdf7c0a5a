import pytest

from firmware_protocol import timing
from firmware_protocol.auth import greeting_key, seal
from firmware_protocol.codes import Kind, QueryFlag, Status, Verdict
from firmware_protocol.commands import Answer, Gate, UnknownCommand
from firmware_protocol.delivery import MAX_NUMBER, Ack, Beat, Event, Replay
from firmware_protocol.device_link import DeviceLink, DeviceState, HostLost, HostRefusedUs, HostUp
from firmware_protocol.device_memory import SESSION_TAIL, DeviceMemory
from firmware_protocol.drops import Drop
from firmware_protocol.errors import MessageError, SettingError
from firmware_protocol.events import CutCardSeen, DeviceStandby, LidMoved, LinkDown, LinkUp
from firmware_protocol.frames import Decoder, encode_frame
from firmware_protocol.greeting import NO_NONCE, Hello, Query, Welcome
from firmware_protocol.messages import read_from_device
from tests.firmware_protocol.wires import IDENTITY, KEY, Rig, shoe

NONCE = b"h" * 16


class Lone:
    """A device with nobody but the test at the other end."""

    def __init__(self, memory=None, **settings):
        self.nonces = iter(bytes((count,)) * 16 for count in range(1, 200))
        self.sessions = iter(range(1000, 2000))
        self.now = 0.0
        self.link = DeviceLink(
            IDENTITY,
            memory or DeviceMemory(7),
            nonce=lambda: next(self.nonces),
            new_session=lambda: next(self.sessions),
            **settings,
        )
        self.link.connection_made(0.0)

    def tell(self, message, key=None):
        body = message if isinstance(message, bytes) else message.to_bytes()
        self.link.receive_data(encode_frame(seal(body, key) if key else body), self.now)
        return self.said()

    def said(self):
        return [read_from_device(frame.body) for frame in Decoder().feed(self.link.data_to_send())]

    def tick(self, now):
        self.now = now
        self.link.tick(now)
        return self.said()

    def greet(self, resume=None):
        """Bring the link up."""
        (hello,) = self.tell(Query(NONCE))
        self.tell(Welcome(Verdict.ACCEPTED, NONCE, hello.device_nonce, hello.session, resume or hello.first))
        assert self.link.state is DeviceState.UP
        return self


def test_a_device_without_a_host_announces_itself():
    device = Lone()
    assert [message.host_nonce for message in device.tick(0.0)] == [NO_NONCE]
    assert device.link.next_deadline() == timing.ANNOUNCE
    assert device.tick(0.5) == []
    assert len(device.tick(1.0)) == 1


def test_without_a_transport_nothing_is_sent_and_events_are_kept():
    device = Lone()
    device.link.connection_lost(0.0)
    assert device.link.next_deadline() is None
    assert device.link.report(CutCardSeen(), 0.0)
    assert device.tell(Query(NONCE)) == []
    assert device.tick(100.0) == []
    assert len(device.link.memory) == 1


def test_events_are_sent_only_after_the_welcome():
    device = Lone()
    device.link.report(CutCardSeen(), 0.0)
    (hello,) = device.tell(Query(NONCE))
    assert (hello.first, hello.next) == (1, 2)
    beat, event = device.tell(Welcome(Verdict.ACCEPTED, NONCE, hello.device_nonce, 7, 1))
    assert isinstance(beat, Beat)
    assert event == Event(7, 1, CutCardSeen())
    assert device.link.events() == [HostUp(authenticated=False)]


def test_no_more_than_the_window_is_sent_unacknowledged():
    device = Lone().greet()
    for card in shoe(20):
        device.link.report(card, 0.0)
    assert [event.number for event in device.said()] == list(range(1, 9))
    assert [event.number for event in device.tell(Ack(7, 3))] == [9, 10, 11]


def test_unacknowledged_events_are_sent_again_ever_more_seldom():
    device = Lone().greet()
    device.link.report(CutCardSeen(), 0.0)
    moments = []
    while device.now < 9:
        device.link._heard = device.now  # the host is alive but does not commit
        if any(isinstance(message, Event) for message in device.said()):
            moments.append(device.now)
        device.now = device.link.next_deadline()
        device.link.tick(device.now)
    assert moments == pytest.approx([0.0, 0.3, 0.9, 2.1, 4.5, 6.9])


def test_a_replay_request_sends_again_from_there():
    device = Lone().greet()
    for card in shoe(5):
        device.link.report(card, 0.0)
    device.said()
    assert [event.number for event in device.tell(Replay(7, 3))] == [3, 4, 5]


@pytest.mark.parametrize("message", [Ack(7, 6), Ack(8, 1), Replay(7, 6), Replay(8, 1), Replay(7, 0xFFFFFFFE)])
def test_what_was_never_sent_can_neither_be_acknowledged_nor_asked_for(message):
    device = Lone().greet()
    for card in shoe(5):
        device.link.report(card, 0.0)
    device.said()
    assert device.tell(message) == []
    assert len(device.link.memory) == 5
    assert device.link.drops[Drop.STALE] == 1


def test_an_old_acknowledgement_changes_nothing():
    device = Lone().greet()
    device.link.report(CutCardSeen(), 0.0)
    device.tell(Ack(7, 1))
    assert device.tell(Ack(7, 0)) == []
    assert device.tell(Ack(7, 1)) == []
    assert not any(device.link.drops.values())


def test_a_repeated_query_gets_the_same_hello_and_does_not_break_the_link():
    device = Lone()
    first = device.tell(Query(NONCE))
    assert device.tell(Query(NONCE)) == first
    device.greet()
    assert device.tell(Query(NONCE))[0].device_nonce == first[0].device_nonce
    assert device.link.state is DeviceState.UP


def test_a_query_of_a_host_that_has_restarted_begins_a_new_greeting():
    device = Lone().greet()
    device.link.events()
    (hello,) = device.tell(Query(b"other nonce 0123"))
    assert hello.host_nonce == b"other nonce 0123"
    assert device.link.state is DeviceState.GREETING
    assert device.link.events() == [HostLost()]


def test_a_query_without_a_nonce_is_no_query():
    device = Lone()
    assert device.tell(Query(NO_NONCE)) == []
    assert device.link.drops[Drop.MALFORMED] == 1


def test_a_repeated_welcome_is_answered_with_a_sign_of_life():
    device = Lone()
    (hello,) = device.tell(Query(NONCE))
    welcome = Welcome(Verdict.ACCEPTED, NONCE, hello.device_nonce, 7, 1)
    device.tell(welcome)
    assert [type(message) for message in device.tell(welcome)] == [Beat]
    assert device.link.events() == [HostUp(authenticated=False)]


@pytest.mark.parametrize(
    "welcome, reason",
    [
        (Welcome(Verdict.ACCEPTED, NONCE, b"x" * 16, 7, 1), Drop.STALE),
        (Welcome(Verdict.ACCEPTED, b"x" * 16, b"\1" * 16, 7, 1), Drop.STALE),
        (Welcome(Verdict.ACCEPTED, NONCE, b"\1" * 16, 8, 1), Drop.STALE),
        (Welcome(Verdict.ACCEPTED, NONCE, b"\1" * 16, 7, 2), Drop.MALFORMED),  # resume beyond the next event
        (b"\x82\1", Drop.MALFORMED),
    ],
)
def test_a_welcome_that_is_not_for_this_greeting_is_dropped(welcome, reason):
    device = Lone()
    device.tell(Query(NONCE))
    assert device.tell(welcome) == []
    assert device.link.state is DeviceState.GREETING
    assert device.link.drops[reason] == 1


def test_a_welcome_that_nobody_asked_for_is_out_of_place():
    device = Lone()
    device.tell(Welcome(Verdict.ACCEPTED, NO_NONCE, NO_NONCE, 7, 1))
    assert device.link.state is DeviceState.AWAY
    assert device.link.drops[Drop.OUT_OF_PLACE] == 1


def test_a_greeting_that_comes_to_nothing_ends():
    device = Lone()
    device.tell(Query(NONCE))
    assert device.link.next_deadline() == timing.SILENCE
    (announcement,) = device.tick(timing.SILENCE)
    assert announcement.host_nonce == NO_NONCE
    assert device.link.state is DeviceState.AWAY


def test_a_silent_host_is_lost_and_the_device_says_so_once():
    device = Lone().greet()
    device.link.events()
    device.tick(4.9)
    assert device.link.events() == []
    device.tick(5.1)
    assert device.link.events() == [HostLost()]
    assert not device.link.may_feed


@pytest.mark.parametrize("verdict", [Verdict.OTHER_VERSION, Verdict.KEY_REQUIRED, Verdict.WRONG_KEY])
def test_a_refused_device_says_so_and_announces_itself_seldom(verdict):
    device = Lone()
    (hello,) = device.tell(Query(NONCE))
    device.tell(Welcome(verdict, NONCE, hello.device_nonce, 7, 1))
    assert device.link.events() == [HostRefusedUs(verdict)]
    assert device.link.state is DeviceState.REFUSED
    assert device.link.next_deadline() == timing.REFUSED_RETRY
    assert len(device.tick(5.0)) == 1
    assert device.link.next_deadline() == 2 * timing.REFUSED_RETRY


def test_a_refusal_cannot_end_a_link_that_is_up():
    device = Lone().greet()
    device.tell(Welcome(Verdict.OTHER_VERSION, NO_NONCE, NO_NONCE, 0, 0))
    assert device.link.state is DeviceState.UP
    assert device.link.drops[Drop.OUT_OF_PLACE] == 1


def test_a_taken_session_is_left_and_what_is_kept_gets_new_numbers():
    device = Lone()
    for card in shoe(3):
        device.link.report(card, 0.0)
    (hello,) = device.tell(Query(NONCE))
    device.tell(Welcome(Verdict.SESSION_TAKEN, NONCE, hello.device_nonce, 7, 2))
    (announcement,) = device.tick(0.0)
    assert isinstance(announcement, Hello)
    assert (announcement.session, announcement.first, announcement.next) == (1000, 1, 3)


def test_a_new_session_is_never_zero_nor_the_old_one():
    device = Lone()
    device.sessions = iter([0, 7, 7, 5])
    (hello,) = device.tell(Query(NONCE))
    device.tell(Welcome(Verdict.SESSION_TAKEN, NONCE, hello.device_nonce, 7, 1))
    assert device.link.memory.session == 5


# --- keys ---------------------------------------------------------------------------------------------------


def test_a_device_that_requires_a_key_takes_no_welcome_without_one():
    device = Lone(key=KEY, require_auth=True)
    (hello,) = device.tell(Query(NONCE))
    device.tell(Welcome(Verdict.ACCEPTED, NONCE, hello.device_nonce, 7, 1))
    assert device.link.state is DeviceState.GREETING
    assert device.link.drops[Drop.NOT_SEALED] == 1


def test_a_greeting_that_began_with_keys_cannot_go_on_without():
    device = Lone(key=KEY)
    device.tell(Query(NONCE, QueryFlag.HAS_KEY))
    welcome = Welcome(Verdict.ACCEPTED, NONCE, b"\1" * 16, 7, 1)
    device.tell(welcome)
    assert device.link.drops[Drop.NOT_SEALED] == 1
    device.tell(welcome, key=greeting_key(b"x" * 32))
    assert device.link.drops[Drop.BAD_SEAL] == 1
    device.tell(welcome, key=greeting_key(KEY))
    assert device.link.authenticated


def test_a_sealed_welcome_means_nothing_to_a_device_without_a_key():
    device = Lone()
    device.tell(Query(NONCE))
    device.tell(Welcome(Verdict.ACCEPTED, NONCE, b"\1" * 16, 7, 1), key=greeting_key(KEY))
    assert device.link.drops[Drop.BAD_SEAL] == 1


def test_a_command_with_no_seal_or_a_forged_one_is_not_carried_out():
    device = Lone(key=KEY)
    device.tell(Query(NONCE, QueryFlag.HAS_KEY))
    device.tell(Welcome(Verdict.ACCEPTED, NONCE, b"\1" * 16, 7, 1), key=greeting_key(KEY))
    device.link.events()
    assert device.tell(Gate(1, open=True)) == []
    assert device.tell(Gate(1, open=True), key=KEY) == []
    assert device.link.events() == []
    assert device.link.drops[Drop.NOT_SEALED] == 1
    assert device.link.drops[Drop.BAD_SEAL] == 1


def test_a_device_cannot_require_a_key_that_it_does_not_have():
    with pytest.raises(SettingError, match="it has no key"):
        Lone(require_auth=True)


# --- commands -----------------------------------------------------------------------------------------------


def test_a_repeated_command_is_handed_out_once_and_answered_the_same():
    device = Lone().greet()
    device.link.events()
    assert device.tell(Gate(1, open=True)) == []
    assert device.tell(Gate(1, open=True)) == []  # not answered yet
    assert device.link.events() == [Gate(1, open=True)]
    device.link.answer(1, Status.BUSY)
    assert device.said() == [Answer(1, Status.BUSY)]
    assert device.tell(Gate(1, open=True)) == [Answer(1, Status.BUSY)]
    assert device.link.events() == []


def test_a_late_repetition_never_overtakes_a_later_command():
    device = Lone().greet()
    device.link.events()
    device.tell(Gate(2, open=False))
    assert device.tell(Gate(1, open=True)) == [Answer(1, Status.SUPERSEDED)]
    assert device.link.events() == [Gate(2, open=False)]


def test_a_command_of_a_newer_version_is_answered():
    device = Lone().greet()
    assert device.tell(UnknownCommand(0xA0, 1, b"new")) == [Answer(1, Status.NOT_SUPPORTED)]
    assert device.tell(UnknownCommand(0xA0, 1, b"new")) == [Answer(1, Status.NOT_SUPPORTED)]


def test_a_command_with_an_impossible_value_is_answered():
    device = Lone().greet()
    assert device.tell(b"\x90\1\0\0\0\2") == [Answer(1, Status.BAD_ARGUMENT)]
    assert device.tell(b"\x90\0\0\0\0\2") == []  # not even an id
    assert device.link.drops[Drop.MALFORMED] == 2
    assert device.tell(b"\x90\1\0\0\0\2") == [Answer(1, Status.BAD_ARGUMENT)]


def test_an_answer_to_an_older_command_or_without_a_link_is_not_sent():
    device = Lone().greet()
    device.tell(Gate(2, open=False))
    device.link.answer(1, Status.DONE)
    assert device.said() == []
    device.link.connection_lost(0.0)
    device.link.answer(2, Status.DONE)
    assert device.said() == []


def test_command_ids_begin_again_with_each_link():
    device = Lone().greet()
    device.tell(Gate(9, open=True))
    (hello,) = device.tell(Query(b"other nonce 0123"))
    device.tell(Welcome(Verdict.ACCEPTED, b"other nonce 0123", hello.device_nonce, 7, 1))
    device.link.events()
    device.tell(Gate(1, open=False))
    assert device.link.events() == [Gate(1, open=False)]


@pytest.mark.parametrize(
    "body, reason",
    [
        (Ack(7, 0).to_bytes(), Drop.OUT_OF_PLACE),
        (b"\x81\1", Drop.MALFORMED),
        (bytes((Kind.HELLO, 1, 0)), Drop.OUT_OF_PLACE),
    ],
)
def test_before_a_greeting_only_a_query_counts(body, reason):
    device = Lone()
    assert device.tell(body) == []
    assert device.link.drops[reason] == 1


def test_an_echo_of_the_device_itself_is_dropped():
    device = Lone().greet()
    assert device.tell(Beat(7, 1, 0, 1, 0)) == []
    assert device.link.drops[Drop.WRONG_DIRECTION] == 1


# --- memory -------------------------------------------------------------------------------------------------


def test_a_full_memory_stops_the_feed_keeps_the_place_of_the_loss_and_recovers():
    rig = Rig(capacity=1000)
    rig.host.connection_lost(0.0)
    cards = shoe(100)
    kept = [card for card in cards if rig.report(card)]
    assert kept == cards[: len(kept)]
    assert 25 < len(kept) < 100
    assert not rig.device.may_feed
    rig.host.connection_made(rig.now)
    rig.run_until(lambda: not rig.device.memory)
    happenings = rig.happenings()
    assert happenings[: len(kept)] == kept
    begin, end = happenings[len(kept) :]
    assert (begin.fault, begin.active) == ("buffer-overflow", True)
    assert (end.fault, end.active, end.detail) == ("buffer-overflow", False, 100 - len(kept))
    assert rig.device.may_feed
    rig.report(LidMoved(is_open=True))
    rig.run_until(lambda: rig.happenings()[-1] == LidMoved(is_open=True))


def test_a_session_whose_numbers_run_out_is_followed_by_another():
    rig = Rig()
    rig.flash = DeviceMemory(rig.flash.session, first=MAX_NUMBER - SESSION_TAIL - 3, fresh=False)
    rig.device = rig.new_device()
    rig.device.connection_made(rig.now)
    cards = shoe(20)
    rig.deal(cards, every=1.0)
    rig.run_until(lambda: len(rig.journal) == 20)
    assert rig.happenings() == cards
    assert len({event.session for event in rig.journal}) == 2
    assert len(rig.seen(LinkUp)) == 2
    assert rig.seen(LinkDown)


def test_numbers_never_start_again_however_long_nothing_is_acknowledged():
    device = Lone(DeviceMemory(7, first=MAX_NUMBER - 20, fresh=False, records=(b"\x14",)))
    kept = [card for card in shoe(50) if device.link.report(card, 0.0)]
    assert len(kept) == 19
    assert device.link.memory.next == MAX_NUMBER + 1
    assert device.link.memory.overflowed
    device.greet(resume=MAX_NUMBER - 19)
    for number in range(MAX_NUMBER - 19, MAX_NUMBER + 1):
        device.tell(Ack(7, number))
    assert device.link.memory.session == 1000
    assert device.link.snapshot().first == 1
    assert len(device.link.memory) == 1  # how many events were lost
    assert device.link.report(CutCardSeen(), 0.0)


def test_what_our_shoes_cannot_tell_is_refused_and_not_kept():
    device = Lone()
    with pytest.raises(MessageError):
        device.link.report(DeviceStandby(), 0.0)
    assert len(device.link.memory) == 0
