"""The table: committed first, then acknowledged, then published; a slow disk stops nobody; a failed one stops all."""

import asyncio
import threading

import pytest

from shoe_controller.journal.errors import JournalError, JournalFullError
from shoe_controller.journal.store import Journal
from shoe_controller.service.clock import TableClock
from shoe_controller.service.table import MAX_BATCH, Arrived, Table
from shoe_controller.session import inputs as i
from shoe_controller.session.session import Session

LOAD = i.LoadShoe(game="no-commission", decks=8)


class SlowJournal:
    """A journal whose next commits wait until they are let go."""

    def __init__(self, journal):
        self._journal = journal
        self.go = threading.Event()
        self.go.set()
        self.batches = []
        self.error = None

    def append(self, entries):
        assert self.go.wait(20)
        if self.error:
            raise self.error
        self.batches.append(len(entries))
        return self._journal.append(entries)

    def __getattr__(self, name):
        return getattr(self._journal, name)


class Rig:
    """A table on a real journal, with a list of all that it does, in order."""

    def __init__(self, folder):
        self.did = []
        self.journal = SlowJournal(Journal.open(folder / "journal"))
        self.table = Table(
            Session(),
            self.journal,
            TableClock("0" * 32),
            on_shut=lambda: self.did.append("shut"),
            acknowledge=lambda session, number: self.did.append(("ack", session, number)),
            on_disk=lambda: self.did.append("on disk"),
            publish=lambda committed: self.did.append(("publish", committed.seq)),
            on_failed=lambda error: self.did.append(("failed", str(error))),
        )

    def submit(self, *inputs, device=None):
        def answer(facts):
            self.did.append(("answer", len(facts)))

        for happened in inputs:
            self.table.submit(Arrived(happened, "test", device, answer=answer))

    async def settled(self):
        passed = asyncio.Event()
        self.table.probe(passed.set)
        await asyncio.wait_for(passed.wait(), 20)


def scene(folder, play):
    async def run():
        rig = Rig(folder)
        try:
            await play(rig)
        finally:
            await rig.table.close()
            rig.journal.close()
        return rig

    return asyncio.run(run())


def test_an_input_is_on_disk_before_it_is_acknowledged_published_and_answered(tmp_path):
    async def play(rig):
        rig.submit(LOAD, device=(7, 1))
        await rig.settled()
        assert rig.journal.last_seq == 1
        assert rig.did == [("ack", 7, 1), "on disk", ("publish", 1), ("answer", 1)]

    scene(tmp_path, play)


def test_what_comes_in_one_turn_is_committed_together_and_the_last_event_is_acknowledged(tmp_path):
    async def play(rig):
        rig.submit(LOAD)
        for number in range(1, 11):
            rig.submit(i.NoteDevice(event="x"), device=(7, number))
        await rig.settled()
        assert rig.journal.batches == [11]
        assert [one for one in rig.did if one[0] == "ack"] == [("ack", 7, 10)]

    scene(tmp_path, play)


def test_a_burst_is_cut_into_batches(tmp_path):
    async def play(rig):
        rig.submit(*[i.NoteDevice(event="x")] * (MAX_BATCH + 1))
        await rig.settled()
        assert rig.journal.batches == [MAX_BATCH, 1]

    scene(tmp_path, play)


def test_the_gate_is_shut_before_the_commit_that_shuts_it(tmp_path):
    async def play(rig):
        rig.submit(LOAD, i.PlaceBets(), i.NoMoreBets())
        await rig.settled()
        assert rig.table.view.gate_open
        rig.did.clear()
        rig.submit(i.RaiseFault(fault="jam"))
        await rig.settled()
        assert rig.did[0] == "shut"
        assert not rig.table.view.gate_open

    scene(tmp_path, play)


def test_a_slow_commit_moves_the_next_ones_to_the_journals_thread_and_the_loop_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("shoe_controller.service.table.SLOW_SECONDS", 0.0)

    async def play(rig):
        rig.submit(LOAD)
        await rig.settled()
        rig.journal.go.clear()
        rig.submit(i.PlaceBets(), device=(7, 1))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not rig.table.view.betting_open, "what is not on disk has not happened"
        assert ("ack", 7, 1) not in rig.did
        rig.submit(i.NoMoreBets(), i.NoteDevice(event="meanwhile"))
        assert rig.table.waiting == 2
        rig.journal.go.set()
        await rig.settled()
        assert rig.journal.batches == [1, 1, 2], "what came meanwhile is committed together"
        assert rig.table.view.gate_open

    scene(tmp_path, play)


def test_what_is_considered_sees_all_that_came_before_and_comes_before_all_that_came_later(tmp_path):
    seen = []

    def consider(view):
        seen.append(view.state)
        return [Arrived(i.RaiseFault(fault=f"while-{view.state}"), "test"), Arrived(i.NoteDevice(event="x"), "test")]

    async def play(rig):
        rig.submit(LOAD)
        await rig.settled()
        rig.table._aside_left = 9
        rig.journal.go.clear()
        rig.submit(i.PlaceBets())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        rig.submit(i.NoMoreBets())
        rig.table.consider(consider)
        rig.submit(i.ClearFault(fault="while-deal_1"))
        assert rig.table.view.state == "ready"
        assert rig.table.waiting == 3
        rig.journal.go.set()
        await rig.settled()
        assert seen == ["deal_1"]
        assert rig.journal.batches == [1, 1, 1, 3], "what it amounts to is committed in one piece with what follows"
        assert rig.table.view.gate_open, "the fault was raised first, and cleared then"

    scene(tmp_path, play)


def test_what_amounts_to_nothing_is_not_recorded_and_a_failed_table_considers_nothing(tmp_path):
    async def play(rig):
        rig.table.consider(lambda view: ())
        await rig.settled()
        assert rig.journal.last_seq == 0
        rig.journal.error = JournalFullError("the disk is full")
        rig.submit(LOAD)
        rig.table.consider(lambda view: [Arrived(LOAD, "test")])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert rig.table.failed
        rig.table.consider(lambda view: [Arrived(LOAD, "test")])
        assert rig.table.waiting == 0

    scene(tmp_path, play)


def test_a_quick_disk_gets_the_commits_back_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr("shoe_controller.service.table.SLOW_SECONDS", float("inf"))

    async def play(rig):
        rig.table._aside_left = 2
        for _ in range(3):
            rig.submit(i.NoteDevice(event="x"))
            await rig.settled()
        assert rig.table._aside_left == 0
        assert rig.journal.last_seq == 3

    scene(tmp_path, play)


@pytest.mark.parametrize("aside", [0, 5])
def test_a_failed_commit_shuts_the_gate_and_nothing_is_taken_any_more(tmp_path, aside):
    async def play(rig):
        rig.table._aside_left = aside
        rig.journal.error = JournalFullError("the disk is full")
        rig.submit(LOAD, device=(7, 1))
        rig.submit(i.PlaceBets())
        for _ in range(200):
            if rig.table.failed:
                break
            await asyncio.sleep(0.01)
        assert rig.did == ["shut", ("failed", "the disk is full")]
        rig.submit(i.NoMoreBets())
        assert rig.table.waiting == 0
        assert rig.table.failed

    scene(tmp_path, play)


def test_a_quiet_moment_is_used_to_tidy_and_a_failure_there_counts(tmp_path, monkeypatch):
    monkeypatch.setattr("shoe_controller.service.table.TIDY_AFTER_SECONDS", 0.0)

    async def play(rig):
        tidied = asyncio.Event()
        loop = asyncio.get_running_loop()
        rig.journal.tidy = lambda: loop.call_soon_threadsafe(tidied.set)
        rig.submit(LOAD)
        await asyncio.wait_for(tidied.wait(), 20)
        await rig.settled()

        def broken():
            raise JournalError("it cannot be tidied")

        rig.journal.tidy = broken
        rig.submit(i.PlaceBets())
        for _ in range(200):
            if rig.table.failed:
                break
            await asyncio.sleep(0.01)
        assert rig.did[-2:] == ["shut", ("failed", "it cannot be tidied")]

    scene(tmp_path, play)


def test_closing_waits_for_what_is_on_its_way_to_the_disk(tmp_path):
    async def play(rig):
        rig.table._aside_left = 9
        rig.journal.go.clear()
        rig.submit(LOAD)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        closing = asyncio.create_task(rig.table.close())
        await asyncio.sleep(0)
        assert not closing.done()
        rig.journal.go.set()
        await closing
        assert rig.journal.last_seq == 1

    scene(tmp_path, play)
