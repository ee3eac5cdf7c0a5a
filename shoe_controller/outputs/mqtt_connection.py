"""One connection to one broker: paho's client driven by the event loop, from CONNECT to its end.

paho would run a thread, reconnect by itself and send again what it remembers. Here it does none of that: the loop
calls it when its socket can be read, a publish writes at once, and a connection that ended is thrown away with all
that paho knows, because what must be sent again is a question for the journal's cursor alone.

Everything runs in the loop, except name look-up, TCP and TLS handshake, which can block for seconds.
"""

import asyncio
import logging
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from drivers.aside import aside
from shoe_controller.config.secret_files import SecretFileError, read_password
from shoe_controller.outputs.errors import BrokerError, FeedSettingsError, OtherVersionError, TakenOverError
from shoe_controller.outputs.settings import Broker, MqttSettings
from shoe_controller.outputs.tls import hear_verdict, tls_context, tls_sentence

# Requests that we take from the network are a few hundred bytes; more than this is no request.
MAX_INCOMING = 65_536
_PROTOCOLS = {"3.1.1": MQTTProtocolVersion.MQTTv311, "5": MQTTProtocolVersion.MQTTv5}
_REFUSALS = {
    "Bad user name or password": "does not accept our user name or password: check `user` and `password_file`",
    "Not authorized": "does not let us in: check `user` and `password_file`, or our certificate, and its access list",
    "Client identifier not valid": "does not accept the client id: check `client_id`",
    "Server unavailable": "has no service to offer at the moment",
    "Banned": "has banned us: ask whoever runs it",
}

OnMessage = Callable[[str, bytes, bool], None]  # topic, payload, retained
OnAck = Callable[[], None]


class Will(msgspec.Struct, frozen=True):
    """What the broker shall publish (retained) if we vanish."""

    topic: str
    payload: bytes


class _LastError(logging.Logger):
    """Keeps the last error of paho, which tells of a TLS alert or a reset nowhere else."""

    def __init__(self) -> None:
        super().__init__("paho", logging.ERROR)
        self.text = ""

    def handle(self, record: logging.LogRecord) -> None:
        self.text = record.getMessage()


class MqttConnection:
    """A connection that is opened once, lives, and ends once; `ended` then holds the reason."""

    def __init__(
        self,
        broker: Broker,
        settings: MqttSettings,
        *,
        version: str,
        client_id: str,
        on_message: OnMessage,
        will: Will | None,
    ) -> None:
        self._broker = broker
        self._settings = settings
        self._version = version
        self._on_message = on_message
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[BrokerError] = self._loop.create_future()
        self.on_room: Callable[[], None] = lambda: None  # called when acks made room in the window
        self._connected: asyncio.Future[None] = self._loop.create_future()
        self._waiting: dict[int, tuple[float, OnAck]] = {}
        self._acked: list[tuple[int, ReasonCode]] = []
        self._arrived: list[tuple[str, bytes, bool]] = []
        self._subscribing: dict[int, tuple[str, OnAck]] = {}
        self._window = settings.window
        self._fd = -1
        self._writing = False
        self._idle: asyncio.Future[None] | None = None
        self._ticker: asyncio.TimerHandle | None = None
        self._tick_seconds = min(1.0, settings.ack_timeout / 4)
        self._error = _LastError()
        self._client = self._new_client(client_id, will)

    @property
    def room(self) -> int:
        """How many messages may be published now without overrunning the window."""
        return 0 if self.ended.done() else self._window - len(self._waiting)

    @property
    def window(self) -> int:
        """How many messages may be on their way at once."""
        return self._window

    @property
    def broker(self) -> Broker:
        """The broker at the other end."""
        return self._broker

    @property
    def version(self) -> str:
        """The version of MQTT spoken."""
        return self._version

    async def open(self) -> None:
        """Connect, or raise BrokerError or FeedSettingsError with a sentence that says why not."""
        try:
            await aside(self._connect, undo=lambda _: self._close_socket())
            await self._shake_hands()
        except BaseException:
            self.abort()
            raise

    async def _shake_hands(self) -> None:
        sock = self._client.socket()
        if sock is None:
            raise BrokerError(self._lost_sentence("closed the connection at once"))
        # Not before: until here paho called from another thread.
        self._client.on_connect = self._on_connect
        self._client.on_disconnect = self._on_disconnect
        self._client.on_publish = self._on_publish
        self._client.on_message = self._on_paho_message
        self._client.on_subscribe = self._on_subscribe
        self._client.on_socket_close = self._on_socket_close
        self._fd = sock.fileno()
        self._loop.add_reader(self._fd, self._readable)
        self._ticker = self._loop.call_later(self._tick_seconds, self._tick)
        try:
            async with asyncio.timeout(self._settings.connect_timeout):
                await self._connected
        except TimeoutError:
            raise BrokerError(
                f"the broker {self._broker} takes the connection but does not answer within"
                f" {self._settings.connect_timeout:g} s: is it a broker?"
            ) from None

    def publish(self, topic: str, payload: bytes, acked: OnAck, *, retain: bool = False) -> None:
        """Send a message with QoS 1; `acked` is called when the broker has it, or never if the connection ends."""
        if self.ended.done():
            return
        info = self._client.publish(topic, payload, 1, retain)
        if info.rc == MQTTErrorCode.MQTT_ERR_SUCCESS:
            self._waiting[info.mid] = (time.monotonic(), acked)
        if self._client.want_write():
            self._write_later()

    def subscribe(self, topic: str, granted: OnAck = lambda: None) -> None:
        """Ask for the messages of a topic; `granted` is called when they will come. A refusal ends the connection."""
        if not self.ended.done():
            _, mid = self._client.subscribe(topic, 1)
            if mid is not None:
                self._subscribing[mid] = (topic, granted)
            self._flush()

    async def close(self, within: float) -> None:
        """Wait until the broker has everything, for at most `within` seconds, and say good-bye."""
        if self._waiting and not self.ended.done():
            self._idle = self._loop.create_future()
            either: set[asyncio.Future[Any]] = {self._idle, self.ended}
            await asyncio.wait(either, timeout=within, return_when=asyncio.FIRST_COMPLETED)
        if not self.ended.done():
            self._client.disconnect()
            self._flush()
        self.abort()

    def abort(self, error: BrokerError | None = None) -> None:
        """End the connection without a word, so that the broker publishes our will."""
        if not self.ended.done():
            self.ended.set_result(error or BrokerError(f"the connection to {self._broker} was closed by us"))
        self._connected.cancel()
        if self._ticker is not None:
            self._ticker.cancel()
        self._let_go()
        self._close_socket()

    def _close_socket(self) -> None:
        sock = self._client.socket()
        if sock is not None:
            sock.close()

    # What happens in the thread that connects.

    def _new_client(self, client_id: str, will: Will | None) -> Client:
        client = Client(
            CallbackAPIVersion.VERSION2, client_id, protocol=_PROTOCOLS[self._version], reconnect_on_failure=False
        )
        client.connect_timeout = self._settings.connect_timeout
        client.max_inflight_messages = 0  # the window is ours: paho shall never hold a message back
        client.enable_logger(self._error)
        if will is not None:
            client.will_set(will.topic, will.payload, qos=1, retain=True)
        client.on_socket_open = _prepare_socket
        return client

    def _connect(self) -> None:
        access = self._settings.access
        if access.password_file or access.user:
            try:
                self._client.username_pw_set(
                    access.user, read_password(access.password_file) if access.password_file else None
                )
            except SecretFileError as error:
                raise FeedSettingsError(str(error)) from error
        context = tls_context(access) if self._broker.tls else None
        if context is not None:
            self._client.tls_set_context(context)
        properties = None
        if self._version == "5":
            properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            properties.MaximumPacketSize = MAX_INCOMING
        try:
            self._client.connect(
                self._broker.host, self._broker.port, keepalive=self._settings.keepalive, properties=properties
            )
        except OSError as error:
            if context is not None:
                context.close_socket()
            raise BrokerError(self._connect_sentence(error)) from error

    def _connect_sentence(self, error: OSError) -> str:
        name = f"the broker {self._broker}"
        if isinstance(error, ssl.SSLError) and (words := tls_sentence(error)):
            return f"{name} {words}"
        if isinstance(error, socket.gaierror):
            return f"{name} has no address ({error.strerror}): check its name and this machine's name service"
        if isinstance(error, ConnectionRefusedError):
            return f"{name} refuses the connection: is it running, and is this its port?"
        if isinstance(error, TimeoutError):
            return f"{name} does not answer within {self._settings.connect_timeout:g} s: check network and firewall"
        return f"{name} cannot be reached ({error.strerror or error}): check network, address and port"

    # What happens in the loop.

    def _readable(self) -> None:
        self._client.loop_read()
        sock = self._client.socket()
        while isinstance(sock, ssl.SSLSocket) and sock.pending():
            # Bytes that OpenSSL has already taken from the socket wake no selector.
            self._client.loop_read()
            sock = self._client.socket()
        self._flush()
        if self._acked:
            acked, self._acked = self._acked, []
            self._settle(acked)
        if self._arrived:
            arrived, self._arrived = self._arrived, []
            for topic, payload, retained in arrived:
                self._on_message(topic, payload, retained)

    def _settle(self, acked: list[tuple[int, ReasonCode]]) -> None:
        for mid, reason in acked:
            if reason.is_failure:
                self.abort(
                    BrokerError(
                        f"the broker {self._broker} refuses our messages ({reason}): check its access list for this"
                        " table, and its limits"
                    )
                )
                return
            waiting = self._waiting.pop(mid, None)
            if waiting is not None:
                waiting[1]()
        if self._idle is not None and not self._waiting and not self._idle.done():
            self._idle.set_result(None)
        self.on_room()

    def _flush(self) -> None:
        if self._client.want_write():
            self._client.loop_write()
            if self._client.want_write():
                self._write_later()

    def _write_later(self) -> None:
        if not self._writing and self._fd >= 0:
            self._writing = True
            self._loop.add_writer(self._fd, self._writable)

    def _writable(self) -> None:
        self._client.loop_write()
        if not self._client.want_write() and self._writing:
            self._writing = False
            self._loop.remove_writer(self._fd)

    def _tick(self) -> None:
        self._ticker = self._loop.call_later(self._tick_seconds, self._tick)
        self._client.loop_misc()
        self._flush()
        oldest = next(iter(self._waiting.values()), None)
        if oldest is not None and time.monotonic() - oldest[0] > self._settings.ack_timeout:
            self.abort(
                BrokerError(
                    f"the broker {self._broker} has not acknowledged a message for {self._settings.ack_timeout:g} s:"
                    " connecting again"
                )
            )

    def _let_go(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            self._fd = -1
            self._writing = False

    # What paho tells.

    def _on_connect(
        self, _client: Client, _data: Any, _flags: ConnectFlags, reason: ReasonCode, properties: Properties | None
    ) -> None:
        name = f"the broker {self._broker}"
        if reason.is_failure:
            if str(reason) == "Unsupported protocol version":
                error: BrokerError = OtherVersionError(f"{name} does not speak MQTT {self._version}")
            else:
                error = BrokerError(f"{name} {_REFUSALS.get(str(reason), f'refuses us ({reason})')}")
            self._fail(error)
            return
        if getattr(properties, "MaximumQoS", 1) < 1:
            self._fail(BrokerError(f"{name} offers QoS 0 only, which may lose messages: allow QoS 1 there"))
            return
        self._window = max(1, min(self._window, getattr(properties, "ReceiveMaximum", self._window)))
        self._connected.set_result(None)

    def _on_disconnect(
        self, _client: Client, _data: Any, flags: DisconnectFlags, reason: ReasonCode, _properties: Properties | None
    ) -> None:
        name = f"the broker {self._broker}"
        if flags.is_disconnect_packet_from_server:
            if str(reason) == "Session taken over":
                self._fail(
                    TakenOverError(
                        f"{name} let another client in under our client id: are two controllers set up as this table?"
                    )
                )
            else:
                self._fail(BrokerError(f"{name} ended the connection ({reason})"))
        elif not self._connected.done():
            sentence = self._lost_sentence("closed the connection before it answered")
            # Brokers that do not know version 5 should say so, but some just hang up.
            self._fail(OtherVersionError(sentence) if self._version == "5" else BrokerError(sentence))
        else:
            self._fail(BrokerError(self._lost_sentence(f"was lost ({reason})")))

    def _lost_sentence(self, otherwise: str) -> str:
        return f"the broker {self._broker} {tls_sentence(self._error.text) or otherwise}"

    def _fail(self, error: BrokerError) -> None:
        if not self.ended.done():
            self.ended.set_result(error)
        if not self._connected.done():
            self._connected.set_exception(error)

    def _on_publish(
        self, _client: Client, _data: Any, mid: int, reason: ReasonCode, _properties: Properties | None
    ) -> None:
        self._acked.append((mid, reason))

    def _on_subscribe(
        self, _client: Client, _data: Any, mid: int, reasons: list[ReasonCode], _properties: Properties | None
    ) -> None:
        topic, granted = self._subscribing.pop(mid, ("a topic", lambda: None))
        if any(reason.is_failure for reason in reasons):
            self._loop.call_soon(
                self.abort,
                BrokerError(f"the broker {self._broker} does not let us read {topic}: check its access list"),
            )
        else:
            self._loop.call_soon(granted)

    def _on_paho_message(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        with suppress(UnicodeDecodeError):  # a topic that is no text is none of ours
            self._arrived.append((message.topic, bytes(message.payload), message.retain))

    def _on_socket_close(self, _client: Client, _data: Any, _sock: Any) -> None:
        self._let_go()


def _prepare_socket(_client: Client, _data: Any, sock: Any) -> None:
    # Without it a card waits up to 40 ms for the ack of the packet before it.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if isinstance(sock, ssl.SSLSocket):
        hear_verdict(sock)
