"""Open device: a simulated shoe that speaks our open protocol, built on the device side of the production link."""

import hashlib
from dataclasses import dataclass, replace
from random import Random

from drivers.simulated.body import ShoeBody
from drivers.simulated.stock import StockCard
from firmware_protocol.codes import Capability, CardFlag, DeviceKind, Status
from firmware_protocol.commands import Command, Gate, Reboot, SelfTest
from firmware_protocol.device_link import DeviceLink, Health, HostLost, HostRefusedUs, HostUp
from firmware_protocol.device_memory import CAPACITY, DeviceMemory
from firmware_protocol.events import (
    Card,
    CardUnreadable,
    CutCardSeen,
    DeviceFault,
    DeviceStarted,
    Happening,
    SelfTestDone,
    ShoeEmptied,
)
from firmware_protocol.greeting import NONCE_BYTES, Identity

FIRMWARE_VERSION = "simulated 1.0"
BUFFER_CARDS = 650
# From the entry to the exit sensor a card takes about this long.
PASSAGE_US = 60_000
# One card in this many needs a second reading: real readers are not perfect either.
RETRY_ONE_IN = 50
# Everything but lamps, which a simulated shoe has none of to show.
CAPABILITIES = Capability(0x7FF) & ~Capability.LAMPS


@dataclass(frozen=True, slots=True)
class OpenOptions:
    """How the device is made."""

    kind: DeviceKind = DeviceKind.RFID
    serial_number: str = "SIM-1"
    deck_set: int = 1
    key: bytes | None = None
    require_auth: bool = False
    # Bytes of event memory. Less than what a real device must have, to see it full.
    memory: int = CAPACITY


class OpenDevice:
    """The device. `chance` decides sessions, nonces and how well cards are read."""

    protocol = "open"

    def __init__(self, body: ShoeBody, chance: Random, options: OpenOptions) -> None:
        self.body = body
        self._chance = chance
        self._options = options
        self._identity = Identity(
            options.kind,
            options.serial_number,
            FIRMWARE_VERSION,
            hashlib.sha256(FIRMWARE_VERSION.encode()).digest(),
            CAPABILITIES,
            BUFFER_CARDS,
        )
        self._out = bytearray()
        self._connected = False
        self._booted = 0.0
        self._health = Health()
        self.faults: set[DeviceFault] = set()
        self.failing = 0
        self.link = self._boot(DeviceMemory(self.new_session()), 0.0)

    # --- the line -----------------------------------------------------------------------------------------------

    def connection_made(self, now: float) -> None:
        """Take the cable."""
        self._connected = True
        self.link.connection_made(now)

    def connection_lost(self, now: float) -> None:
        """Lose the cable: what is on its way is lost, what is kept is kept."""
        self._connected = False
        self._out.clear()
        self.link.connection_lost(now)
        self._obey(now)

    def receive_data(self, data: bytes, now: float) -> None:
        """Take bytes of the host in, and do what it says."""
        self.link.receive_data(data, now)
        self._obey(now)

    def tick(self, now: float) -> None:
        """Do what is due by now."""
        self.link.tick(now)
        self._obey(now)

    def next_deadline(self) -> float | None:
        """Tell when `tick` is wanted next."""
        return self.link.next_deadline()

    def data_to_send(self) -> bytes:
        """Hand out bytes for the host."""
        self._out += self.link.data_to_send()
        data = bytes(self._out)
        self._out.clear()
        return data

    def frames_of(self, data: bytes) -> list[bytes]:
        """Take apart what is to be sent."""
        return [b"\0" + frame + b"\0" for frame in data.split(b"\0") if frame]

    @property
    def ready(self) -> bool:
        """Whether a dealer would draw a card now."""
        body = self.body
        return body.gate_open and bool(body.cards_left) and not self.troubled

    @property
    def troubled(self) -> bool:
        """Whether something at the shoe wants to be mended by hand."""
        return self.body.jammed or self.body.lid_open or bool(self.faults)

    # --- the host's commands ------------------------------------------------------------------------------------

    def _obey(self, now: float) -> None:
        for event in self.link.events():
            match event:
                case HostUp(authenticated):
                    self.body.tell(f"a host has welcomed the shoe{' with its key' if authenticated else ''}")
                case HostLost():
                    self.set_gate(is_open=False, why="the host is gone")
                case HostRefusedUs(verdict):
                    self.body.tell(f"the host refused the shoe: {verdict.name.lower().replace('_', ' ')}")
                case _:
                    self._carry_out(event, now)

    def _carry_out(self, command: Command, now: float) -> None:
        status = Status.DONE
        if isinstance(command, Gate):
            status = self._gate_command(command)
        self.link.answer(command.command_id, status)
        if isinstance(command, SelfTest):
            self.report(SelfTestDone(self.failing), now)
        elif isinstance(command, Reboot):
            self.reboot(now, keep=True)
        elif not isinstance(command, Gate):
            self.body.tell(f"the host commands: {type(command).__name__.lower()}")

    def _gate_command(self, command: Gate) -> Status:
        if command.open and not self.link.may_feed:
            self.body.tell("the host wants the gate open, but the memory for events is nearly full")
            return Status.NO_ROOM
        if command.open and self.body.jammed:
            self.body.tell("the host wants the gate open, but a card is jammed in it")
            return Status.FAILED
        self.set_gate(is_open=command.open, why="the host says so")
        return Status.DONE

    def set_gate(self, *, is_open: bool, why: str) -> None:
        """Move the gate and narrate why."""
        if self.body.gate_open != is_open:
            self.body.gate_open = is_open
            self.body.tell(f"gate {'open' if is_open else 'shut'}: {why}")
        self.tell_health()

    # --- reading and telling ------------------------------------------------------------------------------------

    def read(self, card: StockCard, now: float) -> Card:
        """Read a card, as well as a reader of this kind can."""
        retried = not self._chance.randrange(RETRY_ONE_IN)
        self._health = replace(self._health, reads=self._health.reads + 1, retries=self._health.retries + bool(retried))
        entry = self.device_us(now)
        by_chip = self._options.kind is not DeviceKind.OPTICAL
        by_face = self._options.kind is not DeviceKind.RFID
        return Card(
            uid=card.uid if by_chip else None,
            rank=card.rank if by_face else None,
            suit=card.suit if by_face else None,
            deck_set=self._options.deck_set if by_face else None,
            entry_us=entry,
            exit_us=entry + PASSAGE_US + self._chance.randrange(5_000),
            confidence=self._chance.randrange(60, 90) if retried else self._chance.randrange(90, 101),
            flags=CardFlag.RETRIED if retried else 0,
        )

    def miss(self, now: float) -> CardUnreadable:
        """Fail to read a card that leaves."""
        self._health = replace(self._health, misses=self._health.misses + 1)
        entry = self.device_us(now)
        return CardUnreadable(entry, entry + PASSAGE_US)

    def cut_card_first(self, now: float) -> None:
        """Let the cut card out if it lies before the next card."""
        if self.body.cut_due:
            self.body.take_cut_card()
            self.body.tell("cut card drawn")
            self.report(CutCardSeen(), now)

    def empty_when_empty(self, now: float) -> None:
        """Report the shoe empty when it is."""
        if not self.body.cards_left:
            self.body.tell("the shoe is empty")
            self.report(ShoeEmptied(), now)

    def report(self, happening: Happening, now: float) -> None:
        """Have an event kept and sent, and shut the gate when there is no room for more."""
        if not self.link.report(happening, now):
            self.body.tell("the memory for events is full: this event is lost")
        if self.body.gate_open and not self.link.memory.may_feed:
            self.set_gate(is_open=False, why="the memory for events is nearly full")
        self.tell_health()

    def tell_health(self) -> None:
        """Have gate, lid and counters in the next heartbeat."""
        self._health = replace(self._health, gate_open=self.body.gate_open, lid_open=self.body.lid_open)
        self.link.health = self._health

    def device_us(self, now: float) -> int:
        """Give the time of the device in microseconds since it started."""
        return max(0, int((now - self._booted) * 1_000_000))

    # --- starting -----------------------------------------------------------------------------------------------

    def reboot(self, now: float, *, keep: bool) -> None:
        """Start again, with or without the memory of events."""
        self.body.tell("the shoe starts again")
        self.restart(self.link.snapshot() if keep else DeviceMemory(self.new_session()), now)

    def restart(self, memory: DeviceMemory, now: float) -> None:
        """Start again with this memory."""
        self._out += self.link.data_to_send()
        self.set_gate(is_open=False, why="the shoe starts again")
        self._health = Health()
        self.link = self._boot(memory, now)
        if self._connected:
            self.link.connection_made(now)

    def _boot(self, memory: DeviceMemory, now: float) -> DeviceLink:
        self._booted = now
        link = DeviceLink(
            self._identity,
            memory,
            nonce=lambda: self._chance.randbytes(NONCE_BYTES),
            new_session=self.new_session,
            key=self._options.key,
            require_auth=self._options.require_auth,
            capacity=self._options.memory,
            booted=now,
        )
        link.report(DeviceStarted(), now)
        return link

    def new_session(self) -> int:
        """Choose a session number."""
        return self._chance.randrange(1, 1 << 32)
