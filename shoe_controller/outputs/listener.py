"""A consumer of tables: each event once and in order, asking for what it missed. The example for integrators."""

import asyncio
import secrets
import time
from collections.abc import Callable
from functools import partial

import msgspec

from shoe_controller import messages
from shoe_controller.messages import ROOT, ResendEnd, ResendRequest, topic
from shoe_controller.outputs.broker_link import BrokerLink
from shoe_controller.outputs.in_order import InOrder
from shoe_controller.outputs.mqtt_connection import MqttConnection
from shoe_controller.outputs.settings import MqttSettings
from shoe_controller.outside_json import NOT_UNDERSTOOD

# The next events close most gaps (a late message, a feed that is catching up); only then it is worth asking.
PATIENCE = 1.0
# An answer may be lost with its connection.
ASK_AGAIN = 3.0
TRIES = 3


class _Numbered(msgspec.Struct):
    type: str = ""
    seq: int = 0


_HEAD = msgspec.json.Decoder(_Numbered)
_END = msgspec.json.Decoder(ResendEnd)

OnEvent = Callable[[str, int, bytes], None]  # "<site>/<table>", seq, message
OnNotice = Callable[[str, str, bytes], None]  # "<site>/<table>", channel, message


class _Followed:
    """One table as far as it was heard."""

    def __init__(self, first: int | None) -> None:
        self.events: InOrder[bytes] = InOrder(first)
        self.progress_at = time.monotonic()
        self.asked_at = 0.0
        self.refused = 0  # answers without a single event since there was progress
        self.unavailable: list[tuple[int, int]] = []


class Listener:
    """Follows the tables of a site at a broker (`+` for all)."""

    def __init__(
        self,
        settings: MqttSettings,
        site: str,
        table: str,
        *,
        on_event: OnEvent,
        on_notice: OnNotice = lambda *_: None,
        consumer: str = "",
        resend: bool = True,
        first: int | None = None,
    ) -> None:
        self._consumer = consumer or f"listener-{secrets.token_hex(4)}"
        self._place = f"{ROOT}/{site}/{table}"
        self._on_event = on_event
        self._on_notice = on_notice
        self._resend = resend
        self._first = first
        self._tables: dict[str, _Followed] = {}
        self.connected = asyncio.Event()  # from here on nothing that a table says is missed
        self.requests = 0
        self._connection: MqttConnection | None = None
        self._link = BrokerLink(settings, self._consumer, on_up=self._up, on_down=self._down, on_message=self._message)

    @property
    def repeated(self) -> int:
        """Events that came more than once."""
        return sum(table.events.repeated for table in self._tables.values())

    @property
    def lost(self) -> list[tuple[str, int, int]]:
        """Events that could not be had again, and those that are missing now: table, first and last seq."""
        lost = [(name, *gap) for name, table in self._tables.items() for gap in table.unavailable]
        return lost + [(name, *table.events.gap) for name, table in self._tables.items() if table.events.gap]

    @property
    def detail(self) -> str:
        """How it stands with the broker, in words."""
        return self._link.detail

    async def run(self) -> None:
        """Listen until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._link.run())
                tasks.create_task(self._watch())
        finally:
            if self._connection is not None:
                await self._connection.close(1.0)

    def _up(self, connection: MqttConnection) -> None:
        self._connection = connection
        own = f"{messages.RESEND}/{self._consumer}"
        channels = {messages.STATUS, messages.STATE, messages.HEALTH, messages.EVENTS, own}
        waiting = set(channels)

        def granted(channel: str) -> None:
            waiting.discard(channel)
            if not waiting and connection is self._connection:
                self._link.proved()
                self.connected.set()

        for channel in channels:
            connection.subscribe(f"{self._place}/{channel}", partial(granted, channel))

    def _down(self) -> None:
        self._connection = None
        self.connected.clear()

    def _message(self, name: str, payload: bytes, _retained: bool) -> None:
        _, _, site, table, channel = name.split("/", 4)
        place = f"{site}/{table}"
        try:
            head = _HEAD.decode(payload)
        except NOT_UNDERSTOOD:
            return  # not ours: the schemas say what a table sends
        if channel == messages.EVENTS or (channel.startswith(messages.RESEND) and head.seq):
            self._event(place, head.seq, payload)
        elif channel.startswith(messages.RESEND):
            self._resend_ended(place, payload)
        else:
            if head.seq:
                self._follow(place).events.told(head.seq)
            self._on_notice(place, channel, payload)

    def _follow(self, place: str) -> _Followed:
        return self._tables.setdefault(place, _Followed(self._first))

    def _event(self, place: str, seq: int, payload: bytes) -> None:
        table = self._follow(place)
        for event in table.events.take(seq, payload):
            self._deliver(place, table, event)

    def _deliver(self, place: str, table: _Followed, event: bytes) -> None:
        table.progress_at = time.monotonic()
        table.refused = 0
        self._on_event(place, _HEAD.decode(event).seq, event)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(PATIENCE / 4)
            now = time.monotonic()
            for place, table in self._tables.items():
                gap = table.events.gap
                if gap is None or not self._resend or self._connection is None:
                    continue
                if now - table.progress_at > PATIENCE and now - table.asked_at > ASK_AGAIN:
                    table.asked_at = now
                    self._ask(place, gap)

    def _ask(self, place: str, gap: tuple[int, int]) -> None:
        if self._connection is not None and self._connection.room > 0:
            self.requests += 1
            request = ResendRequest(consumer=self._consumer, id=str(self.requests), first=gap[0], last=gap[1])
            site, table = place.split("/")
            name = topic(site, table, messages.RESEND_REQUEST)
            self._connection.publish(name, msgspec.json.encode(request), lambda: None)

    def _resend_ended(self, place: str, payload: bytes) -> None:
        try:
            end = _END.decode(payload)
        except NOT_UNDERSTOOD:
            return
        table = self._follow(place)
        gap = table.events.gap
        if gap is None or end.later:
            return  # all is there, or it is worth asking again in a while
        if end.sent:
            table.asked_at = time.monotonic()
            self._ask(place, gap)  # the table sends so many at a time: ask on at once
            return
        table.refused += 1
        if table.refused >= TRIES:
            table.unavailable.append(gap)
            for event in table.events.skip(gap[1]):
                self._deliver(place, table, event)
