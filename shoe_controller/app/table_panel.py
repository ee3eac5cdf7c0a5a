"""The panel of the table: opened, opened again when it was lost, and showing the table as it stands."""

import asyncio
import logging
from collections.abc import Callable

import msgspec

from drivers.errors import PanelError
from drivers.panel.functions import Lamp, PanelEvent
from drivers.panel.panel import Panel
from drivers.panel.pins import PinMap
from shoe_controller import config
from shoe_controller.service.lamps import lit
from shoe_controller.session.view import TableView

logger = logging.getLogger(__name__)

PANEL_FAULT = "panel"
TRY_AGAIN_SECONDS = 5.0
ALARM_BUZZES = 3


def pin_map(panel: config.Panel) -> PinMap:
    """Return the wiring that the configuration describes; raise PinMapError if it cannot be wired."""
    return PinMap.from_names(
        msgspec.structs.asdict(panel.buttons),
        msgspec.structs.asdict(panel.lamps),
        panel.gate,
        panel.buzzer,
        button_pressed=panel.button_pressed,
        lamp_lit=panel.lamp_lit,
        gate_open=panel.gate_open,
    )


class TablePanel:
    """One panel in the event loop. `on_trouble` gets a sentence when it is lost, None when it is there again."""

    def __init__(
        self,
        panel: config.Panel,
        on_event: Callable[[PanelEvent], None],
        on_trouble: Callable[[str | None], None],
    ) -> None:
        self._settings = panel
        self._pins = pin_map(panel)
        self._on_event = on_event
        self._on_trouble = on_trouble
        self.panel = self._make()
        self._lit: frozenset[str] = frozenset()
        self._gate_open = False
        self._again: asyncio.TimerHandle | None = None
        self.trouble: str | None = None

    def open(self) -> None:
        """Take the pins, gate shut; if that fails, say so and try again until it works or `close` is called."""
        self._again = None
        self.panel = self._make()
        try:
            self.panel.open()
        except PanelError as error:
            if self.trouble is None:
                logger.error("panel: %s", error)  # noqa: TRY400  (the sentence says it all)
            self._in_trouble(str(error))
            return
        self._show()
        if self.trouble is not None:
            self.trouble = None
            logger.info("panel: it works again")
            self._on_trouble(None)

    def close(self) -> None:
        """Shut the gate, put out the lamps and give the pins back."""
        if self._again is not None:
            self._again.cancel()
            self._again = None
        self.panel.close()

    def show(self, view: TableView) -> None:
        """Light the lamps that belong to the table as it stands, and sound the buzzer at a new alarm."""
        alarm_before = "alarm" in self._lit
        self._lit = lit(view)
        self._show()
        if "alarm" in self._lit and not alarm_before and self.panel.is_open:
            self.panel.buzz(ALARM_BUZZES)

    def show_fault(self) -> None:
        """Light the fault lamp and nothing else: there is no table to show."""
        self._lit = frozenset({"fault"})
        self._show()

    def gate(self, is_open: bool) -> None:
        """Open or shut the gate; a gate that stands as it should is left alone."""
        if is_open != self._gate_open:
            self._gate_open = is_open
            if self.panel.is_open:
                self.panel.gate(is_open)

    def _show(self) -> None:
        if self.panel.is_open:
            self.panel.show([Lamp(name) for name in self._lit])
            self.panel.gate(self._gate_open)

    def _make(self) -> Panel:
        settings = self._settings
        return Panel(self._pins, settings.factory, self._on_event, self._lost, settle=settings.debounce_ms / 1000)

    def _lost(self, error: PanelError) -> None:
        self._in_trouble(str(error))

    def _in_trouble(self, sentence: str) -> None:
        first, self.trouble = self.trouble is None, sentence
        self._gate_open = False
        self._again = asyncio.get_running_loop().call_later(TRY_AGAIN_SECONDS, self.open)
        if first:
            self._on_trouble(sentence)
