import asyncio

import msgspec
import pytest

from shoe_controller.journal.errors import JournalError
from shoe_controller.messages import EventEncoder
from shoe_controller.outputs.resend import Allowance, ResendDesk
from shoe_controller.outputs.settings import ResendSettings
from tests.broker import Collector
from tests.outputs.feeding import feeding, quick, until

PREFIX = "shoe/v1/macau/b7/"


ALLOWED = ResendSettings()


def asked(table, broker, *requests, resend=ALLOWED, answers=1):
    """Send requests to a running feed and return what came on resend/pit, and the events themselves."""

    async def scenario():
        async with feeding(table, quick(broker.url, resend=resend)) as feed:
            await until(lambda: feed.health().connected, "connected")
            await until(lambda: len(pit.seqs()) == table.source.last_seq, "all events")
            for request in requests:
                payload = request if isinstance(request, bytes) else msgspec.json.encode(request)
                await asyncio.to_thread(pit.publish, PREFIX + "resend/request", payload)
            ends = lambda: [message for message in pit.on("resend/pit") if message["type"] == "resend_end"]  # noqa: E731
            await until(lambda: len(ends()) >= answers, f"{answers} answers")

    with Collector(broker.port) as pit:
        asyncio.run(scenario())
    return pit


def test_a_range_comes_again_to_the_byte(table, broker):
    table.play(20)
    pit = asked(table, broker, {"consumer": "pit", "id": "q1", "first": 10, "last": 29})
    events = [payload for name, payload, _ in pit.messages if name.endswith("/events")]
    again = [payload for name, payload, _ in pit.messages if name.endswith("/resend/pit")]
    assert again[:-1] == events[9:29]
    assert msgspec.json.decode(again[-1]) == {
        "type": "resend_end",
        "consumer": "pit",
        "id": "q1",
        "first": 10,
        "last": 29,
        "sent": 20,
        "error": "",
        "later": False,
    }


def test_a_round_comes_again_whole(table, broker):
    table.play(20)
    pit = asked(table, broker, {"consumer": "pit", "shoe": "S1", "round": 3})
    assert pit.seqs("resend/pit") == list(range(15, 22))


@pytest.mark.parametrize(
    "request_, error",
    [
        ({"shoe": "S1", "round": 999}, "there is no round 999 of shoe S1"),
        ({"first": 5, "last": 3}, "greater than"),
        ({"first": 500, "last": 600}, "the newest event is 7"),
        ({"first": 5}, "ask either"),
        ({}, "ask either"),
        ({"first": 1, "last": 2, "shoe": "S1", "round": 1}, "ask either"),
    ],
)
def test_what_cannot_be_sent_is_answered_with_a_sentence(table, broker, request_, error):
    table.play(1)
    pit = asked(table, broker, {"consumer": "pit"} | request_)
    (end,) = pit.on("resend/pit")
    assert error in end["error"]
    assert end["sent"] == 0


def test_a_long_range_is_cut_and_tells_where_to_go_on(table, broker):
    table.play(10)
    pit = asked(table, broker, {"consumer": "pit", "first": 1, "last": 999}, resend=ResendSettings(max_messages=30))
    *again, end = pit.on("resend/pit")
    assert [message["seq"] for message in again] == list(range(1, 31))
    assert end["error"] == "at most 30 messages at a time: ask again from 31"


def test_a_range_beyond_the_newest_event_ends_with_it(table, broker):
    table.play(1)
    pit = asked(table, broker, {"consumer": "pit", "first": 6, "last": 2**53})
    *again, end = pit.on("resend/pit")
    assert [message["seq"] for message in again] == [6, 7]
    assert (end["last"], end["sent"], end["error"]) == (7, 2, "")


def test_requests_that_are_not_understood_are_not_answered(table, broker):
    table.play(1)
    wrong = [b"", b"{", b"[]", b'{"consumer":"a/b","first":1,"last":1}', b'{"consumer":"#"}', b"\xff" * 100]
    wrong += [b'{"consumer":"\xff"}', b'{"tip":' + b"[" * 10_000]
    pit = asked(table, broker, *wrong, {"consumer": "pit", "first": 1, "last": 1})
    assert [name for name, *_ in pit.messages if "/resend/" in name and not name.endswith("request")] == [
        PREFIX + "resend/pit",
        PREFIX + "resend/pit",
    ]


def test_a_flood_of_requests_is_turned_down(table, broker):
    table.play(1)
    requests = [{"consumer": "pit", "id": str(number), "first": 1, "last": 1} for number in range(20)]
    pit = asked(table, broker, *requests, resend=ResendSettings(requests_per_minute=5), answers=10)
    ends = [message for message in pit.on("resend/pit") if message["type"] == "resend_end"]
    assert sum(end["sent"] for end in ends) == 5
    refused = [end for end in ends if end["error"]]
    assert all("more than 5 requests in a minute" in end["error"] for end in refused)
    assert len(refused) == 5


def test_too_many_waiting_requests_are_turned_down(table):
    async def scenario():
        desk = ResendDesk(table.source, ResendSettings(requests_per_minute=100), EventEncoder("s", "t"))
        sent = []
        task = asyncio.create_task(desk.run(lambda consumer, payload, acked: (sent.append(payload), acked())))
        await asyncio.sleep(0)
        for _ in range(20):
            desk.take(b'{"consumer":"pit","first":1,"last":1}')
        await until(lambda: len(sent) == 36, "16 answers of two messages and 4 refusals")
        task.cancel()
        return [msgspec.json.decode(payload).get("error") for payload in sent]

    table.play(1)
    errors = asyncio.run(scenario())
    assert errors.count("too many requests are waiting: ask again a little later") == 4


def test_a_journal_that_cannot_be_read_is_told(table):
    class Broken:
        last_seq = 10

        def facts(self, after, limit):
            raise JournalError("the disk is gone")

    async def scenario():
        desk = ResendDesk(Broken(), ResendSettings(), EventEncoder("s", "t"))
        sent = []
        task = asyncio.create_task(desk.run(lambda consumer, payload, acked: sent.append(payload)))
        await asyncio.sleep(0)
        desk.take(b'{"consumer":"pit","first":1,"last":1}')
        await until(lambda: sent, "an answer")
        task.cancel()
        return msgspec.json.decode(sent[0])

    assert asyncio.run(scenario())["error"] == "the rest cannot be read: the disk is gone"


def test_resends_can_be_switched_off(table, broker):
    async def scenario():
        async with feeding(table, quick(broker.url, resend=ResendSettings(enabled=False))) as feed:
            await until(lambda: len(pit.seqs()) == 7, "all events")
            await asyncio.to_thread(pit.publish, PREFIX + "resend/request", b'{"consumer":"pit","first":1,"last":7}')
            table.play(1)
            feed.wake()
            await until(lambda: len(pit.seqs()) == 14, "the next round")

    table.play(1)
    with Collector(broker.port) as pit:
        asyncio.run(scenario())
    assert pit.on("resend/pit") == []


def test_live_events_go_on_while_a_long_resend_is_under_way(table, broker):
    async def scenario():
        async with feeding(table, quick(broker.url)) as feed:
            await until(lambda: len(pit.seqs()) == 700, "all events")
            await asyncio.to_thread(pit.publish, PREFIX + "resend/request", b'{"consumer":"pit","first":1,"last":700}')
            await until(lambda: pit.on("resend/pit"), "the first of them")
            table.play(1)
            feed.wake()
            await until(lambda: len(pit.seqs()) == 707, "the new round")
            resent = len(pit.on("resend/pit"))
            await until(lambda: len(pit.on("resend/pit")) == 701, "the rest")
            return resent

    table.play(100)
    with Collector(broker.port) as pit:
        assert asyncio.run(scenario()) < 701


def test_an_allowance_fills_up_again_with_time():
    now = 0.0
    allowance = Allowance(60, lambda: now)
    assert [allowance.take() for _ in range(61)] == [True] * 60 + [False]
    now = 2.0
    assert [allowance.take() for _ in range(3)] == [True, True, False]
