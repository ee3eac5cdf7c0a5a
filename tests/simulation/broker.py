"""The broker and those who listen at it: messages arrive late, twice, or the line is gone before the answer came.

`SimulatedConnection` stands where production code has its connection; all above it (feed, cursor, reconnection) is
the production code.
"""

import asyncio
from collections import deque

import msgspec

from shoe_controller.messages import ResendRequest
from shoe_controller.outputs.errors import BrokerError, ReceiverGoneError
from shoe_controller.outputs.in_order import InOrder
from shoe_controller.outputs.jsonl_lines import from_line

PLACE = "shoe/v1/sim/t1/"
ANSWER_GOES_ON_WITHIN = 30.0  # seconds; a request of which nothing comes for so long was lost


class _Numbered(msgspec.Struct):
    seq: int = 0


class _Answer(msgspec.Struct):
    id: str = ""


_HEAD = msgspec.json.Decoder(_Numbered)
_ANSWER = msgspec.json.Decoder(_Answer)


class Consumer:
    """Keeps every event it gets. The first copy of each seq must follow the one before; a second must be the same."""

    def __init__(self, name, breach):
        self.name = name
        self.events = []  # events[n] has seq n + 1
        self.repeated = 0
        self._breach = breach

    def take(self, payload):
        seq = _HEAD.decode(payload).seq
        have = len(self.events)
        if seq == have + 1:
            self.events.append(payload)
        elif seq > have:
            self._breach(f"{self.name}: event {seq} came when {have + 1} was due")
        else:
            self.repeated += 1
            if self.events[seq - 1] != payload:
                self._breach(f"{self.name}: event {seq} came twice with different contents")


class LateConsumer(Consumer):
    """One whom the broker forgets when it is away: it asks the table for what it missed."""

    def __init__(self, name, breach):
        super().__init__(name, breach)
        self.away = False
        self.asked = 0
        self._waits_until = 0.0  # for the answer to what it asked
        self._order = InOrder(1)

    def take(self, payload):
        if not self.away:
            for event in self._order.take(_HEAD.decode(payload).seq, payload):
                super().take(event)

    def take_answer(self, payload, now):
        """Take one of the messages that were asked for: others follow, however slow the line is."""
        self._waits_until = now + ANSWER_GOES_ON_WITHIN
        self.take(payload)

    def answered(self):
        """All that it asked for was sent, or why not was said: it may ask again."""
        self._waits_until = 0.0

    def request(self, last, now):
        """Ask for what is missing of all that there is up to `last`, one thing at a time."""
        first = len(self.events) + 1
        if self.away or first > last or now < self._waits_until:
            return None
        self.asked += 1
        self._waits_until = now + ANSWER_GOES_ON_WITHIN
        return msgspec.json.encode(ResendRequest(consumer=self.name, id=str(self.asked), first=first, last=last))


class Terminal:
    """Where players wager. It sends each request again until it is answered."""

    def __init__(self):
        self.waiting = {}  # id -> request
        self.answered = 0

    def order(self, request):
        self.waiting[request.id] = msgspec.json.encode(request)

    def answer(self, payload):
        if self.waiting.pop(_ANSWER.decode(payload).id, None) is not None:
            self.answered += 1


class Broker:
    """One broker. It may be away; each connection to it is slow in its own way and may break at any moment."""

    def __init__(self, time, chance, breach):
        self.time = time
        self.chance = chance
        self.up = True
        self.outages = 0
        self.connections = set()
        self.events = Consumer("mqtt", breach)
        self.serial = Consumer("serial", breach)
        self.late = LateConsumer("late", breach)
        self.terminal = Terminal()
        self.rounds = {}
        self.retained = {}

    def consumers(self, plan):
        """Those who follow the table in this plan."""
        return [self.events, *[self.serial] * plan.serial, *[self.late] * plan.late_consumer]

    def go_down(self):
        if self.up:
            self.up = False
            self.outages += 1
            for connection in tuple(self.connections):
                connection.lose()

    def come_up(self):
        self.up = True

    def receive(self, topic, payload, retain):
        channel = topic[len(PLACE) :]
        if channel == "events":
            self.events.take(payload)
            self.late.take(payload)
        elif channel == "rounds":
            self.rounds[_HEAD.decode(payload).seq] = payload
        elif channel == "resend/late":
            if _HEAD.decode(payload).seq:
                self.late.take_answer(payload, self.time.now)
            else:
                self.late.answered()
        elif channel == "wagers/out":
            self.terminal.answer(payload)
        elif retain:
            self.retained[channel] = payload

    def look_after_clients(self, last):
        """Let those who wait for an answer ask again."""
        wanted = self.late.request(last, self.time.now)
        if wanted is not None:
            self._hand_over("resend/request", wanted)
        for payload in tuple(self.terminal.waiting.values()):
            self._hand_over("wagers/in", payload)

    def _hand_over(self, channel, payload):
        for connection in tuple(self.connections):
            connection.hear(PLACE + channel, payload)


class SimulatedConnection:
    """One connection of the feed, in the shape of MqttConnection. `home` is the broker of the world that runs."""

    home = None

    def __init__(self, broker, settings, *, version, client_id, on_message, will):
        self.broker = broker
        self.version = version
        self.window = settings.window
        self.on_room = lambda: None
        self.ended = asyncio.get_running_loop().create_future()
        self._home = self.home
        self._latency = self._home.chance.choice((0.02, 0.3, 1.0))
        self._waiting = deque()  # (topic, payload, acked, retain), oldest first
        self._taken = 0  # of those, how many the broker has; their acks are on the way
        self._due = False
        self._on_message = on_message
        self._topics = set()

    @property
    def room(self):
        return 0 if self.ended.done() else self.window - len(self._waiting)

    async def open(self):
        await asyncio.sleep(self._latency)
        if not self._home.up:
            raise BrokerError("the simulated broker is away")
        self._home.connections.add(self)

    def publish(self, topic, payload, acked, *, retain=False):
        if not self.ended.done():
            self._waiting.append((topic, payload, acked, retain))
            self._later(self._arrive)

    def subscribe(self, topic):
        self._topics.add(topic)

    def hear(self, topic, payload):
        if topic in self._topics:
            self._home.time.call_later(self._latency, self._heard, topic, payload)

    def _heard(self, topic, payload):
        if not self.ended.done():
            self._on_message(topic, payload, False)

    async def close(self, within):
        self.abort()

    def abort(self, error=None):
        self._home.connections.discard(self)
        if not self.ended.done():
            self.ended.set_result(error or BrokerError("closed by us"))

    def lose(self):
        """The line is gone. The broker may have got some of what was on its way, and its acks are lost."""
        got = self._home.chance.randint(self._taken, len(self._waiting))
        for topic, payload, _, retain in list(self._waiting)[self._taken : got]:
            self._home.receive(topic, payload, retain)
        self.abort(BrokerError("the simulated line to the broker is gone"))

    def vanish(self):
        """The controller is no more."""
        self.lose()

    def _later(self, call):
        if not self._due:
            self._due = True
            self._home.time.call_later(self._latency, call)

    def _arrive(self):
        if self.ended.done():
            return
        for topic, payload, _, retain in self._waiting:
            self._home.receive(topic, payload, retain)
        self._taken = len(self._waiting)
        self._home.time.call_later(self._latency, self._answer)

    def _answer(self):
        if self.ended.done():
            return
        self._due = False
        for _ in range(self._taken):
            self._waiting.popleft()[2]()
        self._taken = 0
        if self._waiting:
            self._later(self._arrive)
        self.on_room()


class SimulatedLine:
    """The line to a receiver of the serial feed, in the shape of SerialLine."""

    home = None

    def __init__(self, settings):
        self.gone = asyncio.get_running_loop().create_future()
        self.gone_sentence = "the simulated receiver is gone"
        self._home = self.home

    async def open(self):
        if not self._home.up:
            raise ReceiverGoneError(self.gone_sentence)
        self._home.connections.add(self)

    async def send(self, data):
        await asyncio.sleep(0.002)
        if self.gone.done():
            lines = data.splitlines(keepends=True)  # some of it was sent before the line was gone
            self._receive(lines[: self._home.chance.randint(0, len(lines))])
            raise ReceiverGoneError(self.gone_sentence)
        self._receive(data.splitlines())

    def _receive(self, lines):
        for line in lines:
            message = from_line(line)
            if message is not None:
                self._home.serial.take(message)

    async def close(self):
        self._home.connections.discard(self)

    def lose(self):
        if not self.gone.done():
            self.gone.set_result(None)

    vanish = lose

    def hear(self, topic, payload):
        pass  # nobody speaks to the table on this line
