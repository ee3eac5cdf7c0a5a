import ctypes as c
import hashlib
import hmac
import subprocess
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from firmware_protocol import codes, device_memory, timing
from firmware_protocol.auth import greeting_key, link_key, seal
from firmware_protocol.codes import Capability, Kind, LampMode, QueryFlag, Status, Verdict
from firmware_protocol.commands import Answer, Gate, Identify, Lamp, Reboot, SelfTest, SetTime, UnknownCommand
from firmware_protocol.delivery import MAX_NUMBER, Ack, Beat, Event, Replay
from firmware_protocol.device_link import DeviceLink, DeviceState, Health
from firmware_protocol.device_memory import SESSION_TAIL, DeviceMemory
from firmware_protocol.drops import Drop
from firmware_protocol.events import (
    Card,
    CardDrawn,
    CardForeign,
    CardReturned,
    CardsTogether,
    CardUnreadable,
    CutCardSeen,
    FaultChanged,
    LidMoved,
    LinkRefused,
    LinkUp,
    SelfTestDone,
)
from firmware_protocol.frames import Decoder, encode_frame
from firmware_protocol.greeting import NO_NONCE, Hello, Query, Welcome
from firmware_protocol.messages import read_from_device
from tests.firmware_protocol import golden
from tests.firmware_protocol.c_reference import (
    DROPS,
    SOURCES,
    STRICT,
    CBeat,
    CCard,
    CDevice,
    CHello,
    CHostMessage,
    array,
    c_card,
    c_identity,
    command_of,
    compile_library,
    gcc,
)
from tests.firmware_protocol.wires import (
    IDENTITY,
    KEY,
    WIRES,
    CorruptingWire,
    DuplicatingWire,
    FrameLosingWire,
    LossyWire,
    Rig,
    Wire,
    shoe,
)

FROM_DEVICE = [vector for vector in golden.MESSAGES if vector["from"] == "device" and "form" not in vector]
FROM_HOST = [vector for vector in golden.MESSAGES if vector["from"] == "host"]
SEALS = golden.load("seals")


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    return compile_library(tmp_path_factory.mktemp("c"))


def named(vectors):
    return pytest.mark.parametrize("vector", vectors, ids=[vector["name"] for vector in vectors])


# --- the source -------------------------------------------------------------------------------------------


def test_it_compiles_without_a_warning_and_needs_nothing_but_string_h(tmp_path):
    compiled = tmp_path / "shoe_protocol.o"
    more = ["-Wconversion", "-Wshadow", "-Wstrict-prototypes", "-Wundef", "-O2", "-ffreestanding"]
    gcc(*STRICT, *more, "-c", SOURCES / "shoe_protocol.c", "-o", compiled)
    undefined = subprocess.run(["nm", "-u", compiled], capture_output=True, text=True, check=True).stdout.split()
    assert set(undefined) - {"U"} <= {"memcpy", "memmove", "memset", "memcmp"}
    headers = [
        line
        for source in SOURCES.glob("*.[ch]")
        for line in source.read_text("utf-8").splitlines()
        if line.startswith("#include")
    ]
    assert set(headers) == {
        '#include "shoe_protocol.h"',
        "#include <stdbool.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "#include <string.h>",
    }


def test_the_header_is_good_for_cpp_too(tmp_path):
    source = tmp_path / "firmware.cpp"
    source.write_text('#include "shoe_protocol.h"\nint main() { return 0; }\n')
    gcc("-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{SOURCES}", source)


def test_its_numbers_are_ours(tmp_path):
    """Every code number, limit and time of the header has the value that the Python side uses."""
    names = {
        **{f"SHOE_{kind.name}": kind.value for kind in Kind},
        **{f"SHOE_{status.name}": status.value for status in Status},
        **{f"SHOE_{verdict.name}": verdict.value for verdict in Verdict},
        **{f"SHOE_{kind.name}": kind.value for kind in codes.DeviceKind},
        **{f"SHOE_{flag.name}": flag.value for flag in codes.HelloFlag},
        **{f"SHOE_BEAT_{flag.name}": flag.value for flag in codes.BeatFlag},
        "SHOE_ANNOUNCE_MS": timing.ANNOUNCE * 1000,
        "SHOE_HEARTBEAT_MS": timing.HEARTBEAT * 1000,
        "SHOE_RESEND_FIRST_MS": timing.RESEND_FIRST * 1000,
        "SHOE_RESEND_LONGEST_MS": timing.RESEND_LONGEST * 1000,
        "SHOE_REFUSED_RETRY_MS": timing.REFUSED_RETRY * 1000,
        "SHOE_SILENCE_MS": timing.SILENCE * 1000,
        "SHOE_WINDOW": timing.WINDOW,
        "SHOE_MEMORY_BYTES": device_memory.CAPACITY,
        "SHOE_FEEDING_ROOM": device_memory.FEEDING_ROOM,
        "SHOE_OVERFLOW_RECORD": device_memory.OVERFLOW_RECORD,
        "SHOE_SESSION_TAIL": device_memory.SESSION_TAIL,
        "SHOE_MAX_NUMBER": MAX_NUMBER,
        "SHOE_MAX_BODY": 249,
        "SHOE_MAX_CARD_BYTES": 36,
        "SHOE_MAX_TOGETHER": 6,
    }
    checks = "\n".join(
        f"typedef char is_{index}[({name}) == {int(value)}LL ? 1 : -1];"
        for index, (name, value) in enumerate(names.items())
    )
    source = tmp_path / "numbers.c"
    source.write_text(f'#include "shoe_protocol.h"\n{checks}\n')
    gcc("-std=c99", "-Werror", "-fsyntax-only", f"-I{SOURCES}", source)
    assert Capability.GATE == 1


# --- vectors ----------------------------------------------------------------------------------------------


def c_decode(lib, data):
    """Push bytes through the decoder; give bodies and drops."""
    decoder = c.create_string_buffer(lib.shim_decoder_size())
    lib.shoe_decoder_init(decoder)
    bodies, drops = [], []
    drop = c.c_int()
    for byte in data:
        if lib.shoe_decoder_push(decoder, c.c_uint8(byte), c.byref(drop)):
            bodies.append(c.string_at(lib.shim_decoder_body(decoder), lib.shim_decoder_body_size(decoder)))
        if drop.value:
            drops.append(DROPS[drop.value])
    return bodies, drops


def c_encode(lib, body):
    out = (c.c_uint8 * 257)()
    return bytes(out[: lib.shoe_encode_frame(array(body), c.c_size_t(len(body)), out)])


@named(golden.load("frames"))
def test_c_frames_are_the_golden_ones(lib, vector):
    body = golden.body(vector)
    out = (c.c_uint8 * 257)()
    stuffed = bytes(out[: lib.shoe_stuff(array(body), c.c_size_t(len(body)), out)])
    assert stuffed.hex() == vector["stuffed"]
    assert f"{lib.shoe_crc32(array(stuffed), c.c_size_t(len(stuffed))):08x}" == vector["crc32"]
    assert c_encode(lib, body) == golden.wire(vector)
    assert c_decode(lib, golden.wire(vector)) == ([body], [])


@pytest.mark.parametrize("size", [0, 250])
def test_c_does_not_encode_what_does_not_fit(lib, size):
    assert c_encode(lib, bytes(size)) == b""


@named(golden.load("refused"))
def test_c_drops_what_is_no_frame_for_the_same_reason(lib, vector):
    bodies, drops = c_decode(lib, golden.wire(vector) + encode_frame(b"good"))
    assert bodies == [b"good"]
    assert drops == ([Drop(vector["reason"])] if vector["reason"] else [])


@named(golden.MESSAGES)
def test_c_decodes_every_vector_and_no_flipped_bit_makes_another(lib, vector):
    wire = golden.wire(vector)
    random = Random(vector["name"])
    noise = random.randbytes(300)
    bodies, _ = c_decode(lib, noise + wire + noise + b"\0")
    assert bodies == [golden.body(vector)]
    for place in range(8, 8 * len(wire) - 8):
        flipped = bytearray(wire)
        flipped[place // 8] ^= 1 << place % 8
        assert c_decode(lib, flipped)[0] == []


def c_content(lib, happening):
    """Write the content of an event with the functions that a firmware would call."""
    out = (c.c_uint8 * 249)()
    match happening:
        case CardDrawn(card):
            size = lib.shoe_put_card(out, c.byref(c_card(card)))
        case CardsTogether(cards, order_known):
            several = (CCard * len(cards))(*map(c_card, cards))
            size = lib.shoe_put_together(out, several, c.c_uint8(len(cards)), c.c_bool(order_known))
        case CardReturned(card):
            size = lib.shoe_put_returned(out, c.byref(c_card(card)) if card else None)
        case CardUnreadable(entry, leaving):
            moments = [None if moment is None else c.byref(c.c_uint64(moment)) for moment in (entry, leaving)]
            size = lib.shoe_put_unreadable(out, *moments)
        case LidMoved(is_open):
            size = lib.shoe_put_lid(out, c.c_bool(is_open))
        case FaultChanged(_, active, detail):
            size = lib.shoe_put_fault(out, c.c_bool(active), c.c_uint32(detail))
        case SelfTestDone(failed):
            size = lib.shoe_put_self_test_done(out, c.c_uint32(failed))
        case CardForeign(uid):
            size = lib.shoe_put_foreign(out, array(uid or b""), c.c_uint8(len(uid or b"")))
        case _:
            size = 0
    return bytes(out[:size])


def c_body(lib, message, kind):
    out = (c.c_uint8 * 249)()
    match message:
        case Event(session, number, happening):
            content = c_content(lib, happening)
            size = lib.shoe_write_event(
                out, c.c_uint8(kind), c.c_uint32(session), c.c_uint32(number), array(content), c.c_size_t(len(content))
            )
        case Hello():
            nonces = array(message.host_nonce), array(message.device_nonce)
            hello = CHello(message.session, message.first, message.next, message.flags, *nonces)
            size = lib.shoe_write_hello(out, c.byref(c_identity(message.identity)), c.byref(hello))
        case Beat():
            beat = CBeat(*(getattr(message, field) for field, _ in CBeat._fields_))
            size = lib.shoe_write_beat(out, c.byref(beat))
        case Answer(command_id, status):
            size = lib.shoe_write_answer(out, c.c_uint32(command_id), c.c_uint8(status))
    return bytes(out[:size])


@named(FROM_DEVICE)
def test_c_writes_every_message_of_a_device_as_the_golden_body(lib, vector):
    body = golden.body(vector)
    assert c_body(lib, golden.message(vector), body[0]) == body
    assert c_encode(lib, body) == golden.wire(vector)


@named(FROM_HOST)
def test_c_reads_every_message_of_a_host(lib, vector):
    body = golden.body(vector)
    expected = golden.message(vector)
    read = CHostMessage()
    drop = DROPS[lib.shoe_read_host(array(body), c.c_size_t(len(body)), c.byref(read))]
    match expected:
        case Query(nonce, flags, major, minor):
            assert (bytes(read.host_nonce), read.query_flags) == (nonce, flags)
            assert (read.major, read.minor) == (major, minor)
        case Welcome():
            assert read.verdict == expected.verdict
            assert bytes(read.host_nonce) == expected.host_nonce
            assert bytes(read.device_nonce) == expected.device_nonce
            assert (read.session, read.number) == (expected.session, expected.resume)
        case Ack(session, number) | Replay(session, number):
            assert (read.session, read.number) == (session, number)
        case UnknownCommand(kind, command_id):
            assert drop is Drop.UNKNOWN_TYPE
            assert (read.kind, read.command_id) == (kind, command_id)
            return
        case _:
            assert command_of(read) == expected
    assert drop is None
    assert read.kind == body[0]


@pytest.mark.parametrize("size", [0, 1, 31, 55, 56, 63, 64, 65, 119, 120, 200])
def test_c_sha256_and_hmac_are_the_real_ones(lib, size):
    data = Random(size).randbytes(size)
    digest = (c.c_uint8 * 32)()
    lib.shoe_sha256(array(data), c.c_size_t(size), digest)
    assert bytes(digest) == hashlib.sha256(data).digest()
    for key in (bytes(16), bytes(range(64)), bytes(range(65))):
        lib.shoe_hmac(array(key), c.c_size_t(len(key)), array(data), c.c_size_t(size), digest)
        assert bytes(digest) == hmac.digest(key, data, "sha256")


@named(SEALS["vectors"])
def test_c_seals_are_the_golden_ones(lib, vector):
    key = bytes.fromhex(SEALS["key"])
    derived = (c.c_uint8 * 32)()
    if vector["sealed_with"] == "greeting":
        lib.shoe_greeting_key(array(key), c.c_size_t(32), derived)
    else:
        nonces = (array(bytes.fromhex(SEALS[name])) for name in ("host_nonce", "device_nonce"))
        lib.shoe_link_key(array(key), c.c_size_t(32), *nonces, derived)
    assert bytes(derived).hex() == SEALS[f"{vector['sealed_with']}_key"]
    body = golden.body(vector)
    buffer = (c.c_uint8 * 249)(*body)
    sealed = bytes(buffer[: lib.shoe_seal(buffer, c.c_size_t(len(body)), derived)])
    assert sealed.hex() == vector["sealed"]
    assert bytes(buffer[: lib.shoe_unseal(buffer, c.c_size_t(len(sealed)), derived)]) == body
    for place in range(len(sealed)):
        forged = (c.c_uint8 * 249)(*sealed)
        forged[place] ^= 1
        assert lib.shoe_unseal(forged, c.c_size_t(len(sealed)), derived) == 0


@pytest.mark.parametrize(
    "card",
    [
        Card(),
        Card(uid=b"123"),
        Card(rank="1", suit="h"),
        Card(rank="A", suit="x"),
        Card(uid=bytes(4), confidence=101),
    ],
)
def test_c_refuses_a_card_that_has_no_form_on_the_wire(lib, card):
    assert c_content(lib, CardDrawn(card)) == b""
    assert c_content(lib, CardReturned(card)) == b""
    assert c_content(lib, CardsTogether((card, card), order_known=True)) == b""
    assert c_content(lib, CardForeign(b"123")) == b""


def test_c_does_not_begin_with_settings_that_cannot_work(lib):
    for identity, key, require in (
        (IDENTITY, None, True),
        (IDENTITY, b"short", False),
        (type(IDENTITY)(1, "", "1", bytes(32), 0, 650), None, False),
        (type(IDENTITY)(1, "1", "x" * 33, bytes(32), 0, 650), None, False),
    ):
        with pytest.raises(AssertionError):
            c_device(lib, identity=identity, key=key, require_auth=require)


# --- the C device against the Python host -----------------------------------------------------------------


def c_device(lib, identity=IDENTITY, memory=None, **settings):
    return CDevice(lib, identity, memory or DeviceMemory(7), nonce=lambda: bytes(16), new_session=lambda: 8, **settings)


class CRig(Rig):
    """A rig whose device is the C reference. What it saves is what survives."""

    def __init__(self, lib, *wires, **settings):
        self.lib = lib
        super().__init__(*wires, **settings)

    def new_device(self, **settings):
        return CDevice(
            self.lib,
            IDENTITY,
            self.flash,
            nonce=self.nonce,
            new_session=self.new_session,
            key=self.key,
            booted=self.now,
            keeps=self.keeps,
            **settings,
        )

    def report(self, happening):
        kept = self.device.report(happening, self.now)
        # A firmware saves at the latest before it sends; these tests cut the power only between calls.
        self.device.flash = self.device._memory.raw
        self.flash = self.device.flash
        return kept


WHOLE_SHOE = [*shoe(600), CutCardSeen(), *shoe(50, seed=1)]


@pytest.mark.parametrize("key", [None, KEY], ids=["open", "sealed"])
@pytest.mark.parametrize("wire", WIRES)
def test_whole_shoe_of_the_c_device_arrives_once_and_in_order_on_any_wire(lib, wire, key):
    rig = CRig(lib, wire(3), wire(4), key=key, seed=2)
    for happening in WHOLE_SHOE[:300]:
        assert rig.report(happening)
    rig.deal(WHOLE_SHOE[300:], every=0.07)
    rig.run_until(lambda: len(rig.journal) >= len(WHOLE_SHOE), 600)
    rig.run_for(10)
    assert rig.happenings() == WHOLE_SHOE
    assert all(one.number + 1 == other.number for one, other in pairwise(rig.journal))
    assert rig.seen(LinkUp)[0].authenticated is (key is not None)


class WorstWire(Wire):
    """Loses, corrupts and duplicates, all at once."""

    def __init__(self, seed):
        super().__init__(seed)
        self._parts = [FrameLosingWire(seed + 1), CorruptingWire(seed + 2), LossyWire(seed + 3), DuplicatingWire(seed)]

    def mangle(self, data):
        for part in self._parts:
            data = b"".join(part.mangle(data))
        return [data] if data else []


def test_whole_shoe_of_the_c_device_survives_loss_corruption_duplication_and_restarts_together(lib):
    rig = CRig(lib, WorstWire(10), WorstWire(20), key=KEY, seed=5)
    rig.commit_after = 0.01
    rig.deal(WHOLE_SHOE, every=0.1)
    for index in range(12):
        rig.at(2.0 + 5 * index, rig.restart_device if index % 2 else rig.restart_host)
    rig.run_until(lambda: len(rig.journal) >= len(WHOLE_SHOE), 900)
    rig.run_for(10)
    assert rig.happenings() == WHOLE_SHOE
    assert rig.device.saves > 0


def test_the_c_device_carries_out_commands_once(lib):
    rig = CRig(lib, FrameLosingWire(1), FrameLosingWire(2), key=KEY)
    rig.run_until(lambda: rig.seen(LinkUp))
    host = rig.host
    asked = [
        host.gate(is_open=True),
        host.lamp(1, LampMode.ON, 1, 2, 3),
        host.set_time(5),
        host.self_test(),
        host.identify(),
    ]
    rig.run_until(lambda: all(one in rig.answers for one in asked))
    assert all(rig.answers[one].ok for one in asked)
    commands = [event for event in rig.device_events if hasattr(event, "command_id")]
    assert commands == [Gate(1, open=True), Lamp(2, 1, LampMode.ON, 1, 2, 3), SetTime(3, 5), SelfTest(4), Identify(5)]


def test_the_c_device_without_the_key_is_refused(lib):
    rig = CRig(lib)
    rig.key = KEY
    rig.host = rig.new_host(require_auth=True)
    rig.connect()
    rig.run_until(lambda: rig.seen(LinkRefused) and rig.device.state is DeviceState.REFUSED)
    rig.restart_device()
    rig.run_until(lambda: rig.seen(LinkUp))
    assert rig.host.authenticated


def test_a_650_card_shoe_fits_in_the_c_device(lib):
    device = c_device(lib)
    largest = Card(bytes(10), "A", "s", 1, 2, 3, 4, 5)
    assert all(device.report(CardDrawn(largest), 0) for _ in range(650))
    assert len(device.memory) == 650


# --- the C device against the Python device ---------------------------------------------------------------

EXACT_TIMES = (
    "ANNOUNCE",
    "HEARTBEAT",
    "RESEND_FIRST",
    "RESEND_LONGEST",
    "REFUSED_RETRY",
    "SILENCE",
)


class Twins:
    """The same calls to the C device and to the Python device, which must say the same bytes."""

    def __init__(self, lib, seed, monkeypatch):
        for name in EXACT_TIMES:  # binary fractions of a second would differ from milliseconds in the last bit
            monkeypatch.setattr(timing, name, Fraction(str(getattr(timing, name))))
        self.random = Random(seed)
        self.key = KEY if self.random.random() < 0.5 else None
        require = self.key is not None and self.random.random() < 0.3
        first = self.random.choice((1, 1, 1, MAX_NUMBER - SESSION_TAIL - 5))
        memory = DeviceMemory(7, first=first, fresh=first == 1)
        self.devices = [
            make(
                IDENTITY,
                memory,
                nonce=partial(Random(seed).randbytes, 16),
                new_session=partial(Random(seed).randrange, 1 << 32),
                key=self.key,
                require_auth=require,
                booted=Fraction(0),
            )
            for make in (DeviceLink, lambda *args, **settings: CDevice(lib, *args, **settings))
        ]
        self.now = Fraction(0)
        self.host_nonce = b"h" * 16
        self.hello = None
        self.call("connection_made", self.now)

    def call(self, name, *args):
        results = [getattr(device, name)(*args) for device in self.devices]
        sent = [device.data_to_send() for device in self.devices]
        assert sent[0] == sent[1], name
        events = [device.events() for device in self.devices]
        assert events[0] == events[1]
        ours, theirs = self.devices
        assert ours.state is theirs.state
        assert (ours.memory.session, ours.memory.first, ours.memory.next) == theirs.place
        assert ours.may_feed == theirs.may_feed
        deadlines = [device.next_deadline() for device in self.devices]
        assert deadlines[0] is deadlines[1] is None or float(deadlines[0]) == pytest.approx(float(deadlines[1]))
        for frame in Decoder().feed(sent[0]):
            bare = frame.body
            if bare[0] & 0x40:
                bare = bytes((bare[0] & 0xBF,)) + bare[1:-8]
            message = read_from_device(bare)
            if isinstance(message, Hello) and message.host_nonce != NO_NONCE:
                self.hello = message
        return results[0], events[0]

    def tell(self, message, key=None):
        body = message if isinstance(message, bytes) else message.to_bytes()
        if key is not None and self.random.random() < 0.95:
            body = seal(body, key)
        data = encode_frame(body)
        if self.random.random() < 0.05:
            data = bytes(data[: self.random.randrange(len(data))]) + self.random.randbytes(3)
        _, events = self.call("receive_data", data, self.now)
        for event in events:
            if hasattr(event, "command_id") and self.random.random() < 0.8:
                self.call("answer", event.command_id, self.random.choice(list(Status)))

    def step(self):
        random = self.random
        ours = self.devices[0]
        device_nonce = self.hello.device_nonce if self.hello else b"d" * 16
        inside = link_key(self.key, self.host_nonce, device_nonce) if self.key else None
        greeting = greeting_key(self.key) if self.key else None
        place = ours.memory.first + random.randrange(-2, 10)
        number = min(max(place, 1), MAX_NUMBER)
        session = random.choice((ours.memory.session,) * 9 + (9,))
        action = random.random()
        if action < 0.25:
            self.now += Fraction(random.choice((1, 10, 100, 299, 300, 301, 700, 1000, 2400, 5000)), 1000)
            self.call("tick", self.now)
        elif action < 0.30:
            self.host_nonce = random.choice((self.host_nonce, random.randbytes(16), NO_NONCE))
            self.tell(Query(self.host_nonce, QueryFlag(random.choice((0, 1, 1, 3)))))
            self.host_nonce = self.host_nonce if any(self.host_nonce) else b"h" * 16
        elif action < 0.45:
            verdict = random.choice((Verdict.ACCEPTED,) * 8 + tuple(Verdict))
            self.tell(Welcome(verdict, self.host_nonce, device_nonce, session, number), greeting)
        elif action < 0.60:
            self.tell(Ack(session, number), inside)
        elif action < 0.65:
            self.tell(Replay(session, number), inside)
        elif action < 0.75:
            command_id = random.randrange(1, 30)
            command = random.choice(
                (
                    Gate(command_id, open=True),
                    SetTime(command_id, 5),
                    Lamp(command_id, 1, LampMode.ON),
                    SelfTest(command_id),
                    Identify(command_id),
                    Reboot(command_id),
                    UnknownCommand(0xA7, command_id, b"new"),
                    bytes((0x90, command_id, 0, 0, 0, 9)),
                    bytes((0x90, 0, 0, 0, 0, 1)),
                    bytes((0x90, 1)),
                    b"\x8f new",
                    b"\x02 echo",
                )
            )
            self.tell(command, inside)
        elif action < 0.78:
            self.call("receive_data", random.randbytes(random.choice((1, 10, 300))), self.now)
        elif action < 0.785:
            self.call("connection_lost", self.now)
            self.call("connection_made", self.now)
        elif action < 0.80:
            health = Health(random.randrange(99), 1, 2, random.random() < 0.5, random.random() < 0.5)
            for device in self.devices:
                device.health = health
        else:
            for _ in range(random.choice((1, 1, 1, 120))):
                self.call("report", random.choice(HAPPENINGS), self.now)


HAPPENINGS = [golden.message(vector).happening for vector in FROM_DEVICE if 0x10 <= golden.body(vector)[0] < 0x30]


@pytest.mark.parametrize("seed", range(20))  # `make soak` goes on with a thousand
def test_the_c_device_says_the_same_bytes_as_the_python_device_whatever_happens(lib, seed, monkeypatch):
    twins = Twins(lib, seed, monkeypatch)
    for _ in range(400):
        twins.step()
    assert twins.devices[0].drops == {**dict.fromkeys(Drop, 0), **twins.devices[1].drops}


def test_no_input_makes_the_c_device_touch_what_is_not_its_own(tmp_path):
    """Random and mutated bytes into a build that stops at the first wrong access or undefined operation."""
    program = tmp_path / "fuzz"
    source = Path(__file__).parent / "shoe_fuzz.c"
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DSHOE_MEMORY_BYTES=2000"]
    gcc(*STRICT, "-g", "-O1", *sanitizers, f"-I{SOURCES}", SOURCES / "shoe_protocol.c", source, "-o", program)
    random = Random(1)
    script = bytearray()
    for _ in range(20_000):
        wire = bytearray(golden.wire(random.choice(golden.MESSAGES)))
        for _ in range(random.choice((0, 0, 1, 3))):
            wire[random.randrange(len(wire))] ^= 1 << random.randrange(8)
        script += bytes((random.randrange(4), min(len(wire), 255))) + wire[:255]
    done = subprocess.run([program], input=bytes(script), capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) > 1000  # frames that the device sent
