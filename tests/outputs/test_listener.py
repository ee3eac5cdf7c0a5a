import asyncio

import msgspec
import pytest

from shoe_controller.outputs import listener as listener_module
from shoe_controller.outputs.listener import Listener
from shoe_controller.outputs.settings import ResendSettings
from tests.broker import Collector
from tests.outputs.feeding import fed, feeding, quick, running, until

PREFIX = "shoe/v1/macau/b7/"


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """Ask sooner than in a casino."""
    monkeypatch.setattr(listener_module, "PATIENCE", 0.1)
    monkeypatch.setattr(listener_module, "ASK_AGAIN", 0.2)


class Heard:
    """What a listener handed on."""

    def __init__(self):
        self.events = []
        self.notices = []

    def event(self, place, seq, message):
        assert msgspec.json.decode(message)["seq"] == seq
        self.events.append((place, seq))

    def notice(self, place, channel, message):
        self.notices.append((place, channel))

    @property
    def seqs(self):
        return [seq for _place, seq in self.events]


def listener(broker, heard, *, site="macau", table="b7", **other):
    return Listener(quick(broker.url), site, table, on_event=heard.event, on_notice=heard.notice, **other)


def numbered(seq, **other):
    return msgspec.json.encode({"type": "betting", "shoe": "S1", "round": 1, "seq": seq} | other)


def test_events_come_once_in_order_with_status_state_and_health_beside_them(broker, table):
    heard = Heard()

    async def scenario():
        async with running(listener(broker, heard)) as listening:
            await listening.connected.wait()
            async with feeding(table, quick(broker.url)) as feed:
                await fed(table, feed)
                await until(lambda: len(heard.events) == 35, "all events")
                await until(lambda: len({channel for _place, channel in heard.notices}) == 3, "the rest")
            return listening

    table.play(5)
    listening = asyncio.run(scenario())
    assert heard.events == [("macau/b7", seq) for seq in range(1, 36)]
    assert {channel for _place, channel in heard.notices} == {"status", "state", "health"}
    assert (listening.lost, listening.repeated, listening.requests) == ([], 0, 0)


def test_a_newcomer_gets_everything_from_the_seq_it_names(broker, table):
    heard = Heard()

    async def scenario():
        resend = ResendSettings(max_messages=50, requests_per_minute=600)
        async with feeding(table, quick(broker.url, resend=resend)) as feed:
            await fed(table, feed)
            async with running(listener(broker, heard, first=3)) as listening:
                await until(lambda: len(heard.events) == 138, "all events from 3 on")
                table.play(1)
                feed.wake()
                await until(lambda: len(heard.events) == 145, "the next round")
            return listening

    table.play(20)
    listening = asyncio.run(scenario())
    assert heard.seqs == list(range(3, 148))
    assert listening.lost == []
    assert listening.requests == 3


def test_asking_too_often_only_takes_longer(broker, table):
    heard = Heard()

    async def scenario():
        resend = ResendSettings(max_messages=20, requests_per_minute=120)
        async with feeding(table, quick(broker.url, resend=resend)) as feed:
            feed._desk._allowance._left = 2.0  # others have asked before us
            await fed(table, feed)
            async with running(listener(broker, heard, first=1)) as listening:
                await until(lambda: len(heard.events) == 70, "all events")
            return listening

    table.play(10)
    assert asyncio.run(scenario()).lost == []
    assert heard.seqs == list(range(1, 71))


def test_what_the_table_no_longer_has_is_reported_and_passed_over(broker):
    heard = Heard()

    async def scenario():
        async with running(listener(broker, heard, consumer="pit")) as listening:
            await listening.connected.wait()
            for seq in (1, 2, 3, 7, 8):
                await asyncio.to_thread(table.publish, PREFIX + "events", numbered(seq))
            for answers in range(1, 4):
                await until(lambda: len(table.on("resend/request")) >= answers, f"request {answers}")  # noqa: B023
                end = {"type": "resend_end", "consumer": "pit", "id": "", "first": None, "last": None, "sent": 0}
                await asyncio.to_thread(table.publish, PREFIX + "resend/pit", msgspec.json.encode(end))
            await until(lambda: len(heard.events) == 5, "what lies behind the gap")
            return listening

    with Collector(broker.port) as table:
        listening = asyncio.run(scenario())
    assert heard.seqs == [1, 2, 3, 7, 8]
    assert listening.lost == [("macau/b7", 4, 6)]
    assert table.on("resend/request")[0] == {
        "consumer": "pit",
        "id": "1",
        "first": 4,
        "last": 6,
        "shoe": None,
        "round": None,
    }


def test_without_resends_a_gap_is_only_reported(broker, monkeypatch):
    heard = Heard()
    monkeypatch.setattr(listener_module, "PATIENCE", 0.001)

    async def scenario():
        async with running(listener(broker, heard, resend=False)) as listening:
            await listening.connected.wait()
            for seq in (1, 3, 1, *range(4, 30)):
                await asyncio.to_thread(table.publish, PREFIX + "events", numbered(seq))
            await until(lambda: listening.repeated == 1, "the repeated one")
            await until(lambda: listening.lost, "the gap")
            return listening

    with Collector(broker.port) as table:
        listening = asyncio.run(scenario())
    assert listening.lost == [("macau/b7", 2, 2)]
    assert heard.seqs == [1]
    assert listening.requests == 0
    assert table.on("resend/request") == []


def test_noise_on_the_topics_is_passed_over(broker):
    heard = Heard()

    async def scenario():
        async with running(listener(broker, heard, consumer="pit")) as listening:
            await listening.connected.wait()
            for channel, payload in (
                ("events", b"\xff\x00"),
                ("events", b"[1]"),
                ("resend/pit", b'{"type":"resend_end"}'),
                ("resend/pit", b'{"type":"resend_end","consumer":"pit","id":"","first":1,"last":1,"sent":1}'),
                ("state", b'{"seq":0}'),
                ("events", numbered(9)),
            ):
                await asyncio.to_thread(table.publish, PREFIX + channel, payload)
            await until(lambda: heard.events, "the event among the noise")
            return listening

    with Collector(broker.port) as table:
        assert asyncio.run(scenario()).lost == []
    assert heard.seqs == [9]
    assert heard.notices == [("macau/b7", "state")]


def test_a_broker_that_dies_costs_a_listener_nothing(broker, table):
    heard = Heard()

    async def scenario():
        async with running(listener(broker, heard, site="+", table="+")) as listening:
            await listening.connected.wait()
            async with feeding(table, quick(broker.url)) as feed:
                await until(lambda: len(heard.events) == 14, "two rounds")
                broker.kill()
                await until(lambda: not listening.connected.is_set(), "the loss is noticed")
                table.play(3)
                feed.wake()
                await asyncio.to_thread(broker.start)
                await until(lambda: len(heard.events) == 35, "the rounds played meanwhile")
            return listening

    table.play(2)
    listening = asyncio.run(scenario())
    assert heard.seqs == list(range(1, 36))
    assert listening.lost == []


def test_two_tables_are_followed_side_by_side(broker):
    heard = Heard()

    async def scenario():
        async with running(listener(broker, heard, table="+")) as listening:
            await listening.connected.wait()
            for name in ("b7", "b8"):
                for seq in (5, 6):
                    await asyncio.to_thread(pit.publish, f"shoe/v1/macau/{name}/events", numbered(seq))
            await until(lambda: len(heard.events) == 4, "two events of each")
            return listening

    with Collector(broker.port) as pit:
        assert asyncio.run(scenario()).lost == []
    assert heard.events == [("macau/b7", 5), ("macau/b7", 6), ("macau/b8", 5), ("macau/b8", 6)]
