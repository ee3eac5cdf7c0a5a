"""The MQTT feed: every fact in order to the casino's systems, beside status, state and health of the table.

The cursor moves when the broker has acknowledged. Everything that is on its way when a connection ends is sent again
from the cursor: duplicates are possible and have the same seq, gaps are not.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from shoe_controller import messages
from shoe_controller.journal.entry import FactRecord, FactSource, Stamp
from shoe_controller.journal.errors import JournalError
from shoe_controller.messages import EventEncoder, FeedHealth, HealthReport, Identity, topic
from shoe_controller.outputs.broker_link import BrokerLink
from shoe_controller.outputs.errors import FeedSettingsError
from shoe_controller.outputs.mqtt_connection import MqttConnection, Will
from shoe_controller.outputs.resend import ResendDesk
from shoe_controller.outputs.retry import Complaint
from shoe_controller.outputs.settings import MqttSettings
from shoe_controller.outputs.sink import Acknowledgements
from shoe_controller.outputs.table_messages import TableMessages
from shoe_controller.outputs.wagers import Submit, WagersInlet
from shoe_controller.session.view import TableView

LOGGER = logging.getLogger(__name__)
NAME = "mqtt"
# Facts read from the journal at a time: what a window can take, and not so much that a card would wait for it.
CHUNK = 64
GOOD_BYE = 2.0
STATE_AFTER = 0.01
# Status, health and answers that wait for room in the window. They are few; a flood of answers is cut off here.
MAX_BESIDE = 256

Snapshot = Callable[[], tuple[int, TableView]]  # the seq of the newest fact, and the table after it


def _nothing() -> None:
    pass


class MqttFeed:
    """The feed as a sink of the journal. All calls are made in the event loop."""

    def __init__(
        self,
        source: FactSource,
        settings: MqttSettings,
        identity: Identity,
        *,
        now: Callable[[], Stamp],
        snapshot: Snapshot,
        report: Callable[[], HealthReport],
        submit: Submit | None = None,
    ) -> None:
        self._source = source
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._identity = identity
        self._words = TableMessages(identity, now)
        self._snapshot = snapshot
        self._report = report
        self._topics = {
            channel: topic(identity.site, identity.table, channel)
            for channel in (
                messages.STATUS,
                messages.STATE,
                messages.EVENTS,
                messages.ROUNDS,
                messages.IRREGULARITIES,
                messages.HEALTH,
                messages.RESEND_REQUEST,
                messages.WAGERS_IN,
                messages.WAGERS_OUT,
            )
        }
        self._encoder = EventEncoder(identity.site, identity.table)
        self._routes = _routes(self._topics, wagers=settings.wagers)
        self._only_events = (self._topics[messages.EVENTS],)
        self._acknowledgements = Acknowledgements(self._arrived)
        self._cursor = source.cursor(NAME)
        self._read_up_to = self._cursor
        self._unsent: deque[tuple[str, bytes, Callable[[], None]]] = deque()
        self._beside: deque[tuple[str, bytes, bool, Callable[[], None]]] = deque()
        self._connection: MqttConnection | None = None
        self._connections = 0
        self._proved = False
        self._welcome = False  # the broker takes messages of ours
        self._settling = False
        self._state_due = False
        self._state_on_the_way = False
        self._complaint = Complaint(LOGGER)
        self._resending: asyncio.Task[None] | None = None
        self._desk = ResendDesk(source, settings.resend, self._encoder) if settings.resend.enabled else None
        self._inlet: WagersInlet | None = None
        if settings.wagers:
            if submit is None:
                raise FeedSettingsError("wagers from the network are switched on, but nothing takes them")
            self._inlet = WagersInlet(source, self._encoder, submit, self._answer_wager)
        client_id = settings.client_id or f"shoe-{identity.site}-{identity.table}"
        self._link = BrokerLink(
            settings, client_id, on_up=self._up, on_down=self._down, on_message=self._message, will=self._will
        )

    @property
    def name(self) -> str:
        """The name of the feed, and of its cursor in the journal."""
        return NAME

    def wake(self) -> None:
        """Publish what was committed, at once if the broker is there; all else can wait until displays have it too."""
        if self._welcome:
            self._pump()
        if not self._settling:
            self._settling = True
            self._loop.call_soon(self._settle)

    def _settle(self) -> None:
        self._settling = False
        if self._welcome:
            self._want_state()
        if self._inlet is not None:
            # Nobody waits for it here: a journal that cannot be read is told to whoever wagers next.
            with suppress(JournalError):
                self._inlet.look()

    async def run(self) -> None:
        """Feed the brokers until cancelled."""
        if self._inlet is not None:
            await self._inlet.load()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._link.run())
                tasks.create_task(self._beat())
        finally:
            connection = self._connection
            self._stop_resending()
            if connection is not None:
                if self._state_due:
                    self._send_state()
                self._welcome = False
                self._send_status(online=False)
                await connection.close(GOOD_BYE)
                self._connection = None

    def health(self) -> FeedHealth:
        """Tell how far the broker is."""
        return FeedHealth(
            name=NAME,
            connected=self._proved,
            cursor=self._cursor,
            lag=self._source.last_seq - self._cursor,
            detail=self._link.detail,
        )

    # The connection comes and goes.

    def _up(self, connection: MqttConnection) -> None:
        self._connection = connection
        connection.on_room = self._room
        if self._desk is not None:
            connection.subscribe(self._topics[messages.RESEND_REQUEST])
            self._resending = self._loop.create_task(self._desk.run(self._send_again))
        if self._inlet is not None:
            connection.subscribe(self._topics[messages.WAGERS_IN])
        # Facts wait for the answer to the status, once for each connection: a broker that does not let us write says so
        # and hangs up, and what it said is lost if it finds us writing on.
        self._send_status(online=True, acked=self._status_taken)

    def _down(self) -> None:
        self._stop_resending()
        self._connection = None
        self._proved = self._welcome = False
        self._acknowledgements.forget()
        self._unsent.clear()
        self._beside.clear()
        self._read_up_to = self._cursor
        self._state_on_the_way = False

    def _stop_resending(self) -> None:
        if self._resending is not None:
            self._resending.cancel()
            self._resending = None

    def _will(self) -> Will:
        # The number must be in the will already, so the connections that fail are counted too.
        self._connections += 1
        return Will(self._topics[messages.STATUS], self._words.status(online=False, connection=self._connections))

    def _status_taken(self) -> None:
        self._welcome = True
        # With facts to send, only their acknowledgement proves that the broker takes them.
        if self._source.last_seq == self._cursor:
            self._prove()
        self._pump()
        self._want_state()
        self._send_health()

    def _prove(self) -> None:
        if not self._proved:
            self._proved = True
            self._link.proved()

    # Facts.

    def _pump(self) -> None:
        connection = self._connection
        if connection is None or not self._welcome:
            return
        room = connection.room
        while room > 0:
            if not self._unsent and not self._read():
                return
            name, payload, acked = self._unsent.popleft()
            connection.publish(name, payload, acked)
            room -= 1

    def _read(self) -> bool:
        if self._read_up_to >= self._source.last_seq:
            return False
        try:
            records = self._source.facts(self._read_up_to, CHUNK)
        except JournalError as error:
            # A volume that was moved away may be put back; until then nothing is left out silently.
            self._complaint.fail(f"the MQTT feed cannot go on: {error}")
            return False
        for record in records:
            self._queue(record)
            self._read_up_to = record.seq
        return bool(records)

    def _queue(self, record: FactRecord) -> None:
        payload = self._encoder.encode(record)
        names = self._routes.get(record.type, self._only_events)
        acked = self._acknowledgements.expect(record.seq, len(names))
        for name in names:
            self._unsent.append((name, payload, acked))

    def _arrived(self, seq: int) -> None:
        self._cursor = seq
        self._source.move_cursor(NAME, seq)
        self._prove()

    # What goes out beside the facts.

    def _room(self) -> None:
        connection = self._connection
        while self._beside and connection is not None and connection.room > 0:
            name, payload, retain, acked = self._beside.popleft()
            connection.publish(name, payload, acked, retain=retain)
        self._pump()

    def _send_beside(
        self, name: str, payload: bytes, *, retain: bool = False, acked: Callable[[], None] = _nothing
    ) -> None:
        if self._connection is None:
            return
        if self._connection.room > 0:
            self._connection.publish(name, payload, acked, retain=retain)
        elif len(self._beside) < MAX_BESIDE:
            self._beside.append((name, payload, retain, acked))

    def _want_state(self) -> None:
        # Later, after the displays, and one at a time: a state that the next card makes old need not be sent at all.
        if not self._state_due:
            self._state_due = True
            self._loop.call_later(STATE_AFTER, self._send_state)

    def _send_state(self) -> None:
        if self._state_on_the_way or self._connection is None:
            self._state_due = self._connection is not None
            return
        self._state_due = False
        self._state_on_the_way = True
        state = self._words.state(*self._snapshot())
        self._send_beside(self._topics[messages.STATE], state, retain=True, acked=self._state_taken)

    def _state_taken(self) -> None:
        self._state_on_the_way = False
        if self._state_due:
            self._send_state()

    def _send_status(self, *, online: bool, acked: Callable[[], None] = _nothing) -> None:
        status = self._words.status(online=online, connection=self._connections)
        self._send_beside(self._topics[messages.STATUS], status, retain=True, acked=acked)

    def _send_health(self) -> None:
        health = self._words.health(self._source.last_seq, self._report())
        self._send_beside(self._topics[messages.HEALTH], health)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._settings.health_interval)
            if self._welcome:
                # Again, because the late will of an older connection may have replaced it at the broker.
                self._send_status(online=True)
                self._send_health()
                self._pump()

    # What comes in.

    def _message(self, name: str, payload: bytes, retained: bool) -> None:
        if name == self._topics[messages.RESEND_REQUEST] and self._desk is not None and not retained:
            self._desk.take(payload)
        elif name == self._topics[messages.WAGERS_IN] and self._inlet is not None:
            self._inlet.take(payload, retained=retained)

    def _send_again(self, consumer: str, payload: bytes, acked: Callable[[], None]) -> None:
        name = topic(self._identity.site, self._identity.table, f"{messages.RESEND}/{consumer}")
        self._send_beside(name, payload, acked=acked)

    def _answer_wager(self, payload: bytes) -> None:
        self._send_beside(self._topics[messages.WAGERS_OUT], payload)


def _routes(topics: dict[str, str], *, wagers: bool) -> dict[str, tuple[str, ...]]:
    """Return the topics of those facts that go out on more than `events`."""
    also = dict(messages.ALSO_ON)
    if wagers:
        also |= dict.fromkeys(messages.ANSWERS_TO_WAGERS, messages.WAGERS_OUT)
    return {kind: (topics[messages.EVENTS], topics[channel]) for kind, channel in also.items()}
