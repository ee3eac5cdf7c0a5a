"""One connection to one broker, from CONNECT to its end, on a socket of the event loop.

A publish writes at once. A connection that ended is thrown away with all that it knew, because what must be sent again
is a question for the journal's cursor alone: nothing is kept and sent again here, no session is left at the broker.

Everything runs in the loop, except name look-up, TCP and TLS handshake, which can block for seconds.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

import msgspec

from drivers.aside import aside
from shoe_controller.config.secret_files import SecretFileError, read_password
from shoe_controller.outputs import mqtt_packets as packets
from shoe_controller.outputs.errors import BrokerError, FeedSettingsError, OtherVersionError, TakenOverError
from shoe_controller.outputs.mqtt_packets import Kind, Packet, PacketError, PacketReader, is_failure, reason_text
from shoe_controller.outputs.settings import Broker, MqttSettings
from shoe_controller.outputs.tls import hear_verdict, tls_context, tls_sentence

# Requests that we take from the network are a few hundred bytes; more than this is no request.
MAX_INCOMING = 65_536
READ_SIZE = 65_536
_NOT_NOW = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_OTHER_VERSION, _TAKEN_OVER = 0x84, 0x8E
_REFUSALS = {
    0x85: "does not accept the client id: check `client_id`",
    0x86: "does not accept our user name or password: check `user` and `password_file`",
    0x87: "does not let us in: check `user` and `password_file`, or our certificate, and its access list",
    0x88: "has no service to offer at the moment",
    0x8A: "has banned us: ask whoever runs it",
}

OnMessage = Callable[[str, bytes, bool], None]  # topic, payload, retained
OnAck = Callable[[], None]


class Will(msgspec.Struct, frozen=True):
    """What the broker shall publish (retained) if we vanish."""

    topic: str
    payload: bytes


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
        self._client_id = client_id
        self._on_message = on_message
        self._will = will
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[BrokerError] = self._loop.create_future()
        self.on_room: Callable[[], None] = lambda: None  # called when acks made room in the window
        self._connected: asyncio.Future[None] = self._loop.create_future()
        self._mid = 0
        self._waiting: dict[int, tuple[float, OnAck]] = {}
        self._subscribing: dict[int, tuple[str, OnAck]] = {}
        self._window = settings.window
        self._socket: socket.socket | None = None
        self._fd = -1
        self._reader = PacketReader(MAX_INCOMING)
        self._unsent = bytearray()
        self._writing = False
        self._heard = self._said = time.monotonic()
        self._asked: float | None = None  # a ping that is not answered yet
        self._keepalive = float(settings.keepalive)
        self._idle: asyncio.Future[None] | None = None
        self._ticker: asyncio.TimerHandle | None = None
        self._tick_seconds = min(1.0, settings.ack_timeout / 4)
        self._handlers: dict[int, Callable[[Packet], None]] = {
            Kind.CONNACK: self._on_welcome,
            Kind.PUBLISH: self._on_publish,
            Kind.PUBACK: self._on_receipt,
            Kind.SUBACK: self._on_grant,
            Kind.PINGRESP: self._on_pong,
            Kind.DISCONNECT: self._on_farewell,
        }

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
            sock, greeting = await aside(self._connect, undo=lambda made: made[0].close())
            self._socket = sock
            await self._shake_hands(sock, greeting)
        except BaseException:
            self.abort()
            raise

    async def _shake_hands(self, sock: socket.socket, greeting: bytes) -> None:
        self._fd = sock.fileno()
        self._heard = time.monotonic()
        self._loop.add_reader(self._fd, self._readable)
        self._ticker = self._loop.call_later(self._tick_seconds, self._tick)
        self._send(greeting)
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
        if not self.ended.done():
            mid = self._new_mid()
            self._waiting[mid] = (time.monotonic(), acked)
            self._send(packets.publish(topic, payload, mid, version=self._version, retain=retain))

    def subscribe(self, topic: str, granted: OnAck = lambda: None) -> None:
        """Ask for the messages of a topic; `granted` is called when they will come. A refusal ends the connection."""
        if not self.ended.done():
            mid = self._new_mid()
            self._subscribing[mid] = (topic, granted)
            self._send(packets.subscribe(topic, mid, version=self._version))

    def _new_mid(self) -> int:
        """Return the next number that no message on its way has."""
        while True:
            self._mid = self._mid % packets.MAX_MID + 1
            if self._mid not in self._waiting and self._mid not in self._subscribing:
                return self._mid

    async def close(self, within: float) -> None:
        """Wait until the broker has everything, for at most `within` seconds, and say good-bye."""
        if self._waiting and not self.ended.done():
            self._idle = self._loop.create_future()
            either: set[asyncio.Future[Any]] = {self._idle, self.ended}
            await asyncio.wait(either, timeout=within, return_when=asyncio.FIRST_COMPLETED)
        if not self.ended.done():
            self._send(packets.DISCONNECT)
        self.abort()

    def abort(self, error: BrokerError | None = None) -> None:
        """End the connection without a word, so that the broker publishes our will."""
        if not self.ended.done():
            self.ended.set_result(error or BrokerError(f"the connection to {self._broker} was closed by us"))
        self._connected.cancel()
        if self._ticker is not None:
            self._ticker.cancel()
        self._let_go()
        if self._socket is not None:
            self._socket.close()

    # What happens in the thread that connects.

    def _connect(self) -> tuple[socket.socket, bytes]:
        """Return a connected socket that does not block, and the first packet for it."""
        access = self._settings.access
        user = password = None
        if access.password_file or access.user:
            user = access.user
            try:
                password = read_password(access.password_file).encode() if access.password_file else None
            except SecretFileError as error:
                raise FeedSettingsError(str(error)) from error
        greeting = packets.connect(
            self._client_id,
            version=self._version,
            keepalive=self._settings.keepalive,
            most=MAX_INCOMING,
            user=user,
            password=password,
            will=None if self._will is None else (self._will.topic, self._will.payload),
        )
        context = tls_context(access) if self._broker.tls else None
        try:
            return self._connect_socket(context), greeting
        except OSError as error:
            raise BrokerError(self._connect_sentence(error)) from error

    def _connect_socket(self, context: ssl.SSLContext | None) -> socket.socket:
        sock = socket.create_connection((self._broker.host, self._broker.port), self._settings.connect_timeout)
        try:
            # Without it a card waits up to 40 ms for the ack of the packet before it.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is not None:
                sock = context.wrap_socket(sock, server_hostname=self._broker.host)
            sock.setblocking(False)
            if isinstance(sock, ssl.SSLSocket):
                hear_verdict(sock)
        except BaseException:
            sock.close()
            raise
        return sock

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
        sock = self._socket
        assert sock is not None
        more = True
        while more and not self.ended.done():
            try:
                data = sock.recv(READ_SIZE)
            except _NOT_NOW:
                return
            except OSError as error:
                self._lost(error)
                return
            if not data:
                self._lost(None)
                return
            self._take(data)
            # Bytes that OpenSSL has already taken from the socket wake no selector.
            more = isinstance(sock, ssl.SSLSocket) and sock.pending() > 0

    def _take(self, data: bytes) -> None:
        self._heard = time.monotonic()
        receipts = len(self._waiting)
        try:
            for packet in self._reader.feed(data):
                self._handle(packet)
                if self.ended.done():
                    return
        except PacketError as error:
            self._fail(BrokerError(f"the broker {self._broker} sends what is not MQTT ({error}): is it a broker?"))
            return
        if len(self._waiting) < receipts:
            if self._idle is not None and not self._waiting and not self._idle.done():
                self._idle.set_result(None)
            self.on_room()

    def _handle(self, packet: Packet) -> None:
        handler = self._handlers.get(packet.kind)
        if handler is None or (packet.kind != Kind.CONNACK and not self._connected.done()):
            raise PacketError("a packet that no broker sends")
        handler(packet)

    def _send(self, data: bytes) -> None:
        """Send now what the kernel takes, the rest as soon as it can."""
        if self._unsent:
            self._unsent += data
            return
        sent = self._write(data)
        if sent < len(data) and not self.ended.done():
            self._unsent += data[sent:]
            self._writing = True
            self._loop.add_writer(self._fd, self._writable)

    def _write(self, data: bytes | bytearray) -> int:
        assert self._socket is not None
        try:
            sent = self._socket.send(data)
        except _NOT_NOW:
            return 0
        except OSError as error:
            self._lost(error)
            return 0
        self._said = time.monotonic()
        return sent

    def _writable(self) -> None:
        del self._unsent[: self._write(self._unsent)]
        if not self._unsent and self._writing:
            self._writing = False
            self._loop.remove_writer(self._fd)

    def _tick(self) -> None:
        self._ticker = self._loop.call_later(self._tick_seconds, self._tick)
        now = time.monotonic()
        oldest = next(iter(self._waiting.values()), None)
        if oldest is not None and now - oldest[0] > self._settings.ack_timeout:
            self.abort(
                BrokerError(
                    f"the broker {self._broker} has not acknowledged a message for {self._settings.ack_timeout:g} s:"
                    " connecting again"
                )
            )
        elif self._keepalive and self._connected.done():
            self._keep_alive(now)

    def _keep_alive(self, now: float) -> None:
        if self._asked is not None:
            if now - self._asked > self._keepalive:
                self.abort(BrokerError(f"the broker {self._broker} was lost (it is silent): connecting again"))
        elif now - min(self._heard, self._said) >= self._keepalive:
            self._asked = now
            self._send(packets.PING)

    def _let_go(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            self._fd = -1
            self._writing = False

    def _lost(self, error: OSError | None) -> None:
        """Note that the line is gone: `error` is what the system says, None if the broker hung up."""
        name = f"the broker {self._broker}"
        words = tls_sentence(error) if isinstance(error, ssl.SSLError) else None
        if self._connected.done():
            reason = "it hung up" if error is None else error.strerror or error
            self._fail(BrokerError(f"{name} {words or f'was lost ({reason})'}"))
            return
        sentence = f"{name} {words or 'closed the connection before it answered'}"
        # Brokers that do not know version 5 should say so, but some just hang up.
        self._fail(OtherVersionError(sentence) if self._version == packets.VERSION_5 else BrokerError(sentence))

    def _fail(self, error: BrokerError) -> None:
        if not self.ended.done():
            self.ended.set_result(error)
        if not self._connected.done():
            self._connected.set_exception(error)
        self._let_go()

    # What the broker says.

    def _on_welcome(self, packet: Packet) -> None:
        if self._connected.done():
            raise PacketError("a second answer to CONNECT")
        welcome = packets.read_welcome(packet.body, self._version)
        name = f"the broker {self._broker}"
        if welcome.reason == _OTHER_VERSION:
            self._fail(OtherVersionError(f"{name} does not speak MQTT {self._version}"))
        elif is_failure(welcome.reason):
            words = _REFUSALS.get(welcome.reason, f"refuses us ({reason_text(welcome.reason)})")
            self._fail(BrokerError(f"{name} {words}"))
        elif welcome.maximum_qos < 1:
            self._fail(BrokerError(f"{name} offers QoS 0 only, which may lose messages: allow QoS 1 there"))
        else:
            self._window = max(1, min(self._window, welcome.receive_maximum))
            if welcome.keep_alive is not None:
                self._keepalive = float(welcome.keep_alive)
            self._connected.set_result(None)

    def _on_publish(self, packet: Packet) -> None:
        message = packets.read_message(packet, self._version)
        if message.mid:
            self._send(packets.acknowledge(message.mid))
        if packet.whole:
            self._on_message(message.topic, message.payload, message.retained)

    def _on_receipt(self, packet: Packet) -> None:
        mid, reason = packets.read_receipt(packet.body)
        if is_failure(reason):
            self.abort(
                BrokerError(
                    f"the broker {self._broker} refuses our messages ({reason_text(reason)}): check its access list for"
                    " this table, and its limits"
                )
            )
            return
        waiting = self._waiting.pop(mid, None)
        if waiting is not None:
            waiting[1]()

    def _on_grant(self, packet: Packet) -> None:
        mid, reason = packets.read_grant(packet.body, self._version)
        topic, granted = self._subscribing.pop(mid, ("a topic", lambda: None))
        if is_failure(reason):
            self.abort(BrokerError(f"the broker {self._broker} does not let us read {topic}: check its access list"))
        else:
            granted()

    def _on_pong(self, _packet: Packet) -> None:
        self._asked = None

    def _on_farewell(self, packet: Packet) -> None:
        reason = packets.read_farewell(packet.body)
        name = f"the broker {self._broker}"
        if reason == _TAKEN_OVER:
            sentence = f"{name} let another client in under our client id: are two controllers set up as this table?"
            self._fail(TakenOverError(sentence))
        else:
            self._fail(BrokerError(f"{name} ended the connection ({reason_text(reason)})"))
