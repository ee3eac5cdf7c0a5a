import asyncio
import contextlib
import logging
import random
from types import SimpleNamespace

import pytest
from serial.urlhandler import protocol_socket

from drivers.errors import DeviceGoneError
from drivers.reconnect import Backoff, ShoeConnection
from drivers.serial_address import LINES, UsbId, parse_serial_address
from drivers.serial_transport import SerialTransport
from drivers.shoe_device import connect_shoe, transport_for
from drivers.simulated import angel_eye_device
from drivers.simulated.order import ShoeOrder, build_twin
from drivers.simulated.pty_shoe import SimulatedShoe
from drivers.usb_transport import UsbTransport
from firmware_protocol.angel_eye_link import AngelEyeHostLink, AngelEyeSettings
from firmware_protocol.events import (
    CardDrawn,
    CommandAnswered,
    Heartbeat,
    LinkDown,
    LinkRefused,
    LinkUp,
    ShoeEvent,
)
from firmware_protocol.host_link import HostLink
from tests.drivers.wired_shoe import ServedShoe, UsbWiredShoe, WiredShoe

QUICK = Backoff(first=0.002, longest=0.02)


def new_link(seed=2, **settings):
    chance = random.Random(seed)
    return HostLink(nonce=lambda: chance.randbytes(16), **settings)


class Consumer:
    """The daemon in small: commits each card a moment later and then acknowledges it."""

    def __init__(self, *, ack=True):
        self.ack = ack
        self.events = []
        self.cards = []
        self.connection = None

    def on_event(self, event):
        self.events.append(event)
        if isinstance(event, ShoeEvent):
            self.cards.append(event.happening.card.uid)
            if self.ack:
                asyncio.get_running_loop().call_soon(self.connection.acknowledge, event.session, event.number)

    def kinds(self):
        return [type(event) for event in self.events if not isinstance(event, Heartbeat)]


@contextlib.asynccontextmanager
async def connected(transport, link, consumer=None, **settings):
    consumer = consumer or Consumer()
    settings.setdefault("backoff", QUICK)
    connection = ShoeConnection(transport, link, consumer.on_event, chance=random.Random(1), **settings)
    consumer.connection = connection
    task = asyncio.create_task(connection.run())
    try:
        yield consumer
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def on(path):
    return SerialTransport(parse_serial_address(str(path)), LINES["open"])


@pytest.fixture
def port(tmp_path):
    return tmp_path / "shoe"


def test_a_shoe_is_found_greeted_and_read(run, until, port):
    async def scenario():
        shoe = WiredShoe(port)
        async with connected(on(port), new_link()) as consumer:
            health = consumer.connection.health()
            assert (health.cable, health.link, health.data_age, health.connects) == (False, False, None, 0)
            shoe.plug()
            await until(lambda: LinkUp in consumer.kinds())
            shoe.deal()
            await until(lambda: consumer.cards == shoe.dealt)
            await until(lambda: not len(shoe.link.memory))
            command = consumer.connection.gate(True)
            await until(lambda: [c for c in shoe.commands if getattr(c, "command_id", None) == command])
            health = consumer.connection.health()
            assert (health.cable, health.link, health.connects, health.failures, health.trouble) == (
                True,
                True,
                1,
                0,
                None,
            )
            assert 0 <= health.frame_age < 20
            assert 0 <= health.data_age < 20
        shoe.unplug()

    run(scenario())


def to(shoe):
    if isinstance(shoe, UsbWiredShoe):
        return UsbTransport(UsbId(0x1209, 0x5A0E), backend=lambda: shoe.bus)
    return transport_for(shoe.device)


@pytest.mark.parametrize("kind", [WiredShoe, UsbWiredShoe, ServedShoe], ids=["serial", "usb", "network"])
def test_a_hundred_unplugs_in_mid_deal_lose_nothing_and_double_nothing(run, until, port, kind, monkeypatch):
    # pyserial waits for 0.3 s whenever it closes a socket; a hundred times that is nothing to learn from.
    monkeypatch.setattr(protocol_socket, "time", SimpleNamespace(sleep=lambda _seconds: None))

    async def scenario():
        shoe = kind(port, seed=7)
        chance = random.Random(7)
        async with connected(to(shoe), new_link()) as consumer:
            for turn in range(100):
                # Anything from "in the middle of the greeting" to "in the middle of the cards".
                shoe.plug(**{chance.choice(("cut_sent", "cut_heard")): chance.randrange(1, 900)})
                while shoe.plugged:
                    if len(shoe.dealt) < 6 * (turn + 1):
                        shoe.deal()
                    await asyncio.sleep(0.001)
                    if shoe.sent > 300 and len(shoe.dealt) >= 6 * (turn + 1):
                        shoe.unplug()
                shoe.deal()  # a card drawn while nobody listens
            shoe.plug()
            await until(lambda: len(consumer.cards) >= len(shoe.dealt))
            await until(lambda: not len(shoe.link.memory))
        shoe.unplug()
        if kind is ServedShoe:
            shoe.close()
        assert consumer.cards == shoe.dealt
        assert len(shoe.dealt) >= 600
        return consumer

    consumer = run(scenario())
    assert consumer.kinds().count(LinkUp) > 10


def test_an_angel_eye_loses_only_what_it_says_while_the_cable_is_out(run, until, port, monkeypatch):
    """It keeps nothing and cannot be asked again; what it says to an open port arrives once, a hundred times."""
    monkeypatch.setattr(angel_eye_device, "STANDBY_AFTER", 0.0)

    async def scenario():
        twin = build_twin(ShoeOrder(protocol="angel-eye", seed=3))
        events, heard = [], []
        link = AngelEyeHostLink(AngelEyeSettings(session=1))
        connection = ShoeConnection(
            transport_for(str(port), "angel-eye"), link, events.append, chance=random.Random(1), backoff=QUICK
        )
        task = asyncio.create_task(connection.run())

        def drawn():
            return [
                event.happening.card.rank + event.happening.card.suit
                for event in events
                if isinstance(event, ShoeEvent) and isinstance(event.happening, CardDrawn)
            ]

        async with SimulatedShoe(twin, link=port) as shoe:
            for turn in range(100):
                await until(lambda: connection.health().cable, f"turn {turn}: the cable")
                await until(lambda: twin.ready)
                shoe.do("deal")
                heard.append(twin.body.out[-1].code)
                await until(lambda: len(drawn()) >= len(heard), f"turn {turn}: the card")
                shoe.do("unplug")
                if turn % 5 == 0:
                    await until(lambda: twin.ready)
                    shoe.do("deal")  # said to nobody
                await until(lambda: not connection.health().cable, f"turn {turn}: the unplug")
                shoe.do("plug")
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert drawn() == heard
        assert len(twin.body.out) == 120

    run(scenario())


async def bytes_of_a_greeting(until, port):
    """How many bytes each side says until the first card is acknowledged."""
    shoe = WiredShoe(port)
    async with connected(on(port), new_link()):
        shoe.plug()
        shoe.deal()
        await until(lambda: shoe.link.memory.first > 1)
        counts = shoe.sent, shoe.heard
    shoe.unplug()
    return counts


@pytest.mark.parametrize("side", ["cut_sent", "cut_heard"])
def test_an_unplug_at_every_byte_of_the_handshake_heals(run, until, port, side):
    async def scenario():
        sent, heard = await bytes_of_a_greeting(until, port)
        total = sent if side == "cut_sent" else heard
        assert total > 60
        for at in range(total + 1):
            shoe = WiredShoe(port, seed=at + 1)
            async with connected(on(port), new_link(seed=at)) as consumer:
                shoe.plug(**{side: at})
                shoe.deal()
                await until(lambda shoe=shoe: not shoe.plugged, f"the cut at byte {at}")
                shoe.plug()
                await until(lambda shoe=shoe, consumer=consumer: consumer.cards == shoe.dealt, f"cut at {at}: the card")
                await until(lambda shoe=shoe: shoe.link.memory.first > 1, f"cut at {at}: the ack")
            shoe.unplug()

    run(scenario())


def test_a_host_that_restarts_knows_what_it_has(run, until, port):
    async def scenario():
        shoe = WiredShoe(port)
        shoe.plug()
        shoe.deal()
        shoe.deal()
        async with connected(on(port), new_link(), Consumer(ack=False)) as first:
            await until(lambda: len(first.cards) == 2)
        event = next(event for event in first.events if isinstance(event, ShoeEvent))
        # The first card was committed, the second was not, and neither was acknowledged.
        link = new_link(seed=3, last_seen=(event.session, event.number))
        async with connected(on(port), link) as second:
            await until(lambda: second.cards == shoe.dealt[1:])
        shoe.unplug()

    run(scenario())


def test_the_first_failure_is_a_warning_and_its_repetitions_are_not(run, until, port, caplog):
    caplog.set_level(logging.DEBUG, logger="drivers.reconnect")

    def warnings():
        return [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]

    async def scenario():
        shoe = WiredShoe(port)
        async with connected(on(port), new_link()) as consumer:
            await until(lambda: consumer.connection.health().failures >= 5)
            assert len(warnings()) == 1
            assert "there is no serial port" in warnings()[0]
            assert consumer.connection.health().trouble in warnings()[0]
            shoe.plug()
            await until(lambda: LinkUp in consumer.kinds())
            assert consumer.connection.health().trouble is None
            shoe.unplug()
            await until(lambda: consumer.connection.health().failures >= 3)
            # The loss and, after it, the port that is not there: both are news again.
            assert len(warnings()) == 3

    run(scenario())


def test_waiting_grows_to_a_limit_and_is_shifted_by_chance():
    backoff = Backoff(first=0.2, longest=10.0, jitter=0.25)
    chance = random.Random(1)
    for failures in (1, 2, 3, 6, 7, 100, 10**9):
        whole = min(10.0, 0.2 * 2 ** min(failures - 1, 50))
        delays = [backoff.delay(failures, chance) for _ in range(200)]
        assert all(whole * 0.75 <= delay <= whole * 1.25 for delay in delays)
        assert len(set(delays)) > 100
    assert Backoff().delay(1, random.Random(3)) == Backoff().delay(1, random.Random(3))


class StubTransport:
    """Opens, and ends as the test wants."""

    description = "stub"

    def __init__(self):
        self.opened = self.closed = 0
        self.on_gone = self.on_data = None
        self.written = b""

    async def open(self, on_data, on_gone):
        self.opened += 1
        self.on_data, self.on_gone = on_data, on_gone

    def write(self, data):
        self.written += data

    async def close(self):
        self.closed += 1


class DyingTransport(StubTransport):
    """A port that opens well and dies at once, again and again."""

    async def open(self, on_data, on_gone):
        await super().open(on_data, on_gone)
        on_gone(DeviceGoneError("dead on arrival"))
        on_gone(DeviceGoneError("told twice"))


class StubLink:
    """A link that says what it is told to say."""

    def __init__(self):
        self.says = []
        self.calls = []
        self.deadline = None

    def connection_made(self, now):
        self.calls.append("made")

    def connection_lost(self, now):
        self.calls.append("lost")

    def receive_data(self, data, now):
        self.calls.append(data)

    def tick(self, now):
        self.calls.append("tick")

    def next_deadline(self):
        return self.deadline

    def events(self):
        says, self.says = self.says, []
        return says

    def data_to_send(self):
        return b""

    def acknowledge(self, session, number):
        self.calls.append((session, number))


UP = LinkUp("rfid", "S", "1", None, 0, 1, authenticated=False)


def test_a_port_that_dies_at_once_is_not_tried_in_a_spin(run, until):
    async def scenario():
        transport = DyingTransport()
        link = AngelEyeHostLink(AngelEyeSettings(session=5))  # up as soon as the cable is: no proof of a shoe
        backoff = Backoff(first=0.05, longest=0.4, jitter=0)
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with connected(transport, link, backoff=backoff) as consumer:
            await until(lambda: transport.opened == 5)
            assert loop.time() - began >= 0.05 + 0.1 + 0.2 + 0.4
            assert consumer.connection.health().failures >= 4

    run(scenario())


def test_a_deadline_in_the_past_does_not_spin(run, until):
    async def scenario():
        transport, link = StubTransport(), StubLink()
        link.deadline = -1.0
        async with connected(transport, link):
            loop = asyncio.get_running_loop()
            await until(lambda: "tick" in link.calls)
            began, before = loop.time(), link.calls.count("tick")
            await until(lambda: loop.time() > began + 0.2)
            assert link.calls.count("tick") - before <= (loop.time() - began) / 0.004

    run(scenario())


def test_a_silent_device_on_an_open_cable_gets_a_fresh_open(run, until):
    async def scenario():
        transport, link = StubTransport(), StubLink()
        async with connected(transport, link, reopen_after=0.05) as consumer:
            await until(lambda: transport.opened == 1)
            link.says = [UP]
            transport.on_data(b"hello")
            link.says = [LinkDown("not heard"), LinkDown("still not")]
            transport.on_data(b"x")
            assert not consumer.connection.health().link
            assert consumer.connection.health().trouble == "stub: still not"
            # Bytes still come, though they make no sense: no reopen yet.
            transport.on_data(b"noise")
            await until(lambda: transport.opened == 2)
            assert transport.closed == 1
            assert "is silent" in consumer.connection.health().trouble

    run(scenario())


def test_a_device_that_comes_back_by_itself_is_left_alone(run, until):
    async def scenario():
        transport, link = StubTransport(), StubLink()
        async with connected(transport, link, reopen_after=0.02) as consumer:
            await until(lambda: transport.opened == 1)
            link.says = [LinkDown("restarted")]
            transport.on_data(b"x")
            link.says = [UP]
            transport.on_data(b"hello")
            await until(lambda: consumer.connection._silence is None)
            assert transport.opened == 1

    run(scenario())


def test_an_angel_eye_is_never_reopened_because_it_is_silent(run, until):
    async def scenario():
        link = StubLink()
        connection = connect_shoe(StubTransport(), "angel-eye", link, lambda _: None, chance=random.Random(1))
        assert connection._reopen_after is None
        assert connect_shoe(StubTransport(), "open", link, lambda _: None, chance=random.Random(1))._reopen_after == 15
        task = asyncio.create_task(connection.run())
        await until(lambda: connection.health().cable)
        link.says = [LinkDown("does not answer operations")]
        connection.acknowledge(1, 1)
        await until(lambda: not link.says)
        assert connection._silence is None
        task.cancel()

    run(scenario())


def test_a_defect_in_the_consumer_ends_the_run_and_is_not_swallowed(run):
    class DefectError(Exception):
        pass

    def on_event(event):
        raise DefectError

    async def scenario():
        transport, link = StubTransport(), StubLink()
        link.says = [UP]
        connection = ShoeConnection(transport, link, on_event, chance=random.Random(1))
        with pytest.raises(DefectError):
            await connection.run()
        assert transport.closed == 1
        assert link.calls == ["made", "lost"]

    run(scenario())


def test_receipts_wait_a_moment_and_the_newest_of_a_session_stands_for_all(run, until):
    async def scenario():
        transport, link = StubTransport(), StubLink()
        consumer = Consumer(ack=False)

        def on_event(event):
            consumer.events.append(event)
            consumer.connection.acknowledge(1, len(consumer.events))

        consumer.on_event = on_event
        async with connected(transport, link, consumer):
            await until(lambda: transport.opened)
            link.says = [UP, Heartbeat(1, 0, 0, 0, 0, 0)]
            transport.on_data(b"x")
            assert link.calls[-1] == b"x"
            await until(lambda: link.calls[-1] == (1, 2))
            assert (1, 1) not in link.calls
            consumer.connection.acknowledge(1, 3)
        assert link.calls[-2:] == [(1, 3), "lost"]  # whoever leaves says first what is on disk

    run(scenario())


def test_a_command_from_inside_the_callback_is_sent_in_the_same_turn_and_told_is_called_last(run, until):
    async def scenario():
        transport, link = StubTransport(), StubLink()
        said = []
        answers = [b"gate shut"]
        link.data_to_send = lambda: answers.pop() if "asked" in said and answers else b""
        transport.write = said.append

        def ask():
            said.append("asked")
            return 1

        def on_event(event):
            if isinstance(event, LinkUp):
                connection.command(ask)

        connection = ShoeConnection(
            transport, link, on_event, chance=random.Random(1), on_told=lambda: said.append("told")
        )
        task = asyncio.create_task(connection.run())
        await until(lambda: transport.opened)
        said.clear()
        link.says = [UP]
        transport.on_data(b"x")
        assert said == ["asked", b"gate shut", "told"]
        task.cancel()

    run(scenario())


def test_a_timer_is_left_alone_while_it_rings_early_enough(run, until):
    async def scenario():
        transport, link = StubTransport(), StubLink()
        async with connected(transport, link) as consumer:
            await until(lambda: transport.opened)
            now = asyncio.get_running_loop().time()
            link.deadline = now + 60
            transport.on_data(b"x")
            timer = consumer.connection._timer
            link.deadline = now + 70
            transport.on_data(b"x")
            assert consumer.connection._timer is timer
            link.deadline = now + 30
            transport.on_data(b"x")
            assert timer.cancelled()
            assert consumer.connection._timer.when() == pytest.approx(now + 30, abs=5)
            link.deadline = None
            transport.on_data(b"x")
            assert consumer.connection._timer is None

    run(scenario())


def test_a_refused_shoe_is_said_and_not_counted_as_up(run, until, caplog):
    async def scenario():
        transport, link = StubTransport(), StubLink()
        async with connected(transport, link) as consumer:
            await until(lambda: transport.opened)
            link.says = [LinkRefused("the shoe has no key")]
            transport.on_data(b"x")
            assert not consumer.connection.health().link
        assert "the shoe has no key" in caplog.text
        # What still arrives from a cable that is being closed is not for the link.
        before = list(link.calls)
        transport.on_data(b"late")
        assert link.calls == before

    run(scenario())


def test_a_command_without_a_shoe_is_answered_at_once(run, until):
    async def scenario():
        transport = StubTransport()
        async with connected(transport, new_link()) as consumer:
            await until(lambda: transport.opened)
            command = consumer.connection.gate(True)
            answers = [event for event in consumer.events if isinstance(event, CommandAnswered)]
            assert [(answer.command_id, answer.ok) for answer in answers] == [(command, False)]

    run(scenario())
