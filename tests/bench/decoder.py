"""Decoder throughput: the product path against bare COBS, CRC and struct, measured in pairs in one run.

The floor does nothing but the arithmetic: split at the zeros, check the CRC, un-stuff, unpack the fields. It has no
limits, no counters, no noise, no message values. The ratio says what those cost; machine speed falls out of it.
"""

import gc
import hmac
import statistics
import struct
import sys
from time import perf_counter
from zlib import crc32

from firmware_protocol.auth import link_key, seal
from firmware_protocol.codes import HelloFlag
from firmware_protocol.delivery import Event
from firmware_protocol.drops import Drop
from firmware_protocol.events import Card, CardDrawn, ShoeEvent
from firmware_protocol.frames import Decoder, encode_frame
from firmware_protocol.greeting import Hello
from firmware_protocol.host_link import HostLink
from firmware_protocol.messages import read_from_device
from tests.firmware_protocol.wires import IDENTITY, KEY, shoe

PAIRS = 9
CARDS = 5_000
SESSION = 0x1A2B3C4D
READ_SIZE = 4096

# Ceilings with room for a busy machine; a change that passes them is a change for the worse.
MAX_RATIO_DECODER = 6.5
MAX_RATIO_LINK = 9.5
MAX_LINK_US = 100.0

CARD = struct.Struct("<BIIB7sQQBH")


def bare(stream):
    """The floor: cobs + crc + struct in bare form."""
    cards = []
    for raw in stream.split(b"\0"):
        if not raw:
            continue
        stuffed = raw[:-5]
        check = raw[-5:]
        crc = crc32(stuffed)
        for byte in check:
            if byte & 0x7F != crc & 0x7F:
                raise ValueError
            crc >>= 7
        body = bytearray(stuffed)
        at = 0
        while at < len(body):
            step = body[at]
            body[at] = 0
            at += step
        cards.append(CARD.unpack_from(body, 1))
    return cards


def bare_sealed(stream, key):
    """The floor of a sealed link: the same with one HMAC for each frame."""
    cards = bare(stream)
    size = len(stream) // len(cards)
    for at in range(len(cards)):
        hmac.digest(key, stream[at * size : at * size + size], "sha256")
    return cards


def decoded(stream):
    """The product: the decoder and the messages, in reads of the size that a serial port gives."""
    decoder = Decoder()
    cards = []
    for at in range(0, len(stream), READ_SIZE):
        for frame in decoder.feed(stream[at : at + READ_SIZE]):
            message = read_from_device(frame.body)
            if not isinstance(message, Drop):
                cards.append(message)
    return cards


def link_up(key=None):
    host = HostLink(nonce=lambda: b"h" * 16, key=key)
    host.connection_made(0.0)
    hello = Hello(IDENTITY, SESSION, 1, 1, HelloFlag(4 if key else 0), b"h" * 16, b"d" * 16).to_bytes()
    if key:
        from firmware_protocol.auth import greeting_key

        hello = seal(hello, greeting_key(key))
    host.receive_data(encode_frame(hello), 0.0)
    return host


def linked(stream, key=None):
    """The whole host link: order, acknowledgement of every card, and the seal if there is a key."""
    host = link_up(key)
    cards = []
    for at in range(0, len(stream), READ_SIZE):
        host.receive_data(stream[at : at + READ_SIZE], 0.0)
        for event in host.events():
            if isinstance(event, ShoeEvent):
                cards.append(event)
                host.acknowledge(event.session, event.number)
        host.data_to_send()
    return cards


def seconds(work, *arguments):
    gc.collect()
    start = perf_counter()
    cards = work(*arguments)
    taken = perf_counter() - start
    if len(cards) != CARDS:
        raise AssertionError(f"{len(cards)} of {CARDS} cards arrived")
    return taken


def main():
    cards = [Event(SESSION, number, happening) for number, happening in enumerate(shoe(CARDS), 1)]
    bodies = [card.to_bytes() for card in cards]
    assert isinstance(cards[0].happening, CardDrawn)
    assert isinstance(cards[0].happening.card, Card)
    stream = b"".join(map(encode_frame, bodies))
    key = link_key(KEY, b"h" * 16, b"d" * 16)
    sealed = b"".join(encode_frame(seal(body, key)) for body in bodies)
    assert decoded(stream) == cards

    runs = {"bare": (bare, stream), "decoder": (decoded, stream), "link": (linked, stream)}
    runs |= {"bare + HMAC": (bare_sealed, sealed, key), "sealed link": (linked, sealed, KEY)}
    floors = {"sealed link": "bare + HMAC"}
    taken = {name: [] for name in runs}
    for _ in range(PAIRS):  # interleaved, so that a slow moment of the machine hits all of them
        for name, run in runs.items():
            taken[name].append(seconds(*run))

    print(f"open protocol   {CARDS:,} cards of {len(stream) // CARDS} bytes, median of {PAIRS} interleaved runs")
    print(f"  {'':12} {'µs/card':>9} {'MB/s':>7} {'ratio to floor':>15}")
    ratios = {}
    for name, times in taken.items():
        each = statistics.median(times) / CARDS * 1e6
        floor_times = taken[floors.get(name, "bare")]
        ratios[name] = statistics.median(one / floor for one, floor in zip(times, floor_times, strict=True))
        size = len(runs[name][1])
        print(f"  {name:12} {each:>9.2f} {size / statistics.median(times) / 1e6:>7.2f} {ratios[name]:>15.2f}")
    slow = [
        f"decoder is {ratios['decoder']:.1f} times the floor (at most {MAX_RATIO_DECODER})"
        for _ in range(ratios["decoder"] > MAX_RATIO_DECODER)
    ]
    slow += [
        f"{name} is {ratios[name]:.1f} times the floor (at most {MAX_RATIO_LINK})"
        for name in ("link", "sealed link")
        if ratios[name] > MAX_RATIO_LINK
    ]
    worst = statistics.median(taken["sealed link"]) / CARDS * 1e6
    if worst > MAX_LINK_US:
        slow.append(f"a card takes the host link {worst:.0f} µs (at most {MAX_LINK_US:.0f})")
    for sentence in slow:
        print(f"  SLOW         {sentence}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
