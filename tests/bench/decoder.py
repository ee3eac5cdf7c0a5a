"""Decoder: the open protocol against bare COBS, CRC and struct.

The floor does nothing but the arithmetic: split at the zeros, check the CRC, un-stuff, unpack the fields. It has no
limits, no counters, no noise, no message values. The ratio says what those cost; machine speed falls out of it.
"""

import hmac
import statistics
import struct
from collections.abc import Iterator
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
from tests.bench.figures import PROCESSOR, Figure, Options, at_most, interleaved, no_more_than, ratio
from tests.firmware_protocol.wires import IDENTITY, KEY, shoe

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


def all_cards(work, *arguments):
    """Return something that does the work and sees to it that no card was lost on the way."""

    def run():
        cards = work(*arguments)
        if len(cards) != CARDS:
            raise AssertionError(f"{len(cards)} of {CARDS} cards arrived")

    return run


def measure(options: Options) -> Iterator[Figure]:
    cards = [Event(SESSION, number, happening) for number, happening in enumerate(shoe(CARDS), 1)]
    bodies = [card.to_bytes() for card in cards]
    assert isinstance(cards[0].happening, CardDrawn)
    assert isinstance(cards[0].happening.card, Card)
    stream = b"".join(map(encode_frame, bodies))
    key = link_key(KEY, b"h" * 16, b"d" * 16)
    sealed = b"".join(encode_frame(seal(body, key)) for body in bodies)
    assert decoded(stream) == cards

    taken = interleaved(
        {
            "bare": all_cards(bare, stream),
            "decoder": all_cards(decoded, stream),
            "link": all_cards(linked, stream),
            "bare + HMAC": all_cards(bare_sealed, sealed, key),
            "sealed link": all_cards(linked, sealed, KEY),
        },
        clock=PROCESSOR,
    )
    each = {name: statistics.median(times) / CARDS * 1e6 for name, times in taken.items()}
    for name, floor, most in (
        ("decoder", "bare", MAX_RATIO_DECODER),
        ("link", "bare", MAX_RATIO_LINK),
        ("sealed link", "bare + HMAC", MAX_RATIO_LINK),
    ):
        times = ratio(taken[name], taken[floor])
        yield Figure(f"{name} for a card", "µs", each[name], each[floor], times, at_most(most))
    yield Figure("sealed link for a card, at most", "µs", each["sealed link"], target=no_more_than(MAX_LINK_US))
