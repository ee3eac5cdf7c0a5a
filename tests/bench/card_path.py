"""Card's way: last byte of a frame written to the pty until a subscriber has the message, durable in between.

Ours is the whole daemon: link with acknowledgement, session, hash-chained and signed journal, feed, display. The floor
is a bare process of the same shape: read, decode, append, fdatasync, publish with QoS 1 over a raw socket. Both use
the same broker and disk; cards go to one and the other in turn. A display client is a raw socket on the event stream;
its floor sends the same size over a bare one, after it has published. A subscriber is measured without and beside a
display. The table has played a while before, and rests now and then as tables do: its journal is in its stride, which
means that its log is written over in place.
"""

import os
import pty
import select
import socket
import subprocess
import sys
import tempfile
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import msgspec

from firmware_protocol.delivery import Event
from firmware_protocol.events import Card, CardDrawn
from firmware_protocol.frames import encode_frame
from shoe_controller.journal.store import TIDY_AFTER_ENTRIES
from shoe_controller.service.table import TIDY_AFTER_SECONDS
from tests.bench import bare_table
from tests.bench.bare_mqtt import Client
from tests.bench.bench_table import BenchTable, bench_table
from tests.bench.figures import BUILD, Figure, Options, at_most, percentile
from tests.broker import free_port

CARDS = 400
FULL_CARDS = 2000
WARM = 40
SETTLE_CARDS = TIDY_AFTER_ENTRIES
REST_AFTER = 220  # cards: not half of a shoe


class Floor:
    """The bare process, with a pty and a subscriber of its own."""

    def __init__(self, folder: Path, broker: int) -> None:
        self.master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.http = free_port()
        words = (os.ttyname(self._slave), str(folder / "floor.log"), str(broker), str(self.http))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.bare_table", *words], stdout=subprocess.PIPE, cwd=Path.cwd()
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"
        self.subscriber = Client(broker, "floor-bench")
        self.subscriber.subscribe(bare_table.TOPIC)
        self._cards = 0

    def draw(self) -> float:
        """Write a card's frame and return the moment at which its last byte was written."""
        self._cards += 1
        happening = CardDrawn(Card(uid=self._cards.to_bytes(7, "big"), entry_us=1, exit_us=2, confidence=99))
        data = encode_frame(Event(7, self._cards, happening).to_bytes())
        os.write(self.master, data)
        return time.perf_counter()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self.subscriber.socket.close()
        os.close(self.master)
        os.close(self._slave)


class Display:
    """A client of an event stream on a raw socket."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self.socket.sendall(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port)
        data = b""
        while b"text/event-stream" not in data:
            data += self.socket.recv(65536)

    def drain(self) -> None:
        """Forget what has come so far."""
        while select.select([self.socket], [], [], 0)[0]:
            assert self.socket.recv(65536), "the display's stream ended"

    def until_card(self) -> None:
        """Wait until a card has arrived."""
        data = b""
        while b'"type":"card"' not in data:
            more = self.socket.recv(65536)
            assert more, "the display's stream ended"
            data += more


def measure(options: Options) -> Iterator[Figure]:
    number = FULL_CARDS if options.full else CARDS
    BUILD.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=BUILD) as name,
        bench_table(Path(name)) as (table, broker),
    ):
        floor = Floor(Path(name), broker.port)
        try:
            _settle_in(table)
            yield from _to_subscriber("card to MQTT subscriber", table, floor, number)
            displays = Display(table.http), Display(floor.http)
            yield from _to_display(table, floor, displays, number)
            yield from _to_subscriber("card to MQTT subscriber beside a display", table, floor, number, displays)
        finally:
            floor.close()


def _settle_in(table: BenchTable) -> None:
    """Play on until the journal's log is as long as it will be: tidied, it is written over and does not grow."""
    for _ in range(SETTLE_CARDS):
        table.shoe.draw(next(table.cards))
        table.complete = table.event("card")["complete"]


def _rest(table: BenchTable) -> None:
    """Let the table be as quiet as one where players think, so that the journal is tidied."""
    table.shoe.wait(seconds=TIDY_AFTER_SECONDS + 1)


def _pairs(
    table: BenchTable, number: int, ours: Callable[[bytes], float], floor: Callable[[], float]
) -> tuple[list[float], list[float]]:
    """Return milliseconds of cards, ours and the floor's in turn."""
    taken: tuple[list[float], list[float]] = [], []
    for turn in range(number + WARM):
        if turn % REST_AFTER == 0:
            _rest(table)
        uid = next(table.cards)
        # Whoever comes second finds the disk warm: they take turns at that as well.
        if turn % 2:
            taken[1].append(floor() * 1000)
        taken[0].append(ours(uid) * 1000)
        if not turn % 2:
            taken[1].append(floor() * 1000)
    return taken[0][WARM:], taken[1][WARM:]


def _to_subscriber(
    name: str, table: BenchTable, floor: Floor, number: int, displays: Sequence[Display] = ()
) -> Iterator[Figure]:
    def ours(uid: bytes) -> float:
        for display in displays:
            display.drain()
        written = table.shoe.draw(uid)
        payload = table.subscriber.take()
        taken = time.perf_counter() - written
        card = msgspec.json.decode(payload)
        assert card["type"] == "card", card
        table.complete = card["complete"]
        return taken

    def bare() -> float:
        written = floor.draw()
        floor.subscriber.take()
        return time.perf_counter() - written

    yield from _figures(name, *_pairs(table, number, ours, bare), 1.6)


def _to_display(table: BenchTable, floor: Floor, displays: tuple[Display, Display], number: int) -> Iterator[Figure]:
    display, bare_display = displays

    def ours(uid: bytes) -> float:
        display.drain()
        written = table.shoe.draw(uid)
        display.until_card()
        taken = time.perf_counter() - written
        table.complete = table.event("card")["complete"]
        return taken

    def bare() -> float:
        written = floor.draw()
        bare_display.until_card()
        taken = time.perf_counter() - written
        floor.subscriber.take()
        return taken

    yield from _figures("card to display client", *_pairs(table, number, ours, bare), 1.7)


def _figures(name: str, ours: list[float], floor: list[float], most: float) -> Iterator[Figure]:
    half = median(ours) / median(floor)
    note = f"{len(ours)} cards"
    yield Figure(f"{name}, p50", "ms", median(ours), median(floor), half, at_most(most), note)
    tail = percentile(ours, 0.99), percentile(floor, 0.99)
    yield Figure(f"{name}, p99", "ms", *tail, tail[0] / tail[1])
