"""Host side of the link: finds the device, hands out its events once and in order, sends acknowledgements and commands.

It never acts: bytes and times go in, `events()` and `data_to_send()` come out.

Rule 1: an event is acknowledged only after `acknowledge`, which means that it is on disk.
Rule 2: an event is handed out once, whatever the wire does, and after a restart too as far as `last_seen` and
`recorded` tell what is on disk.
"""

from collections.abc import Callable
from enum import Enum, auto

from firmware_protocol import timing
from firmware_protocol.admission import Admission, Keys, judge, refuse_version
from firmware_protocol.auth import SEAL_BYTES, check_key, greeting_key, link_key, seal, unseal
from firmware_protocol.codes import FROM_HOST, SEALED, DeviceKind, Kind, LampMode, QueryFlag, Verdict
from firmware_protocol.commands import Answer, Command, Gate, Identify, Lamp, Reboot, SelfTest, SetTime
from firmware_protocol.delivery import Ack, Beat, Event, Replay
from firmware_protocol.drops import Drop, DropCounts
from firmware_protocol.errors import SettingError
from firmware_protocol.events import LinkDown, LinkEvent, LinkRefused, LinkUp, ShoeEvent
from firmware_protocol.frames import Decoder, Frame, encode_frame
from firmware_protocol.greeting import NO_NONCE, ForeignHello, Hello, Query, Welcome
from firmware_protocol.host_commands import CommandQueue
from firmware_protocol.host_intake import Intake
from firmware_protocol.messages import HostMessage, read_from_device

_IN_SESSION = (Event, Beat)


class HostState(Enum):
    """Where the host is with its device."""

    CLOSED = auto()  # no transport
    QUERYING = auto()
    WELCOMING = auto()  # has sent a welcome, waits to hear the device in the new link
    UP = auto()
    REFUSED = auto()


class HostLink:
    """The host's end of one line.

    `nonce` gives 16 fresh random bytes at each call. `last_seen` is the last event on disk (session, number);
    `recorded` tells the last number on disk of any session, for devices that come back after another was in use.
    """

    def __init__(
        self,
        *,
        nonce: Callable[[], bytes],
        last_seen: tuple[int, int] | None = None,
        recorded: Callable[[int], int | None] | None = None,
        key: bytes | None = None,
        require_auth: bool = False,
    ) -> None:
        if require_auth and key is None:
            raise SettingError("require_auth needs the key of this table, and there is none")
        self.state = HostState.CLOSED
        self.authenticated = False
        self._nonce = nonce
        self._key = check_key(key) if key is not None else None
        self._require_auth = require_auth
        self._intake = Intake(last_seen, recorded)
        self._decoder = Decoder()
        self._out: list[bytes] = []
        self._events: list[LinkEvent] = []
        self._commands = CommandQueue(self._send, self._events_append)
        self._now = 0.0
        self._host_nonce = NO_NONCE
        self._hello: Hello | None = None
        self._welcome: Welcome | None = None
        self._welcome_tries = 0
        self._link_key: bytes | None = None
        self._ack_due = False
        self._uptime_ms = -1
        self._refusal = ""
        self._asked_at = 0.0
        self._greet_at: float | None = None  # the next query or welcome
        self._replay_at: float | None = None
        self._ack_at = 0.0
        self._heard = 0.0
        self._silence_told = False
        self._handlers: dict[type, Callable[..., Drop | None]] = {
            Event: self._on_event,
            Beat: self._on_beat,
            Answer: self._on_answer,
        }

    @property
    def session(self) -> int | None:
        """The session of the device, once one was accepted."""
        return self._intake.session or None

    @property
    def drops(self) -> DropCounts:
        """What arrived and was not used, by reason."""
        return self._decoder.drops

    def events(self) -> list[LinkEvent]:
        """Give what has come up since the last call."""
        events = self._events[:]
        self._events.clear()
        return events

    def data_to_send(self) -> bytes:
        """Give the bytes to send since the last call."""
        data = b"".join(self._out)
        self._out.clear()
        return data

    def connection_made(self, now: float) -> None:
        """Begin: the transport is there."""
        if self.state is not HostState.CLOSED:
            self.connection_lost(now)
        self._decoder.reset()
        self._refusal = ""
        self._silence_told = False
        self._heard = now
        self._query(now)

    def connection_lost(self, now: float) -> None:
        """Stop: the transport is gone."""
        self._now = now
        self._leave("the line to the shoe is gone")
        self.state = HostState.CLOSED
        self._greet_at = None
        self._out.clear()

    def receive_data(self, data: bytes, now: float) -> None:
        """Take bytes from the device."""
        self._now = now
        if self.state is HostState.CLOSED:
            return
        for frame in self._decoder.feed(data):
            drop = self._on_frame(frame, now)
            if drop is not None:
                self.drops[drop] += 1
        if self._ack_due:
            self._send_ack(now)

    def acknowledge(self, session: int, number: int) -> None:
        """Say that every event of the session up to this number is on disk. The device may forget them now."""
        if self._intake.commit(session, number) and self.state is HostState.UP:
            self._send_ack(self._now)

    # --- commands: each gives an id, and a CommandAnswered with that id follows -------------------------------------

    def gate(self, is_open: bool) -> int:
        """Open or shut the gate."""
        return self._command(Gate(self._commands.new_id(), is_open))

    def lamp(self, lamp: int, mode: LampMode, red: int = 255, green: int = 255, blue: int = 255) -> int:
        """Set one lamp."""
        return self._command(Lamp(self._commands.new_id(), lamp, mode, red, green, blue))

    def set_time(self, unix_us: int) -> int:
        """Set the wall clock of the device."""
        return self._command(SetTime(self._commands.new_id(), unix_us))

    def self_test(self) -> int:
        """Begin a self-test; its result is an event."""
        return self._command(SelfTest(self._commands.new_id()))

    def identify(self, seconds: int = 5) -> int:
        """Make the device show itself to a person."""
        return self._command(Identify(self._commands.new_id(), seconds))

    def reboot(self) -> int:
        """Restart the device."""
        return self._command(Reboot(self._commands.new_id()))

    def _command(self, command: Command) -> int:
        command.to_bytes()  # a value that has no form on the wire is the caller's error, raised here
        return self._commands.add(command, connected=self.state is HostState.UP)

    # --- time -------------------------------------------------------------------------------------------------------

    def next_deadline(self) -> float | None:
        """Give the time at which `tick` wants to be called."""
        if self.state is HostState.CLOSED:
            return None
        if self.state is not HostState.UP:
            return self._greet_at
        times = [self._heard + timing.SILENCE, self._ack_at]
        others = (self._replay_at, self._commands.next_deadline(self._now))
        return min(times + [at for at in others if at is not None])

    def tick(self, now: float) -> None:
        """Do what is due."""
        self._now = now
        if self.state is HostState.UP:
            self._tick_up(now)
        elif self._greet_at is not None and now >= self._greet_at:
            if self.state is HostState.WELCOMING and self._welcome_tries < timing.WELCOME_TRIES:
                self._send_welcome(now)
            elif self.state is HostState.QUERYING:
                self._send_query(now)  # with the same nonce: an answer that is merely late still counts
            else:
                self._heard = now  # it was heard: what is to be told of it has been told
                self._query(now)
            self._tell_silence(now)

    def _tick_up(self, now: float) -> None:
        if now >= self._heard + timing.SILENCE:
            self._leave(f"the shoe has not been heard for {timing.SILENCE:.0f} seconds")
            self._silence_told = True
            self._query(now)
            return
        self._commands.tick(now)
        if self._replay_at is not None and now >= self._replay_at:
            self._send_replay(now)
        if now >= self._ack_at:
            self._send_ack(now)

    def _tell_silence(self, now: float) -> None:
        if not self._silence_told and now >= self._heard + timing.NO_ANSWER and self.state is HostState.QUERYING:
            self._silence_told = True
            self._events.append(LinkDown("no shoe answers on this line: check its power, the cable and the speed"))

    # --- what arrives -------------------------------------------------------------------------------------------------

    def _on_frame(self, frame: Frame, now: float) -> Drop | None:
        body = frame.body
        kind = body[0]
        if kind & FROM_HOST:
            return Drop.WRONG_DIRECTION
        if kind & ~SEALED == Kind.HELLO:
            return self._on_hello_body(body, now)
        if self.state is not HostState.UP and self.state is not HostState.WELCOMING:
            return Drop.OUT_OF_PLACE
        if self._link_key is not None:
            opened = unseal(body, self._link_key)
            if opened is None:
                return Drop.BAD_SEAL if kind & SEALED else Drop.NOT_SEALED
            body = opened
        message = read_from_device(body)
        if isinstance(message, Drop):
            return message
        if isinstance(message, _IN_SESSION):
            if message.session != self._intake.session:
                return Drop.STALE
            if self.state is HostState.WELCOMING:
                self._enter_up(now)
        elif self.state is HostState.WELCOMING:
            return Drop.OUT_OF_PLACE
        return self._handlers[type(message)](message, frame.raw, now)

    def _on_event(self, event: Event, raw: bytes, now: float) -> Drop | None:
        drop = self._intake.take(event.number)
        if drop is None:
            self._replay_at = None
            self._heard = now
            self._events.append(ShoeEvent(event.session, event.number, event.happening, raw))
        elif drop is Drop.GAP and self._replay_at is None:
            self._send_replay(now)
        elif event.number <= self._intake.committed:
            self._ack_due = True  # our ack was lost
        return drop

    def _on_beat(self, beat: Beat, _raw: bytes, now: float) -> Drop | None:
        if beat.uptime_ms <= self._uptime_ms:
            return Drop.DUPLICATE  # a repetition says nothing about the device being alive now
        self._uptime_ms = beat.uptime_ms
        self._heard = now
        self._events.append(beat.health())
        return None

    def _on_answer(self, answer: Answer, _raw: bytes, now: float) -> Drop | None:
        if not self._commands.answered(answer):
            return Drop.DUPLICATE
        self._heard = now
        return None

    # --- greeting -----------------------------------------------------------------------------------------------------

    def _on_hello_body(self, body: bytes, now: float) -> Drop | None:
        sealed = bool(body[0] & SEALED)
        bare = bytes((Kind.HELLO,)) + (body[1:-SEAL_BYTES] if sealed else body[1:])
        hello = read_from_device(bare)
        if isinstance(hello, Drop):
            return hello
        if isinstance(hello, ForeignHello):
            return self._on_foreign_hello(hello, now)
        assert isinstance(hello, Hello)
        if hello.host_nonce == NO_NONCE:
            return self._on_announcement(now)
        if hello.host_nonce != self._host_nonce or self.state is HostState.REFUSED:
            return Drop.STALE
        if self._hello is not None and hello.device_nonce == self._hello.device_nonce:
            if self.state is HostState.WELCOMING:
                self._send_welcome(now)
            return Drop.DUPLICATE
        if self.state is HostState.UP:
            return Drop.STALE
        proved = sealed and self._key is not None and unseal(body, greeting_key(self._key)) is not None
        keys = Keys(self._key is not None, self._require_auth, sealed, proved)
        self._admit(hello, judge(hello, keys, self._intake.known(hello.session)), now, proved=proved)
        return None

    def _on_foreign_hello(self, hello: ForeignHello, now: float) -> Drop | None:
        if self.state is HostState.REFUSED:
            return Drop.STALE
        self._leave("the shoe has restarted with another version of the protocol")
        self._out.append(encode_frame(Welcome(Verdict.OTHER_VERSION, NO_NONCE, NO_NONCE, 0, 0).to_bytes()))
        self._refuse(refuse_version(hello).refusal, now)
        return None

    def _on_announcement(self, now: float) -> Drop | None:
        if self.state is HostState.UP:
            self._leave("the shoe has restarted or lost us")
        elif now < self._asked_at + timing.QUERY_SPACING:
            return Drop.DUPLICATE
        self._query(now)
        return None

    def _admit(self, hello: Hello, admission: Admission, now: float, *, proved: bool) -> None:
        self._hello = hello
        self._link_key = None
        self._welcome = Welcome(
            admission.verdict, self._host_nonce, hello.device_nonce, hello.session, admission.resume
        )
        if admission.missing is not None:
            self._events.append(admission.missing)
        if admission.progress is not None:
            self._intake.begin(hello.session, admission.progress)
        self.authenticated = proved
        self._welcome_tries = 0
        self._send_welcome(now)
        if admission.refusal:
            self._refuse(admission.refusal, now)
        elif admission.verdict is Verdict.ACCEPTED:
            if proved and self._key is not None:
                self._link_key = link_key(self._key, self._host_nonce, hello.device_nonce)
            self.state = HostState.WELCOMING
        else:
            self._hello = None  # the device takes another session and announces itself
            self.state = HostState.QUERYING
            self._greet_at = now + timing.QUERY_RETRY

    def _refuse(self, reason: str, now: float) -> None:
        self.state = HostState.REFUSED
        self.authenticated = False
        self._greet_at = now + timing.REFUSED_RETRY
        self._heard = now
        if reason != self._refusal:
            self._refusal = reason
            self._events.append(LinkRefused(reason))

    def _enter_up(self, now: float) -> None:
        assert self._hello is not None
        self.state = HostState.UP
        self._refusal = ""
        self._silence_told = False
        self._greet_at = None
        self._heard = now
        self._ack_at = now + timing.KEEPALIVE
        self._uptime_ms = -1
        identity = self._hello.identity
        self._events.append(
            LinkUp(
                DeviceKind(identity.kind).name.lower(),
                identity.serial_number,
                identity.firmware_version,
                identity.firmware_sha256,
                identity.capabilities,
                self._hello.session,
                self.authenticated,
            )
        )

    def _leave(self, reason: str) -> None:
        was_up = self.state is HostState.UP
        self._commands.link_lost()
        self._hello = None
        self._welcome = None
        self._link_key = None
        self._replay_at = None
        self._ack_due = False
        self.authenticated = False
        if was_up:
            self._events.append(LinkDown(reason))

    def _query(self, now: float) -> None:
        """Begin a greeting: a new nonce makes every earlier answer void."""
        self._hello = None
        self._welcome = None
        self._link_key = None
        self._host_nonce = self._nonce()
        self.state = HostState.QUERYING
        self._send_query(now)

    # --- what goes out ------------------------------------------------------------------------------------------------

    def _send_query(self, now: float) -> None:
        flags = (QueryFlag.HAS_KEY if self._key is not None else QueryFlag(0)) | (
            QueryFlag.REQUIRES_KEY if self._require_auth else QueryFlag(0)
        )
        self._out.append(encode_frame(Query(self._host_nonce, flags).to_bytes()))
        self._asked_at = now
        self._greet_at = now + timing.QUERY_RETRY

    def _send_welcome(self, now: float) -> None:
        assert self._welcome is not None
        body = self._welcome.to_bytes()
        if self.authenticated and self._key is not None:
            body = seal(body, greeting_key(self._key))
        self._out.append(encode_frame(body))
        self._welcome_tries += 1
        self._greet_at = now + timing.WELCOME_RETRY

    def _send_ack(self, now: float) -> None:
        self._ack_due = False
        self._ack_at = now + timing.KEEPALIVE
        self._send(Ack(self._intake.session, self._intake.committed))

    def _send_replay(self, now: float) -> None:
        self._replay_at = now + timing.REPLAY_RETRY
        self._send(Replay(self._intake.session, self._intake.received + 1))

    def _send(self, message: HostMessage) -> None:
        body = message.to_bytes()
        if self._link_key is not None:
            body = seal(body, self._link_key)
        self._out.append(encode_frame(body))

    def _events_append(self, event: LinkEvent) -> None:
        self._events.append(event)
