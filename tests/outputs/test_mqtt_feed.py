import asyncio
import socket

import msgspec
import pytest

from shoe_controller.messages import HealthReport
from shoe_controller.outputs.errors import FeedSettingsError
from shoe_controller.session import facts
from tests.broker import Collector, Mosquitto, wait_for
from tests.outputs.feeding import fed, feeding, mqtt_feed, quick, until
from tests.outputs.table import BOOT, shoe_loaded

PREFIX = "shoe/v1/macau/b7/"
IRREGULARITY = facts.Irregularity(
    id=1, kind="foreign_card", rule="5.1", shoe="S1", round=1, effect="void", uids=("04a1",), outcome_affected=True
)


def retained(port, channel):
    """Return the retained message that a newcomer gets."""
    with Collector(port, PREFIX + channel) as newcomer:
        newcomer.wait(lambda it: it.messages, f"a retained message on {channel}")
        _name, payload, is_retained = newcomer.messages[0]
        assert is_retained
        return msgspec.json.decode(payload)


@pytest.mark.parametrize("version", ["3.1.1", "5", "auto"])
def test_every_fact_is_published_once_and_in_order(broker, table, version):
    async def scenario():
        async with feeding(table, quick(broker.url, version=version)) as feed:
            await fed(table, feed)
            table.play(20)
            feed.wake()
            await fed(table, feed)

    table.play(20)
    with Collector(broker.port) as pit:
        asyncio.run(scenario())
        pit.wait(lambda it: len(it.seqs()) == 280, "all events")
    assert pit.seqs() == list(range(1, 281))
    assert pit.seqs("rounds") == list(range(7, 281, 7))


def test_a_commit_is_on_its_way_before_wake_returns(broker, table):
    async def scenario():
        async with feeding(table, quick(broker.url)) as feed:
            await until(lambda: feed.health().connected, "connected")
            table.commit(shoe_loaded())
            feed.wake()
            # No turn of the loop in between: the bytes are in the socket already.
            wait_for(pit.seqs, "the event")
            assert pit.seqs() == [1]
            line = feed._connection._socket
            assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), "a card would wait for the one before it"

    with Collector(broker.port) as pit:
        asyncio.run(scenario())


def test_irregularities_carry_their_evidence_on_a_channel_of_their_own(broker, table):
    async def scenario():
        async with feeding(table, quick(broker.url)) as feed:
            await fed(table, feed)

    table.commit(IRREGULARITY, raw=bytes.fromhex("0504a1"))
    table.commit(facts.Resolved(ids=(1,), how="void", round=1, by="chan"), source="local:chan")
    table.commit(facts.Acknowledged(ids=(1,), by="chan"))
    with Collector(broker.port) as pit:
        asyncio.run(scenario())
        pit.wait(lambda it: len(it.on("irregularities")) == 3, "three messages")
        pit.wait(lambda it: len(it.on("events")) == 3, "three events")
    first = pit.on("irregularities")[0]
    assert (first["kind"], first["raw"], first["seq"], first["source"]) == ("foreign_card", "0504a1", 1, "shoe")
    assert pit.on("irregularities") == pit.on("events")


def test_status_is_retained_and_tells_boot_and_connection(broker, table):
    async def scenario():
        async with feeding(table, quick(broker.url)) as feed:
            await until(lambda: feed.health().connected, "connected")
            return await asyncio.to_thread(retained, broker.port, "status")

    online = asyncio.run(scenario())
    offline = retained(broker.port, "status")
    assert (online["online"], online["boot"], online["connection"]) == (True, BOOT, 1)
    assert (offline["online"], offline["boot"], offline["connection"]) == (False, BOOT, 1)


def test_the_broker_publishes_our_will_when_we_vanish(broker, table):
    async def scenario():
        async with feeding(table, quick(broker.url)) as feed:
            await until(lambda: feed.health().connected, "connected")
            feed._connection._socket.close()
            await until(lambda: len(pit.on("status")) >= 2, "the will")

    with Collector(broker.port, PREFIX + "status") as pit:
        asyncio.run(scenario())
    will = pit.on("status")[1]
    assert (will["online"], will["boot"], will["connection"]) == (False, BOOT, 1)


def test_state_is_retained_so_that_a_display_can_join_in_mid_round(broker, table):
    async def scenario():
        async with feeding(table, quick(broker.url)) as feed:
            await fed(table, feed)
            table.play(3)
            feed.wake()
            await until(lambda: pit.on("state") and pit.on("state")[-1]["seq"] == 21, "the newest state")

    with Collector(broker.port) as pit:
        asyncio.run(scenario())
    state = retained(broker.port, "state")
    assert (state["seq"], state["view"]["phase"]) == (21, "no-shoe")


def test_states_that_a_newer_one_replaces_are_not_sent(broker, table):
    async def scenario():
        async with feeding(table, quick(broker.url)) as feed:
            await fed(table, feed)
            for _ in range(50):
                table.play(1)
                feed.wake()
            await fed(table, feed)
            await until(lambda: pit.on("state") and pit.on("state")[-1]["seq"] == 350, "the newest state")

    with Collector(broker.port) as pit:
        asyncio.run(scenario())
    assert len(pit.on("state")) < 20


def test_health_is_sent_at_connect_and_at_regular_intervals_with_the_status(broker, table):
    async def scenario():
        async with feeding(table, quick(broker.url, health_interval=0.05)):
            await until(lambda: len(pit.on("health")) >= 3 and len(pit.on("status")) >= 3, "three of each")

    with Collector(broker.port) as pit:
        asyncio.run(scenario())
    health = pit.on("health")[0]
    assert msgspec.convert(health["report"], HealthReport) == table.report()
    assert (health["version"], health["boot"], health["seq"]) == ("1.0", BOOT, 0)


@pytest.mark.parametrize("allowed", [1, 2, 3])
def test_a_broker_that_takes_few_messages_at_a_time_gets_them_all(tmp_path, table, allowed):
    async def scenario():
        async with feeding(table, quick(broker.url, version="5", ack_timeout=5.0)) as feed:
            await fed(table, feed)

    broker = Mosquitto(tmp_path / "narrow", f"max_inflight_messages {allowed}").start()
    table.play(10)
    try:
        with Collector(broker.port) as pit:
            asyncio.run(scenario())
            pit.wait(lambda it: len(it.seqs()) == 70 and it.on("state") and it.on("health"), "everything")
        assert pit.seqs() == list(range(1, 71))
    finally:
        broker.stop()


def test_the_cursor_outlives_the_daemon(broker, table):
    async def scenario(expected):
        async with feeding(table, quick(broker.url)) as feed:
            await fed(table, feed)
            await until(lambda: len(pit.seqs()) >= expected, "all events")

    with Collector(broker.port) as pit:
        table.play(2)
        asyncio.run(scenario(14))
        table.play(2)
        asyncio.run(scenario(28))
    assert pit.seqs() == list(range(1, 29))


def test_a_volume_that_was_moved_away_stops_the_feed_until_it_is_back(broker, table, caplog, tmp_path):
    async def scenario():
        async with feeding(table, quick(broker.url, health_interval=0.1)) as feed:
            await until(lambda: "cannot go on" in caplog.text, "a complaint")
            assert feed.health().cursor == 0
            sealed.with_suffix(".away").rename(sealed)
            await fed(table, feed)

    table.play(1)
    sealed = table.journal.archive()
    sealed.rename(sealed.with_suffix(".away"))
    table.play(1)
    table.source._recent.clear()  # as after a restart: the newest facts are not in memory
    with Collector(broker.port) as pit:
        asyncio.run(scenario())
        pit.wait(lambda it: len(it.seqs()) == 14, "all events")
    assert pit.seqs() == list(range(1, 15))


def test_wagers_need_somebody_who_takes_them(table):
    async def scenario():
        mqtt_feed(table, quick("mqtt://127.0.0.1:1", wagers=True))

    with pytest.raises(FeedSettingsError, match="nothing takes them"):
        asyncio.run(scenario())
