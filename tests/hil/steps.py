"""The steps of a check with real hardware: what the person is asked to do, and what must then be seen."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from random import SystemRandom

from drivers.panel.functions import Button, KeyTurned, Lamp, Pressed
from drivers.panel.panel import Panel
from drivers.shoe_device import connect_shoe, transport_for
from firmware_protocol.events import CardDrawn, Heartbeat, LinkDown, LinkUp, ShoeEvent
from firmware_protocol.host_link import HostLink

DEADLINE = 60.0
CARDS = 3

Ask = Callable[[str], Awaitable[bool]]  # shows a question, gives the person's yes or no
Tell = Callable[[str], None]


class Seen:
    """What panel or shoe have told so far; steps wait for one kind of it."""

    def __init__(self) -> None:
        self.events: list[object] = []
        self._news = asyncio.Event()

    def take(self, event: object) -> None:
        self.events.append(event)
        self._news.set()

    async def until(self, matches: Callable[[object], bool], deadline: float = DEADLINE) -> object | None:
        """Return the first new event that matches; None if none comes in time."""
        begun = len(self.events)
        try:
            async with asyncio.timeout(deadline):
                while True:
                    for event in self.events[begun:]:
                        if matches(event):
                            return event
                    begun = len(self.events)
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return None


async def check_panel(panel: Panel, seen: Seen, ask: Ask, tell: Tell) -> list[tuple[str, bool]]:
    """Go through lamps, gate, buzzer, buttons and key of an open panel; return each step with its outcome."""
    results = []
    for lamp in Lamp:
        if lamp in panel.pins.lamps:
            panel.show([lamp])
            results.append((f"lamp {lamp}", await ask(f"Is the lamp {lamp} lit, and no other?")))
    panel.show([])
    if panel.pins.gate is not None:
        panel.gate(True)
        opened = await ask("Is the gate open?")
        panel.gate(False)
        results.append(("gate", opened and await ask("Is the gate shut?")))
    if panel.pins.buzzer is not None:
        panel.buzz(3)
        results.append(("buzzer", await ask("Did the buzzer sound three times?")))
    if panel.pins.key is not None:
        tell("Turn the supervisor's key on.")
        turned = await seen.until(lambda event: isinstance(event, KeyTurned) and event.on)
        results.append(("key switch", turned is not None))
    for button in Button:
        if button in panel.pins.buttons:
            tell(f"Press {button}.")
            pressed = await seen.until(
                lambda event, button=button: isinstance(event, Pressed) and event.button == button
            )
            results.append((f"button {button}", pressed is not None))
    return results


async def check_shoe(device: str, ask: Ask, tell: Tell) -> list[tuple[str, bool]]:
    """Connect to a shoe of the open protocol: hello, heartbeat, gate, cards, and a cable that is pulled."""
    seen = Seen()
    link = HostLink(nonce=lambda: secrets.token_bytes(16))
    connection = connect_shoe(transport_for(device), "open", link, seen.take, chance=SystemRandom())
    running = asyncio.create_task(connection.run())
    try:
        up = await seen.until(lambda event: isinstance(event, LinkUp))
        if not isinstance(up, LinkUp):
            return [("hello", False)]
        tell(f"It is a shoe of kind {up.kind}, {up.serial_number}, firmware {up.firmware_version}.")
        results = [("hello", True)]
        results.append(("heartbeat", await seen.until(lambda event: isinstance(event, Heartbeat)) is not None))
        connection.gate(True)
        tell(f"Draw {CARDS} cards, one after the other.")
        for number in range(1, CARDS + 1):
            drawn = await seen.until(
                lambda event: isinstance(event, ShoeEvent) and isinstance(event.happening, CardDrawn)
            )
            if isinstance(drawn, ShoeEvent):
                connection.acknowledge(drawn.session, drawn.number)
            results.append((f"card {number}", drawn is not None))
        connection.gate(False)
        results.append(("gate of the shoe", await ask("Try to draw a card. Does the shoe hold it back?")))
        tell("Pull the cable of the shoe.")
        results.append(("cable pulled", await seen.until(lambda event: isinstance(event, LinkDown)) is not None))
        tell("Put the cable back.")
        results.append(("cable back", await seen.until(lambda event: isinstance(event, LinkUp)) is not None))
        return results
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
