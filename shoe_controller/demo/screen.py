"""What a person sees of a demonstration: a live view on a terminal, plain lines elsewhere."""

import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from shoe_controller.app.controller import Controller
from shoe_controller.session import facts as f
from shoe_controller.session.view import TableView
from shoe_controller.words import KIND_WORDS, cards, tell

KEPT_LINES = 10
PHASES = {
    "no-shoe": "no shoe in play",
    "burning": "burning cards",
    "ready": "ready",
    "betting": "PLACE YOUR BETS",
    "dealing": "NO MORE BETS",
    "complete": "complete: the dealer looks",
    "announced": "RESULT",
    "decision": "DECISION: a supervisor is asked",
    "void": "ROUND VOID",
    "shoe-ended": "the shoe has ended",
    "fault": "FAULT",
}
# Said on the terminal view in other ways already.
_UNSAID = (f.Device, f.Started, f.ClockStepped, f.ConfigChanged)


class Screen(Protocol):
    """Shows what is committed."""

    def show(self, view: TableView, facts: Sequence[f.AnyFact]) -> None:
        """Show the table after these facts."""

    def close(self) -> None:
        """Give the terminal back."""


class Lines:
    """One line for each fact, for logs and pipes."""

    def __init__(self, say: Callable[[str], None] = print) -> None:
        self._say = say

    def show(self, view: TableView, facts: Sequence[f.AnyFact]) -> None:
        """Show the table after these facts."""
        del view
        for fact in facts:
            if not isinstance(fact, _UNSAID):
                self._say(tell(fact))

    def close(self) -> None:
        """Do nothing: there is no terminal to give back."""


class Live:
    """The round as it is dealt, with lamps and gate of the panel, in a terminal."""

    def __init__(self, controller: Controller) -> None:
        from rich.console import Console  # noqa: PLC0415 - not needed where there is no terminal
        from rich.live import Live as RichLive  # noqa: PLC0415

        self._controller = controller
        self._said: deque[str] = deque(maxlen=KEPT_LINES)
        self._live = RichLive(console=Console(), auto_refresh=False, transient=True)
        self._live.start()

    def show(self, view: TableView, facts: Sequence[f.AnyFact]) -> None:
        """Show the table after these facts."""
        for fact in facts:
            if not isinstance(fact, _UNSAID):
                self._said.extend(tell(fact).splitlines())
        while len(self._said) > KEPT_LINES:
            self._said.popleft()
        self._live.update(self._picture(view), refresh=True)

    def close(self) -> None:
        """Give the terminal back."""
        self._live.stop()

    def _picture(self, view: TableView) -> Any:
        from rich.console import Group  # noqa: PLC0415
        from rich.panel import Panel  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = Table.grid(padding=(0, 2))
        for name, text in _rows(view, self._lit()):
            table.add_row(Text(name, style="dim"), text)
        title = view.shoe.title if view.shoe else "waiting for a shoe"
        display = self._controller.play.outlets.display_url if self._controller.play else ""
        return Group(
            Panel(table, title=title, subtitle=f"display: {display}   Ctrl-C ends", width=78),
            Text("\n".join(self._said)),
        )

    def _lit(self) -> list[str]:
        from drivers.panel.mock_panel import MockPanel  # noqa: PLC0415

        return sorted(MockPanel(self._controller.panel.panel).lit) if self._controller.panel.panel.is_open else []


def _rows(view: TableView, lit: list[str]) -> list[tuple[str, str]]:
    rows = [("", PHASES[view.phase])]
    shown = view.round
    if view.shoe is not None:
        number = shown.round if shown else 0
        rows.append(("shoe", f"{view.shoe.id}, round {number}, {view.shoe.cards} cards dealt"))
    if shown is not None:
        rows.append(("Player", _hand(shown.player, shown.player_total)))
        rows.append(("Banker", _hand(shown.banker, shown.banker_total)))
        if shown.announced:
            pays = ", ".join(f"{wager} {odds}" for wager, odds in shown.pays.items())
            rows.append(("result", f"{str(shown.winner or shown.status).upper()}   {pays}"))
    if view.next is not None:
        rows.append(("next", view.next))
    rows += [("decide", f"{KIND_WORDS[one.kind]}: {one.waits_for}") for one in view.open_irregularities]
    rows.append(("lamps", " ".join(lit) or "–"))
    rows.append(("gate", "open" if view.gate_open else "shut"))
    return rows


def _hand(codes: Sequence[str], total: int | None) -> str:
    return cards(codes) + (f"   = {total}" if total is not None else "")


def open_screen(controller: Controller) -> Screen:
    """Return a live view if a person is looking at a terminal, else lines."""
    return Live(controller) if sys.stdout.isatty() else Lines()
