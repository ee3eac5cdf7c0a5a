"""Reading a whole set through the shoe: connect, open the gate, gather the cards, shut the gate."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Sequence
from random import SystemRandom

from drivers.reconnect import ShoeConnection
from drivers.transport import Transport
from firmware_protocol.codes import Status
from firmware_protocol.events import (
    CommandAnswered,
    FaultChanged,
    Heartbeat,
    LidMoved,
    LinkDown,
    LinkEvent,
    LinkRefused,
    LinkUp,
    ShoeEvent,
)
from firmware_protocol.greeting import NONCE_BYTES
from firmware_protocol.host_commands import REASONS
from firmware_protocol.host_link import HostLink
from firmware_protocol.timing import WINDOW
from shoe_controller.cards import Deck
from shoe_controller.decks.errors import RegisterError
from shoe_controller.decks.set_reader import CARD_HAPPENINGS, SetReader

LOOK_EVERY = 0.05
SHUT_WITHIN = 3.0

Say = Callable[[str], None]


async def read_set(
    transport: Transport,
    deck: Deck,
    decks: int,
    order: Sequence[str],
    *,
    say: Say,
    key: bytes | None = None,
    discard: bool = False,
) -> SetReader:
    """Return the reader with the whole set in it, or raise RegisterError.

    `order` is used if the shoe sees no faces. `discard`: cards that the shoe keeps from before are dropped.
    """
    # What the connection logs is said to the person already.
    logging.getLogger("drivers").addHandler(logging.NullHandler())
    link = HostLink(nonce=lambda: secrets.token_bytes(NONCE_BYTES), key=key)
    reading = _Reading(deck, decks, order, say, discard=discard)
    connection = ShoeConnection(transport, link, reading.on_event, chance=SystemRandom())
    reading.connection = connection
    running = asyncio.create_task(connection.run())
    try:
        await _whole(reading, connection, running)
    finally:
        await _shut(reading, connection, running)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
    reader = reading.result()
    if not reader.cards and reader.optical is None:
        raise RegisterError("these cards have neither ids nor a set number: they cannot be told from foreign cards")
    return reader


async def _whole(reading: "_Reading", connection: ShoeConnection, running: asyncio.Task[None]) -> None:
    """Wait for the last card. Before the first word of the shoe any trouble ends it, later it is waited for."""
    while not reading.ended.done():
        await asyncio.wait({running, reading.ended}, timeout=LOOK_EVERY, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        health = connection.health()
        if health.connects == 0 and health.trouble is not None:
            raise RegisterError(health.trouble)
    reading.ended.result()


async def _shut(reading: "_Reading", connection: ShoeConnection, running: asyncio.Task[None]) -> None:
    """Shut the gate. Its answer also tells that our last acknowledgement has arrived."""
    if running.done() or not connection.health().link:
        return
    reading.shut_command = connection.gate(is_open=False)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SHUT_WITHIN):
            await reading.shut.wait()


class _Reading:
    """What to do with each thing that the shoe tells."""

    def __init__(self, deck: Deck, decks: int, order: Sequence[str], say: Say, *, discard: bool) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.shut = asyncio.Event()
        self.shut_command: int | None = None
        self.connection: ShoeConnection | None = None
        self._deck = deck
        self._decks = decks
        self._order = order
        self._say = say
        self._discard = discard
        self._reader: SetReader | None = None
        # Until the shoe has handed over what it kept from before, nothing is a card of this set.
        self._begun = False
        self._kept: list[ShoeEvent] = []

    def result(self) -> SetReader:
        """Return the whole set."""
        assert self._reader is not None
        return self._reader

    def on_event(self, event: LinkEvent) -> None:
        """Take in an event; an error ends the reading."""
        if self.ended.done():
            if isinstance(event, CommandAnswered) and event.command_id == self.shut_command:
                self.shut.set()
            return
        try:
            self._on_event(event)
        except RegisterError as error:
            self.ended.set_exception(error)
        else:
            if self._reader is not None and self._reader.is_whole:
                self.ended.set_result(None)

    def _on_event(self, event: LinkEvent) -> None:
        match event:
            case LinkUp(kind, serial_number):
                self._say(f"{kind} shoe {serial_number} is connected")
                if self._reader is None:
                    self._reader = SetReader(self._deck, self._decks, self._order if kind == "rfid" else None)
                elif self._begun:
                    self._open_gate()
            case LinkRefused(reason):
                raise RegisterError(reason)
            case LinkDown(reason):
                self._say(f"{reason}; nothing is lost, the reading goes on when the shoe is back")
            case Heartbeat(buffered=buffered) if not self._begun:
                self._on_kept(buffered)
            case CommandAnswered(ok=False, reason=reason) if reason != REASONS[Status.NOT_SUPPORTED]:
                self._say(f"the gate does not open: {reason}")
            case ShoeEvent():
                self._on_shoe_event(event)
            case _:
                pass

    def _on_kept(self, buffered: int) -> None:
        """Go on when all that the shoe keeps has been seen, or as much as it tells before it is acknowledged."""
        assert self.connection is not None
        if buffered > len(self._kept) < WINDOW:
            return
        if self._kept:
            self.connection.acknowledge(self._kept[-1].session, self._kept[-1].number)
        if buffered > len(self._kept):
            self._kept.clear()
        else:
            self._begin()

    def _begin(self) -> None:
        self._begun = True
        reader = self.result()
        faces = "in the order of new decks" if reader.in_order else "in any order"
        self._say(f"draw the {reader.size} cards, {faces}; Ctrl-C ends without registering")
        if reader.in_order:
            self._say("compare each card with what is said here: the shoe sees its id, not its face")
        self._open_gate()

    def _on_shoe_event(self, event: ShoeEvent) -> None:
        assert self.connection is not None
        if not self._begun:
            if isinstance(event.happening, CARD_HAPPENINGS) and not self._discard:
                raise RegisterError(
                    "the shoe keeps cards from before that no controller has recorded: connect it to its table first,"
                    " or say --discard if they are of a registration that was broken off"
                )
            self._kept.append(event)
            return
        if words := self.result().take(event.happening):
            self._say(words)
        match event.happening:
            case FaultChanged(active=False) | LidMoved(is_open=False):
                # The shoe has shut its gate meanwhile.
                self._open_gate()
        self.connection.acknowledge(event.session, event.number)

    def _open_gate(self) -> None:
        assert self.connection is not None
        self.connection.gate(is_open=True)
