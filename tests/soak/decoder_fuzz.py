"""Decoder fuzz: a million random and mutated frames; no exception, bounded memory, no wrong card.

One number reproduces a run: `python -m tests.soak decoder-fuzz --seed N`.
"""

import tracemalloc
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from time import perf_counter

from firmware_protocol.angel_eye_frames import FrameReader
from firmware_protocol.angel_eye_link import AngelEyeHostLink, AngelEyeSettings
from firmware_protocol.angel_eye_messages import LONGEST_FRAME
from firmware_protocol.angel_eye_operations import Operation, OperationReader
from firmware_protocol.auth import greeting_key, link_key, seal
from firmware_protocol.codes import EVENT_KINDS
from firmware_protocol.delivery import event_body
from firmware_protocol.device_link import DeviceLink
from firmware_protocol.device_memory import DeviceMemory
from firmware_protocol.drops import Drop
from firmware_protocol.events import ShoeEvent
from firmware_protocol.frames import MAX_BETWEEN, MAX_BODY, Decoder, encode_frame
from firmware_protocol.greeting import Hello
from firmware_protocol.host_link import HostLink
from firmware_protocol.messages import read_from_device, read_from_host
from tests.firmware_protocol import golden
from tests.firmware_protocol.angel_eye_vectors import FRAMES
from tests.firmware_protocol.wires import IDENTITY, KEY

NAME = "decoder-fuzz"
FRAMES_OF_A_RUN = 1_000_000
# What a decoder and two links hold, whatever arrives. Measured after a million frames: 442 kB, most of it the 256 forms
# of a card block and the 256 values of each flags field, which are kept once seen. The rest is slack.
MEMORY_LIMIT = 1_000_000
GROUP = 64  # frames between two checks
LIFE = 32  # groups until both links begin anew: some of the frames end a link for good


@dataclass
class Tally:
    frames: int = 0
    accepted: int = 0
    events: int = 0
    seconds: float = 0.0
    peak_bytes: int = 0
    drops: Counter = field(default_factory=Counter)
    faults: list = field(default_factory=list)


def random_frame(random):
    """Give wire bytes: noise, a frame around noise, or a golden frame that something has happened to."""
    wires = GOLDEN_WIRES
    choice = random.randrange(8)
    if choice == 0:
        return random.randbytes(random.choice((1, 8, 60, 255, 256, 400)))
    if choice == 1:
        return encode_frame(random.randbytes(random.randrange(1, MAX_BODY + 1)))
    if choice == 2:  # a known type with any contents: only the reader of that message can stop it
        body = bytearray(golden.body(random.choice(golden.MESSAGES)))
        for _ in range(random.randrange(1, 5)):
            body[random.randrange(1, len(body)) if len(body) > 1 else 0] = random.randrange(256)
        return encode_frame(bytes(body[: random.randrange(1, len(body) + 1)]))
    wire = bytearray(random.choice(wires))
    if choice in (3, 4):
        for _ in range(random.randrange(1, 5)):
            wire[random.randrange(len(wire))] ^= 1 << random.randrange(8)
    elif choice == 5:
        at = random.randrange(len(wire))
        del wire[at : at + random.randrange(1, 20)]
    elif choice == 6:
        at = random.randrange(len(wire))
        wire[at:at] = random.choice(wires)[: random.randrange(1, 40)]
    return bytes(wire)


GOLDEN_WIRES = [
    golden.wire(vector) for vector in [*golden.MESSAGES, *golden.load("frames"), *golden.load("seals")["vectors"]]
]
EVENT_CONTENTS = [(body[0], body[9:]) for body in map(golden.body, golden.MESSAGES) if body[0] in EVENT_KINDS]
ANGEL_EYE_WIRES = [bytes.fromhex(frame) for frame, _, _ in FRAMES] + [one.to_bytes() for one in Operation]
SESSION = 0x1A2B3C4D
HOST_NONCE, DEVICE_NONCE = (bytes.fromhex(golden.load("seals")[name]) for name in ("host_nonce", "device_nonce"))


def campaign(frames, seed):
    """Feed so many frames to a decoder, to both readers and to both links, and report."""
    random = Random(seed)
    report = Tally()
    decoder = Decoder()
    links = new_links(random)
    tracemalloc.start()
    start = perf_counter()
    now = 0.0
    while report.frames < frames:
        live = links.live_frames(random)
        group = live + [random_frame(random) for _ in range(GROUP - len(live))]
        now += random.random()
        try:
            feed(decoder, links, group, now, report)
        except Exception as error:  # noqa: BLE001 - any exception at all is what we look for
            report.faults.append(f"seed {seed}, frames {report.frames} to {report.frames + GROUP}: {error!r}")
            links = new_links(random)
        report.frames += GROUP
        if report.frames % (GROUP * LIFE) == 0:
            links = new_links(random)
    report.seconds = perf_counter() - start
    report.peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if report.peak_bytes > MEMORY_LIMIT:
        report.faults.append(f"{report.peak_bytes:,} bytes were in use at a time")
    report.drops.update(decoder.drops)
    report.accepted = decoder.accepted
    return report


def new_links(random):
    """Give a host and a device, with or without a key, in whatever state the frames will bring them to."""
    key = random.choice((None, KEY))
    host = HostLink(nonce=lambda: HOST_NONCE, key=key)  # the nonces of the golden greetings, so that they count
    device = DeviceLink(
        IDENTITY,
        DeviceMemory(SESSION, first=17),
        nonce=lambda: DEVICE_NONCE,
        new_session=lambda: random.randrange(1, 1 << 32),
        key=key,
    )
    host.connection_made(0.0)
    device.connection_made(0.0)
    return Links(host, device, key)


@dataclass
class Links:
    host: HostLink
    device: DeviceLink
    key: bytes | None
    last: dict = field(default_factory=dict)  # session -> the last number handed out

    def live_frames(self, random):
        """Give what brings the host up, if it is not, and the event that it waits for next, with any contents."""
        kind, content = random.choice(EVENT_CONTENTS)
        if content and random.random() < 0.5:
            content = random.randbytes(len(content))
        hello = Hello(IDENTITY, SESSION, 1, 1 << 31, host_nonce=HOST_NONCE, device_nonce=DEVICE_NONCE).to_bytes()
        event = event_body(kind, SESSION, self.last.get(SESSION, 0) + 1, content)
        if self.key is not None:
            hello = seal(hello, greeting_key(self.key))
            event = seal(event, link_key(self.key, HOST_NONCE, DEVICE_NONCE))
        return [encode_frame(hello), encode_frame(event)]


def feed(decoder, links, group, now, report):
    for wire in group:
        for frame in decoder.feed(wire):
            for read in (read_from_device, read_from_host):
                message = read(frame.body)
                if isinstance(message, Drop):
                    report.drops[message] += 1
        if decoder.held > MAX_BETWEEN:
            report.faults.append(f"the decoder holds {decoder.held} bytes")
    data = b"".join(group)
    for link in (links.host, links.device):
        link.receive_data(data, now)
        link.tick(now)
        for event in link.events():
            if isinstance(event, ShoeEvent):
                report.events += 1
                before = links.last.get(event.session)
                if before is not None and event.number != before + 1:
                    report.faults.append(f"event {event.number} was handed out after {before}")
                links.last[event.session] = event.number
                link.acknowledge(event.session, event.number)
        sent = len(link.data_to_send())
        if sent > GROUP * 4 * MAX_BETWEEN:
            report.faults.append(f"{sent:,} bytes were sent in answer to {len(data):,}")


def angel_eye_campaign(frames, seed):
    """Feed noise and mutated frames of the other protocol to its readers and its link; give the faults."""
    random = Random(seed)
    reader, operations = FrameReader(), OperationReader()
    link = AngelEyeHostLink(AngelEyeSettings(session=1))
    link.connection_made(0.0)
    faults, number = [], 0
    for count in range(frames):
        wire = bytearray(random.choice(ANGEL_EYE_WIRES) * random.randrange(1, 4))
        for _ in range(random.randrange(4)):
            wire[random.randrange(len(wire))] = random.randrange(256)
        wire = bytes(wire) if random.randrange(8) else random.randbytes(random.choice((1, 8, LONGEST_FRAME, 400)))
        try:
            reader.feed(wire)
            operations.feed(wire)
            link.receive_data(wire, count / 10)
            link.tick(count / 10)
            for event in link.events():
                if isinstance(event, ShoeEvent):
                    number += 1
                    if event.number != number:
                        faults.append(f"Angel Eye event {event.number} was handed out in place of {number}")
            if count % 1000 == 0:
                link.gate(is_open=True)
            if len(link.data_to_send()) > 64:
                faults.append("an Angel Eye was written to without end")
        except Exception as error:  # noqa: BLE001 - any exception at all is what we look for
            faults.append(f"Angel Eye, seed {seed}, frame {count}: {error!r}")
    return faults, number


def flipped_frames(frames, seed):
    """Flip one to four bits of a golden frame, anywhere; give how many became another frame (there must be none)."""
    random = Random(seed)
    wrong = 0
    for _ in range(frames):
        wire = bytearray(random.choice(GOLDEN_WIRES))
        for _ in range(random.randrange(1, 5)):
            wire[random.randrange(len(wire))] ^= 1 << random.randrange(8)
        for frame in Decoder().feed(bytes(wire) + b"\0"):
            wrong += encode_frame(frame.body) not in GOLDEN_WIRES
    return wrong


def run(report):
    frames = report.sized(FRAMES_OF_A_RUN)
    report.say(f"{frames:,} random and mutated frames, seed {report.seed}")
    tally = campaign(frames, report.seed)
    report.figure("frames", tally.frames)
    report.figure("accepted", tally.accepted)
    report.figure("events", tally.events)
    report.figure("peak bytes", tally.peak_bytes)
    for reason, count in tally.drops.most_common():
        if count:
            report.say(f"dropped {count:>12,}  {reason}")
    flipped = frames // 4
    wrong = flipped_frames(flipped, report.seed)
    report.figure("flipped", flipped)
    report.figure("taken for another", wrong)
    faults, events = angel_eye_campaign(flipped, report.seed)
    report.figure("Angel Eye frames", flipped)
    report.figure("Angel Eye events", events)
    for fault in tally.faults + faults:
        report.fault(fault)
    return not wrong
