"""The simulated people: a dealer who calls the rounds and a supervisor who decides, both by pressing buttons."""

import asyncio
import contextlib

from drivers.panel.functions import Button
from drivers.panel.mock_panel import MockPanel
from shoe_controller.app.controller import Controller
from shoe_controller.app.play import Play
from shoe_controller.session import inputs as i
from shoe_controller.session.view import TableView

BETTING_SECONDS = 4.0
LOOK_SECONDS = 2.0
# Cards fall by themselves while the gate is open; whoever waits looks up this often, whatever happens.
PATIENCE_SECONDS = 5.0
SUPERVISOR = "demo-supervisor"


class People:
    """Play `rounds` rounds (None: without end) at a table that has a simulated shoe and a panel on mock pins."""

    def __init__(self, controller: Controller, *, rounds: int | None, speed: float) -> None:
        self._controller = controller
        self._rounds = rounds
        self._speed = speed
        self._changed = asyncio.Event()
        self.played = 0

    def look_up(self) -> None:
        """Something happened at the table."""
        self._changed.set()

    async def play(self) -> None:
        """Play until the rounds are played."""
        await self._controller.ready.wait()
        while self._rounds is None or self.played < self._rounds or not self._between_rounds():
            self._changed.clear()
            await self._act(self._view())

    def _between_rounds(self) -> bool:
        view = self._view()
        return view.state in ("announced", "void", "shoe_ended", "ready") and not view.alarm

    def _play(self) -> Play:
        assert self._controller.play is not None  # since the controller is ready
        return self._controller.play

    def _view(self) -> TableView:
        return self._play().view()

    async def _act(self, view: TableView) -> None:
        if view.open_irregularities:
            await self._decide(view)
        elif view.alarm:
            await self._with_key(Button.ACKNOWLEDGE)
        elif view.faults:
            await self._wait()
        elif view.state in ("no_shoe", "shoe_ended"):
            await self._with_key(Button.ACCEPT)
        elif view.state in ("ready", "announced", "void"):
            await self._pause(LOOK_SECONDS)
            await self._call(Button.PLACE_BETS, "betting")
        elif view.state == "betting":
            await self._pause(BETTING_SECONDS)
            await self._call(Button.NO_MORE_BETS)
        elif view.state == "complete":
            await self._pause(LOOK_SECONDS)
            self.played += await self._call(Button.RESULT, "announced", "shoe_ended")
        else:
            await self._wait()

    async def _call(self, button: Button, *expected: str) -> bool:
        await self._panel().click(button)
        await self._settle()
        return self._view().state in expected

    async def _decide(self, view: TableView) -> None:
        """Accept what can be accepted; what cannot is void. The card that could not be read is looked at and keyed."""
        await self._pause(LOOK_SECONDS)
        first, simulation = view.open_irregularities[0], self._play().simulation
        if first.kind == "unreadable_card" and simulation is not None:
            card = simulation.body.out[-1].code
            await self._controller.decide(i.Reconstruct(codes=(card,), by=SUPERVISOR), SUPERVISOR)
        else:
            await self._with_key(Button.ACCEPT)
        if first in self._view().open_irregularities:
            await self._with_key(Button.VOID)

    async def _with_key(self, button: Button) -> None:
        panel = self._panel()
        await panel.turn_key(on=True)
        await panel.click(button)
        await panel.turn_key(on=False)
        await self._settle()

    async def _settle(self) -> None:
        """Wait until everything that was pressed is on disk."""
        passed = asyncio.Event()
        self._play().table.probe(passed.set)
        await passed.wait()

    def _panel(self) -> MockPanel:
        return MockPanel(self._controller.panel.panel)

    async def _wait(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), PATIENCE_SECONDS)

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._speed)
