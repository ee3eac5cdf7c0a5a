"""Fake wires: each one direction of a line, each breaking exactly one thing; and a rig that joins two links.

Time is simulated: nothing sleeps. A wire takes bytes with `send(data, now)`, gives them with `arrived(now)`, and
`next_arrival()` says when there will be some. Seeded: one number reproduces a run.
"""

import heapq
import itertools
from random import Random

from firmware_protocol.codes import DeviceKind, Status
from firmware_protocol.device_link import DeviceLink
from firmware_protocol.device_memory import CAPACITY, DeviceMemory
from firmware_protocol.events import Card, CardDrawn, CommandAnswered, ShoeEvent
from firmware_protocol.greeting import Identity
from firmware_protocol.host_link import HostLink

IDENTITY = Identity(DeviceKind.RFID, "SHOE-0042", "2.1.0", bytes(range(32)), 0x1FF, 650)
KEY = bytes(range(32))


class Wire:
    """A good wire: everything arrives, in order, after `delay` seconds."""

    delay = 0.001

    def __init__(self, seed=0):
        self.random = Random(seed)
        self.sent = 0  # bytes put in
        self._due = []
        self._count = itertools.count()
        self._last = 0.0

    def send(self, data, now):
        self.sent += len(data)
        for chunk in self.mangle(data):
            self._put(chunk, now)

    def mangle(self, data):
        """Give the pieces that arrive in place of what was sent."""
        return [data] if data else []

    def lateness(self):
        return self.delay

    def _put(self, chunk, now):
        # A line keeps bytes in order, however late they are.
        self._last = max(self._last, now + self.lateness())
        heapq.heappush(self._due, (self._last, next(self._count), chunk))

    def next_arrival(self):
        return self._due[0][0] if self._due else None

    def arrived(self, now):
        """Give the pieces that are due, one by one as a reader would get them."""
        pieces = []
        while self._due and self._due[0][0] <= now:
            pieces.append(heapq.heappop(self._due)[2])
        return pieces

    def clear(self):
        """Lose what is on the way: the cable was pulled."""
        self._due.clear()


class LossyWire(Wire):
    """Loses single bytes, and sometimes a long run of them."""

    share = 0.004

    def mangle(self, data):
        kept = bytearray()
        skip = 0
        for byte in data:
            if skip:
                skip -= 1
            elif self.random.random() < self.share:
                skip = self.random.choice((0, 0, 3, 200))
            else:
                kept.append(byte)
        return [bytes(kept)] if kept else []


class FrameLosingWire(Wire):
    """Loses whole frames: every third on average."""

    def mangle(self, data):
        kept = [frame for frame in frames_of(data) if self.random.random() > 0.33]
        return [b"".join(kept)] if kept else []


class DuplicatingWire(Wire):
    """Delivers frames two or three times."""

    def mangle(self, data):
        return [frame * self.random.choice((1, 2, 3)) for frame in frames_of(data)]


class ReorderingWire(Wire):
    """Shuffles the event frames that are sent in one go, as a replay is."""

    def mangle(self, data):
        frames = frames_of(data)
        if self.random.random() < 0.7:
            self.random.shuffle(frames)
        return frames


class CorruptingWire(Wire):
    """Flips bits."""

    share = 0.002

    def mangle(self, data):
        flipped = bytes(
            byte ^ (1 << self.random.randrange(8)) if self.random.random() < self.share else byte for byte in data
        )
        return [flipped] if flipped else []


class NoisyWire(Wire):
    """Puts in bytes that nobody sent, zeros among them."""

    def mangle(self, data):
        pieces = [data] if data else []
        if self.random.random() < 0.4:
            pieces.insert(self.random.randrange(2), self.random.randbytes(self.random.choice((1, 7, 600))))
        return pieces


class ByteAtATimeWire(Wire):
    """Delivers every byte alone."""

    def mangle(self, data):
        return [data[at : at + 1] for at in range(len(data))]


class SplittingWire(Wire):
    """Delivers in pieces that have nothing to do with frames."""

    def mangle(self, data):
        pieces = []
        while data:
            size = self.random.randrange(1, 40)
            pieces.append(data[:size])
            data = data[size:]
        return pieces


class LateWire(Wire):
    """Delivers after anything from nothing to more than every time-out of the greeting."""

    def lateness(self):
        return self.random.choice((0.001, 0.05, 0.4, 0.9))


class BrokenWire(Wire):
    """Delivers a number of bytes and then calls `on_break`, once; what follows that byte in the same piece is lost."""

    def __init__(self, after, on_break):
        super().__init__()
        self._left = after
        self._on_break = on_break

    @property
    def is_broken(self):
        return self._on_break is None

    def arrived(self, now):
        if self._on_break is None:
            yield from super().arrived(now)
            return
        while self._due and self._due[0][0] <= now:
            piece = heapq.heappop(self._due)[2]
            if len(piece) <= self._left:
                self._left -= len(piece)
                yield piece
                continue
            if self._left:
                yield piece[: self._left]
            on_break, self._on_break = self._on_break, None
            on_break()
            return


WIRES = [
    Wire,
    LossyWire,
    FrameLosingWire,
    DuplicatingWire,
    ReorderingWire,
    CorruptingWire,
    NoisyWire,
    ByteAtATimeWire,
    SplittingWire,
    LateWire,
]


def frames_of(data):
    """Give the frames in what one end sent in one go, delimiters and all."""
    return [b"\0" + frame + b"\0" for frame in data.split(b"\0") if frame]


class Rig:
    """Two links on a line, a host that commits what it is told, and a device that obeys.

    `journal` is what is on disk: it survives `restart_host`. `flash` is what survives `restart_device`, if the device
    `keeps` its memory: it is written before anything is sent, as the protocol demands.
    """

    def __init__(
        self, to_host=None, to_device=None, *, seed=0, key=None, host=None, device=None, keeps=True, capacity=CAPACITY
    ):
        self.random = Random(seed)
        self.key = key
        self.keeps = keeps
        self.capacity = capacity
        self.now = 0.0
        self.to_host = to_host or Wire()
        self.to_device = to_device or Wire()
        self.journal = []
        self._identities = set()  # of the events in the journal
        self.notices = []
        self.device_events = []
        self.answers = {}
        self.commit_after = 0.0
        self.committing = []
        self.plan = []
        self.flash = DeviceMemory(self.new_session())
        self.connected = True
        self.obey = lambda _command: Status.DONE
        self.host = host or self.new_host()
        self.device = device or self.new_device()
        self.connect()

    # --- the two ends -------------------------------------------------------------------------------------------

    def nonce(self):
        return self.random.randbytes(16)

    def new_session(self):
        return self.random.randrange(1, 1 << 32)

    def new_host(self, **settings):
        last = (self.journal[-1].session, self.journal[-1].number) if self.journal else None
        return HostLink(nonce=self.nonce, last_seen=last, recorded=self.recorded, key=self.key, **settings)

    def recorded(self, session):
        return max((event.number for event in self.journal if event.session == session), default=None)

    def new_device(self, **settings):
        return DeviceLink(
            IDENTITY,
            self.flash,
            nonce=self.nonce,
            new_session=self.new_session,
            key=self.key,
            capacity=self.capacity,
            booted=self.now,
            **settings,
        )

    def connect(self):
        self.connected = True
        self.host.connection_made(self.now)
        self.device.connection_made(self.now)

    def disconnect(self):
        self.connected = False
        self.to_host.clear()
        self.to_device.clear()
        self.host.connection_lost(self.now)
        self.device.connection_lost(self.now)
        self.take_events()

    def restart_host(self):
        """Kill the host: what it has not committed is gone, and so is what it was about to say."""
        self.committing.clear()
        self.host = self.new_host()
        if self.connected:
            self.host.connection_made(self.now)

    def restart_device(self):
        """Cut the power of the device."""
        if not self.keeps:
            self.flash = DeviceMemory(self.new_session())
        self.device = self.new_device()
        if self.connected:
            self.device.connection_made(self.now)

    def at(self, moment, action):
        """Do something at a moment."""
        heapq.heappush(self.plan, (moment, len(self.plan) + self.random.random(), action))

    # --- time -----------------------------------------------------------------------------------------------------

    def run_until(self, condition, limit=300.0):
        """Let time pass until the condition holds; fail when that takes longer than the limit."""
        end = self.now + limit
        while not condition():
            assert self.now < end, f"not within {limit} simulated seconds: {self.host.drops} {self.device.drops}"
            self.step(end)

    def run_for(self, seconds):
        end = self.now + seconds
        while self.now < end:
            self.step(end)

    def step(self, end):
        self.flush()
        moments = [
            self.host.next_deadline(),
            self.device.next_deadline(),
            self.to_host.next_arrival(),
            self.to_device.next_arrival(),
            self.plan[0][0] if self.plan else None,
            self.committing[0][0] if self.committing else None,
            end,
        ]
        self.now = max(self.now, min(moment for moment in moments if moment is not None))
        while self.plan and self.plan[0][0] <= self.now:
            heapq.heappop(self.plan)[2]()
        for piece in self.to_host.arrived(self.now):
            self.host.receive_data(piece, self.now)
            self.take_events()
        for piece in self.to_device.arrived(self.now):
            self.device.receive_data(piece, self.now)
            self.take_events()
        self.host.tick(self.now)
        self.device.tick(self.now)
        self.take_events()
        self.flush()

    def flush(self):
        self.to_device.send(self.host.data_to_send(), self.now)
        data = self.device.data_to_send()
        if self.keeps:
            self.flash = self.device.snapshot()
        self.to_host.send(data, self.now)

    def take_events(self):
        for event in self.host.events():
            if isinstance(event, ShoeEvent):
                self.committing.append((self.now + self.commit_after, event))
            elif isinstance(event, CommandAnswered):
                self.answers[event.command_id] = event
            else:
                self.notices.append(event)
        while self.committing and self.committing[0][0] <= self.now:
            event = self.committing.pop(0)[1]
            assert (event.session, event.number) not in self._identities
            self._identities.add((event.session, event.number))
            self.journal.append(event)
            self.host.acknowledge(event.session, event.number)
        for event in self.device.events():
            self.device_events.append(event)
            if hasattr(event, "command_id"):
                self.device.answer(event.command_id, self.obey(event))

    # --- the shoe -------------------------------------------------------------------------------------------------

    def happenings(self):
        return [event.happening for event in self.journal]

    def seen(self, kind):
        return [notice for notice in self.notices if isinstance(notice, kind)]

    def deal(self, happenings, every=0.2):
        """Let things happen one after the other."""
        for index, happening in enumerate(happenings):
            self.at(self.now + index * every, lambda happening=happening: self.report(happening))

    def report(self, happening):
        kept = self.device.report(happening, self.now)
        if self.keeps:
            self.flash = self.device.snapshot()
        return kept


def shoe(cards, seed=0):
    """Give so many different cards, as an RFID reader would see them leave."""
    random = Random(seed)
    moments = itertools.count(1_000_000, 250_000)
    return [
        CardDrawn(Card(uid=random.randbytes(7), entry_us=at, exit_us=at + 50_000, confidence=random.randrange(101)))
        for at, _ in zip(moments, range(cards), strict=False)
    ]
