"""A table for whole-process tests: a shoe that outlives the daemon, the daemon, and people who press its buttons."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from drivers.simulated.angel_eye_device import AngelEyeOptions
from drivers.simulated.faults import parse_faults
from drivers.simulated.order import ShoeOrder, build_twin
from drivers.simulated.pty_shoe import SimulatedShoe
from drivers.simulated.stock import register_csv
from shoe_controller.app.status import Status
from shoe_controller.cards import DECKS
from shoe_controller.decks import folder as deck_folder
from shoe_controller.decks.deck_set import make_set
from shoe_controller.journal.reading import entries
from shoe_controller.journal.verification import verify
from shoe_controller.journal.volumes import files_of
from shoe_controller.rules.games import find
from shoe_controller.service.control_client import NotRunningError, ask

DEADLINE = 30.0
ROOT = Path(__file__).parents[2]


class Rig:
    """One table in a folder. Used in an event loop, which moves the shoe."""

    def __init__(self, folder, *, game="no-commission", protocol="open", seed=1, auto=0.004, faults="", **sections):
        self.folder = folder
        self.journal = folder / "journal"
        self.socket = folder / "control.sock"
        self.config_file = folder / "table.toml"
        self.log = folder / "daemon.log"
        self.game = game
        # An Angel Eye forgets what it says to nobody: until the daemon unlocks it, it deals nothing.
        self.twin = build_twin(
            ShoeOrder(
                protocol=protocol,
                deck=find(game).deck.size,
                decks=4,
                seed=seed,
                angel_eye_options=AngelEyeOptions(locked=True),
            )
        )
        self.drawn = []  # (code) of every card that ever left the shoe, in order
        self._record_draws()
        self.shoe = SimulatedShoe(
            self.twin, faults=parse_faults(faults), seed=seed, auto=auto, link=folder / "shoe.tty"
        )
        self.process = None
        self._register(protocol)
        self.configure(protocol=protocol, **sections)

    def _record_draws(self):
        body, take, back = self.twin.body, self.twin.body.take, self.twin.body.put_back

        def taking():
            card = take()
            self.drawn.append(card.code)
            return card

        def returning():
            card = back()
            self.drawn.append("returned")  # only if there was a card to push back
            return card

        body.take, body.put_back = taking, returning

    def _register(self, protocol):
        if protocol == "open":
            cards = [(card.uid, card.code) for card in self.twin.body.set]
            assert register_csv(self.twin.body.set)
            deck = DECKS[find(self.game).deck.size]
            registered = make_set(
                "red", game=self.game, deck=deck, decks=4, cards=cards, registered="2026-01-01", source="test"
            )
            deck_folder.add(self.folder / "decks", registered)

    def configure(self, *, protocol="open", **sections):
        """Write the configuration; keyword `mqtt={"brokers": […]}` adds to a section."""
        base = {
            "table": {"site": "macau", "name": "b7", "game": self.game, "decks": 4},
            "shoe": {
                "protocol": protocol,
                "device": str(self.folder / "shoe.tty"),
                "decks_directory": str(self.folder / "decks"),
            },
            "panel": {"factory": "mock"},
            "journal": {
                "directory": str(self.journal),
                "signing_key_file": str(self.folder / "signing.key"),
                "min_free_megabytes": 16,
            },
            "local": {"socket": str(self.socket), "group": "root"},
            "web": {"enabled": False},
        }
        for name, values in sections.items():
            base.setdefault(name, {}).update(values)
        lines = []
        for name, values in base.items():
            lines.append(f"[{name}]")
            lines += [f"{key} = {msgspec.json.encode(value).decode()}" for key, value in values.items()]
        self.config_file.write_text("\n".join(lines) + "\n")

    # ---- the daemon ------------------------------------------------------------------------------------------

    def start(self, *die, env=()):
        """Start the daemon; `die`: the point and the time of its death."""
        if self.process is not None:
            self.bury()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.system.rigged_daemon", str(self.config_file)]
                + (["--die", *map(str, die)] if die else []),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=ROOT,
                env=os.environ | dict(env),
            )

    def kill(self):
        self.process.kill()
        self.bury()

    def bury(self):
        """Take note of its end and let go of its pipe."""
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    async def stop(self) -> int:
        """End it in good order and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        await self.until(lambda: self.process.poll() is not None, "the daemon ends")
        self.bury()
        return self.process.returncode

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def say(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()

    async def status(self) -> Status | None:
        """Return what the daemon says of itself; None if it does not answer."""
        try:
            told = await asyncio.to_thread(ask, self.socket, command="status")
        except NotRunningError:
            return None
        return msgspec.convert(told["status"], Status)

    async def decide(self, **request):
        return await asyncio.to_thread(ask, self.socket, **request)

    async def until(self, condition, what, deadline=DEADLINE):
        """Wait for a condition, plain or awaited, while the shoe goes on."""
        end = time.monotonic() + deadline
        while True:
            holds = condition()
            if asyncio.iscoroutine(holds):
                holds = await holds
            if holds:
                return holds
            assert time.monotonic() < end, f"not within {deadline:g} s: {what}\n{self.log.read_text()[-3000:]}"
            await asyncio.sleep(0.005)

    async def ready(self, *, faults=False):
        async def running():
            status = await self.status()
            fine = status is not None and status.condition == "running"
            return status if fine and (faults or not status.view.faults) else None

        return await self.until(running, "the daemon runs and the shoe is connected")

    # ---- people ----------------------------------------------------------------------------------------------

    async def play(self, rounds):
        """Play until so many more rounds are announced, or the daemon is dead."""
        announced = 0
        seq, end = -1, time.monotonic() + DEADLINE
        while announced < rounds and self.alive:
            status = await self.status()
            if status is not None and status.seq != seq:
                seq, end = status.seq, time.monotonic() + DEADLINE
            assert time.monotonic() < end, f"the table stands still: {status}\n{self.log.read_text()[-3000:]}"
            if status is None or status.view is None:
                await asyncio.sleep(0.005)
                continue
            announced += await self._act(status.view)
        return announced

    async def _act(self, view) -> bool:
        try:
            if view.open_irregularities:
                await self._decide(view)
            elif view.alarm:
                await self.decide(command="ack")
            elif view.faults:
                await asyncio.sleep(0.01)
            elif view.state in ("no_shoe", "shoe_ended"):
                self.shoe.do("new-shoe")
                await self.decide(command="new-shoe")
            elif view.state in ("ready", "announced", "void"):
                await self._press("place_bets", view)
            elif view.state == "betting":
                await self._press("no_more_bets", view)
            elif view.state == "complete":
                return await self._press("result", view)
            else:
                await asyncio.sleep(0.005)
        except NotRunningError:
            await asyncio.sleep(0.005)
        return False

    async def _decide(self, view):
        first = view.open_irregularities[0]
        if first.kind == "unreadable_card":
            facts = (await self.decide(command="key-card", codes=[self._last_card()]))["facts"]
        else:
            facts = (await self.decide(command="accept"))["facts"]
        if any(fact["type"] == "refused" for fact in facts):
            await self.decide(command="void", reason="nobody can tell")

    def _last_card(self):
        return next(code for code in reversed(self.drawn) if code != "returned")

    async def _press(self, button, view) -> bool:
        """Press a button and wait for its effect; tell whether a result is announced now.

        A card too many may have left the shoe before its gate was shut: then a decision comes first.
        """
        self.say(f"press {button}")

        async def moved():
            if not self.alive:
                return "dead"
            status = await self.status()
            state = status.view.state if status is not None and status.view is not None else view.state
            return state if state != view.state else None

        return await self.until(moved, f"{button} has an effect") in ("announced", "shoe_ended")

    # ---- what is true afterwards -----------------------------------------------------------------------------

    def recorded(self) -> list[str]:
        """Return what the journal says left the shoe, in order, as `drawn` does.

        Cards whose order nobody knew are put into the order in which they really came out.
        """
        codes: list[str] = []
        for entry in entries(self.journal, 1):
            body = msgspec.json.decode(entry.body)
            match entry.kind:
                case "card":
                    codes.append(body["code"])
                case "together" if not body.get("order_known"):
                    really = self.drawn[len(codes) : len(codes) + len(body["codes"])]
                    codes += really if sorted(really) == sorted(body["codes"]) else body["codes"]
                case "together":
                    codes += body["codes"]
                case "unreadable":
                    codes.append("?")
                case "returned":
                    codes.append("returned")
        return codes

    def facts(self, *types) -> list[dict]:
        """Return the facts in the journal, of these types; none while there is no journal yet."""
        if not list(self.journal.glob("journal-*.db")):
            return []
        return [
            fact
            for entry in entries(self.journal, 1)
            for fact in msgspec.json.decode(entry.facts)
            if not types or fact["type"] in types
        ]

    def check(self) -> None:
        """Hold the journal against the shoe: no card lost, none doubled, chain, signatures and replay sound."""
        recorded = self.recorded()
        assert len(recorded) == len(self.drawn), f"{len(self.drawn)} cards drawn, {len(recorded)} recorded"
        for number, (ours, theirs) in enumerate(zip(recorded, self.drawn, strict=True)):
            assert ours in (theirs, "?"), f"card {number}"
        report = verify(files_of([self.journal]), jobs=1)
        assert report.ok, report.problems
        assert report.entries > 0


@contextlib.asynccontextmanager
async def rigged(folder, **options):
    """Have a table with its shoe plugged in; whatever still runs at the end is killed."""
    rig = Rig(folder, **options)
    async with rig.shoe:
        try:
            yield rig
        finally:
            if rig.process is not None:
                rig.kill()
