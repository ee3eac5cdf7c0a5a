"""The link to the brokers: keeps a connection to one of them, for ever, and goes on to the next if it fails."""

import asyncio
import logging
import math
import time
from collections.abc import Callable

from shoe_controller.outputs.errors import FeedError, OtherVersionError, TakenOverError
from shoe_controller.outputs.mqtt_connection import MqttConnection, OnMessage, Will
from shoe_controller.outputs.retry import Backoff, Complaint
from shoe_controller.outputs.settings import Broker, MqttSettings, parse_broker

LOGGER = logging.getLogger(__name__)
# A connection that is lost sooner than this is no reason to come back quickly: two tables of one name would throw each
# other out for ever.
STEADY = 10.0
OnUp = Callable[[MqttConnection], None]


class BrokerLink:
    """Connects to the brokers in turn; `on_up` gets each new connection, `on_down` is called when it has ended."""

    def __init__(
        self,
        settings: MqttSettings,
        client_id: str,
        *,
        on_up: OnUp,
        on_down: Callable[[], None],
        on_message: OnMessage,
        will: Callable[[], Will | None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._client_id = client_id
        self._brokers = [parse_broker(url) for url in settings.brokers]
        self._on_up = on_up
        self._on_down = on_down
        self._on_message = on_message
        self._will = will
        self._older: set[Broker] = set()  # those that have just turned version 5 down
        self._backoff = Backoff(*settings.backoff)
        self._complaint = Complaint(LOGGER)
        self._proved_at = math.inf
        self.connection: MqttConnection | None = None
        self.detail = "not connected yet"

    async def run(self) -> None:
        """Connect, stay, connect again, until cancelled. The caller closes the last connection."""
        turn = 0
        while True:
            broker = self._brokers[turn]
            error = await self._connect_and_stay(broker)
            if isinstance(error, OtherVersionError) and self._settings.version == "auto" and broker not in self._older:
                self._older.add(broker)
                continue
            # It may have been updated, or have hung up for another reason: version 5 gets its chance again.
            self._older.discard(broker)
            self.detail = str(error)
            self._complaint.fail(self.detail)
            turn = (turn + 1) % len(self._brokers)
            if isinstance(error, TakenOverError):
                # Coming back at once would throw the other one out in turn, for ever.
                await asyncio.sleep(self._settings.backoff[1])
            elif turn == 0:
                await asyncio.sleep(self._backoff.wait())

    def proved(self) -> None:
        """Note that the broker takes our messages; only now is it said that all is well."""
        self._proved_at = time.monotonic()
        connection = self.connection
        if connection is not None:
            self.detail = f"{connection.broker}, MQTT {connection.version}"
            self._complaint.mend(f"the broker {connection.broker} takes our messages (MQTT {connection.version})")

    async def _connect_and_stay(self, broker: Broker) -> FeedError:
        version = self._settings.version
        if version == "auto":
            version = "3.1.1" if broker in self._older else "5"
        connection = MqttConnection(
            broker,
            self._settings,
            version=version,
            client_id=self._client_id,
            on_message=self._on_message,
            will=self._will(),
        )
        try:
            await connection.open()
        except FeedError as error:
            return error
        self.connection = connection
        self._proved_at = math.inf
        self._on_up(connection)
        ended = await asyncio.shield(connection.ended)
        if time.monotonic() - self._proved_at > STEADY:
            self._backoff.reset()
        connection.abort()
        self.connection = None
        self._on_down()
        return ended
