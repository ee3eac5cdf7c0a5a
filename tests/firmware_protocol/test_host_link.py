import pytest

from firmware_protocol import timing
from firmware_protocol.auth import link_key, seal
from firmware_protocol.codes import MAJOR, HelloFlag, Kind, Status, Verdict
from firmware_protocol.delivery import Event
from firmware_protocol.device_link import DeviceState, Health, HostRefusedUs
from firmware_protocol.device_memory import DeviceMemory
from firmware_protocol.drops import Drop
from firmware_protocol.errors import FirmwareProtocolError, SettingError
from firmware_protocol.events import (
    Card,
    CardDrawn,
    CutCardSeen,
    EventsMissing,
    Heartbeat,
    LinkDown,
    LinkRefused,
    LinkUp,
    NotUnderstood,
    ShoeEvent,
)
from firmware_protocol.frames import Decoder, encode_frame
from firmware_protocol.greeting import Hello, Query, Welcome
from firmware_protocol.host_intake import MAX_SESSIONS, Intake
from firmware_protocol.host_link import HostLink, HostState
from firmware_protocol.messages import read_from_host
from tests.firmware_protocol import golden
from tests.firmware_protocol.wires import IDENTITY, KEY, Rig, Wire, shoe

NONCE = b"n" * 16
DEVICE_NONCE = b"d" * 16


def lone_host(**settings):
    host = HostLink(nonce=lambda: NONCE, **settings)
    host.connection_made(0.0)
    return host


def say(host, message, now=0.0, key=None):
    body = message if isinstance(message, bytes) else message.to_bytes()
    host.receive_data(encode_frame(seal(body, key) if key else body), now)


def said(host):
    """What the host has sent since the last look."""
    return [read_from_host(frame.body) for frame in Decoder().feed(host.data_to_send())]


def hello(session=7, first=1, following=1, flags=0, nonce=NONCE, device_nonce=DEVICE_NONCE, **more):
    return Hello(IDENTITY, session, first, following, HelloFlag(flags), nonce, device_nonce, **more)


def up_rig(**settings):
    rig = Rig(**settings)
    rig.run_until(lambda: rig.host.state is HostState.UP)
    return rig


# --- greeting -----------------------------------------------------------------------------------------------


def test_link_comes_up_with_all_that_the_device_says_of_itself():
    rig = up_rig()
    assert rig.seen(LinkUp) == [
        LinkUp("rfid", "SHOE-0042", "2.1.0", bytes(range(32)), 0x1FF, rig.flash.session, authenticated=False)
    ]
    assert rig.host.session == rig.flash.session
    assert rig.device.state is DeviceState.UP


def test_nothing_happens_without_a_transport():
    host = HostLink(nonce=lambda: NONCE)
    assert host.next_deadline() is None
    assert host.session is None
    host.receive_data(encode_frame(hello().to_bytes()), 0.0)
    host.tick(100.0)
    assert host.data_to_send() == b""
    assert host.events() == []


def test_host_asks_until_somebody_answers_and_says_once_that_nobody_does():
    host = lone_host()
    asked = 0
    while host.next_deadline() < 20:
        host.tick(host.next_deadline())
        asked += len(said(host))
    assert asked == pytest.approx(40, abs=2)
    assert host.events() == [LinkDown("no shoe answers on this line: check its power, the cable and the speed")]


def test_an_answer_that_is_merely_late_still_counts():
    host = lone_host()
    host.tick(3.0)
    say(host, hello(), 3.1)
    assert host.state is HostState.WELCOMING


def test_welcome_is_repeated_until_the_device_is_heard_then_the_greeting_begins_again():
    host = lone_host()
    host.data_to_send()
    say(host, hello())
    sent = said(host)
    while not any(isinstance(message, Query) for message in sent):
        host.tick(host.next_deadline())
        sent += said(host)
    assert sent[:-1] == [Welcome(Verdict.ACCEPTED, NONCE, DEVICE_NONCE, 7, 1)] * timing.WELCOME_TRIES
    assert host.state is HostState.QUERYING


def test_a_repeated_hello_gets_the_same_welcome_again():
    host = lone_host()
    say(host, hello())
    first = said(host)
    say(host, hello())
    assert said(host) == first[-1:]
    assert host.drops[Drop.DUPLICATE] == 1


def test_hello_to_another_query_is_stale():
    host = lone_host()
    say(host, hello(nonce=b"x" * 16))
    assert host.state is HostState.QUERYING
    assert host.drops[Drop.STALE] == 1


def test_hello_with_another_nonce_does_not_disturb_a_link_that_is_up():
    rig = up_rig()
    rig.host._host_nonce = NONCE
    say(rig.host, hello(device_nonce=b"other nonce 0123"), rig.now)
    assert rig.host.state is HostState.UP
    assert rig.host.drops[Drop.STALE] == 1


def test_an_announcement_means_that_the_device_has_restarted():
    rig = up_rig()
    rig.restart_device()
    rig.run_until(lambda: len(rig.seen(LinkUp)) == 2)
    assert rig.seen(LinkDown) == [LinkDown("the shoe has restarted or lost us")]


def test_a_device_that_announces_itself_without_end_is_asked_at_a_bounded_rate():
    host = lone_host()
    for step in range(1000):
        say(host, Hello(IDENTITY, 7, 1, 1), step / 1000)
    assert len(said(host)) <= 12


def test_nothing_but_a_hello_counts_before_the_welcome():
    host = lone_host()
    say(host, Event(7, 1, CutCardSeen()))
    assert host.events() == []
    assert host.drops[Drop.OUT_OF_PLACE] == 1
    say(host, hello())
    say(host, b"\x03\x01\x00\x00\x00\x00")  # an answer to nothing
    assert host.state is HostState.WELCOMING
    assert host.drops[Drop.OUT_OF_PLACE] == 2


def test_a_looped_cable_is_not_taken_for_a_shoe():
    host = lone_host()
    for _ in range(30):
        host.receive_data(host.data_to_send(), host.next_deadline())
        host.tick(host.next_deadline())
    assert host.state is HostState.QUERYING
    assert host.drops[Drop.WRONG_DIRECTION] >= 29


# --- versions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "major, words", [(MAJOR + 1, "update this controller"), (MAJOR - 1, "update the firmware of the shoe")]
)
def test_another_major_version_is_refused_with_a_sentence_that_says_what_to_do(major, words):
    host = lone_host()
    host.data_to_send()
    say(host, bytes((Kind.HELLO, major, 3)) + b"anything")
    (refused,) = host.events()
    assert refused == LinkRefused(
        f"the shoe speaks version {major}.3 of the protocol and this controller version 1.0: {words}"
    )
    assert said(host)[0].verdict is Verdict.OTHER_VERSION
    assert host.state is HostState.REFUSED


def test_a_refused_device_is_asked_again_seldom_and_the_refusal_is_said_once():
    host = lone_host()
    foreign = bytes((Kind.HELLO, 2, 0)) + b"anything"
    say(host, foreign)
    say(host, foreign, 0.1)
    assert host.drops[Drop.STALE] == 1
    assert len(host.events()) == 1
    assert host.next_deadline() == timing.REFUSED_RETRY
    host.tick(5.0)
    assert isinstance(said(host)[-1], Query)
    say(host, foreign, 5.1)
    assert host.events() == []
    host.tick(10.2)
    say(host, hello(), 10.3)  # the firmware was updated
    assert host.state is HostState.WELCOMING


def test_another_major_version_ends_a_link_that_was_up():
    rig = up_rig()
    say(rig.host, bytes((Kind.HELLO, 2, 0)), rig.now)
    rig.take_events()
    assert rig.seen(LinkDown)
    assert rig.seen(LinkRefused)


def test_a_newer_minor_version_is_understood():
    host = lone_host()
    say(host, hello(minor=9).to_bytes() + b"more fields")
    say(host, Event(7, 1, CutCardSeen()).to_bytes() + b"more fields")
    say(host, b"\x2f\x07\0\0\0\x02\0\0\0new event")
    say(host, b"\x0e new message")
    say(host, Event(7, 3, CutCardSeen()))
    events = [event for event in host.events() if isinstance(event, ShoeEvent)]
    assert [event.number for event in events] == [1, 2, 3]
    assert isinstance(events[1].happening, NotUnderstood)
    assert Decoder().feed(b"\0" + events[1].raw + b"\0")[0].body.endswith(b"new event")
    assert host.drops[Drop.UNKNOWN_TYPE] == 1


# --- keys ---------------------------------------------------------------------------------------------------


def rig_with_keys(host_key, device_key, *, host_requires=False, device_requires=False):
    rig = Rig(key=device_key)
    rig.device = rig.new_device(require_auth=device_requires)
    rig.key = host_key
    rig.host = rig.new_host(require_auth=host_requires)
    rig.connect()
    return rig


@pytest.mark.parametrize(
    "host_key, device_key, authenticated",
    [(KEY, KEY, True), (None, None, False), (KEY, None, False), (None, KEY, False)],
)
def test_link_is_authenticated_if_both_ends_have_the_key(host_key, device_key, authenticated):
    rig = rig_with_keys(host_key, device_key)
    rig.deal(shoe(20))
    rig.run_until(lambda: rig.happenings() == shoe(20))
    assert rig.seen(LinkUp)[0].authenticated is authenticated
    assert rig.device.authenticated is authenticated
    assert rig.host.authenticated is authenticated


@pytest.mark.parametrize(
    "host_key, device_key, requires, verdict, words",
    [
        (KEY, None, "host", Verdict.KEY_REQUIRED, "has no key and this table requires an authenticated link"),
        (KEY, b"x" * 32, "host", Verdict.WRONG_KEY, "did not prove that it has the key of this table"),
        (KEY, b"x" * 32, "", Verdict.WRONG_KEY, "did not prove that it has the key of this table"),
        (None, KEY, "device", Verdict.KEY_REQUIRED, "demands an authenticated link and this table has no key"),
    ],
)
def test_a_device_without_the_right_key_is_refused_and_told_so(host_key, device_key, requires, verdict, words):
    rig = rig_with_keys(host_key, device_key, host_requires=requires == "host", device_requires=requires == "device")
    rig.deal(shoe(3))
    rig.run_for(30)
    assert len(rig.seen(LinkRefused)) == 1
    assert words in rig.seen(LinkRefused)[0].reason
    assert "SHOE-0042" in rig.seen(LinkRefused)[0].reason
    assert HostRefusedUs(verdict) in rig.device_events
    assert rig.journal == []
    assert not rig.seen(LinkUp)
    assert rig.device.state is not DeviceState.UP


def test_a_refused_device_is_accepted_once_it_has_the_key():
    rig = rig_with_keys(KEY, None, host_requires=True)
    rig.deal(shoe(3))
    rig.run_until(lambda: rig.seen(LinkRefused))
    rig.restart_device()  # rig.key is that of the host
    rig.run_until(lambda: rig.happenings() == shoe(3))
    assert rig.seen(LinkUp)[0].authenticated


def test_require_auth_without_a_key_is_a_wrong_setting():
    with pytest.raises(SettingError, match="require_auth needs the key"):
        HostLink(nonce=lambda: NONCE, require_auth=True)
    with pytest.raises(SettingError, match="at least 16 bytes"):
        HostLink(nonce=lambda: NONCE, key=b"short")


class TappedWire(Wire):
    """Keeps a copy of everything that was sent."""

    def __init__(self):
        super().__init__()
        self.tape = []

    def mangle(self, data):
        self.tape.append(data)
        return super().mangle(data)


def test_nothing_of_an_old_link_is_accepted_in_a_new_one():
    to_host, to_device = TappedWire(), TappedWire()
    rig = Rig(to_host, to_device, key=KEY)
    rig.deal(shoe(5))
    rig.run_until(lambda: len(rig.journal) == 5)
    rig.host.gate(is_open=True)
    rig.run_for(2)
    old_host, old_device = b"".join(to_host.tape), b"".join(to_device.tape)
    # A journal and a device that remember nothing: only the keys of the link can tell old from new.
    other = Rig(key=KEY, seed=99)
    other.flash = DeviceMemory(rig.flash.session)
    other.device = other.new_device()
    other.connect()
    other.run_until(lambda: other.seen(LinkUp))
    other.device_events.clear()
    for frame in old_host.split(b"\0"):
        if frame and Decoder().feed(b"\0" + frame + b"\0")[0].body[0] & 0x3F != Kind.HELLO:
            other.host.receive_data(b"\0" + frame + b"\0", other.now)
    for frame in old_device.split(b"\0"):
        if frame and Decoder().feed(b"\0" + frame + b"\0")[0].body[0] & 0xBF != Kind.QUERY:
            other.device.receive_data(b"\0" + frame + b"\0", other.now)
    other.take_events()
    assert other.journal == []
    assert other.device_events == []  # no gate was opened
    assert other.host.drops[Drop.BAD_SEAL] >= 5
    assert other.device.drops[Drop.BAD_SEAL] >= 5
    # The old greeting breaks the new link at worst; it never makes an old event new.
    other.host.receive_data(old_host, other.now)
    other.device.receive_data(old_device, other.now)
    other.run_for(10)
    assert other.journal == []
    assert other.host.state is HostState.UP


def test_an_event_with_no_seal_or_a_forged_one_does_not_enter_an_authenticated_link():
    rig = up_rig(key=KEY)
    forged = Event(rig.host.session, 1, CardDrawn(Card(uid=b"fake")))
    say(rig.host, forged, rig.now)
    say(rig.host, forged, rig.now, key=KEY)
    say(rig.host, forged, rig.now, key=link_key(KEY, NONCE, DEVICE_NONCE))
    rig.take_events()
    assert rig.journal == []
    assert rig.host.drops[Drop.NOT_SEALED] == 1
    assert rig.host.drops[Drop.BAD_SEAL] == 2


def test_a_sealed_event_in_a_link_without_keys_is_dropped():
    rig = up_rig()
    say(rig.host, Event(rig.host.session, 1, CutCardSeen()), rig.now, key=KEY)
    assert rig.host.drops[Drop.BAD_SEAL] == 1


def test_repeating_the_last_heartbeat_does_not_keep_a_dead_shoe_alive():
    to_host = TappedWire()
    rig = Rig(to_host, key=KEY)
    rig.run_for(3)
    last = [data for data in to_host.tape if data][-1]
    rig.run_for(0.1)
    start = rig.now
    while rig.host.state is HostState.UP:
        rig.now += 0.5
        rig.host.receive_data(last, rig.now)
        rig.host.tick(rig.now)
    assert rig.now - start <= timing.SILENCE + 0.5
    assert rig.host.drops[Drop.DUPLICATE] > 5


# --- events -------------------------------------------------------------------------------------------------


def link_up(last_seen=None, first=1, following=1, session=7, **settings):
    host = lone_host(last_seen=last_seen, **settings)
    say(host, hello(session, first, following))
    host.data_to_send()
    return host


def event(number, session=7):
    return Event(session, number, CardDrawn(Card(uid=number.to_bytes(4, "big"))))


def handed_out(host):
    return [one.number for one in host.events() if isinstance(one, ShoeEvent)]


def test_an_event_carries_the_raw_frame_that_told_of_it():
    vector = next(vector for vector in golden.MESSAGES if vector["name"] == "card-rfid")
    message = golden.message(vector)
    host = link_up((message.session, message.number - 1), 17, 24, message.session)
    host.receive_data(golden.wire(vector), 0.0)
    assert host.events()[-1] == ShoeEvent(
        message.session, message.number, message.happening, golden.wire(vector).strip(b"\0")
    )


def test_an_event_is_acknowledged_only_when_the_host_says_so():
    host = link_up()
    say(host, event(1))
    say(host, event(2))
    assert handed_out(host) == [1, 2]
    assert [type(message).__name__ for message in said(host)] == []
    host.acknowledge(7, 1)
    assert [message.number for message in said(host)] == [1]
    host.acknowledge(7, 1)
    assert said(host) == []


def test_more_than_was_handed_out_cannot_be_acknowledged():
    host = link_up()
    say(host, event(1))
    host.acknowledge(7, 999)
    assert [message.number for message in said(host)] == [1]


def test_a_gap_causes_a_replay_at_once_and_again_while_it_stands():
    host = link_up()
    say(host, event(1))
    say(host, event(3))
    say(host, event(4))
    assert [(message.session, message.number) for message in said(host)] == [(7, 2)]
    assert host.drops[Drop.GAP] == 2
    assert handed_out(host) == [1]
    host.tick(timing.REPLAY_RETRY)
    assert [message.number for message in said(host)] == [2]
    for number in (2, 3, 4):
        say(host, event(number), 0.3)
    assert handed_out(host) == [2, 3, 4]
    host.tick(0.9)
    assert said(host) == []


def test_a_duplicate_of_what_is_on_disk_is_acknowledged_again_and_not_handed_out():
    host = link_up()
    say(host, event(1))
    say(host, event(1))
    assert said(host) == []  # not on disk yet
    host.acknowledge(7, 1)
    host.data_to_send()
    say(host, event(1))
    assert [message.number for message in said(host)] == [1]
    assert handed_out(host) == [1]


def test_duplicates_are_recognised_after_a_restart_of_the_host():
    host = link_up((7, 20), 15, 23)
    for number in range(15, 23):
        say(host, event(number))
    assert handed_out(host) == [21, 22]


def test_the_welcome_after_a_restart_tells_the_device_what_is_on_disk():
    host = lone_host(last_seen=(7, 20))
    host.data_to_send()
    say(host, hello(7, 15, 23))
    assert said(host)[-1].resume == 21


def test_events_handed_out_before_a_break_are_not_handed_out_after_it():
    rig = Rig()
    rig.commit_after = 2.0
    rig.deal(shoe(6), every=0.01)
    rig.run_until(lambda: len(rig.committing) == 6)
    rig.disconnect()
    rig.run_for(0.1)
    rig.connect()
    rig.run_for(10)
    assert rig.happenings() == shoe(6)


def test_an_acknowledgement_while_the_line_is_away_counts_in_the_next_greeting():
    host = link_up()
    say(host, event(1))
    host.connection_lost(1.0)
    host.acknowledge(7, 1)
    assert host.data_to_send() == b""
    host.connection_made(2.0)
    say(host, hello(7, 1, 2), 2.0)
    assert said(host)[-1].resume == 2


def test_an_event_of_another_session_is_stale():
    host = link_up()
    say(host, event(1, session=8))
    assert host.drops[Drop.STALE] == 1
    assert handed_out(host) == []


def test_a_device_that_comes_back_goes_on_where_it_was():
    """Another shoe was in use in between: each session is remembered, by the link and by the journal."""
    host = link_up()
    say(host, event(1))
    host.acknowledge(7, 1)
    host.connection_made(1.0)
    say(host, hello(8, 1, 2), 1.0)
    say(host, event(1, session=8), 1.0)
    host.acknowledge(7, 1)
    host.connection_made(2.0)
    host.data_to_send()
    say(host, hello(7, 1, 3), 2.0)
    assert said(host)[-1].resume == 2
    host.acknowledge(8, 1)
    assert host._intake.known(8).committed == 1
    assert Intake(None, {9: 5}.get).known(9).committed == 5
    assert Intake(None, {9: 5}.get).known(10) is None
    assert not Intake(None, None).commit(3, 3)


def test_sessions_of_a_device_that_restarts_for_ever_do_not_fill_the_memory():
    intake = Intake(None, None)
    for session in range(1, 1000):
        intake.begin(session, type(intake.known(intake.session))(0, 0))
    assert len(intake._others) <= MAX_SESSIONS


def test_heartbeat_tells_the_health_of_the_device():
    rig = up_rig()
    rig.device.health = Health(reads=10, retries=3, misses=1, gate_open=True, lid_open=False)
    rig.to_device.send(b"\0noise noise\0", rig.now)
    rig.report(CutCardSeen())
    rig.run_for(1.5)
    beat = rig.seen(Heartbeat)[-1]
    assert (beat.reads, beat.retries, beat.misses, beat.crc_errors) == (10, 3, 1, 1)
    assert (beat.gate_open, beat.lid_open, beat.overflowed) == (True, False, False)
    assert beat.uptime_ms >= 1000


# --- numbers that cannot be ---------------------------------------------------------------------------------


def test_two_devices_that_chose_the_same_session_number_are_told_apart():
    rig = Rig()
    rig.deal(shoe(5))
    rig.run_until(lambda: len(rig.journal) == 5)
    taken = rig.flash.session
    rig.flash = DeviceMemory(taken)  # another shoe, new, with the same random number
    rig.device = rig.new_device()
    more = shoe(3, seed=5)
    for card in more:
        rig.report(card)
    rig.device.connection_made(rig.now)
    rig.run_until(lambda: len(rig.journal) == 8)
    assert rig.happenings() == shoe(5) + more
    assert rig.flash.session != taken
    assert not rig.flash.fresh
    assert not rig.seen(EventsMissing)


def test_a_device_that_goes_back_in_its_numbers_is_told_to_begin_again_and_a_person_is_told():
    rig = Rig()
    rig.deal(shoe(5))
    rig.run_until(lambda: len(rig.journal) == 3)
    old = rig.flash
    rig.run_until(lambda: len(rig.journal) == 5 and not rig.device.memory)
    rig.flash = old  # a broken device: it sends before it saves
    rig.restart_device()
    rig.run_until(lambda: rig.flash.session != old.session and rig.device.state is DeviceState.UP)
    (missing,) = rig.seen(EventsMissing)
    assert "SHOE-0042 has gone back to event" in missing.reason
    assert missing.session == old.session
    rig.report(CutCardSeen())
    rig.run_until(lambda: rig.happenings()[-1] == CutCardSeen())


def test_events_that_nobody_has_any_more_are_reported_to_a_person():
    host = lone_host(last_seen=(7, 10))
    say(host, hello(7, 15, 16))
    (missing,) = host.events()
    assert (missing.session, missing.first, missing.last) == (7, 11, 14)
    assert "no longer has the events 11 to 14" in missing.reason
    say(host, event(15))
    assert handed_out(host) == [15]


def test_a_session_that_we_never_saw_begins_with_what_the_device_keeps():
    host = lone_host(last_seen=(6, 10))
    say(host, hello(7, 15, 16))
    assert not any(isinstance(one, EventsMissing) for one in host.events())
    assert said(host)[-1].resume == 15


# --- commands -----------------------------------------------------------------------------------------------


def test_a_value_that_has_no_form_on_the_wire_is_the_callers_error():
    with pytest.raises(FirmwareProtocolError):
        up_rig().host.set_time(-1)


def test_connection_made_twice_begins_again():
    rig = up_rig()
    rig.host.connection_made(rig.now)
    assert isinstance(rig.host.events()[0], LinkDown)
    rig.run_until(lambda: rig.host.state is HostState.UP)
    assert rig.obey(None) is Status.DONE
