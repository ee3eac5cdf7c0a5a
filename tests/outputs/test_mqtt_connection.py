"""One connection, spoken to byte by byte: what a broker may say, and what it may not."""

import asyncio

import pytest

from shoe_controller.outputs.mqtt_connection import MAX_INCOMING, MqttConnection
from shoe_controller.outputs.mqtt_packets import Kind, PacketReader
from shoe_controller.outputs.settings import MqttSettings, parse_broker
from tests.outputs.bad_brokers import CONNACK, serving
from tests.outputs.feeding import until

WELCOME = CONNACK[4]


class Talk:
    """A broker that says what the test has it say, and notes what it hears."""

    def __init__(self, first=WELCOME):
        self._first = first
        self.heard = []
        self.arrived = []

    async def handle(self, reader, writer):
        self.writer = writer
        found = PacketReader(1 << 20)
        while data := await reader.read(65536):
            self.heard += found.feed(data)
            if len(self.heard) == 1:
                writer.write(self._first)

    def kinds(self):
        return [packet.kind for packet in self.heard]


def talking(talk, act, *, version="3.1.1", **settings):
    async def scenario():
        async with serving(talk.handle) as url:
            connection = MqttConnection(
                parse_broker(url),
                MqttSettings(brokers=(url,), **{"ack_timeout": 0.4, "connect_timeout": 5.0} | settings),
                version=version,
                client_id="shoe",
                on_message=lambda *message: talk.arrived.append(message),
                will=None,
            )
            try:
                await connection.open()
                await act(connection)
            finally:
                connection.abort()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "said, words",
    [
        (WELCOME, "a second answer to CONNECT"),
        (b"\x34\x05\x00\x01a\x00\x01", "QoS 2"),
        (b"\x50\x02\x00\x01", "a packet that no broker sends"),
        (b"\x30\x01\x00", "ends too early"),
        (b"\x30\xff\xff\xff\xff", "more than four bytes"),
    ],
)
def test_what_is_not_mqtt_ends_the_connection_with_a_sentence(said, words):
    async def act(connection):
        talk.writer.write(said)
        ended = str(await connection.ended)
        assert "sends what is not MQTT" in ended
        assert words in ended

    talk = Talk()
    talking(talk, act)


def test_a_packet_before_the_welcome_is_not_mqtt():
    talk = Talk(b"\xd0\x00")
    with pytest.raises(ConnectionError, match="sends what is not MQTT"):
        talking(talk, None)


def test_a_message_that_is_longer_than_any_request_is_acknowledged_and_dropped():
    async def act(connection):
        size = MAX_INCOMING + 100
        talk.writer.write(b"\x32\xe4\x80\x04\x00\x01a\x00\x07" + b"x" * (size - 5))
        talk.writer.write(b"\x32\x07\x00\x01b\x00\x08hi")
        await until(lambda: talk.kinds().count(Kind.PUBACK) == 2, "two receipts")
        assert not connection.ended.done()

    talk = Talk()
    talking(talk, act)
    assert talk.arrived == [("b", b"hi", False)]
    assert [packet.body for packet in talk.heard[1:]] == [b"\x00\x07", b"\x00\x08"]


def test_a_broker_that_does_not_answer_a_ping_is_lost():
    async def act(connection):
        ended = str(await asyncio.wait_for(asyncio.shield(connection.ended), 20))
        assert "it is silent" in ended

    # Keep alive as the broker has it: one second.
    talk = Talk(b"\x20\x06\x00\x00\x03\x13\x00\x01")
    talking(talk, act, version="5")
    assert talk.kinds() == [1, 12]


def test_a_broker_that_answers_pings_is_kept():
    async def act(connection):
        for beats in (1, 2):
            await until(lambda beats=beats: talk.kinds().count(12) == beats, "a ping", 20)
            talk.writer.write(b"\xd0\x00")
        assert not connection.ended.done()

    talk = Talk()
    talking(talk, act, keepalive=1)


def test_a_reset_in_the_middle_is_told_with_its_reason():
    async def act(connection):
        talk.writer.transport.abort()
        assert "was lost (it hung up)" in str(await connection.ended)

    talk = Talk()
    talking(talk, act)


def test_numbers_of_messages_go_round_and_leave_out_those_on_their_way():
    async def act(connection):
        connection._mid = 65533
        for _ in range(4):
            connection.publish("a", b"", lambda: None)
        assert list(connection._waiting) == [65534, 65535, 1, 2]
        connection._mid = 65533
        connection.subscribe("b")
        assert list(connection._subscribing) == [3]

    talking(Talk(), act)


def test_nothing_is_sent_on_a_connection_that_has_ended():
    async def act(connection):
        connection.abort()
        connection.publish("a", b"", lambda: None)
        connection.subscribe("a")
        assert connection.room == 0
        await connection.close(1.0)

    talk = Talk()
    talking(talk, act)
    assert talk.kinds() == [1]
