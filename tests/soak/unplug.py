"""Serial, USB and network cables cut at random bytes, hosts restarted in mid-deal: nothing lost, nothing doubled."""

import asyncio
import contextlib
import logging
import random
import tempfile
import time
from pathlib import Path

from drivers.reconnect import Backoff, ShoeConnection
from firmware_protocol.events import LinkUp, ShoeEvent
from firmware_protocol.host_link import HostLink
from tests.drivers.test_reconnect import to
from tests.drivers.wired_shoe import ServedShoe, UsbWiredShoe, WiredShoe

NAME = "unplug"
CUTS = 3_000
CABLES = (WiredShoe, UsbWiredShoe, ServedShoe)
SHOE = 400  # cards of one shoe; then the next seed


class Journal:
    """What the host has committed; it outlives the host."""

    def __init__(self):
        self.cards = []
        self.last = None
        self.links = 0

    def commit(self, connection, event):
        if isinstance(event, LinkUp):
            self.links += 1
        if isinstance(event, ShoeEvent):
            self.cards.append(event.happening.card.uid)
            self.last = (event.session, event.number)
            connection.acknowledge(event.session, event.number)


async def play(seed, port):
    """Deal one shoe through cuts and restarts; return (cuts, restarts, links, cards, lost or doubled)."""
    chance = random.Random(seed)
    shoe, journal = CABLES[seed % len(CABLES)](port, seed), Journal()
    cuts = restarts = 0
    while len(shoe.dealt) < SHOE or len(shoe.link.memory):
        link = HostLink(nonce=lambda: chance.randbytes(16), last_seen=journal.last)
        connection = None

        def on_event(event):
            journal.commit(connection, event)  # noqa: B023  (the connection of this turn)

        connection = ShoeConnection(to(shoe), link, on_event, chance=chance, backoff=Backoff(first=0.002, longest=0.02))
        host = asyncio.create_task(connection.run())
        end = time.monotonic() + chance.uniform(0.05, 1.0)
        while time.monotonic() < end:
            if not shoe.plugged:
                side = chance.choice(("cut_sent", "cut_heard"))
                shoe.plug(**{side: chance.randrange(1, 700)} if len(shoe.dealt) < SHOE else {})
                cuts += 1
            if len(shoe.dealt) < SHOE and len(shoe.link.memory) < 30:
                shoe.deal()
            await asyncio.sleep(0.001)
        host.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await host
        restarts += 1
    shoe.unplug()
    if isinstance(shoe, ServedShoe):
        shoe.close()
    wrong = 0 if journal.cards == shoe.dealt else len(set(shoe.dealt) ^ set(journal.cards)) or 1
    return cuts, restarts, journal.links, len(shoe.dealt), wrong


def run(report):
    wanted = report.sized(CUTS)
    report.say(f"{wanted:,} cuts at random bytes, with the host restarted at random moments")
    logger = logging.getLogger("drivers")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # each cut is a warning, rightly
    totals = [0] * 5
    seed = report.seed
    try:
        with tempfile.TemporaryDirectory() as folder:
            while totals[0] < wanted:
                counts = asyncio.run(play(seed, Path(folder) / "shoe"))
                totals = [total + count for total, count in zip(totals, counts, strict=True)]
                if counts[4]:
                    report.fault(f"seed {seed}: {counts[4]} cards lost or doubled")
                seed += 1
    finally:
        logger.setLevel(level)
    names = ("cable cuts", "host restarts", "links made", "cards", "lost or doubled")
    for name, total in zip(names, totals, strict=True):
        report.figure(name, total)
    return True
