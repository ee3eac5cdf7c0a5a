"""A host and a simulated shoe on a line with faults, in simulated time: nothing sleeps."""

from random import Random

from drivers.simulated.actions import run_line
from drivers.simulated.order import ShoeOrder, build_twin, chance
from drivers.simulated.wire import GOOD_WIRE, FaultyWire
from firmware_protocol.angel_eye_link import AngelEyeHostLink, AngelEyeSettings
from firmware_protocol.events import CardDrawn, CardsTogether, CommandAnswered, ShoeEvent
from firmware_protocol.host_link import HostLink

LONGEST_RUN = 3600.0


class TwinRig:
    """`journal` is what the host has on disk; a host that is restarted knows only that."""

    def __init__(self, order=None, *, faults=GOOD_WIRE, seed=1, key=None, listen_only=False):
        self.order = order or ShoeOrder()
        self.twin = build_twin(self.order)
        self.key = key
        self.listen_only = listen_only
        self.now = 100.0
        self.chance = Random(seed)
        self.to_host = FaultyWire(faults, chance(seed, "wire to host"), self.twin.frames_of)
        self.to_shoe = FaultyWire(faults, chance(seed, "wire to shoe"), lambda data: [data])
        self.written = b""
        self.journal = []
        self.notices = []
        self.answers = {}
        self.host = self.new_host()
        self.connect()

    def new_host(self):
        if self.order.protocol == "open":
            last = (self.journal[-1].session, self.journal[-1].number) if self.journal else None
            return HostLink(
                nonce=lambda: self.chance.randbytes(16), last_seen=last, recorded=self.recorded, key=self.key
            )
        settings = AngelEyeSettings(
            session=77,
            listen_only=self.listen_only,
            bcc_operations=self.order.angel_eye_options.bcc_operations,
            bcc_unsolicited=self.order.angel_eye_options.bcc_unsolicited,
        )
        return AngelEyeHostLink(
            settings,
            first_number=len(self.journal) + 1,
            already_handled=[event.raw for event in self.journal[-8:]],
        )

    def recorded(self, session):
        return max((event.number for event in self.journal if event.session == session), default=None)

    def connect(self):
        self.host.connection_made(self.now)
        self.twin.connection_made(self.now)
        self.turn()

    def disconnect(self):
        self.to_host.clear()
        self.to_shoe.clear()
        self.host.connection_lost(self.now)
        self.twin.connection_lost(self.now)
        self.take_events()

    def restart_host(self):
        self.host = self.new_host()
        self.host.connection_made(self.now)
        self.turn()

    def do(self, line):
        answer = run_line(self.twin.actions, line, self.now)
        self.turn()
        return answer

    def gate(self, is_open):
        """Command the gate and wait for the answer."""
        command = self.host.gate(is_open)
        self.run_until(lambda: command in self.answers)
        return self.answers[command]

    def answer_to(self, command):
        self.run_until(lambda: command in self.answers)
        return self.answers[command]

    # --- time ---

    def turn(self):
        for _ in range(1000):
            moved = False
            while data := self.to_host.arrived(self.now):
                self.host.receive_data(data, self.now)
                self.take_events()
                moved = True
            while data := self.to_shoe.arrived(self.now):
                self.twin.receive_data(data, self.now)
                moved = True
            for data, wire in ((self.host.data_to_send(), self.to_shoe), (self.twin.data_to_send(), self.to_host)):
                if data:
                    if wire is self.to_shoe:
                        self.written += data
                    wire.send(data, self.now)
                    moved = True
            if not moved:
                return
        raise AssertionError("host and shoe talk without end at one moment")

    def step(self, until):
        moments = [
            self.host.next_deadline(),
            self.twin.next_deadline(),
            self.to_host.next_arrival(),
            self.to_shoe.next_arrival(),
        ]
        due = min((at for at in moments if at is not None), default=until)
        self.now = max(self.now + 1e-6, min(due, until))
        self.host.tick(self.now)
        self.twin.tick(self.now)
        self.take_events()
        self.turn()

    def run_for(self, seconds):
        until = self.now + seconds
        while self.now < until:
            self.step(until)

    def run_until(self, condition, limit=LONGEST_RUN):
        until = self.now + limit
        while not condition():
            assert self.now < until, f"not within {limit} simulated seconds"
            self.step(until)

    def take_events(self):
        for event in self.host.events():
            if isinstance(event, ShoeEvent):
                self.journal.append(event)
                self.host.acknowledge(event.session, event.number)
            elif isinstance(event, CommandAnswered):
                assert event.command_id not in self.answers
                self.answers[event.command_id] = event
            else:
                self.notices.append(event)

    # --- what was seen ---

    def happenings(self):
        return [event.happening for event in self.journal]

    def codes(self):
        """Give the cards that left the shoe, as the host can name them."""
        register = {card.uid: card.code for card in self.twin.body.set}
        codes = []
        for happening in self.happenings():
            if isinstance(happening, CardDrawn) and not happening.told_before:
                codes.append(happening.card)
            elif isinstance(happening, CardsTogether):
                codes.extend(happening.cards)
        return [register.get(card.uid, "??") if card.uid else card.rank + card.suit for card in codes]

    def out(self):
        return [card.code for card in self.twin.body.out]
