import asyncio
import threading
from contextlib import contextmanager

import msgspec
import pytest

from shoe_controller.cli import main
from tests.broker import Collector, Mosquitto, free_port
from tests.outputs.feeding import feeding, quick, until
from tests.outputs.table import Table

PLACE = ("--site", "macau", "--table", "b7")


@pytest.fixture
def broker(tmp_path):
    broker = Mosquitto(tmp_path / "broker").start()
    yield broker
    broker.stop()


@pytest.fixture
def table(tmp_path):
    table = Table(tmp_path / "journal")
    yield table
    table.close()


@contextmanager
def fed_from_a_thread(table, broker):
    """Run a table's feed beside the command, which has an event loop of its own."""
    ready, over = threading.Event(), threading.Event()

    async def scenario():
        async with feeding(table, quick(broker.url)) as feed:
            await until(lambda: feed.health().connected and feed.health().lag == 0, "the broker has everything")
            ready.set()
            await until(over.is_set, "the test is over", 60)

    thread = threading.Thread(target=asyncio.run, args=(scenario(),))
    thread.start()
    try:
        assert ready.wait(20)
        yield
    finally:
        over.set()
        thread.join()


def test_listen_prints_each_event_once_as_json(table, broker, capsys):
    table.play(3)
    with fed_from_a_thread(table, broker):
        assert main(["listen", broker.url, *PLACE, "--from", "1", "--count", "21"]) == 0
    printed = capsys.readouterr()
    assert [msgspec.json.decode(line)["seq"] for line in printed.out.splitlines()] == list(range(1, 22))
    assert "21 events, 0 repeated, 1 requests, missing: none" in printed.err


def test_listen_tells_people_in_words(table, broker, capsys):
    table.play(1)
    with fed_from_a_thread(table, broker), Collector(broker.port) as stranger:
        stranger.publish("shoe/v1/macau/b8/status", b'{"online":1}', retain=True)
        assert main(["listen", broker.url, "--from", "1", "--count", "7", "--format", "text"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "macau/b7         online (version 1.0)"
    assert [line.split()[1] for line in lines[1:] if line.startswith("macau/")] == [str(seq) for seq in range(1, 8)]


def test_listen_shows_what_it_has_no_words_for_as_it_is(broker, capsys):
    done = threading.Event()

    def speak():
        with Collector(broker.port) as table:
            while not done.wait(0.05):
                table.publish("shoe/v1/macau/b7/events", b'{"type":"news","seq":1}')

    thread = threading.Thread(target=speak)
    thread.start()
    try:
        assert main(["listen", broker.url, *PLACE, "--count", "1", "--format", "text"]) == 0
    finally:
        done.set()
        thread.join()
    assert '     1  {"type":"news","seq":1}' in capsys.readouterr().out


def test_listen_ends_with_1_if_events_are_missing(broker, capsys):
    with Collector(broker.port) as table:
        table.publish("shoe/v1/macau/b7/state", b'{"seq":5}', retain=True)
        arguments = ["listen", broker.url, *PLACE, "--from", "3", "--seconds", "1.5", "--no-resend"]
        assert main(arguments) == 1
    assert "0 events, 0 repeated, 0 requests, missing: macau/b7 3-5" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["http://x"], "is not understood"),
        (["mqtt://user:secret@x"], "may hold a host and a port only"),
        (["mqtt://x:99999"], "is not understood"),
    ],
)
def test_listen_refuses_what_is_no_broker(arguments, sentence, capsys):
    assert main(["listen", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_listen_says_why_there_is_nothing_to_hear_and_keeps_trying(caplog):
    arguments = ["listen", f"mqtt://127.0.0.1:{free_port()}", *PLACE, "--seconds", "0.5"]
    assert main(arguments) == 0
    assert "refuses the connection" in caplog.text
