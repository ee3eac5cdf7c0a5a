"""Brokers that are away, die, hang, refuse or cut: what was recorded arrives all the same, each seq once."""

import asyncio
import itertools
import logging

import pytest

from shoe_controller.outputs.errors import BrokerError
from tests.broker import Collector, Mosquitto, free_port
from tests.outputs import bad_brokers
from tests.outputs.bad_brokers import Cutter, serving
from tests.outputs.feeding import fed, feeding, quick, until


def warnings(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.fixture(autouse=True)
def all_levels(caplog):
    caplog.set_level(logging.DEBUG, "shoe_controller")


def test_a_broker_that_is_away_from_the_start_gets_everything_when_it_comes(tmp_path, table, caplog):
    async def scenario():
        async with feeding(table, quick(f"mqtt://127.0.0.1:{port}")) as feed:
            await until(lambda: sum("refuses the connection" in text for text in caplog.messages) >= 3, "three tries")
            assert not feed.health().connected
            await asyncio.to_thread(broker.start)
            with Collector(broker.port) as pit:
                await fed(table, feed)
                table.play(30)
                feed.wake()
                await fed(table, feed)
            return pit

    port = free_port()
    table.play(30)
    broker = Mosquitto(tmp_path / "late", port=port)
    try:
        asyncio.run(scenario())
    finally:
        broker.stop()
    # Said once loudly, then softly, then that all is well.
    assert warnings(caplog) == [
        f"the broker mqtt://127.0.0.1:{port} refuses the connection: is it running, and is this its port?"
    ]
    assert any("takes our messages" in text and "failed tries" in text for text in caplog.messages)
    assert table.source.cursor("mqtt") == 420


@pytest.mark.parametrize(
    "handle, sentence",
    [
        (bad_brokers.never_acks, "has not acknowledged a message for 0.5 s"),
        (bad_brokers.never_answers, "does not answer within 0.4 s: is it a broker?"),
        (bad_brokers.hangs_up_at_once, "closed the connection"),
        (bad_brokers.hangs_up, "closed the connection before it answered"),
        (bad_brokers.offers_qos_0_only, "offers QoS 0 only"),
        (bad_brokers.talks_nonsense, "does not answer within 0.4 s: is it a broker?"),
        (bad_brokers.shuts_down, "ended the connection (Server shutting down)"),
        (bad_brokers.does_not_let_us_read, "does not let us read shoe/v1/macau/b7/resend/request"),
        (bad_brokers.unavailable(0x88), "has no service to offer at the moment"),
        (bad_brokers.unavailable(0x89), "refuses us (Server busy)"),
    ],
)
def test_a_broker_that_is_no_use_is_left_for_the_next(broker, table, caplog, handle, sentence):
    async def scenario():
        async with serving(handle) as bad:
            settings = quick(bad, broker.url, connect_timeout=0.4)
            async with feeding(table, settings) as feed:
                await fed(table, feed)

    table.play(10)
    with Collector(broker.port) as pit:
        asyncio.run(scenario())
        pit.wait(lambda it: len(it.seqs()) == 70, "all events")
    assert pit.seqs() == list(range(1, 71))
    assert any(sentence in text for text in warnings(caplog)), warnings(caplog)


def test_a_broker_that_never_acks_is_tried_again_and_again_with_the_same_events(table, caplog):
    async def scenario():
        async with serving(bad_brokers.never_acks) as bad, feeding(table, quick(bad, ack_timeout=0.1)) as feed:
            await until(lambda: sum("not acknowledged" in text for text in caplog.messages) >= 3, "three tries")
            assert feed.health().cursor == 0
            assert not feed.health().connected

    table.play(1)
    asyncio.run(scenario())
    assert len(warnings(caplog)) == 1


@pytest.mark.parametrize("after", [150, 700, 1500, 5000, 20_000])
def test_a_connection_reset_in_the_middle_of_a_message_loses_nothing(broker, table, after):
    async def scenario():
        cutter = Cutter(broker.port, after, times=4)
        async with serving(cutter.handle) as url, feeding(table, quick(url)) as feed:
            await until(lambda: cutter.times == 0, "four cuts")
            await fed(table, feed)

    table.play(60)
    with Collector(broker.port) as pit:
        asyncio.run(scenario())
        pit.wait(lambda it: set(it.seqs()) == set(range(1, 421)), "all events")
    # Repetitions go back, they never leave anything out on the way.
    seqs = pit.seqs()
    assert all(after - before <= 1 for before, after in itertools.pairwise(seqs))


@pytest.mark.parametrize("says_so", [True, False])
def test_a_broker_that_does_not_know_version_5_is_spoken_to_in_3_1_1(broker, table, caplog, says_so):
    async def scenario():
        handle = bad_brokers.only_knows_3_1_1(broker.port, says_so=says_so)
        async with serving(handle) as url, feeding(table, quick(url)) as feed:
            await fed(table, feed)
            assert feed.health().detail.endswith("MQTT 3.1.1")

    table.play(1)
    asyncio.run(scenario())
    assert not warnings(caplog)


def test_version_5_alone_is_not_given_up_if_it_was_asked_for(broker, table, caplog):
    async def scenario():
        handle = bad_brokers.only_knows_3_1_1(broker.port, says_so=True)
        async with serving(handle) as url, feeding(table, quick(url, version="5")) as feed:
            await until(lambda: caplog.messages.count(f"the broker {url} does not speak MQTT 5") > 1, "two tries")
            assert not feed.health().connected

    asyncio.run(scenario())


def test_a_name_without_address_is_told_as_such(table, caplog):
    async def scenario():
        async with feeding(table, quick("mqtt://no-such-broker.invalid")):
            await until(lambda: caplog.messages, "a complaint")

    asyncio.run(scenario())
    assert "has no address" in caplog.messages[0]


def test_a_second_table_of_the_same_name_is_told_and_does_not_fight(table, caplog):
    async def scenario():
        async with serving(bad_brokers.lets_another_in) as url, feeding(table, quick(url, backoff=(0.0, 60.0))):
            await until(lambda: caplog.messages, "a complaint")
            # Had it come back at once, there would be a second one by now.
            await asyncio.sleep(0.3)

    asyncio.run(scenario())
    assert len(caplog.messages) == 1
    assert "two controllers set up as this table" in caplog.messages[0]


def test_a_broker_that_refuses_our_topics_is_told_and_tried_again(tmp_path, table, caplog):
    async def scenario():
        async with feeding(table, quick(broker.url, version="5")) as feed:
            await until(lambda: sum("refuses our messages" in text for text in caplog.messages) >= 2, "two tries")
            assert feed.health().cursor == 0
            rules.write_text("topic readwrite shoe/v1/macau/b7/#\n")
            broker.stop()
            await asyncio.to_thread(broker.start)
            await fed(table, feed)

    rules = tmp_path / "acl"
    rules.write_text("topic readwrite shoe/v1/macau/b8/#\n")
    broker = Mosquitto(tmp_path / "strict", f"acl_file {rules}").start()
    table.play(1)
    try:
        asyncio.run(scenario())
    finally:
        broker.stop()
    assert [text for text in warnings(caplog) if "access list" in text]


def test_fail_over_goes_to_the_next_broker_and_back(tmp_path, table):
    async def scenario():
        async with feeding(table, quick(one.url, two.url)) as feed:
            for rounds, (dying, staying) in enumerate(((one, two), (two, one), (one, two)), start=1):
                dying.kill()
                table.play(5)
                feed.wake()
                await fed(table, feed)
                with Collector(staying.port, "shoe/v1/+/+/state") as newcomer:
                    await until(lambda seq=rounds * 35: newcomer.seqs("state")[-1:] == [seq], "the newest state")
                await asyncio.to_thread(dying.start)

    one, two = (Mosquitto(tmp_path / name).start() for name in ("one", "two"))
    try:
        asyncio.run(scenario())
    finally:
        one.stop()
        two.stop()


def test_a_daemon_that_is_told_to_stop_while_it_connects_stops_at_once(table):
    async def scenario():
        called = asyncio.Event()

        async def never_answers(reader, writer):
            called.set()
            await bad_brokers.never_answers(reader, writer)

        async with (
            asyncio.timeout(30),
            serving(never_answers) as bad,
            feeding(table, quick(bad, connect_timeout=60.0)),
        ):
            await called.wait()

    asyncio.run(scenario())


def test_errors_of_a_connection_are_connection_errors():
    assert issubclass(BrokerError, ConnectionError)
