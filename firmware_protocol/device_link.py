"""Device side of the link: greets the host, keeps events until they are acknowledged, hands out commands.

It never acts: bytes and times go in, `events()` and `data_to_send()` come out. A simulated shoe is built on it, and
the C reference does the same in the same order.

Rule 1: (session, number) never means two things. An event is in the memory before its first byte is sent, and a
device that lost its memory begins another session. If the memory is to survive power cuts, save `snapshot()` after
each call and before the bytes of `data_to_send()` leave.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from firmware_protocol import timing
from firmware_protocol.auth import check_key, greeting_key, link_key, seal, unseal
from firmware_protocol.codes import (
    COMMAND_KINDS,
    SEALED,
    BeatFlag,
    HelloFlag,
    Kind,
    QueryFlag,
    Status,
    Verdict,
)
from firmware_protocol.commands import Command, UnknownCommand
from firmware_protocol.delivery import Ack, Beat, Replay
from firmware_protocol.device_commands import CommandRecord
from firmware_protocol.device_memory import CAPACITY, DeviceMemory, EventMemory
from firmware_protocol.device_outbox import Outbox
from firmware_protocol.drops import Drop, DropCounts
from firmware_protocol.errors import MessageError, SettingError
from firmware_protocol.events import Happening
from firmware_protocol.frames import Decoder, encode_frame
from firmware_protocol.greeting import NO_NONCE, Hello, Identity, Query, Welcome
from firmware_protocol.happenings import pack_happening
from firmware_protocol.messages import read_from_host


class DeviceState(Enum):
    """Where the device is with its host."""

    CLOSED = auto()  # no transport
    AWAY = auto()  # announcing itself
    GREETING = auto()  # has said hello to a query, waits for the welcome
    UP = auto()
    REFUSED = auto()  # announcing itself, seldom


@dataclass(frozen=True, slots=True)
class HostUp:
    """A host has welcomed us."""

    authenticated: bool


@dataclass(frozen=True, slots=True)
class HostLost:
    """The host is gone: shut the gate."""


@dataclass(frozen=True, slots=True)
class HostRefusedUs:
    """The host has refused us: keep the gate shut and show it."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Health:
    """What the device itself counts and knows, for the heartbeat."""

    reads: int = 0
    retries: int = 0
    misses: int = 0
    gate_open: bool = False
    lid_open: bool = False


DeviceEvent = HostUp | HostLost | HostRefusedUs | Command


class DeviceLink:
    """The device's end of one line. `new_session` gives a number that this device never had, `nonce` 16 fresh bytes."""

    def __init__(
        self,
        identity: Identity,
        memory: DeviceMemory,
        *,
        nonce: Callable[[], bytes],
        new_session: Callable[[], int],
        key: bytes | None = None,
        require_auth: bool = False,
        capacity: int = CAPACITY,
        booted: float = 0.0,
    ) -> None:
        if require_auth and key is None:
            raise SettingError("this device is to require an authenticated link, but it has no key")
        self.identity = identity
        self.memory = EventMemory(memory, capacity)
        self.state = DeviceState.CLOSED
        self.authenticated = False
        self.health = Health()
        self._nonce = nonce
        self._new_session = new_session
        self._key = check_key(key) if key is not None else None
        self._require_auth = require_auth
        self._booted = booted
        self._decoder = Decoder()
        self._out: list[bytes] = []
        self._events: list[DeviceEvent] = []
        self._host_nonce = NO_NONCE
        self._device_nonce = NO_NONCE
        self._host_has_key = False
        self._link_key: bytes | None = None
        self._outbox = Outbox(self.memory)
        self._commands = CommandRecord()
        self._hello_at: float | None = None
        self._beat_at: float | None = None
        self._heard = 0.0

    @property
    def drops(self) -> DropCounts:
        """What arrived and was not used, by reason."""
        return self._decoder.drops

    @property
    def may_feed(self) -> bool:
        """Whether a card may be let out: a host is there and there is room to keep what happens."""
        return self.state is DeviceState.UP and self.memory.may_feed

    def snapshot(self) -> DeviceMemory:
        """Give what must survive a power cut, if anything does."""
        return self.memory.snapshot()

    def events(self) -> list[DeviceEvent]:
        """Give what has come up since the last call: commands to carry out, and news of the host."""
        events, self._events = self._events, []
        return events

    def data_to_send(self) -> bytes:
        """Give the bytes to send since the last call."""
        data = b"".join(self._out)
        self._out.clear()
        return data

    def connection_made(self, now: float) -> None:
        """Begin: the transport is there."""
        self._decoder.reset()
        self._out.clear()
        self._away(now)
        self._renew_session(now)

    def connection_lost(self, now: float) -> None:  # noqa: ARG002 - every call of a link takes the time
        """Stop: the transport is gone. Nothing that waits to be sent is sent on the next one."""
        self._leave(DeviceState.CLOSED)
        self._out.clear()

    def report(self, happening: Happening, now: float) -> bool:
        """Keep an event and send it when it may be. False: no room, it is lost (the place of the loss is kept)."""
        kind, content = pack_happening(happening)
        self._renew_session(now)
        kept = self.memory.add(kind, content)
        self._pump(now)
        return kept

    def answer(self, command_id: int, status: Status) -> None:
        """Say what became of a command. A repetition of that command is answered the same without being handed out."""
        answer = self._commands.answer(command_id, status) if self.state is DeviceState.UP else None
        if answer is not None:
            self._send(answer.to_bytes())

    def receive_data(self, data: bytes, now: float) -> None:
        """Take bytes from the host."""
        if self.state is DeviceState.CLOSED:
            return
        for frame in self._decoder.feed(data):
            drop = self._on_body(frame.body, now)
            if drop is not None:
                self.drops[drop] += 1
        self._pump(now)

    def next_deadline(self) -> float | None:
        """Give the time at which `tick` wants to be called."""
        times = [at for at in (self._hello_at, self._beat_at, self._outbox.resend_at) if at is not None]
        if self.state in (DeviceState.UP, DeviceState.GREETING):
            times.append(self._heard + timing.SILENCE)
        return min(times, default=None)

    def tick(self, now: float) -> None:
        """Do what is due."""
        if self.state in (DeviceState.UP, DeviceState.GREETING) and now >= self._heard + timing.SILENCE:
            self._away(now)
        if self._hello_at is not None and now >= self._hello_at:
            self._send_hello()
            pause = timing.REFUSED_RETRY if self.state is DeviceState.REFUSED else timing.ANNOUNCE
            self._hello_at = now + pause
        if self._beat_at is not None and now >= self._beat_at:
            self._beat(now)
        self._outbox.tick(now)
        self._pump(now)

    # --- what arrives -------------------------------------------------------------------------------------------

    def _on_body(self, body: bytes, now: float) -> Drop | None:
        kind = body[0] & ~SEALED
        if kind == Kind.WELCOME:
            return self._on_welcome_body(body, now)
        if kind != Kind.QUERY:
            if self.state is not DeviceState.UP:
                return Drop.OUT_OF_PLACE
            if self._link_key is not None:
                opened = unseal(body, self._link_key)
                if opened is None:
                    return Drop.BAD_SEAL if body[0] & SEALED else Drop.NOT_SEALED
                body = opened
        message = read_from_host(body)
        if isinstance(message, Query):
            return self._on_query(message, now)
        if message is Drop.MALFORMED and kind in COMMAND_KINDS:
            return self._on_malformed_command(body)
        if isinstance(message, Drop):
            return message
        self._heard = now
        if isinstance(message, Ack):
            drop = self._outbox.acknowledged(message, now)
            self._renew_session(now)
            return drop
        if isinstance(message, Replay):
            return self._outbox.replay(message)
        assert not isinstance(message, Welcome)
        return self._on_command(message)

    def _on_query(self, query: Query, now: float) -> Drop | None:
        if query.nonce == NO_NONCE:
            return Drop.MALFORMED
        known = query.nonce == self._host_nonce and self.state in (DeviceState.UP, DeviceState.GREETING)
        if not known:
            self._leave(DeviceState.GREETING)
            self._host_nonce = query.nonce
            self._device_nonce = self._nonce()
            self._host_has_key = QueryFlag.HAS_KEY in query.flags
            self._heard = now
        self._send_hello()
        return None

    def _on_welcome_body(self, body: bytes, now: float) -> Drop | None:
        sealed = False
        if body[0] & SEALED:
            opened = unseal(body, greeting_key(self._key)) if self._key is not None else None
            if opened is None:
                return Drop.BAD_SEAL
            body, sealed = opened, True
        message = read_from_host(body)
        if not isinstance(message, Welcome):
            assert isinstance(message, Drop)
            return message
        return self._on_welcome(message, sealed=sealed, now=now)

    def _on_welcome(self, welcome: Welcome, *, sealed: bool, now: float) -> Drop | None:
        if self.state not in (DeviceState.GREETING, DeviceState.UP):
            return Drop.OUT_OF_PLACE
        if welcome.verdict is Verdict.OTHER_VERSION:
            return self._on_refusal(welcome.verdict, now)
        if (
            welcome.host_nonce != self._host_nonce
            or welcome.device_nonce != self._device_nonce
            or welcome.session != self.memory.session
        ):
            return Drop.STALE
        if welcome.verdict in (Verdict.KEY_REQUIRED, Verdict.WRONG_KEY):
            return self._on_refusal(welcome.verdict, now)
        if not sealed and (self._sealing or self._require_auth):
            return Drop.NOT_SEALED
        if welcome.resume > self.memory.next and welcome.verdict is Verdict.ACCEPTED:
            return Drop.MALFORMED
        if self.state is DeviceState.GREETING:
            self.memory.drop_before(welcome.resume)
            if welcome.verdict is Verdict.SESSION_TAKEN:
                self._begin_session(now)
                return None
            self._enter_up(now, sealed=sealed)
        self._beat(now)  # tells the host that its welcome has arrived
        return None

    def _enter_up(self, now: float, *, sealed: bool) -> None:
        assert not sealed or self._key is not None
        self.state = DeviceState.UP
        self.authenticated = sealed
        if self._key is not None and sealed:
            self._link_key = link_key(self._key, self._host_nonce, self._device_nonce)
        self.memory.fresh = False
        self._heard = now
        self._commands.begin()
        self._outbox.begin()
        self._events.append(HostUp(sealed))

    def _on_refusal(self, verdict: Verdict, now: float) -> Drop | None:
        if self.state is not DeviceState.GREETING:
            return Drop.OUT_OF_PLACE
        self._leave(DeviceState.REFUSED)
        self._hello_at = now + timing.REFUSED_RETRY
        self._events.append(HostRefusedUs(verdict))
        return None

    def _on_command(self, command: Command) -> Drop | None:
        if not self._commands.is_new(command.command_id):
            self._answer_again(command.command_id)
            return Drop.DUPLICATE
        if isinstance(command, UnknownCommand):
            self.answer(command.command_id, Status.NOT_SUPPORTED)
            return Drop.UNKNOWN_TYPE
        self._events.append(command)
        return None

    def _on_malformed_command(self, body: bytes) -> Drop:
        try:
            command_id = UnknownCommand.from_bytes(body).command_id
        except MessageError:
            return Drop.MALFORMED
        if self._commands.is_new(command_id):
            self.answer(command_id, Status.BAD_ARGUMENT)
        else:
            self._answer_again(command_id)
        return Drop.MALFORMED

    def _answer_again(self, command_id: int) -> None:
        answer = self._commands.answer_again(command_id)
        if answer is not None:
            self._send(answer.to_bytes())

    # --- what goes out ------------------------------------------------------------------------------------------

    @property
    def _sealing(self) -> bool:
        """Whether this greeting is sealed: both ends have a key."""
        return self._key is not None and self._host_has_key

    def _send_hello(self) -> None:
        greeting = self.state in (DeviceState.GREETING, DeviceState.UP)
        flags = (
            (HelloFlag.FRESH if self.memory.fresh else HelloFlag(0))
            | (HelloFlag.OVERFLOWED if self.memory.overflowed else HelloFlag(0))
            | (HelloFlag.HAS_KEY if self._key is not None else HelloFlag(0))
            | (HelloFlag.REQUIRES_KEY if self._require_auth else HelloFlag(0))
        )
        body = Hello(
            self.identity,
            self.memory.session,
            self.memory.first,
            self.memory.next,
            flags,
            self._host_nonce if greeting else NO_NONCE,
            self._device_nonce if greeting else NO_NONCE,
        ).to_bytes()
        if greeting and self._sealing and self._key is not None:
            body = seal(body, greeting_key(self._key))
        self._out.append(encode_frame(body))

    def _beat(self, now: float) -> None:
        self._beat_at = now + timing.HEARTBEAT
        health = self.health
        flags = (
            (BeatFlag.GATE_OPEN if health.gate_open else BeatFlag(0))
            | (BeatFlag.LID_OPEN if health.lid_open else BeatFlag(0))
            | (BeatFlag.OVERFLOWED if self.memory.overflowed else BeatFlag(0))
        )
        broken = sum(self.drops[drop] for drop in (Drop.OVERSIZED, Drop.TOO_SHORT, Drop.BAD_CRC, Drop.BAD_STUFFING))
        uptime_ms = max(0, int((now - self._booted) * 1000))
        memory = self.memory
        beat = Beat(
            memory.session,
            memory.next,
            flags,
            uptime_ms,
            len(memory),
            health.reads,
            health.retries,
            health.misses,
            broken,
        )
        self._send(beat.to_bytes())

    def _pump(self, now: float) -> None:
        """Send the events that the window allows."""
        if self.state is DeviceState.UP:
            for body in self._outbox.bodies(now):
                self._send(body)

    def _send(self, body: bytes) -> None:
        if self._link_key is not None:
            body = seal(body, self._link_key)
        self._out.append(encode_frame(body))

    # --- coming and going ---------------------------------------------------------------------------------------

    def _leave(self, state: DeviceState) -> None:
        if self.state is DeviceState.UP:
            self._events.append(HostLost())
        self.state = state
        self.authenticated = False
        self._link_key = None
        self._host_nonce = self._device_nonce = NO_NONCE
        self._host_has_key = False
        self._hello_at = self._beat_at = None
        self._outbox.stop()

    def _away(self, now: float) -> None:
        self._leave(DeviceState.AWAY)
        self._hello_at = now  # the first announcement goes out with the next tick

    def _renew_session(self, now: float) -> None:
        if self.memory.session_used_up:
            self._begin_session(now)

    def _begin_session(self, now: float) -> None:
        session = self._new_session()
        while session in (0, self.memory.session):
            session = self._new_session()
        self.memory.begin_session(session)
        if self.state is not DeviceState.CLOSED:
            self._away(now)
