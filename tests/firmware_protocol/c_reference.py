"""The C reference, compiled and reached through ctypes: its functions, and its device link in the shape of ours."""

import ctypes as c
import shutil
import subprocess
from pathlib import Path

import firmware_protocol
from firmware_protocol.codes import LampMode, Status, Verdict
from firmware_protocol.commands import Gate, Identify, Lamp, Reboot, SelfTest, SetTime
from firmware_protocol.device_link import DeviceState, Health, HostLost, HostRefusedUs, HostUp
from firmware_protocol.device_memory import DeviceMemory
from firmware_protocol.drops import Drop
from firmware_protocol.happenings import pack_happening

SOURCES = Path(firmware_protocol.__file__).parent / "c"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
NEVER = 2**64 - 1
STATES = [DeviceState.CLOSED, DeviceState.AWAY, DeviceState.GREETING, DeviceState.UP, DeviceState.REFUSED]
DROPS = [
    None,
    Drop.OVERSIZED,
    Drop.TOO_SHORT,
    Drop.BAD_CRC,
    Drop.BAD_STUFFING,
    Drop.MALFORMED,
    Drop.UNKNOWN_TYPE,
    Drop.WRONG_DIRECTION,
    Drop.BAD_SEAL,
    Drop.NOT_SEALED,
    Drop.OUT_OF_PLACE,
    Drop.STALE,
    Drop.DUPLICATE,
]


def gcc(*arguments):
    """Run the compiler; it must be there, and it must have nothing to say."""
    compiler = shutil.which("gcc")
    assert compiler, "gcc is missing: install it (apt install gcc libc6-dev) to test the C reference"
    done = subprocess.run([compiler, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def compile_library(folder, *flags):
    library = folder / "libshoe.so"
    shim = Path(__file__).parent / "shoe_shim.c"
    gcc(*STRICT, "-O2", "-shared", "-fPIC", *flags, f"-I{SOURCES}", SOURCES / "shoe_protocol.c", shim, "-o", library)
    loaded = c.CDLL(str(library))
    for name, result in RESULTS.items():
        getattr(loaded, name).restype = result
    return loaded


class CCard(c.Structure):
    _fields_ = [
        ("uid_size", c.c_uint8),
        ("uid", c.c_uint8 * 10),
        ("has_code", c.c_bool),
        ("rank", c.c_char),
        ("suit", c.c_char),
        ("deck_set", c.c_uint32),
        ("has_entry", c.c_bool),
        ("entry_us", c.c_uint64),
        ("has_exit", c.c_bool),
        ("exit_us", c.c_uint64),
        ("has_confidence", c.c_bool),
        ("confidence", c.c_uint8),
        ("flags", c.c_uint16),
    ]


class CIdentity(c.Structure):
    _fields_ = [
        ("kind", c.c_uint8),
        ("serial_number", c.c_char_p),
        ("firmware_version", c.c_char_p),
        ("firmware_sha256", c.c_uint8 * 32),
        ("capabilities", c.c_uint32),
        ("buffer_cards", c.c_uint16),
    ]


class CHello(c.Structure):
    _fields_ = [
        ("session", c.c_uint32),
        ("first", c.c_uint32),
        ("next", c.c_uint32),
        ("flags", c.c_uint8),
        ("host_nonce", c.c_uint8 * 16),
        ("device_nonce", c.c_uint8 * 16),
    ]


class CBeat(c.Structure):
    _fields_ = [
        ("session", c.c_uint32),
        ("next", c.c_uint32),
        ("flags", c.c_uint8),
        ("uptime_ms", c.c_uint64),
        ("buffered", c.c_uint16),
        ("reads", c.c_uint32),
        ("retries", c.c_uint32),
        ("misses", c.c_uint32),
        ("crc_errors", c.c_uint32),
    ]


class CHostMessage(c.Structure):
    _fields_ = [
        ("kind", c.c_uint8),
        ("major", c.c_uint8),
        ("minor", c.c_uint8),
        ("query_flags", c.c_uint8),
        ("verdict", c.c_uint8),
        ("host_nonce", c.c_uint8 * 16),
        ("device_nonce", c.c_uint8 * 16),
        ("session", c.c_uint32),
        ("number", c.c_uint32),
        ("command_id", c.c_uint32),
        ("gate_open", c.c_bool),
        ("lamp", c.c_uint8),
        ("lamp_mode", c.c_uint8),
        ("red", c.c_uint8),
        ("green", c.c_uint8),
        ("blue", c.c_uint8),
        ("seconds", c.c_uint8),
        ("unix_us", c.c_uint64),
    ]


SEND = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(c.c_uint8), c.c_size_t)
NONCE = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(c.c_uint8))
NEW_SESSION = c.CFUNCTYPE(c.c_uint32, c.c_void_p)
SAVE = c.CFUNCTYPE(None, c.c_void_p)
COMMAND = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(CHostMessage))
HOST = c.CFUNCTYPE(None, c.c_void_p, c.c_int, c.c_uint8)


class CPort(c.Structure):
    _fields_ = [
        ("send", SEND),
        ("nonce", NONCE),
        ("new_session", NEW_SESSION),
        ("save", SAVE),
        ("command", COMMAND),
        ("host", HOST),
    ]


RESULTS = {
    **dict.fromkeys(
        (
            "shoe_stuff",
            "shoe_unstuff",
            "shoe_encode_frame",
            "shoe_seal",
            "shoe_unseal",
            "shoe_put_card",
            "shoe_put_together",
            "shoe_put_returned",
            "shoe_put_unreadable",
            "shoe_put_lid",
            "shoe_put_fault",
            "shoe_put_self_test_done",
            "shoe_put_foreign",
            "shoe_write_hello",
            "shoe_write_beat",
            "shoe_write_answer",
            "shoe_write_event",
            "shim_link_size",
            "shim_memory_size",
            "shim_decoder_size",
            "shim_decoder_body_size",
        ),
        c.c_size_t,
    ),
    **dict.fromkeys(
        ("shoe_crc32", "shim_drops", "shim_session", "shim_first", "shim_count", "shoe_memory_next"), c.c_uint32
    ),
    **dict.fromkeys(
        (
            "shoe_decoder_push",
            "shoe_link_init",
            "shoe_link_report",
            "shoe_link_may_feed",
            "shoe_memory_add",
            "shoe_memory_may_feed",
            "shim_authenticated",
            "shim_overflowed",
        ),
        c.c_bool,
    ),
    "shoe_link_deadline": c.c_uint64,
    "shim_decoder_body": c.POINTER(c.c_uint8),
    "shoe_read_host": c.c_int,
    "shim_state": c.c_int,
}


def array(data):
    return (c.c_uint8 * len(data)).from_buffer_copy(data)


def c_card(card):
    uid = card.uid or b""
    return CCard(
        uid_size=len(uid),
        uid=(c.c_uint8 * 10)(*uid),
        has_code=card.rank is not None,
        rank=(card.rank or "\0").encode(),
        suit=(card.suit or "\0").encode(),
        deck_set=card.deck_set or 0,
        has_entry=card.entry_us is not None,
        entry_us=card.entry_us or 0,
        has_exit=card.exit_us is not None,
        exit_us=card.exit_us or 0,
        has_confidence=card.confidence is not None,
        confidence=card.confidence or 0,
        flags=card.flags,
    )


def c_identity(identity):
    return CIdentity(
        identity.kind,
        identity.serial_number.encode(),
        identity.firmware_version.encode(),
        (c.c_uint8 * 32)(*identity.firmware_sha256),
        identity.capabilities,
        identity.buffer_cards,
    )


def command_of(message):
    """Give the command that a message of the C reference is."""
    one = message.command_id
    return {
        0x90: lambda: Gate(one, message.gate_open),
        0x91: lambda: Lamp(one, message.lamp, LampMode(message.lamp_mode), message.red, message.green, message.blue),
        0x92: lambda: SetTime(one, message.unix_us),
        0x93: lambda: SelfTest(one),
        0x94: lambda: Identify(one, message.seconds),
        0x95: lambda: Reboot(one),
    }[message.kind]()


class CDevice:
    """The device link in C with the calls of DeviceLink, so that it fits in the same rigs."""

    def __init__(
        self, library, identity, memory, *, nonce, new_session, key=None, require_auth=False, booted=0, keeps=True
    ):
        self._lib = library
        self._booted = booted
        self._out = []
        self._events = []
        self._identity = c_identity(identity)
        self._key = array(key) if key else None
        self._memory = c.create_string_buffer(library.shim_memory_size())
        self._link = c.create_string_buffer(library.shim_link_size())
        self.saves = 0
        self._health = Health()
        if isinstance(memory, DeviceMemory):
            library.shoe_memory_init(self._memory, c.c_uint32(memory.session))
            if memory.first > 1:
                library.shim_set_first(self._memory, c.c_uint32(memory.first))
        else:
            self._memory.raw = memory
        self.flash = self._memory.raw

        def send(_context, data, size):
            self._out.append(c.string_at(data, size))

        def give_nonce(_context, out):
            c.memmove(out, nonce(), 16)

        def save(_context):
            self.saves += 1
            self.flash = self._memory.raw

        def command(_context, message):
            self._events.append(command_of(message.contents))

        def host(_context, event, verdict):
            self._events.append(
                (
                    lambda: HostUp(bool(library.shim_authenticated(self._link))),
                    HostLost,
                    lambda: HostRefusedUs(Verdict(verdict)),
                )[event]()
            )

        self._port = CPort(
            SEND(send),
            NONCE(give_nonce),
            NEW_SESSION(lambda _context: new_session()),
            SAVE(save) if keeps else SAVE(),
            COMMAND(command),
            HOST(host),
        )
        assert library.shoe_link_init(
            self._link,
            c.byref(self._identity),
            self._memory,
            c.byref(self._port),
            None,
            self._key,
            c.c_size_t(len(key) if key else 0),
            c.c_bool(require_auth),
        )

    def _ms(self, now):
        return c.c_uint64(round((now - self._booted) * 1000))

    @property
    def state(self):
        return STATES[self._lib.shim_state(self._link)]

    @property
    def authenticated(self):
        return self._lib.shim_authenticated(self._link)

    @property
    def may_feed(self):
        return self._lib.shoe_link_may_feed(self._link)

    @property
    def drops(self):
        return {drop: self._lib.shim_drops(self._link, place) for place, drop in enumerate(DROPS) if drop}

    @property
    def health(self):
        return self._health

    @health.setter
    def health(self, health):
        self._health = health
        self._lib.shim_set_health(
            self._link,
            c.c_uint32(health.reads),
            c.c_uint32(health.retries),
            c.c_uint32(health.misses),
            c.c_bool(health.gate_open),
            c.c_bool(health.lid_open),
        )

    @property
    def memory(self):
        return range(self._lib.shim_count(self._memory))  # as true and as long as what is kept

    @property
    def place(self):
        """Session, first and next number."""
        return (
            self._lib.shim_session(self._memory),
            self._lib.shim_first(self._memory),
            self._lib.shoe_memory_next(self._memory),
        )

    def snapshot(self):
        """Give what was saved last: what a power cut would leave."""
        return self.flash

    def connection_made(self, now):
        self._lib.shoe_link_connected(self._link, self._ms(now))

    def connection_lost(self, _now):
        self._lib.shoe_link_disconnected(self._link)
        self._out.clear()

    def receive_data(self, data, now):
        self._lib.shoe_link_receive(self._link, array(data), c.c_size_t(len(data)), self._ms(now))

    def tick(self, now):
        self._lib.shoe_link_tick(self._link, self._ms(now))

    def next_deadline(self):
        at = self._lib.shoe_link_deadline(self._link)
        return None if at == NEVER else self._booted + at / 1000

    def events(self):
        events, self._events = self._events, []
        return events

    def data_to_send(self):
        data = b"".join(self._out)
        self._out.clear()
        return data

    def report(self, happening, now):
        kind, content = pack_happening(happening)
        return self._lib.shoe_link_report(
            self._link, c.c_uint8(kind), array(content), c.c_size_t(len(content)), self._ms(now)
        )

    def answer(self, command_id, status):
        self._lib.shoe_link_answer(self._link, c.c_uint32(command_id), c.c_uint8(Status(status)))
