"""Packets of MQTT: what we make is what the standard says, and what arrives is read or refused, never believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoe_controller.outputs import mqtt_packets as packets
from shoe_controller.outputs.mqtt_packets import Packet, PacketError, PacketReader

VERSIONS = ("3.1.1", "5")


def test_a_connect_says_who_we_are_and_what_to_publish_if_we_vanish():
    plain = packets.connect("shoe", version="3.1.1", keepalive=30, most=65536)
    assert plain == b"\x10\x10\x00\x04MQTT\x04\x02\x00\x1e\x00\x04shoe"
    full = packets.connect(
        "shoe", version="5", keepalive=30, most=65536, user="u", password=b"pw", will=("status", b"off")
    )
    assert full == (
        b"\x10\x2b\x00\x04MQTT\x05\xee\x00\x1e\x05\x27\x00\x01\x00\x00"
        b"\x00\x04shoe\x00\x00\x06status\x00\x03off\x00\x01u\x00\x02pw"
    )


def test_a_publish_is_of_qos_1_and_may_be_retained():
    assert packets.publish("a/b", b"hello", 7, version="3.1.1", retain=False) == b"\x32\x0c\x00\x03a/b\x00\x07hello"
    assert packets.publish("a/b", b"hello", 7, version="5", retain=True) == b"\x33\x0d\x00\x03a/b\x00\x07\x00hello"


@pytest.mark.parametrize("size, length", [(120, b"\x7f"), (121, b"\x80\x01"), (16376, b"\xff\x7f")])
def test_a_length_has_as_many_bytes_as_it_needs(size, length):
    packet = packets.publish("abc", b"x" * size, 1, version="3.1.1", retain=False)
    assert packet[1 : 1 + len(length)] == length
    assert PacketReader(1 << 20).feed(packet) == [Packet(3, 2, b"\x00\x03abc\x00\x01" + b"x" * size)]


def test_a_subscription_asks_for_qos_1():
    assert packets.subscribe("a", 2, version="3.1.1") == b"\x82\x06\x00\x02\x00\x01a\x01"
    assert packets.subscribe("a", 2, version="5") == b"\x82\x07\x00\x02\x00\x00\x01a\x01"


# ---- what arrives ----------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(1, 15), st.binary(max_size=300))),
    st.lists(st.integers(1, 40), min_size=1),
    st.integers(1, 400),
)
def test_packets_are_found_however_the_bytes_are_cut(sent, cuts, most):
    stream = b"".join(bytes((kind << 4,)) + packets._length(len(body)) + body for kind, body in sent)
    reader, found, at, turn = PacketReader(most), [], 0, 0
    while at < len(stream):
        found += reader.feed(stream[at : at + cuts[turn % len(cuts)]])
        at += cuts[turn % len(cuts)]
        turn += 1
    assert found == [Packet(kind, 0, body[:most], len(body) <= most) for kind, body in sent]


def test_of_a_packet_that_is_too_long_only_the_beginning_is_held():
    reader = PacketReader(10)
    assert reader.feed(b"\x30" + packets._length(5_000_000) + b"0123456789") == []
    for _ in range(499):
        assert reader.feed(b"x" * 10_000) == []
        assert len(reader._buffer) == 0
    assert reader.feed(b"x" * 9_990 + b"\xd0\x00") == [Packet(3, 0, b"0123456789", whole=False), Packet(13, 0, b"")]


def test_a_length_of_five_bytes_is_no_mqtt():
    with pytest.raises(PacketError, match="more than four bytes"):
        PacketReader(10).feed(b"\x30\xff\xff\xff\xff\x01")
    with pytest.raises(PacketError, match="more than four bytes"):
        packets.read_welcome(b"\x00\x00\xff\xff\xff\xff\x01", "5")


@given(st.binary(max_size=80), st.sampled_from(VERSIONS), st.integers(0, 15), st.booleans())
def test_no_body_makes_a_reader_raise_anything_else(body, version, flags, whole):
    for read in (
        lambda: packets.read_welcome(body, version),
        lambda: packets.read_message(Packet(3, flags, body, whole), version),
        lambda: packets.read_receipt(body),
        lambda: packets.read_grant(body, version),
        lambda: packets.read_farewell(body),
    ):
        try:
            read()
        except PacketError:
            continue


def test_a_welcome_tells_the_limits_of_the_broker():
    # Session expiry, receive maximum, maximum QoS, retain available, server keep alive, a user property, a reason text.
    properties = (
        b"\x11\x00\x00\x00\x05\x21\x00\x14\x24\x01\x25\x01\x13\x00\x3c\x26\x00\x01a\x00\x01b\x1f\x00\x02ok\x0b\x81\x01"
    )
    body = b"\x00\x00" + bytes((len(properties),)) + properties
    assert packets.read_welcome(body, "5") == packets.Welcome(0, 20, 1, 60)
    assert packets.read_welcome(b"\x00\x00\x00", "5") == packets.Welcome(0, 65535, 2, None)
    assert packets.read_welcome(b"\x00\x00", "3.1.1") == packets.Welcome(0)


@pytest.mark.parametrize("body", [b"\x00\x00\x02\x24", b"\x00\x00\x01\x24\x01", b"\x00\x00\x02\x7e\x01", b"\x00"])
def test_a_welcome_with_impossible_properties_is_no_mqtt(body):
    with pytest.raises(PacketError):
        packets.read_welcome(body, "5")


@pytest.mark.parametrize(
    "code, words",
    [
        (1, "Unsupported protocol version"),
        (2, "Client identifier not valid"),
        (3, "Server unavailable"),
        (4, "Bad user name or password"),
        (5, "Not authorized"),
        (77, "Unspecified error"),
    ],
)
def test_refusals_of_version_3_1_1_have_the_names_of_version_5(code, words):
    reason = packets.read_welcome(bytes((0, code)), "3.1.1").reason
    assert packets.is_failure(reason)
    assert packets.reason_text(reason) == words


def test_a_broker_that_does_not_know_version_5_answers_it_as_it_can():
    assert packets.read_welcome(b"\x00\x01", "5").reason == 0x84


def test_a_reason_that_nobody_knows_is_told_by_its_number():
    assert packets.reason_text(0xF3) == "reason 0xf3"


def test_a_message_has_topic_payload_and_whether_it_was_retained():
    body = b"\x00\x03a/b\x00\x09\x00hi"
    assert packets.read_message(Packet(3, 0b0011, body), "5") == packets.Message("a/b", b"hi", 9, retained=True)
    assert packets.read_message(Packet(3, 0b0000, b"\x00\x01ahi"), "3.1.1") == ("a", b"hi", 0, False)


def test_a_topic_that_is_no_text_is_none_of_ours():
    assert packets.read_message(Packet(3, 0, b"\x00\x01\xffhi"), "3.1.1").topic == "\ufffd"


def test_a_message_of_qos_2_was_never_asked_for():
    with pytest.raises(PacketError, match="QoS 2"):
        packets.read_message(Packet(3, 0b0100, b"\x00\x01a\x00\x01hi"), "3.1.1")


def test_receipts_grants_and_farewells():
    assert packets.read_receipt(b"\x00\x07") == (7, 0)
    assert packets.read_receipt(b"\x00\x07\x87\x00") == (7, 0x87)
    assert packets.read_grant(b"\x00\x07\x01", "3.1.1") == (7, 1)
    assert packets.read_grant(b"\x00\x07\x00\x87", "5") == (7, 0x87)
    assert packets.read_farewell(b"") == 0
    assert packets.read_farewell(b"\x8b\x00") == 0x8B
