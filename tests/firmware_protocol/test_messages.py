import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol import events as happened
from firmware_protocol.auth import SEAL_BYTES
from firmware_protocol.card_block import MAX_CARD_BYTES, RANKS, SUITS, pack_card
from firmware_protocol.codes import COMMAND_KINDS, EVENT_KINDS, MAJOR, Kind, LampMode, Status, Verdict
from firmware_protocol.commands import Answer, Gate, Identify, Lamp, SetTime, UnknownCommand
from firmware_protocol.delivery import MAX_NUMBER, Ack, Beat, Event, Replay, event_body
from firmware_protocol.drops import Drop
from firmware_protocol.errors import FirmwareProtocolError, MessageError
from firmware_protocol.events import Card, CardDrawn
from firmware_protocol.frames import MAX_BODY
from firmware_protocol.greeting import ForeignHello, Hello, Query, Welcome
from firmware_protocol.happenings import MAX_TOGETHER
from firmware_protocol.messages import read_from_device, read_from_host
from tests.firmware_protocol import golden, strategies
from tests.firmware_protocol.wires import IDENTITY

READ = {"device": read_from_device, "host": read_from_host}
EXACT = [vector for vector in golden.MESSAGES if vector.get("form", "exact") == "exact"]


@pytest.mark.parametrize("vector", golden.MESSAGES, ids=golden.IDS)
def test_golden_body_is_read_as_the_message_it_describes(vector):
    assert READ[vector["from"]](golden.body(vector)) == golden.message(vector)


@pytest.mark.parametrize("vector", EXACT, ids=[vector["name"] for vector in EXACT])
def test_message_is_written_as_the_golden_body(vector):
    assert golden.message(vector).to_bytes() == golden.body(vector)


def test_every_message_of_the_protocol_has_a_golden_vector():
    shown = {golden.body(vector)[0] for vector in golden.MESSAGES}
    assert set(Kind) <= shown


@pytest.mark.parametrize("vector", golden.MESSAGES, ids=golden.IDS)
def test_the_other_end_does_not_take_its_own_kind_of_message(vector):
    other = read_from_host if vector["from"] == "device" else read_from_device
    assert other(golden.body(vector)) is Drop.WRONG_DIRECTION


@given(strategies.from_device)
def test_every_message_of_a_device_arrives_as_it_was_and_leaves_room_for_a_seal(message):
    body = message.to_bytes()
    assert len(body) + SEAL_BYTES <= MAX_BODY
    assert read_from_device(body) == message


@given(strategies.from_host)
def test_every_message_of_a_host_arrives_as_it_was_and_leaves_room_for_a_seal(message):
    body = message.to_bytes()
    assert len(body) + SEAL_BYTES <= MAX_BODY
    assert read_from_host(body) == message


@given(strategies.from_device, st.binary(min_size=1, max_size=8))
def test_fields_of_a_newer_minor_version_are_not_looked_at(message, more):
    assert read_from_device(message.to_bytes() + more) == message


@given(strategies.from_host, st.binary(min_size=1, max_size=8))
def test_a_device_does_not_look_at_fields_of_a_newer_minor_version(message, more):
    assert read_from_host(message.to_bytes() + more) == message


@given(strategies.from_device, st.integers(0, 250))
def test_a_message_cut_short_is_dropped_or_not_understood(message, size):
    body = message.to_bytes()[:size]
    if body == message.to_bytes():
        return
    short = read_from_device(body)
    if isinstance(message, Event) and size >= 9:
        # It still has its place in the order: dropped, it would come again for ever.
        assert isinstance(short.happening, happened.NotUnderstood)
    elif isinstance(message, Hello) and len(body) > 1 and body[1] != MAJOR:
        assert isinstance(short, ForeignHello)
    else:
        assert short in (Drop.MALFORMED, Drop.TOO_SHORT)


@given(strategies.from_host, st.integers(0, 250))
def test_a_device_drops_a_message_that_is_cut_short(message, size):
    body = message.to_bytes()[:size]
    if body != message.to_bytes():
        assert read_from_host(body) in (Drop.MALFORMED, Drop.TOO_SHORT)


@given(st.binary(max_size=MAX_BODY))
def test_reading_never_raises(body):
    read_from_device(body)
    read_from_host(body)


@given(st.sampled_from(sorted({int(kind) for kind in Kind})), st.binary(max_size=MAX_BODY - 1))
def test_reading_a_known_type_with_any_contents_never_raises(kind, rest):
    body = bytes((kind,)) + rest
    message = READ["host" if kind & 0x80 else "device"](body)
    if not isinstance(message, Drop | ForeignHello) and not isinstance(
        getattr(message, "happening", None), happened.NotUnderstood
    ):
        # What was understood is written again in a form that means the same. Reserved bits may be lost.
        again = READ["host" if kind & 0x80 else "device"](message.to_bytes())
        assert again == message


@pytest.mark.parametrize(
    "body, read, reason",
    [
        (b"", read_from_device, Drop.TOO_SHORT),
        (b"\x05\x01", read_from_device, Drop.UNKNOWN_TYPE),
        (b"\x8f\x01", read_from_host, Drop.UNKNOWN_TYPE),
        (b"\x41\x01", read_from_device, Drop.BAD_SEAL),  # a seal that nobody has taken off
        (b"\x01", read_from_device, Drop.MALFORMED),
        (Ack(1, 0).to_bytes().replace(b"\1", b"\0", 1), read_from_host, Drop.MALFORMED),  # session 0
        (b"\x84\1\0\0\0\0\0\0\0", read_from_host, Drop.MALFORMED),  # replay from number 0
        (event_body(0x14, 1, 0xFFFFFFFF, b""), read_from_device, Drop.MALFORMED),
        (b"\x90\1\0\0\0\2", read_from_host, Drop.MALFORMED),  # gate neither open nor shut
        (b"\x90\0\0\0\0\1", read_from_host, Drop.MALFORMED),  # command id 0
        (b"\x91\1\0\0\0\0\x09\0\0\0", read_from_host, Drop.MALFORMED),  # no such mode of a lamp
        (Welcome(Verdict.ACCEPTED, bytes(16), bytes(16), 1, 1).to_bytes()[:3] + b"\x63" + bytes(40),
         read_from_host, Drop.MALFORMED),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_dropped_for_its_reason(body, read, reason):
    assert read(body) is reason


def broken_hello(at, value):
    body = bytearray(Hello(IDENTITY, 7, 1, 1).to_bytes())
    body[at : at + len(value)] = value
    return bytes(body)


def hello_without_serial_number():
    body = Hello(IDENTITY, 7, 1, 1).to_bytes()
    return body[:87] + b"\0" + body[88 + body[87] :]


@pytest.mark.parametrize(
    "body",
    [
        broken_hello(35, bytes(4)),  # session 0
        broken_hello(39, b"\2"),  # first behind next
        broken_hello(39, b"\0"),  # first is 0
        broken_hello(48, b"\4"),  # no such kind of device
        broken_hello(87, b"\0"),  # no serial number
        hello_without_serial_number(),
        broken_hello(87, b"\x21"),  # a serial number that is too long
        broken_hello(88, b"\x07"),  # not printable
        broken_hello(88, b"\x1f"),  # the last before the printable ones
        broken_hello(88, b"\x7f"),  # the first after them
        broken_hello(88, b"\xc3"),  # not ASCII
        Hello(IDENTITY, 7, 1, 1).to_bytes()[:87],  # ends before the serial number
        bytes((Kind.HELLO,)),  # ends before its version
        bytes((Kind.HELLO, MAJOR + 1)),  # ends within its version
    ],
)
def test_a_hello_with_impossible_fields_is_dropped(body):
    assert read_from_device(body) is Drop.MALFORMED


@pytest.mark.parametrize(
    "happening",
    [
        CardDrawn(Card(uid=bytes(7))),
        happened.CardsTogether((Card(uid=bytes(4)), Card(rank="A", suit="h")), order_known=True),
        happened.CardReturned(None),
        happened.CardReturned(Card(rank="K", suit="s", confidence=100)),
        happened.CardUnreadable(1, 2),
        happened.CardForeign(None),
        happened.CardForeign(bytes(10)),
        happened.LidMoved(is_open=True),
        happened.FaultChanged(happened.DeviceFault.JAM, active=True, detail=7),
        happened.SelfTestDone(0),
        happened.CutCardSeen(),
    ],
)
@pytest.mark.parametrize("more", [b"\0", b"\xff" * 12])
def test_an_event_with_more_fields_than_ours_is_read_as_far_as_ours_go(happening, more):
    event = Event(1, 2, happening)
    assert read_from_device(event.to_bytes() + more) == event


@pytest.mark.parametrize("kind", [kind for kind in EVENT_KINDS if kind not in set(Kind)])
def test_an_event_of_a_newer_minor_version_keeps_its_place_in_the_order(kind):
    event = read_from_device(event_body(kind, 5, 6, b"new"))
    assert (event.session, event.number) == (5, 6)
    assert event.happening == happened.NotUnderstood(
        f"event type {kind:#04x} is of a newer version of the protocol than ours"
    )


@pytest.mark.parametrize("kind", [kind for kind in COMMAND_KINDS if kind not in set(Kind)])
def test_a_command_of_a_newer_minor_version_keeps_its_id(kind):
    assert read_from_host(bytes((kind, 9, 0, 0, 0)) + b"new") == UnknownCommand(kind, 9, b"new")


@pytest.mark.parametrize(
    "kind, content, words",
    [
        (Kind.CARD_DRAWN, b"", "ends where a card should begin"),
        (Kind.CARD_DRAWN, b"\x07\1\2\3", "ends within a card"),
        (Kind.CARD_DRAWN, b"\x03\1\2\3\0\0", "4 to 10 bytes, not 3"),
        (Kind.CARD_DRAWN, b"\x0b" + bytes(13), "4 to 10 bytes, not 11"),
        (Kind.CARD_DRAWN, b"\x00\0\0", "neither an RFID id nor an optical code"),
        (Kind.CARD_DRAWN, b"\x10\0\0\0\0Xh\0\0", "no rank and suit"),
        (Kind.CARD_DRAWN, b"\x10\0\0\0\0Ax\0\0", "no rank and suit"),
        (Kind.CARD_DRAWN, b"\x84\1\2\3\4\x65\0\0", "0 to 100 per cent, not 101"),
        (Kind.CARDS_TOGETHER, b"\2\2", "0 or 1, not 2"),
        (Kind.CARDS_TOGETHER, b"\1\1" + b"\4\1\2\3\4\0\0", "2 to 6 cards drawn together, not 1"),
        (Kind.CARDS_TOGETHER, b"\1\7", "2 to 6 cards drawn together, not 7"),
        (Kind.CARDS_TOGETHER, b"\1\2" + b"\4\1\2\3\4\0\0", "ends where a card should begin"),
        (Kind.CARD_RETURNED, b"\1", "ends where a card should begin"),
        (Kind.UNREADABLE, b"", "ends too early"),
        (Kind.UNREADABLE, b"\1\0", "ends too early"),
        (Kind.UNREADABLE, b"\2\0", "ends too early"),
        (Kind.JAM, b"\1\0", "ends too early"),
        (Kind.SELF_TEST_DONE, b"\1", "ends too early"),
        (Kind.FOREIGN, b"\2\1\2", "4 to 10 bytes"),
        (Kind.FOREIGN, b"\4\1\2", "4 to 10 bytes"),
    ],
)
def test_an_event_with_impossible_contents_keeps_its_place_and_says_why(kind, content, words):
    event = read_from_device(event_body(kind, 5, 6, content))
    assert (event.session, event.number) == (5, 6)
    assert isinstance(event.happening, happened.NotUnderstood)
    assert words in event.happening.reason


@pytest.mark.parametrize(
    "card, words",
    [
        (Card(), "needs an RFID id or an optical code"),
        (Card(uid=b"123"), "4 to 10 bytes, not 3"),
        (Card(uid=bytes(11)), "4 to 10 bytes, not 11"),
        (Card(rank="A"), "is no card"),
        (Card(suit="h"), "is no card"),
        (Card(rank="1", suit="h"), "is no card"),
        (Card(rank="A", suit="H"), "is no card"),
        (Card(rank="", suit="h"), "is no card"),
        (Card(rank="A2", suit="h"), "is no card"),
        (Card(rank="A", suit="h", deck_set=0), "deck set 0 means 'not known'"),
        (Card(rank="A", suit="h", deck_set=1 << 32), "must fit in 32 bits"),
        (Card(uid=bytes(4), deck_set=3), "belongs to an optical code"),
        (Card(uid=bytes(4), entry_us=-1), "must fit in 64 bits"),
        (Card(uid=bytes(4), exit_us=1 << 64), "must fit in 64 bits"),
        (Card(uid=bytes(4), confidence=101), "0 to 100 per cent"),
        (Card(uid=bytes(4), confidence=-1), "0 to 100 per cent"),
        (Card(uid=bytes(4), flags=1 << 16), "must fit in 16 bits"),
    ],
)
def test_a_card_that_has_no_form_on_the_wire_is_refused_in_a_sentence(card, words):
    with pytest.raises(MessageError, match=words):
        pack_card(card)


@pytest.mark.parametrize(
    "happening",
    [
        CardDrawn(Card(uid=bytes(4)), happened.Target.PLAYER, 1),
        CardDrawn(Card(uid=bytes(4)), told_before=True),
        happened.DeviceStandby(),
        happened.KeyLockChanged(locked=True),
        happened.FaultChanged(happened.DeviceFault.OVERDRAW, active=True),
        happened.FaultChanged(happened.DeviceFault.JAM, active=True, detail=-1),
        happened.FaultChanged(happened.DeviceFault.JAM, active=True, detail=1 << 32),
        happened.SelfTestDone(-1),
        happened.SelfTestDone(1 << 32),
        happened.CardUnreadable(entry_us=-1),
        happened.CardUnreadable(exit_us=1 << 64),
        happened.CardForeign(b"123"),
        happened.CardsTogether((Card(uid=bytes(4)),), order_known=True),
        happened.CardsTogether((Card(uid=bytes(4)),) * (MAX_TOGETHER + 1), order_known=True),
    ],
)
def test_a_happening_that_our_shoes_cannot_tell_is_refused(happening):
    with pytest.raises(MessageError):
        Event(1, 1, happening).to_bytes()


@pytest.mark.parametrize(
    "message",
    [
        Query(bytes(15)),
        Hello(IDENTITY, 1, 1, 1, device_nonce=bytes(17)),
        Hello(IDENTITY, 1 << 32, 1, 1),
        Ack(1, -1),
        Replay(1 << 32, 1),
        Beat(1, 1, 0, -1, 0),
        Gate(1 << 32, open=True),
        Lamp(1, 256, LampMode.ON),
        SetTime(1, -1),
        Identify(1, 256),
    ],
)
def test_a_value_that_does_not_fit_its_field_is_refused(message):
    with pytest.raises(FirmwareProtocolError):
        message.to_bytes()


@pytest.mark.parametrize("text", ["", "x" * 33, "ümlaut", "tab\t"])
def test_a_serial_number_that_cannot_be_printed_is_refused(text):
    identity = type(IDENTITY)(IDENTITY.kind, text, "1", bytes(32), 0, 650)
    with pytest.raises(MessageError, match="1 to 32 printable ASCII characters"):
        Hello(identity, 1, 1, 1).to_bytes()


def test_an_event_is_read_by_its_own_reader_only():
    with pytest.raises(MessageError, match="is no event"):
        Event.from_bytes(event_body(0x30, 1, 1, b""))
    with pytest.raises(MessageError, match="is no command"):
        UnknownCommand.from_bytes(b"\x8f\1\0\0\0")


def test_a_status_of_a_newer_minor_version_means_not_done():
    assert Answer.from_bytes(b"\3\1\0\0\0\x63") == Answer(1, Status.FAILED)


def test_every_rank_and_suit_of_both_kinds_of_deck_has_a_form():
    for rank in RANKS:
        for suit in SUITS:
            event = Event(1, MAX_NUMBER, CardDrawn(Card(rank=rank, suit=suit)))
            assert Event.from_bytes(event.to_bytes()) == event


def test_the_largest_card_is_as_large_as_the_limits_say():
    largest = Card(bytes(10), "A", "s", 0xFFFFFFFF, 1, 2, 3, 4)
    assert len(pack_card(largest)) == MAX_CARD_BYTES == 36
    together = Event(1, 1, happened.CardsTogether((largest,) * MAX_TOGETHER, order_known=True))
    room = MAX_BODY - SEAL_BYTES - len(together.to_bytes())
    assert 0 <= room < MAX_CARD_BYTES, "as many as fit into one sealed body, and not more"


@pytest.mark.parametrize(
    "waiting, told", [(0, 0), (0xFFFE, 0xFFFE), (0xFFFF, 0xFFFF), (0x10000, 0xFFFF), (1 << 32, 0xFFFF)]
)
def test_more_waiting_events_than_a_heartbeat_can_say_are_told_as_the_most_it_can(waiting, told):
    assert Beat.from_bytes(Beat(1, 1, 0, 0, waiting).to_bytes()).buffered == told


def test_a_heartbeat_counts_from_nothing_and_its_counters_begin_anew_after_32_bits():
    beat = Beat(1, 1, 0, 0, 0)
    assert (beat.reads, beat.retries, beat.misses, beat.crc_errors) == (0, 0, 0, 0)
    most = (1 << 32) - 1
    for said, told in ((most, most), (most + 1, 0), (most + 6, 5)):
        found = Beat.from_bytes(Beat(1, 1, 0, 0, 0, said, said, said, said).to_bytes())
        assert (found.reads, found.retries, found.misses, found.crc_errors) == (told,) * 4


def test_a_lamp_without_a_colour_is_white():
    lamp = Lamp(1, 0, LampMode.ON)
    assert (lamp.red, lamp.green, lamp.blue) == (255, 255, 255)


def test_a_device_makes_itself_noticed_for_five_seconds_if_nothing_is_said_of_the_time():
    assert read_from_host(Identify(1).to_bytes()) == Identify(1, 5)


@pytest.mark.parametrize("moment", [0, 1 << 63, (1 << 64) - 1])
def test_the_moments_of_an_unreadable_card_fill_their_field(moment):
    event = Event(1, 1, happened.CardUnreadable(moment, moment))
    assert Event.from_bytes(event.to_bytes()) == event


@pytest.mark.parametrize("number", [0, 1 << 31, (1 << 32) - 1])
def test_details_of_faults_and_self_tests_fill_their_field(number):
    fault = happened.FaultChanged(happened.DeviceFault.JAM, active=True, detail=number)
    for happening in (fault, happened.SelfTestDone(number)):
        event = Event(1, 1, happening)
        assert Event.from_bytes(event.to_bytes()) == event


@pytest.mark.parametrize("text", [" ", "~", "x" * 32])
def test_a_serial_number_of_the_first_and_the_last_printable_character_arrives(text):
    hello = Hello(type(IDENTITY)(IDENTITY.kind, text, "1", bytes(32), 0, 650), 1, 1, 1)
    assert read_from_device(hello.to_bytes()) == hello
