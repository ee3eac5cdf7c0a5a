"""What systemd hears from the daemon: ready, a line about the table, and its watchdog fed only while it should be."""

import asyncio
import socket
import time

import pytest

from shoe_controller.app import heartbeat
from shoe_controller.app.heartbeat import Heartbeat
from shoe_controller.notify import Notifier
from tests.system.rig import rigged

WATCHDOG_SECONDS = 0.6


class Systemd:
    """The receiving end of a service's words."""

    def __init__(self, folder):
        path = folder / "notify"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(str(path))
        self.environment = {"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": str(int(WATCHDOG_SECONDS * 1e6))}
        self._words = []

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self._socket.close()

    @property
    def heard(self):
        """Everything so far, a text for each datagram."""
        while True:
            try:
                self._words.append(self._socket.recv(4096).decode())
            except BlockingIOError:
                return self._words

    def count(self, word):
        return self.heard.count(word)

    def status(self):
        lines = [line for words in self.heard for line in words.splitlines() if line.startswith("STATUS=")]
        return lines[-1].removeprefix("STATUS=") if lines else ""


@pytest.fixture
def systemd(tmp_path):
    with Systemd(tmp_path) as listening:
        yield listening


def fed(systemd, times):
    before = systemd.count("WATCHDOG=1")
    return lambda: systemd.count("WATCHDOG=1") >= before + times


def test_the_daemon_is_ready_after_recovery_and_its_line_follows_the_table(tmp_path, systemd):
    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.start(env=systemd.environment)
            await rig.until(lambda: systemd.heard, "systemd hears something")
            assert systemd.heard[0].startswith("READY=1\nSTATUS=running: ")
            await rig.ready()
            await rig.play(2)
            await rig.until(lambda: systemd.status().endswith(", round 2"), "the line tells of the second round")
            assert systemd.status().startswith("running: announced, shoe ")
            await rig.until(fed(systemd, 3), "the watchdog is fed")
            rig.shoe.do("unplug")
            await rig.until(lambda: "fault (shoe)" in systemd.status(), "the line tells of the fault")
            assert await rig.stop() == 0
            assert systemd.heard[-1].startswith("STOPPING=1")

    asyncio.run(scenario())


def test_the_watchdog_starves_when_only_the_consumer_of_inputs_hangs(tmp_path, systemd):
    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.start(env=systemd.environment)
            await rig.ready()
            await rig.until(fed(systemd, 1), "the watchdog is fed")
            rig.say("hang")
            end = time.monotonic() + 4 * WATCHDOG_SECONDS
            last = systemd.count("WATCHDOG=1") + 1  # one may have been on its way
            while time.monotonic() < end:
                assert (await rig.status()).condition == "running", "everything else goes on"
                assert systemd.count("WATCHDOG=1") <= last

    asyncio.run(scenario())


def test_the_watchdog_is_fed_in_fault_also_while_the_journal_takes_long_to_open(tmp_path, systemd):
    closed = tmp_path / "closed"

    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.journal.write_text("no folder")
            rig.start(env=systemd.environment)
            await rig.until(lambda: systemd.status().startswith("fault: "), "systemd hears of the fault")
            assert systemd.heard[0].startswith("READY=1\n")
            await rig.until(fed(systemd, 2), "the watchdog is fed between two tries")
            closed.touch()
            rig.say(f"open-after {closed}")
            await rig.until(closed.with_suffix(".waits").exists, "the next try takes its time")
            await rig.until(fed(systemd, 6), "the watchdog is fed during a try")
            rig.journal.unlink()
            closed.unlink()
            await rig.ready()
            assert systemd.status().startswith("running: ")
            await rig.until(fed(systemd, 2), "the watchdog is fed in play")
            assert await rig.stop() == 0

    asyncio.run(scenario())


def test_the_watchdog_starves_when_the_journal_takes_for_ever_to_open(systemd, monkeypatch):
    monkeypatch.setattr(heartbeat, "LONGEST_OPENING_SECONDS", 0.2)

    async def scenario():
        told = Heartbeat(Notifier(systemd.environment | {"WATCHDOG_USEC": "30000"}))
        told.opening()
        told.fault("the disk does not answer")
        told.fault("the disk does not answer")
        await asyncio.sleep(0.2)
        last = systemd.count("WATCHDOG=1")
        assert last
        await asyncio.sleep(0.1)
        assert systemd.count("WATCHDOG=1") <= last + 1
        told.stopping()

    asyncio.run(scenario())


def test_without_a_watchdog_nothing_is_fed(systemd):
    async def scenario():
        told = Heartbeat(Notifier({"NOTIFY_SOCKET": systemd.environment["NOTIFY_SOCKET"]}))
        await told.feed(table=None)
        told.fault("the disk is full")
        await asyncio.sleep(0)
        told.stopping()

    asyncio.run(scenario())
    assert systemd.heard == ["READY=1\nSTATUS=fault: the disk is full", "STOPPING=1"]
