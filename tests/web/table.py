"""A table for the tests of the display: the real session, journal and feed, played by table scripts."""

import asyncio
import contextlib
import random
import threading
import time
from pathlib import Path

import msgspec

from shoe_controller.journal.entry import NewEntry, Stamp
from shoe_controller.journal.reading import Reader
from shoe_controller.journal.recovery import entries_since_last_shoe
from shoe_controller.journal.store import Journal
from shoe_controller.journal.tail import Tail
from shoe_controller.rules.games import find
from shoe_controller.rules.play import next_card
from shoe_controller.script import parse_line
from shoe_controller.session import inputs
from shoe_controller.session.facts import AnyFact, Round
from shoe_controller.session.session import Session
from shoe_controller.web.feed import Feed
from shoe_controller.web.server import create_app, serving
from shoe_controller.web.settings import DisplaySettings, ShownLimit, ShownTable

BOOT = "b007" * 8
LIMITS = (
    ShownLimit("player", "100", "10000"),
    ShownLimit("banker", "100", "10000"),
    ShownLimit("tie", "25", "1000"),
    ShownLimit("player_pair", "25", "500"),
    ShownLimit("banker_pair", "25", "500"),
)


def settings(*, countdown=20, tail="redrop", max_clients=16, allowed_hosts=(), **table):
    shown = {"site": "marina", "name": "T12", "title": "Table 12", "limits": LIMITS} | table
    return DisplaySettings(
        table=ShownTable(**shown),
        countdown=countdown,
        tail=tail,
        max_clients=max_clients,
        allowed_hosts=allowed_hosts,
    )


class PlayedTable:
    """One table; what happens at it is in the journal before the feed hears of it."""

    def __init__(
        self,
        folder: Path,
        chosen: DisplaySettings | None = None,
        boot: str = BOOT,
        also: tuple[DisplaySettings, ...] = (),
    ) -> None:
        """Open a table; `also` gives further displays of it, with settings of their own."""
        self.settings = chosen or settings()
        self.boot = boot
        self.journal = Journal.open(folder, table="T12")
        self.tail = Tail(self.journal)
        self._reader = Reader(folder)
        self._read = []
        self.session = Session()
        if self.journal.last_seq:
            for entry in entries_since_last_shoe(folder):
                self.session.handle(msgspec.json.decode(entry.body, type=inputs.AnyInput))
        self.displays = [(Feed(self.tail, one, boot), one) for one in (self.settings, *also)]
        self.feed = self.displays[0][0]
        self._tell()

    def _tell(self):
        for feed, _ in self.displays:
            feed.committed(self.session.view(), self.tail.last_seq)

    def happen(self, happened, *, tell=True):
        facts = self.session.handle(happened)
        stamp = Stamp(self.boot, time.monotonic_ns(), time.time_ns(), synced=True)
        kind = type(happened).__struct_config__.tag
        encoded = tuple(map(msgspec.json.encode, facts))
        self.journal.append([NewEntry(stamp, "shoe", kind, msgspec.json.encode(happened), encoded)])
        if tell:
            self._tell()
        return facts

    def play(self, script):
        """Play lines of a table script; `;` ends a line too."""
        for line in script.replace(";", "\n").splitlines():
            happened = parse_line(line.strip())
            if happened is not None:
                self.happen(happened)

    def skip(self, script):
        """Play lines of a table script while no display looks; they see how it ends."""
        for line in filter(None, script.split(";")):
            self.happen(parse_line(line), tell=False)
        self._tell()

    def round_facts(self):
        """Return what the journal says of every round of this shoe, oldest first, by reading it from the disk."""
        return [fact for fact in self.facts() if isinstance(fact, Round)]

    def facts(self):
        """Return every fact of the journal, read from the disk by a reader of its own."""
        while new := self._reader.facts(self._read[-1][0] if self._read else 0, 1000):
            self._read += [(record.seq, msgspec.json.decode(record.fact, type=AnyFact)) for record in new]
        return [fact for _, fact in self._read]

    def close(self):
        self._reader.close()
        self.tail.close()
        self.journal.close()


def results(shoe_rounds):
    """Return the letters of the rounds that stand, from the facts of the journal."""
    last = {fact.round: fact for fact in shoe_rounds}
    return "".join(
        {"player": "P", "banker": "B", "tie": "T"}[fact.winner] for fact in last.values() if fact.status == "complete"
    )


class Dealer:
    """Makes rounds as table scripts, from a shuffled shoe; `winner` asks for a round that ends like that."""

    def __init__(self, game, seed=1):
        self.rules = find(game)
        self.random = random.Random(seed)
        self.stock = list(self.rules.deck.faces) * 6  # two decks are left to tests that name their cards
        self.random.shuffle(self.stock)

    def cards(self, winner=None):
        while True:
            start = self.random.randrange(len(self.stock) - 6) if winner else len(self.stock) - 6
            taken = self.stock[start : start + 6]
            player, banker = (), ()
            left = list(taken)
            while (side := next_card(player, banker)) is not None:
                card = left.pop(0)
                player, banker = ((*player, card), banker) if side == "player" else (player, (*banker, card))
            if winner in (None, self.rules.outcome(player, banker).winner):
                used = len(taken) - len(left)
                del self.stock[start : start + used]
                return taken[:used]

    def round(self, winner=None):
        return "bets;close;" + "".join(f"card {card};" for card in self.cards(winner)) + "result"


class RunningServer:
    """The servers of a table's displays in a thread of their own, as in the controller's loop."""

    def __init__(self, table, port=0, **app):
        self.table = table
        self._apps = [(create_app(feed, one, **app), one.max_clients) for feed, one in table.displays]
        self._wanted = port
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self.ports = []

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(10), "the server did not start in 10 s"
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self._thread.is_alive(), "the server did not stop in 10 s"

    async def _run(self):
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        async with contextlib.AsyncExitStack() as stack:
            for app, most in self._apps:
                running = serving(app, "127.0.0.1", self._wanted, max_clients=most)
                self.ports.append((await stack.enter_async_context(running))[0])
            self._ready.set()
            await self._stop.wait()

    @property
    def port(self):
        return self.ports[0]

    @property
    def addresses(self):
        return [f"http://127.0.0.1:{port}" for port in self.ports]

    def call(self, function, *arguments):
        """Run a function in the server's loop, as the controller does, and return what it returns."""

        async def run():
            return function(*arguments)

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(30)

    def play(self, script):
        self.call(self.table.play, script)


@contextlib.contextmanager
def served(folder, chosen=None, also=(), port=0, **app):
    """Serve a table while the block runs."""
    table = PlayedTable(folder, chosen, also=also)
    try:
        with RunningServer(table, port, **app) as server:
            yield server
    finally:
        table.close()


def eventually(condition, seconds=10.0, what="the condition"):
    """Wait until a condition holds; return what it returned."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} did not come true in {seconds} s"
        time.sleep(0.01)
    return value
