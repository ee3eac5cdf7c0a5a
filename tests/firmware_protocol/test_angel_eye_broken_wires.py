"""A round of an Angel Eye arrives once and in order wherever one thing breaks: nothing can be asked for again."""

from random import Random

import pytest

from firmware_protocol.angel_eye_copies import HOLD
from firmware_protocol.angel_eye_link import SILENCE, AngelEyeHostLink, AngelEyeSettings
from firmware_protocol.angel_eye_messages import CuttingCard, GameCard, GameResult, Standby
from firmware_protocol.angel_eye_sender import AngelEyeSender
from firmware_protocol.events import ShoeEvent, Target
from tests.firmware_protocol.angel_eye_vectors import card

ROUND = [
    GameCard(Target.PLAYER, 1, card("4d")),
    GameCard(Target.BANKER, 1, card("Th")),
    GameCard(Target.PLAYER, 2, card("As")),
    GameCard(Target.BANKER, 2, card("Th")),
    CuttingCard(),
    GameCard(Target.PLAYER, 3, card("9c")),
    GameCard(Target.BANKER, 3, card("2c")),
    GameResult("player"),
    Standby(),
]
EVERY = 0.7  # seconds from one event to the next


def bursts(sequence=250):
    sender = AngelEyeSender(sequence=sequence)
    return [sender.say(message) for message in ROUND]


LENGTH = sum(map(len, bursts()))


class Listener:
    def __init__(self):
        self.journal = []
        self.now = 0.0
        self.link = None
        self.restart()

    def restart(self):
        """Start the host anew: it knows what is on disk, and nothing else."""
        self.link = AngelEyeHostLink(
            AngelEyeSettings(session=1),
            first_number=len(self.journal) + 1,
            already_handled=[event.raw for event in self.journal[-8:]],
        )
        self.link.connection_made(self.now)

    def reopen(self):
        self.link.connection_lost(self.now)
        self.take()
        self.link.connection_made(self.now)

    def hear(self, data):
        self.link.receive_data(data, self.now)
        self.take()

    def wait(self, seconds):
        end = self.now + seconds
        while (due := self.link.next_deadline()) is not None and due <= end:
            self.now = max(self.now, due)
            self.link.tick(self.now)
            self.take()
        self.now = end

    def take(self):
        self.journal += [event for event in self.link.events() if isinstance(event, ShoeEvent)]


def happenings_of(pieces):
    listener = Listener()
    for burst in pieces:
        for piece in burst:
            listener.hear(piece)
            listener.wait(0.002)
        listener.wait(EVERY)
    listener.wait(SILENCE + HOLD)
    assert [event.number for event in listener.journal] == list(range(1, len(listener.journal) + 1))
    return [event.happening for event in listener.journal]


EXPECTED = happenings_of([[burst] for burst in bursts()])


def broken_at(place, breaks):
    """Play a round; at one byte of it something breaks. `breaks` gives what arrives of the rest of that burst."""
    listener, at = Listener(), 0
    for burst in bursts():
        if at <= place < at + len(burst):
            listener.hear(burst[: place - at])
            listener.hear(breaks(listener, burst[place - at :]))
        else:
            listener.hear(burst)
        at += len(burst)
        listener.wait(EVERY)
    listener.wait(SILENCE + HOLD)
    return [event.happening for event in listener.journal]


def pause(listener, rest):
    listener.wait(0.2)
    return rest


def reopen(listener, rest):
    listener.reopen()
    return rest


def restart(listener, rest):
    listener.restart()
    return rest


BREAKS = {
    "one byte lost": lambda _listener, rest: rest[1:],
    "five bytes lost": lambda _listener, rest: rest[5:],
    "one byte doubled": lambda _listener, rest: rest[:1] + rest,
    "one bit flipped": lambda _listener, rest: bytes((rest[0] ^ 0x10,)) + rest[1:],
    "one byte is a start": lambda _listener, rest: b"\x05" + rest[1:],
    "noise": lambda _listener, rest: Random(len(rest)).randbytes(6) + rest,
    "delay": pause,
    "line reopened": reopen,
    "host restarted": restart,
}


@pytest.mark.parametrize("breaks", BREAKS.values(), ids=BREAKS.keys())
def test_round_arrives_once_wherever_it_breaks(breaks):
    assert LENGTH > 200
    for place in range(LENGTH):
        assert broken_at(place, breaks) == EXPECTED, place


@pytest.mark.parametrize("seed", range(3))
def test_round_arrives_in_any_pieces(seed):
    random = Random(seed)

    def cut(data):
        while data:
            size = random.randrange(1, 9)
            yield data[:size]
            data = data[size:]

    assert happenings_of([cut(burst) for burst in bursts()]) == EXPECTED
    assert happenings_of([[burst[at : at + 1] for at in range(len(burst))] for burst in bursts()]) == EXPECTED


@pytest.mark.parametrize("after", range(LENGTH))
def test_a_cable_that_is_pulled_in_mid_round_loses_what_is_said_meanwhile_and_doubles_nothing(after):
    listener, at = Listener(), 0
    for burst in bursts():
        if at + len(burst) <= after:
            listener.hear(burst)
        elif at < after:
            listener.hear(burst[: after - at])
            listener.link.connection_lost(listener.now)
            listener.take()
        at += len(burst)
        listener.wait(EVERY)
    got = [event.happening for event in listener.journal]
    assert got == EXPECTED[: len(got)]
