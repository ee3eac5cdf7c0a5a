"""A table to measure: the daemon as a process, with a shoe whose bytes the bench writes itself, and a broker."""

import contextlib
import os
import pty
import random
import select
import signal
import socket
import time
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from firmware_protocol.codes import DeviceKind, Status
from firmware_protocol.commands import Command
from firmware_protocol.device_link import DeviceLink
from firmware_protocol.device_memory import DeviceMemory
from firmware_protocol.events import Card, CardDrawn
from firmware_protocol.greeting import Identity
from shoe_controller.journal.signing import SigningKey
from shoe_controller.journal.store import Journal
from shoe_controller.service.control_client import NotRunningError, ask
from tests.bench.bare_mqtt import Client
from tests.broker import Mosquitto, free_port
from tests.system.rig import Rig

IDENTITY = Identity(DeviceKind.RFID, "BENCH-1", "1.0.0", bytes(32), 0, 650)
DEADLINE = 30.0


class BenchShoe:
    """The device end of the open protocol on a pty, without a loop: it moves while somebody waits with `wait`."""

    def __init__(self, path: Path) -> None:
        self.master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        path.symlink_to(os.ttyname(self._slave))
        chance = random.Random(11)
        session = iter(range(1, 1 << 30)).__next__
        self.link = DeviceLink(
            IDENTITY, DeviceMemory(session=session()), nonce=lambda: chance.randbytes(16), new_session=session
        )
        self.link.connection_made(time.monotonic())
        self._pump()

    def draw(self, uid: bytes) -> float:
        """Have a card drawn and return the moment at which its last byte was written."""
        self._hear()  # a shoe tells only so many events ahead of their receipts
        assert self.link.report(CardDrawn(Card(uid=uid, entry_us=1, exit_us=2, confidence=99)), time.monotonic())
        data = self.link.data_to_send()
        os.write(self.master, data)
        return time.perf_counter()

    def wait(self, *sockets: socket.socket, seconds: float = DEADLINE) -> None:
        """Wait until one of the sockets has something, and be a shoe meanwhile."""
        end = time.monotonic() + seconds
        while True:
            ready, _, _ = select.select([self.master, *sockets], [], [], 0.05)
            if any(one in ready for one in sockets):
                return
            if self.master in ready:
                self._hear()
            self.link.tick(time.monotonic())
            self._pump()
            if time.monotonic() > end:
                if sockets:
                    raise AssertionError(f"nothing came within {seconds:g} s")
                return

    def _hear(self) -> None:
        while select.select([self.master], [], [], 0)[0]:
            self.link.receive_data(os.read(self.master, 4096), time.monotonic())

    def _pump(self) -> None:
        for command in self.link.events():
            if isinstance(command, Command):
                self.link.answer(command.command_id, Status.DONE)
        data = self.link.data_to_send()
        if data:
            os.write(self.master, data)

    def close(self) -> None:
        os.close(self.master)
        os.close(self._slave)


class BenchTable:
    """The daemon, driven by what it says to the broker."""

    def __init__(self, folder: Path, broker: Mosquitto, *, name: str = "b7") -> None:
        self.http = free_port()
        web = {"enabled": True, "port": self.http}
        self.rig = Rig(folder, mqtt={"brokers": [broker.url]}, web=web, table={"name": name})
        self.shoe = BenchShoe(folder / "shoe.tty")
        self.subscriber = Client(broker.port, f"bench-{name}")
        self.subscriber.subscribe(f"shoe/v1/macau/{name}/events")
        self._undealt: list[bytes] = []
        self.rounds = 0
        self.complete = False  # said by whoever draws: no card is due any more
        self.cards = self._play()

    def start(self) -> None:
        """Start the daemon and wait until cards can be drawn."""
        self.rig.start()
        self.settle()

    def settle(self) -> None:
        """Wait until cards can be drawn; a shoe that nobody moved for seconds has to greet anew."""
        end = time.monotonic() + DEADLINE
        while not self._plays():
            assert time.monotonic() < end, self.rig.log.read_text()[-2000:]
            self.shoe.wait(seconds=0.05)

    def begin_feed_at_the_end(self) -> None:
        """Say that the broker has everything that is in the journal so far."""
        signer = SigningKey.open_or_create(self.rig.folder / "signing.key")
        with Journal.open(self.rig.journal, signer=signer) as journal:
            journal.move_cursor("mqtt", journal.last_seq)

    def _plays(self) -> bool:
        try:
            status = ask(self.rig.socket, command="status")["status"]
        except NotRunningError:
            return False
        return status["condition"] == "running" and not status["view"]["faults"] and status["feeds"][0]["connected"]

    @property
    def pid(self) -> int:
        return int(self.rig.process.pid)

    def event(self, *types: str) -> dict[str, Any]:
        """Wait for the next event of one of these types."""
        while True:
            found: dict[str, Any] = msgspec.json.decode(self.message())
            if found["type"] in types:
                return found

    def message(self) -> bytes:
        """Wait for the next message, being a shoe meanwhile."""
        if not self.subscriber.pending:
            self.shoe.wait(self.subscriber.socket)
        return self.subscriber.take()

    def _play(self) -> Iterator[bytes]:
        """Yield the next card to draw, for ever: rounds are opened, closed and announced between them."""
        while True:
            if len(self._undealt) < 16:
                self._new_shoe()
            self.rig.say("press place_bets")
            self.event("betting")
            self.rig.say("press no_more_bets")
            self.event("closed")
            self.complete = False
            while not self.complete:
                yield self._undealt.pop()
            self.rig.say("press result")
            self.event("round")
            self.rounds += 1

    def _new_shoe(self) -> None:
        self._undealt = [card.uid for card in self.rig.twin.body.set]
        random.Random(self.rounds).shuffle(self._undealt)
        answer = ask(self.rig.socket, command="new-shoe")
        assert answer["ok"], answer
        self.event("shoe_loaded")

    def close(self) -> None:
        """End the daemon in good order."""
        if self.rig.process is not None:
            self.rig.process.send_signal(signal.SIGTERM)
            self.rig.bury()
        self.subscriber.socket.close()
        self.shoe.close()


@contextlib.contextmanager
def bench_table(folder: Path) -> Iterator[tuple[BenchTable, Mosquitto]]:
    """Have a broker and a daemon that plays; both are ended."""
    broker = Mosquitto(folder / "broker").start()
    try:
        (folder / "table").mkdir()
        table = BenchTable(folder / "table", broker)
        try:
            table.start()
            yield table, broker
        finally:
            table.close()
    finally:
        broker.stop()
