"""The panel itself: contacts in, lamps, gate and buzzer out, through gpiozero."""

import asyncio
import atexit
import logging
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from drivers.aside import post
from drivers.errors import PanelError
from drivers.panel.debounce import SETTLE, PressReader
from drivers.panel.functions import KEY, Button, Lamp, PanelEvent
from drivers.panel.pin_factory import make_factory, pin_errors
from drivers.panel.pins import PinMap

logger = logging.getLogger(__name__)

CHECK_EVERY = 1.0
# Kernel times of edges are used if they are on our clock: in the past, and not long ago.
LATEST_EDGE = 1.0


class Panel:
    """Opened and used in the event loop. Pin callbacks come in other threads and only hand the edge over.

    The gate is shut from the moment the pin is taken until `gate(True)`, and again from `close`, from the end of the
    program, and from the loss of the panel. `on_lost` is called once if the pins fail while the panel is in use.
    """

    def __init__(
        self,
        pins: PinMap,
        factory: Any,
        on_event: Callable[[PanelEvent], None],
        on_lost: Callable[[PanelError], None],
        *,
        settle: float = SETTLE,
    ) -> None:
        self.pins = pins
        self.factory: Any = None
        self._wanted_factory = factory
        self._on_event = on_event
        self._on_lost = on_lost
        self._settle = settle
        self._errors: tuple[type[Exception], ...] = (OSError,)
        self._contacts: dict[str, Any] = {}
        self._callbacks: list[Any] = []  # gpiozero keeps weak references only
        self._lamps: dict[Lamp, Any] = {}
        self._gate: Any = None
        self._gate_open = False
        self._buzzer: Any = None
        self._reader = PressReader(settle=settle)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def key_on(self) -> bool:
        """Whether the supervisor's key is on."""
        return self._reader.key_on

    @property
    def is_open(self) -> bool:
        """Whether the panel is in use."""
        return self._loop is not None

    def open(self) -> None:
        """Take the pins, the gate first; raise PanelError if that cannot be done."""
        factory = make_factory(self._wanted_factory) if isinstance(self._wanted_factory, str) else self._wanted_factory
        self._loop = asyncio.get_running_loop()
        if factory is None:
            return
        self.factory = factory
        self._errors = pin_errors()
        atexit.register(self.close)
        try:
            with self._sentence("the panel cannot be set up"):
                self._take_outputs()
                self._take_contacts()
        except PanelError:
            self.close()
            raise
        self._timers["check"] = self._loop.call_later(CHECK_EVERY, self._check)

    def close(self) -> None:
        """Shut the gate, put out the lamps and give the pins back. Harmless when it is not open."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._loop = None
        atexit.unregister(self.close)
        for device in (self._gate, self._buzzer, *self._lamps.values()):
            if device is not None:
                with suppress(*self._errors):
                    device.off()
        self._gate_open = False
        for device in (self._gate, self._buzzer, *self._lamps.values(), *self._contacts.values()):
            if device is not None:
                with suppress(*self._errors):
                    device.close()
        self._gate = self._buzzer = None
        self._lamps, self._contacts, self._callbacks = {}, {}, []
        factory, self.factory = self.factory, None
        if factory is not None:
            with suppress(*self._errors):
                factory.close()

    def gate(self, is_open: bool) -> None:
        """Open or shut the gate."""
        self._gate_open = is_open and self.is_open
        if self._gate is not None:
            with self._in_use():
                self._gate.value = self._gate_open

    def show(self, lit: Collection[Lamp]) -> None:
        """Light these lamps and no others."""
        with self._in_use():
            for lamp, device in self._lamps.items():
                device.value = lamp in lit

    def buzz(self, times: int = 1, *, sound: float = 0.15, pause: float = 0.15) -> None:
        """Sound the buzzer so many times; a buzz under way is replaced."""
        if (timer := self._timers.pop("buzzer", None)) is not None:
            timer.cancel()
        if self._buzzer is None or self._loop is None:
            return
        loop = self._loop

        def step(left: int) -> None:
            with self._in_use():
                self._buzzer.value = left % 2 == 0 and left > 0
            if left > 0 and self.is_open:
                self._timers["buzzer"] = loop.call_later(sound if left % 2 == 0 else pause, step, left - 1)

        step(2 * times)

    def _take_outputs(self) -> None:
        from gpiozero import OutputDevice  # noqa: PLC0415  (slow to load, and not needed without a panel)

        def output(pin: int | None, *, active_high: bool) -> Any:
            if pin is None:
                return None
            return OutputDevice(pin, active_high=active_high, initial_value=False, pin_factory=self.factory)

        self._gate = output(self.pins.gate, active_high=self.pins.open_is_high)
        self._buzzer = output(self.pins.buzzer, active_high=True)
        for lamp, pin in self.pins.lamps.items():
            self._lamps[lamp] = output(pin, active_high=self.pins.lit_is_high)

    def _take_contacts(self) -> None:
        from gpiozero import InputDevice  # noqa: PLC0415

        assert self._loop is not None
        wired: dict[str, int] = {str(button): pin for button, pin in self.pins.buttons.items()}
        if self.pins.key is not None:
            wired[KEY] = self.pins.key
        for name, pin in wired.items():
            self._contacts[name] = InputDevice(pin, pull_up=not self.pins.pressed_is_high, pin_factory=self.factory)
        closed = {name for name, device in self._contacts.items() if device.is_active}
        self._reader = PressReader(
            settle=self._settle,
            down=[Button(name) for name in closed if name != KEY],
            key_on=KEY in closed,
            now=self._loop.time(),
        )
        for name, device in self._contacts.items():
            self._watch(name, device.pin)
        self._arm()

    def _watch(self, name: str, pin: Any) -> None:
        loop = self._loop
        assert loop is not None

        def changed(ticks: float, state: Any) -> None:
            now = time.monotonic()
            at = ticks if 0 <= now - ticks < LATEST_EDGE else now
            post(loop, self._edge, name, bool(state) == self.pins.pressed_is_high, at)

        self._callbacks.append(changed)
        pin.bounce = None  # every edge: the debouncing is ours
        pin.edges = "both"
        pin.when_changed = changed

    def _edge(self, name: str, closed: bool, at: float) -> None:
        if self.is_open:
            self._reader.edge(name, closed, at)
            self._hand_out()

    def _on_deadline(self) -> None:
        assert self._loop is not None
        self._reader.advance(self._loop.time())
        self._hand_out()

    def _hand_out(self) -> None:
        for event in self._reader.events():
            self._on_event(event)
        self._arm()

    def _arm(self) -> None:
        if (timer := self._timers.pop("settle", None)) is not None:
            timer.cancel()
        deadline = self._reader.next_deadline()
        if deadline is not None and self._loop is not None:
            self._timers["settle"] = self._loop.call_at(deadline, self._on_deadline)

    def _check(self) -> None:
        """Look whether the pins still work and still say what we think: an edge may have been missed."""
        assert self._loop is not None
        with self._in_use():
            levels = {name: bool(device.is_active) for name, device in self._contacts.items()}
            if self._gate is not None and bool(self._gate.value) != self._gate_open:
                self._lose(
                    PanelError(
                        f"the gate on pin {self.pins.gate} does not follow: it should be"
                        f" {'open' if self._gate_open else 'shut'} and is not; check its wiring for a short circuit"
                    )
                )
                return
            for name, closed in levels.items():
                self._reader.edge(name, closed, self._loop.time())
        if self.is_open:
            self._hand_out()
            self._timers["check"] = self._loop.call_later(CHECK_EVERY, self._check)

    @contextmanager
    def _sentence(self, what: str) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise PanelError(f"{what} ({error}): check the pin map and the wiring") from error

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Turn an error of the pins into the loss of the panel, which is told once."""
        try:
            yield
        except self._errors as error:
            self._lose(PanelError(f"the panel is lost, its pins work no more ({error}): restart the controller"))

    def _lose(self, error: PanelError) -> None:
        if self.is_open:
            logger.error("panel: %s", error)
            self.close()
            self._on_lost(error)
