import asyncio
import os
import pty
import select
import time
import tty

import msgspec
import pytest

from firmware_protocol.angel_eye_frames import FrameReader, Unsolicited
from shoe_controller.outputs.jsonl_lines import from_line, to_line
from shoe_controller.outputs.serial_feed import SerialFeed
from shoe_controller.outputs.settings import SerialFeedSettings
from shoe_controller.session import facts
from tests.broker import free_port
from tests.outputs.feeding import fed, running, until
from tests.outputs.table import IDENTITY, card, round_facts, shoe_loaded


class Receiver:
    """A scoreboard on a pty that can be unplugged and plugged in again under one name."""

    def __init__(self, folder):
        self.link = folder / "scoreboard"
        self.data = b""
        self.plug()

    def plug(self):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.master)
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(os.ttyname(self.slave))

    def unplug(self):
        os.close(self.slave)
        os.close(self.master)
        self.master = -1
        self.link.unlink()

    def read(self):
        while self.master >= 0 and select.select([self.master], [], [], 0)[0]:
            self.data += os.read(self.master, 65536)
        return self.data

    def close(self):
        if self.master >= 0:
            self.unplug()


@pytest.fixture
def receiver(tmp_path):
    receiver = Receiver(tmp_path)
    yield receiver
    receiver.close()


def feed_to(table, device, form="jsonl", **other):
    settings = SerialFeedSettings(device=str(device), format=form, backoff=(0.01, 0.05), **other)
    return SerialFeed(table.source, settings, IDENTITY)


def lines(data):
    """Read JSON lines as a receiver does: empty ones, which come with each opening, are passed over."""
    return [msgspec.json.decode(from_line(line)) for line in data.splitlines() if line]


def seqs(data):
    return [message["seq"] for message in lines(data)]


def newest(data):
    """The seq of the last whole line."""
    return max(seqs(data[: data.rfind(b"\n") + 1]), default=0)


def frames(data):
    """Read with our own host codec; every frame must be there three times."""
    reader = FrameReader()
    read = reader.feed(data)
    assert not reader.dropped
    assert all(isinstance(frame, Unsolicited) for frame in read)
    assert len(read) % 3 == 0
    told = [read[place : place + 3] for place in range(0, len(read), 3)]
    assert all(first == second == third for first, second, third in told)
    return [first.raw for first, _, _ in told]


def by_hand(sequence, *data):
    """A frame as the wire's description has it: 05 seq data 03 and the XOR from seq to 03 in hex digits."""
    inside = bytes((sequence, *data, 0x03))
    check = 0
    for byte in inside:
        check ^= byte
    return b"\x05" + inside + b"%02X" % check


def sent(table, receiver, form, count):
    """Feed all that the table has and return what arrived."""

    async def scenario():
        async with running(feed_to(table, receiver.link, form, resume="cursor")) as feed:
            enough = (
                (lambda: receiver.read().count(b"*") >= count and receiver.data.endswith(b"\n"))
                if form == "jsonl"
                else (lambda: len(FrameReader().feed(receiver.read())) >= 3 * count)
            )
            await until(enough, f"{count} messages")
            await fed(table, feed)

    asyncio.run(scenario())
    return receiver.read()


def test_a_round_in_angel_eye_frames_is_what_such_a_shoe_would_send(table, receiver):
    table.commit(shoe_loaded(), facts.Burned(shoe="S1", card="7c", left=0), *round_facts(1))
    assert frames(sent(table, receiver, "angel-eye", 8)) == [
        by_hand(0, ord("S")),
        by_hand(1, ord("D"), 0xA0, 0xA7),  # burned: seven of clubs
        by_hand(2, ord("P")),
        by_hand(3, ord("D"), 0x81, 0x94),  # player's first: four of diamonds
        by_hand(4, ord("D"), 0x91, 0xBD),  # banker's first: king of spades
        by_hand(5, ord("D"), 0x82, 0xC5),  # player's second: five of hearts
        by_hand(6, ord("D"), 0x92, 0xA5),  # banker's second: five of clubs
        by_hand(7, ord("G"), 0x90),  # player wins, no pair
    ]


VOID = {"status": "void", "winner": None, "player_total": None, "banker_total": None, "pays": {}}


@pytest.mark.parametrize(
    "fact, data",
    [
        (facts.CutCardSeen(shoe="S1", rounds_left=1), [b"C"]),
        (card("Sf", "player", 3), [b"D\x83\xcb"]),  # Sau of fire as jack of hearts
        (card("Lg", "banker", 3), [b"D\x93\x9c"]),  # Luk of gold as queen of diamonds
        (card("Fe", "banker", 1), [b"D\x91\xad"]),  # Fuk of earth as king of clubs
        (card("9w", "player", 1), [b"D\x81\xb9"]),  # nine of wood as nine of spades
        (card("Aa", "player", 2), [b"D\x82\x81"]),  # ace of water: no suit
        (card("Th", None, 0, place="surplus"), [b"d\x90\xca"]),
        (card("", None, 0, place="foreign"), []),
        (facts.Burned(shoe="S1", card=None, left=3), []),
        (
            msgspec.structs.replace(round_facts(1)[-1], winner="tie", player=("4d", "4h"), banker=("9c", "9s")),
            [b"G\xa3"],
        ),
        (msgspec.structs.replace(round_facts(1)[-1], winner="banker", banker=("9c", "9s")), [b"G\xc2"]),
        (msgspec.structs.replace(round_facts(1)[-1], **VOID), [b"G\xf0"]),
        (facts.Fault(fault="shoe", active=True), []),
    ],
)
def test_facts_and_their_angel_eye_words(table, receiver, fact, data):
    table.commit(fact, facts.CutCardSeen(shoe="S1", rounds_left=0))
    *told, last = frames(sent(table, receiver, "angel-eye", len(data) + 1))
    assert [frame[2:-3] for frame in told] == data
    assert last[2:-3] == b"C"


def irregularity(number, kind, effect):
    return facts.Irregularity(id=number, kind=kind, rule="5.2", shoe="S1", round=1, effect=effect)


def test_irregularities_light_the_error_and_put_it_out(table, receiver):
    table.commit(
        irregularity(1, "unreadable_card", "decision"),
        irregularity(2, "wrong_number", "decision"),
        irregularity(3, "simultaneous_draw", "noted"),
        facts.Resolved(ids=(2,), how="reconstruct", round=1),
        facts.Resolved(ids=(1, 99), how="void", round=1),
        irregularity(4, "foreign_card", "void"),
        facts.BettingOpened(shoe="S1", round=2),
    )
    data = [frame[2:-3] for frame in frames(sent(table, receiver, "angel-eye", 7))]
    assert data == [b"E\xc1", b"E\xc2", b"e\xc2", b"e\x81", b"E\x86", b"e\x86", b"P"]


def test_json_lines_carry_every_fact_with_its_checksum(table, receiver):
    table.play(10)
    data = sent(table, receiver, "jsonl", 70)
    assert seqs(data) == list(range(1, 71))
    assert lines(data)[0]["type"] == "betting"


def test_a_line_that_was_changed_on_its_way_is_recognised():
    line = to_line(b'{"seq":1}')
    assert line == b'{"seq":1}*D9FA7F0C\n' or from_line(line) == b'{"seq":1}'
    assert from_line(line) == from_line(line.rstrip() + b"\r\n") == b'{"seq":1}'
    for place in range(len(line) - 1):
        assert from_line(line[:place] + bytes((line[place] ^ 1,)) + line[place + 1 :]) is None
    assert from_line(b"") is None


def unplugged(table, receiver, resume, before, after, *, form="jsonl"):
    """Feed, unplug, deal on, plug in again; return what came before and after."""

    async def scenario():
        async with running(feed_to(table, receiver.link, form, resume=resume)) as feed:
            table.commit(*before)
            feed.wake()
            await until(lambda: newest(receiver.read()) == table.source.last_seq, "all before")
            first, receiver.data = receiver.data, b""
            receiver.unplug()
            await until(lambda: not feed.health().connected, "the loss is noticed")
            table.commit(*after)
            feed.wake()
            receiver.plug()
            await until(lambda: feed.health().connected, "connected again")
            await until(lambda: newest(receiver.read()) == table.source.last_seq, "the newest")
            return seqs(first), seqs(receiver.data)

    return asyncio.run(scenario())


def test_a_receiver_that_comes_back_gets_all_it_missed_from_its_cursor(table, receiver):
    rounds = [fact for number in range(1, 6) for fact in round_facts(number)]
    first, second = unplugged(table, receiver, "cursor", rounds[:10], rounds[10:])
    assert (first, second) == (list(range(1, 11)), list(range(11, 36)))


def test_a_receiver_that_comes_back_in_mid_round_gets_that_round_whole(table, receiver):
    rounds = [fact for number in range(1, 6) for fact in round_facts(number)]
    first, second = unplugged(table, receiver, "current-round", rounds[:10], rounds[10:31])
    assert (first, second) == (list(range(8, 11)), list(range(29, 32)))


def test_a_result_that_was_told_is_not_told_twice(table, receiver):
    one, two = round_facts(1), round_facts(2)
    first, second = unplugged(table, receiver, "current-round", one, [facts.Fault(fault="shoe", active=True)])
    assert (first, second) == (list(range(1, 8)), [8])
    table.commit(*two)


def test_a_restart_remembers_which_error_is_lit(table, receiver):
    async def scenario(count):
        async with running(feed_to(table, receiver.link, "angel-eye", resume="cursor")) as feed:
            await fed(table, feed)
            await until(lambda: len(FrameReader().feed(receiver.read())) >= 3 * count, "all frames")

    table.commit(facts.BettingOpened(shoe="S1", round=1), irregularity(1, "order_altered", "decision"))
    asyncio.run(scenario(2))
    table.commit(facts.Resolved(ids=(1,), how="void", round=1))
    asyncio.run(scenario(3))
    assert [frame[2:-3] for frame in frames(receiver.data)] == [b"P", b"E\xc4", b"e\x84"]


def test_a_slow_receiver_holds_nobody_up_and_gets_all_in_the_end(table, receiver):
    async def scenario():
        async with running(feed_to(table, receiver.link, resume="cursor", stall=20.0)) as feed:
            await until(lambda: feed.health().connected, "connected")
            table.play(200)
            feed.wake()
            await asyncio.sleep(0)
            before = time.monotonic()
            table.play(1)
            feed.wake()
            assert time.monotonic() - before < 5
            await until(lambda: len(receiver.data) or feed.health().cursor, "the first bytes are taken")
            assert feed.health().lag > 0
            await until(lambda: receiver.read().count(b"\n") == 1408, "all lines")
            await fed(table, feed)

    asyncio.run(scenario())
    assert seqs(receiver.data) == list(range(1, 1408))


def test_a_receiver_that_takes_nothing_is_told_and_tried_again(table, receiver, caplog):
    async def scenario():
        async with running(feed_to(table, receiver.link, resume="cursor", stall=0.1)) as feed:
            await until(lambda: "has taken nothing for 0.1 s" in caplog.text, "a complaint")
            assert not feed.health().connected
            assert feed.health().lag > 0
            # From here on it reads; whole lines of facts that were cut come again.
            await until(lambda: receiver.read() and feed.health().lag == 0, "all lines")
            await until(lambda: receiver.read().endswith(b"\n"), "the last line")

    table.play(200)
    asyncio.run(scenario())
    whole = [msgspec.json.decode(message)["seq"] for line in receiver.data.splitlines() if (message := from_line(line))]
    assert list(dict.fromkeys(whole)) == list(range(1, 1401))


def test_what_the_receiver_says_is_passed_over(table, receiver):
    async def scenario():
        async with running(feed_to(table, receiver.link, resume="cursor")) as feed:
            await until(lambda: feed.health().connected, "connected")
            os.write(receiver.master, b"hello?\r\n" * 10)
            table.play(1)
            feed.wake()
            await until(lambda: receiver.read().count(b"\n") == 8, "all lines")
            return feed.name, feed.health()

    name, health = asyncio.run(scenario())
    assert name == health.name == "serial"
    assert health.detail.endswith("scoreboard, jsonl")


@pytest.mark.parametrize(
    "device, sentence",
    [
        ("/dev/no-such-port", "cannot be opened (there is no such port"),
        ("gopher://x:1", "only socket:// and rfc2217:// are known"),
        ("usb:1234:5678", "no serial port belongs to the USB device 1234:5678"),
        ("socket://127.0.0.1:FREE", "cannot be opened"),
    ],
)
def test_a_port_that_cannot_be_opened_is_told_and_tried_again(table, caplog, device, sentence):
    async def scenario():
        async with running(feed_to(table, device.replace("FREE", str(free_port())))) as feed:
            await until(lambda: sentence in feed.health().detail, f"a sentence, not {feed.health().detail}")
            assert not feed.health().connected

    asyncio.run(scenario())
    assert sentence in caplog.text


def test_a_device_server_that_hangs_up_gets_the_rest_when_it_is_back(table):
    async def scenario():
        got = []
        first = asyncio.Event()

        async def serve(reader, writer):
            if not got:
                await reader.readline()  # the empty one of the opening
                got.append(await reader.readline())
                first.set()
                writer.close()
                return
            await reader.readline()
            while line := await reader.readline():
                got.append(line)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        device = f"socket://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with running(feed_to(table, device, resume="cursor")) as feed:
            table.commit(shoe_loaded())
            feed.wake()
            await asyncio.wait_for(first.wait(), 10)
            await until(lambda: not feed.health().connected, "the loss is noticed")
            table.play(5)
            feed.wake()
            await until(lambda: len(got) >= 36, "the rest")
        server.close()
        return [msgspec.json.decode(from_line(line))["seq"] for line in got]

    assert list(dict.fromkeys(asyncio.run(scenario()))) == list(range(1, 37))
