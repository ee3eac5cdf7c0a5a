import asyncio

import msgspec
import pytest

from shoe_controller.errors import ControllerError
from shoe_controller.journal.errors import JournalError
from shoe_controller.messages import EventEncoder
from shoe_controller.outputs import wagers as wagers_module
from shoe_controller.outputs.wagers import WagersInlet
from shoe_controller.session import facts
from shoe_controller.session.inputs import PlaceWager, WithdrawWager
from tests.broker import Collector
from tests.outputs.feeding import feeding, quick, until

PREFIX = "shoe/v1/macau/b7/"


def request(wager_id="w1", action="place", amount="10.00", **other):
    given = {"id": wager_id, "action": action, "who": "seat-3", "wager": "player", "amount": amount} | other
    return msgspec.json.encode({key: value for key, value in given.items() if value is not ...})


def booked(wager_id="w1", *, accepted=True, rule=None):
    return facts.Wager(
        who="seat-3",
        wager="player",
        amount="10.00",
        accepted=accepted,
        rule=rule,
        action="place",
        round=1,
        stake="10.00",
        id=wager_id,
    )


class Desk:
    """An inlet with its surroundings: what it submitted and what it answered."""

    def __init__(self, table, *, refuse=""):
        self.table = table
        self.submitted = []
        self.answers = []
        self.refuse = refuse
        self.inlet = self.open()

    def open(self):
        self.inlet = WagersInlet(self.table.source, EventEncoder("macau", "b7"), self.submit, self.answer)
        return self.inlet

    def submit(self, wager):
        if self.refuse:
            raise ControllerError(self.refuse)
        self.submitted.append(wager)

    def answer(self, payload):
        self.answers.append(msgspec.json.decode(payload))

    def take(self, payload, *, retained=False):
        self.inlet.take(payload, retained=retained)


@pytest.fixture
def desk(table):
    return Desk(table)


@pytest.mark.parametrize(
    "payload, wager",
    [
        (request(), PlaceWager(who="seat-3", wager="player", amount=1000, id="w1")),
        (request(action="withdraw"), WithdrawWager(who="seat-3", wager="player", amount=1000, id="w1")),
        (request(action="withdraw", amount=...), WithdrawWager(who="seat-3", wager="player", amount=None, id="w1")),
    ],
)
def test_a_request_becomes_an_input(desk, payload, wager):
    desk.take(payload)
    assert desk.submitted == [wager]
    assert desk.answers == []


@pytest.mark.parametrize(
    "payload, wager_id, error",
    [
        (b"{", "", "truncated"),
        (b"[]", "", "Expected `object`"),
        (b'{"id":"w1","who":"\xff"}', "w1", "not UTF-8"),
        (b'{"id":"\xff"}', "", "not UTF-8"),
        (b'{"tip":' + b"[" * 100_000, "", "unknown field"),
        (b'{"id":"w1","tip":' + b'{"a":' * 100_000, "", "unknown field"),
        (request(amount=...), "w1", "needs an `amount`"),
        (request(amount="10"), "w1", "matching regex"),
        (request(amount=10), "w1", "Expected `str"),
        (request(amount="0.00"), "w1", "amount"),
        (request(action="increase"), "w1", "Invalid enum value"),
        (request(who="a b"), "w1", "matching regex"),
        (request(tip="1.00"), "w1", "unknown field"),
        (request(wager_id=7), "", "Expected `str`"),
        (request(wager_id="x" * 200), "x" * 64, "matching regex"),
    ],
)
def test_what_is_no_wager_is_answered_and_not_booked(desk, payload, wager_id, error):
    desk.take(payload)
    assert desk.submitted == []
    (answer,) = desk.answers
    assert (answer["type"], answer["id"]) == ("wager_error", wager_id)
    assert error in answer["error"]


def test_a_retained_wager_is_refused(desk):
    desk.take(request(), retained=True)
    assert desk.submitted == []
    assert "retained" in desk.answers[0]["error"]


def test_a_repeated_request_is_answered_again_and_booked_once(desk, table):
    desk.take(request())
    desk.take(request())
    assert len(desk.submitted) == 1
    table.commit(booked(accepted=False, rule="5.6"), source="wagers")
    desk.take(request())
    assert len(desk.submitted) == 1
    (answer,) = desk.answers
    assert (answer["id"], answer["accepted"], answer["rule"], answer["seq"]) == ("w1", False, "5.6", 1)


def test_ids_are_remembered_over_a_restart(desk, table):
    table.play(100)
    table.commit(booked("w1"), booked(""), booked("w2"), source="wagers")
    table.play(1)
    desk.open()
    table.commit(booked("w3"), source="wagers")
    asyncio.run(desk.inlet.load())
    for wager_id in ("w1", "w2", "w3", "w4"):
        desk.take(request(wager_id))
    assert [answer["id"] for answer in desk.answers] == ["w1", "w2", "w3"]
    assert [wager.id for wager in desk.submitted] == ["w4"]


def test_the_oldest_ids_are_forgotten_when_there_are_too_many(desk, table, monkeypatch):
    monkeypatch.setattr(wagers_module, "MAX_REMEMBERED", 2)
    table.commit(*(booked(f"w{number}") for number in range(3)), source="wagers")
    desk.inlet.look()
    desk.take(request("w0"))
    desk.take(request("w2"))
    assert [wager.id for wager in desk.submitted] == ["w0"]
    assert [answer["id"] for answer in desk.answers] == ["w2"]


def test_a_flood_is_turned_down_with_a_sentence(desk, monkeypatch):
    monkeypatch.setattr(wagers_module, "MAX_PENDING", 3)
    for number in range(5):
        desk.take(request(f"w{number}"))
    assert [wager.id for wager in desk.submitted] == ["w0", "w1", "w2"]
    assert [answer["id"] for answer in desk.answers] == ["w3", "w4"]
    assert "too many wagers wait" in desk.answers[0]["error"]


def test_a_table_that_takes_no_wagers_now_says_so_and_the_sender_may_try_again(table):
    desk = Desk(table, refuse="the controller is stopping")
    desk.take(request())
    assert desk.answers[0]["error"] == "the controller is stopping"
    desk.refuse = ""
    desk.take(request())
    assert len(desk.submitted) == 1


def test_without_its_journal_nothing_is_booked(table):
    class Broken:
        last_seq = 0

        def facts(self, after, limit):
            raise JournalError("the journal cannot be read")

    desk = Desk(table)
    desk.inlet = WagersInlet(Broken(), EventEncoder("macau", "b7"), desk.submit, desk.answer)
    desk.take(request())
    assert desk.submitted == []
    assert desk.answers[0]["error"] == "the journal cannot be read; send it again later"


def test_a_wager_travels_through_the_broker_and_its_answer_comes_back(table, broker):
    def book(wager):
        table.commit(booked(wager.id), source="wagers", kind="wager")
        feeds[0].wake()

    feeds = []

    async def scenario():
        async with feeding(table, quick(broker.url, wagers=True), submit=book) as feed:
            feeds.append(feed)
            await until(lambda: feed.health().connected, "connected")
            for payload in (request("w1"), b"nonsense", request("w1")):
                await asyncio.to_thread(terminal.publish, PREFIX + "wagers/in", payload)
            await until(lambda: len(terminal.on("wagers/out")) == 4, "w0 from the journal and three answers")
            await until(lambda: terminal.seqs() == [1, 2], "both facts among the events")

    table.commit(booked("w0"), source="wagers")
    with Collector(broker.port) as terminal:
        asyncio.run(scenario())
    answers = [(answer["id"], answer["type"], answer.get("seq")) for answer in terminal.on("wagers/out")]
    assert answers == [("w0", "wager", 1), ("w1", "wager", 2), ("", "wager_error", None), ("w1", "wager", 2)]
