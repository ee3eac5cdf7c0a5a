"""Few tables against a real broker: all that is measured, and all that can go wrong."""

import asyncio
import os
import subprocess
import sys
import time

import msgspec
import pytest

from shoe_controller.cli import main
from shoe_controller.fleet import run as run_module
from shoe_controller.fleet import table as table_module
from shoe_controller.fleet.census import Census
from shoe_controller.fleet.figures import Figures, as_text
from shoe_controller.fleet.order import FleetOrder, Share
from shoe_controller.fleet.run import FleetError, processes_for, run_fleet, split
from shoe_controller.fleet.table import FleetTable
from shoe_controller.fleet.watched import Watched
from shoe_controller.fleet.worker import work
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.store import Journal
from tests.broker import Collector, Mosquitto, free_port, wait_for
from tests.cli.program import start


@pytest.fixture
def broker(tmp_path):
    broker = Mosquitto(tmp_path / "broker").start()
    yield broker
    broker.stop()


def fleet(capsys, broker, *arguments, code=0, form="json"):
    command = ["fleet", "--broker", broker.url, "--format", form, *map(str, arguments)]
    assert main(command) == code, capsys.readouterr().err
    out = capsys.readouterr().out
    return msgspec.json.decode(out, type=Figures) if form == "json" else out


def test_a_fleet_plays_and_everything_arrives_once(broker, capsys, tmp_path):
    arguments = ("--tables", 3, "--rounds", 4, "--rate", 0, "--processes", 2, "--directory", tmp_path)
    found = fleet(capsys, broker, *arguments, "--watch", broker.pid)
    assert (found.tables, found.processes, found.rounds) == (3, 2, 12)
    assert (found.lost, found.repeated, found.requests) == (0, 0, 0)
    assert found.events >= 12 * 15
    assert found.messages > found.events
    assert 0 < found.delay_p50_ms <= found.delay_p99_ms <= found.delay_max_ms
    assert found.broker_memory_mb > 1
    assert not [path for path in tmp_path.iterdir() if path.name != "broker"], "journals are taken away"


def test_the_broker_is_left_as_it_was(broker, capsys):
    fleet(capsys, broker, "--tables", 2, "--rounds", 1, "--rate", 0, "--site", "try")
    with Collector(broker.port, "shoe/v1/try/#") as newcomer:
        newcomer.publish("shoe/v1/try/end/events", b"{}")
        newcomer.wait(lambda it: it.messages, "the test's own message")
    assert [name for name, *_ in newcomer.messages] == ["shoe/v1/try/end/events"]


def test_a_fleet_plays_at_a_pace_for_a_time(broker, capsys):
    text = fleet(capsys, broker, "--tables", 2, "--seconds", 1.5, "--rate", 120, "--wagers", 0, form="text")
    assert text.startswith("2 tables in 1 processes, ")
    assert "lost        0, repeated 0" in text
    assert "broker " not in text


def test_figures_for_people_tell_of_a_watched_broker():
    shown = as_text(
        Figures(
            tables=1000,
            processes=2,
            seconds=60,
            rounds=1000,
            events=24000,
            messages=40000,
            events_per_second=400,
            messages_per_second=666.7,
            delay_p50_ms=1.5,
            delay_p99_ms=9.25,
            delay_max_ms=30,
            lost=0,
            repeated=3,
            requests=1,
            cpu_percent_per_table=0.2,
            memory_mb_per_table=1.25,
            broker_cpu_percent=12.5,
            broker_memory_mb=20,
        )
    )
    assert "1,000 tables" in shown
    assert "broker      12.5 % of a core, 20 MB" in shown
    assert "asked again 1 times" in shown


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--tables", "0"], "--tables must be 1 or more"),
        (["--tables", "10000"], "more than 9999 tables"),
        (["--tables", "1", "--rate", "-1"], "--rate must be 0 or more"),
        (["--tables", "1", "--site", "a/b"], "is no site"),
        (["--tables", "1", "--broker", "http://x"], "is not understood"),
        (["--tables", "1", "--watch", "999999999"], "there is no process 999999999"),
        (["--tables", "1", "--directory", "/no/such/folder"], "there is no such folder"),
    ],
)
def test_a_fleet_that_makes_no_sense_is_refused(arguments, sentence, capsys):
    assert main(["fleet", "--rounds", "1", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_a_broker_that_is_not_there_is_told(capsys):
    url = f"mqtt://127.0.0.1:{free_port()}"
    assert main(["fleet", "--tables", "1", "--rounds", "1", "--broker", url, "--patience", "0.5"]) == 2
    assert "refuses the connection" in capsys.readouterr().err


def test_tables_that_the_broker_does_not_take_are_told(tmp_path, capsys):
    rules = tmp_path / "acl"
    rules.write_text("topic read shoe/#\n")
    broker = Mosquitto(tmp_path / "strict", f"acl_file {rules}").start()
    try:
        command = ["fleet", "--tables", "2", "--rounds", "1", "--broker", broker.url, "--patience", "1"]
        assert main(command) == 2
    finally:
        broker.stop()
    assert "2 of 2 tables were not connected within 1 s" in capsys.readouterr().err


def test_events_that_do_not_reach_the_consumer_are_lost_and_the_answer_is_no(tmp_path, capsys):
    rules = tmp_path / "acl"
    rules.write_text("topic write shoe/#\ntopic read shoe/v1/+/+/resend/request\n")
    broker = Mosquitto(tmp_path / "mute", f"acl_file {rules}").start()
    try:
        found = fleet(capsys, broker, "--tables", 1, "--rounds", 1, "--rate", 0, "--patience", 1, code=1)
    finally:
        broker.stop()
    assert found.lost == found.events > 0
    assert found.delay_p50_ms == 0


def test_what_a_dead_broker_has_not_taken_is_counted(broker):
    async def scenario():
        heard = asyncio.Event()

        def ready(_word):
            broker.kill()
            heard.set()

        return await work(FleetOrder((broker.url,), tables=1, rounds=1, rate=0, patience=0.5), ready, heard)

    share = asyncio.run(scenario())
    assert share.untaken == share.events > 0


def test_a_table_that_runs_ahead_of_the_broker_waits_for_it(broker, monkeypatch, capsys):
    monkeypatch.setattr(table_module, "MOST_AHEAD", 0)

    async def scenario():
        heard = asyncio.Event()
        heard.set()
        return await work(FleetOrder((broker.url,), tables=1, rounds=3, rate=0), lambda _word: None, heard)

    assert asyncio.run(scenario()).untaken == 0


def test_play_that_is_ended_in_mid_commit_leaves_a_sound_table(broker, tmp_path):
    async def scenario():
        order = FleetOrder((broker.url,), tables=1, rounds=1, rate=0)
        table = FleetTable(order, 1, tmp_path / "table")
        playing = asyncio.ensure_future(table.play())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
        await table.close()
        return table.rounds

    assert asyncio.run(scenario()) == 0


def test_a_journal_that_fails_ends_the_play(broker, monkeypatch):
    def full(*_):
        raise JournalError("the disk is full")

    async def scenario():
        heard = asyncio.Event()

        def ready(_word):
            monkeypatch.setattr(Journal, "append", full)
            heard.set()

        await work(FleetOrder((broker.url,), tables=1, rounds=1, rate=0), ready, heard)

    with pytest.raises(JournalError, match="the disk is full"):
        asyncio.run(scenario())


def test_a_process_that_ends_without_a_word_is_told(broker, monkeypatch):
    monkeypatch.setattr(run_module.sys, "executable", "/bin/true")
    with pytest.raises(FleetError, match="ended without a word"):
        asyncio.run(run_fleet(FleetOrder((broker.url,), tables=1, rounds=1), 1))


def test_a_process_that_does_not_end_is_ended(broker, monkeypatch, tmp_path):
    stubborn = tmp_path / "stubborn"
    stubborn.write_text("#!/bin/sh\nexec 2>/dev/null\nexec 1>/dev/null\nwhile :; do sleep 0.1; done\n")
    stubborn.chmod(0o755)
    monkeypatch.setattr(run_module, "TO_END", 0.2)
    monkeypatch.setattr(run_module.sys, "executable", str(stubborn))
    with pytest.raises(FleetError):
        asyncio.run(run_fleet(FleetOrder((broker.url,), tables=1, rounds=1), 1))


def test_a_worker_ends_when_whoever_started_it_is_gone(broker, tmp_path):
    order = FleetOrder((broker.url,), tables=1, seconds=600, directory=str(tmp_path))
    command = [sys.executable, "-m", "shoe_controller.fleet.worker", msgspec.json.encode(order).decode()]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as worker:
        assert worker.stdout.readline() == b"ready\n"
        worker.stdin.close()
        assert worker.wait(20) == 1
        assert worker.stderr.read() == b""
    assert not list(tmp_path.glob("shoe-fleet-*"))


def test_ctrl_c_ends_a_fleet_and_leaves_nothing_behind(broker, tmp_path):
    arguments = ("fleet", "--tables", "2", "--seconds", "600", "--rate", "600", "--broker", broker.url)
    arguments = (*arguments, "--directory", tmp_path)
    with start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        with Collector(broker.port, "shoe/v1/fleet/+/events") as pit:
            pit.wait(lambda it: it.messages, "the first event", 60)
        process.send_signal(2)
        assert process.wait(30) == 130
    wait_for(lambda: not list(tmp_path.glob("shoe-fleet-*")), "the journals are gone")


@pytest.mark.parametrize("tables, processes, shares", [(5, 2, [3, 2]), (2, 4, [1, 1]), (1, 1, [1])])
def test_tables_are_shared_out(tables, processes, shares):
    orders = split(FleetOrder(("mqtt://x",), tables=tables), processes)
    assert [order.tables for order in orders] == shares
    assert [order.first for order in orders] == [1 + sum(shares[:place]) for place in range(len(shares))]


def test_processes_suit_the_tables_and_the_machine():
    assert processes_for(1) == 1
    assert 1 <= processes_for(10_000) <= (os.cpu_count() or 1)


def test_a_watched_process_tells_what_it_used():
    watched = Watched(os.getpid())
    watched.begin()
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    used = watched.used()
    assert used.cpu_seconds > 0
    assert used.memory_mb > 5


def test_a_share_travels_as_json():
    share = Share(tables=1, rounds=2, events=3, untaken=0, seconds=1.5, cpu_seconds=0.1, memory_mb=1.0)
    assert msgspec.json.decode(msgspec.json.encode(share), type=Share) == share


def test_a_census_of_nothing_has_no_delay():
    async def scenario():
        return Census(FleetOrder(("mqtt://127.0.0.1",), tables=1).mqtt, "fleet").delay(0.5)

    assert asyncio.run(scenario()) == 0.0
