"""Brokers that die in the middle of a shoe or read slowly, and what the feed tells of itself meanwhile."""

import asyncio
import random
import socket

from shoe_controller.outputs import broker_link
from shoe_controller.outputs import listener as listener_module
from shoe_controller.outputs.listener import Listener
from tests.broker import Collector
from tests.outputs import bad_brokers
from tests.outputs.bad_brokers import serving
from tests.outputs.feeding import fed, feeding, quick, running, until


def test_a_broker_killed_again_and_again_during_a_shoe_costs_a_pit_system_nothing(broker, table, monkeypatch):
    # A mosquitto that is killed forgets what it acknowledged and had not yet delivered: the consumer asks for it.
    monkeypatch.setattr(broker_link, "STEADY", 0.0)
    monkeypatch.setattr(listener_module, "PATIENCE", 0.1)
    chance = random.Random(6)
    heard = []

    async def scenario():
        pit = Listener(
            quick(broker.url), "macau", "b7", on_event=lambda _place, seq, _message: heard.append(seq), first=1
        )
        async with feeding(table, quick(broker.url)) as feed, running(pit):
            for _ in range(4):
                for _ in range(chance.randrange(3, 12)):
                    table.play(1)
                    feed.wake()
                    await asyncio.sleep(0)
                await asyncio.to_thread(broker.kill)
                table.play(2)
                feed.wake()
                await asyncio.to_thread(broker.start)
            await fed(table, feed)
            await until(lambda: len(heard) == table.source.last_seq, "all events")
        assert pit.lost == []

    asyncio.run(scenario())
    assert heard == list(range(1, table.source.last_seq + 1))


def test_a_broker_that_reads_slowly_gets_all_and_holds_nobody_up(broker, table):
    async def reads_while_it_may(reader, writer):
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", broker.port)
        back = asyncio.ensure_future(bad_brokers._copy(inner_reader, writer))
        try:
            while data := await reader.read(4096):
                await flows.wait()
                inner_writer.write(data)
        finally:
            back.cancel()
            inner_writer.close()

    async def scenario():
        flows.set()
        async with (
            serving(reads_while_it_may) as url,
            feeding(table, quick(url, window=20_000, ack_timeout=20.0, version="3.1.1")) as feed,
        ):
            await until(lambda: feed.health().connected, "connected")
            feed._connection._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            flows.clear()
            while not feed._connection._writing:
                table.play(100)
                feed.wake()  # returns at once, full line or not
            flows.set()
            await fed(table, feed)

    flows = asyncio.Event()
    with Collector(broker.port) as pit:
        asyncio.run(scenario())
        pit.wait(lambda it: len(it.seqs()) == table.source.last_seq, "all events")
    assert pit.seqs() == list(range(1, table.source.last_seq + 1))


def test_the_feed_has_a_name_and_tells_its_lag(table):
    async def scenario():
        async with feeding(table, quick("mqtt://127.0.0.1:1")) as feed:
            await until(lambda: "refuses the connection" in feed.health().detail, "a failed try")
            feed.wake()
            return feed.name, feed.health()

    table.play(1)
    name, health = asyncio.run(scenario())
    assert name == health.name == "mqtt"
    assert (health.connected, health.cursor, health.lag) == (False, 0, 7)


def test_only_so_much_waits_beside_the_facts(broker, table):
    def answers():
        return sum(name.endswith("wagers/out") for name, *_ in pit.messages)

    async def scenario():
        async with feeding(table, quick(broker.url, window=1, ack_timeout=5.0)) as feed:
            await until(lambda: feed.health().connected, "connected")
            await until(lambda: feed._connection.room == 1 and not feed._beside, "nothing is on its way")
            for number in range(400):
                feed._answer_wager(b"%d" % number)
            table.play(1)
            feed.wake()
            await fed(table, feed)
            await until(lambda: answers() == 257, "one on its way and 256 that wait")

    with Collector(broker.port) as pit:
        asyncio.run(scenario())
