"""Sets read through a simulated shoe on a real pty."""

import asyncio
import contextlib
import time
from random import Random

import pytest

from drivers.shoe_device import transport_for
from drivers.simulated.body import ShoeBody
from drivers.simulated.faults import parse_faults
from drivers.simulated.open_device import OpenOptions
from drivers.simulated.open_twin import OpenTwin
from drivers.simulated.pty_shoe import SimulatedShoe
from drivers.simulated.stock import make_set
from firmware_protocol.codes import DeviceKind
from shoe_controller.cards import ELEMENTS, STANDARD
from shoe_controller.cli.set_reading import read_set
from shoe_controller.decks import RegisterError
from shoe_controller.decks.set_reader import new_deck_order

DEADLINE = 30.0


class Unshuffled(Random):
    """Puts the cards into the shoe as they come from the maker."""

    def sample(self, population, k):
        return list(population)[:k]


def twin(kind, *, deck=STANDARD, shuffle=True, cut_card=None, **options):
    cards = make_set(deck.faces, 1, Random(1))
    body = ShoeBody(cards, Random(2) if shuffle else Unshuffled(2), cut_card=cut_card)
    return OpenTwin(body, Random(3), OpenOptions(kind=kind, **options))


class Person:
    """At the shoe: hears what is said, and does something when a certain thing is said."""

    def __init__(self):
        self.heard = []
        self.does = []  # (words, what to do), in this order

    def __call__(self, words):
        self.heard.append(words)
        if self.does and self.does[0][0] in words:
            asyncio.get_running_loop().call_soon(self.does.pop(0)[1])


def read(made, person=None, *, deck=STANDARD, auto=0.0005, faults="", link=None, **settings):
    person = person or Person()

    async def reading():
        shoe = SimulatedShoe(made, auto=auto, faults=parse_faults(faults), link=link)
        person.shoe = shoe
        async with asyncio.timeout(DEADLINE), shoe:
            order = settings.pop("order", new_deck_order(deck, 1))
            reader = await read_set(transport_for(shoe.device), deck, 1, order, say=person, **settings)
            assert not made.body.gate_open
            return reader

    return asyncio.run(reading())


def register_of(made):
    return {card.uid: card.code for card in made.body.set}


def test_a_hybrid_shoe_reads_a_shuffled_set():
    made = twin(DeviceKind.HYBRID, cut_card=5, deck_set=9)
    reader = read(made)
    assert dict(reader.cards) == register_of(made)
    assert reader.optical == 9


def test_an_rfid_shoe_reads_new_decks_in_their_order():
    made = twin(DeviceKind.RFID, deck=ELEMENTS, shuffle=False)
    person = Person()
    assert dict(read(made, person, deck=ELEMENTS).cards) == register_of(made)
    assert "draw the 65 cards, in the order of new decks; Ctrl-C ends without registering" in person.heard
    assert "14 of 65: Ace of gold" in person.heard


def test_an_optical_shoe_finds_the_number_of_the_set():
    reader = read(twin(DeviceKind.OPTICAL, deck_set=4711))
    assert (reader.cards, reader.optical, reader.wrong()) == ([], 4711, ())


def test_optical_cards_without_a_number_cannot_be_registered():
    with pytest.raises(RegisterError, match="these cards have neither ids nor a set number"):
        read(twin(DeviceKind.OPTICAL, deck_set=None))


def test_faults_of_the_shoe_interrupt_and_lose_nothing():
    made = twin(DeviceKind.HYBRID)
    person = Person()
    person.does = [
        ("10 of 52", lambda: person.shoe.do("jam on")),
        ("fault: jam", lambda: person.shoe.do("jam off")),
        ("20 of 52", lambda: (person.shoe.do("lid open"), person.shoe.do("lid close"))),
        ("30 of 52", lambda: person.shoe.do("duplicate")),
        ("40 of 52", lambda: person.shoe.do("pushback")),
    ]
    assert dict(read(made, person).cards) == register_of(made)
    assert person.does == []
    assert any("was read before: not counted" in words for words in person.heard)
    assert any("was put back" in words for words in person.heard)


def test_a_shoe_that_cannot_open_says_why():
    made = twin(DeviceKind.HYBRID)
    made.body.jammed = True
    person = Person()
    person.does = [("the gate does not open: ", lambda: person.shoe.do("jam off"))]
    assert dict(read(made, person).cards) == register_of(made)


def test_an_unplugged_cable_is_waited_for_and_loses_nothing(tmp_path):
    made = twin(DeviceKind.HYBRID)
    person = Person()
    person.does = [
        ("10 of 52", lambda: person.shoe.do("unplug")),
        ("the reading goes on when the shoe is back", lambda: person.shoe.do("plug")),
        ("30 of 52", lambda: person.shoe.do("unplug")),
        ("the reading goes on when the shoe is back", lambda: person.shoe.do("plug")),
    ]
    reader = read(made, person, link=tmp_path / "shoe", faults="flip=0.001")
    assert dict(reader.cards) == register_of(made)
    assert person.heard.count("hybrid shoe SIM-1 is connected") == 3


def test_cards_that_a_table_has_not_recorded_are_not_swallowed():
    made = twin(DeviceKind.HYBRID)
    now = time.monotonic()
    for line in ("deal", "deal"):
        made.actions[line].run(["force"], now)
    kept = len(made.link.memory)
    with pytest.raises(RegisterError, match="connect it to its table first, or say --discard"):
        read(made)
    assert len(made.link.memory) == kept
    made.body.refill()
    assert dict(read(made, discard=True).cards) == register_of(made)


def test_lid_and_start_from_before_are_no_hindrance():
    made = twin(DeviceKind.HYBRID)
    for _ in range(12):  # more than the shoe tells before it is acknowledged
        made.actions["lid"].run(["open"], 0.0)
        made.actions["lid"].run(["close"], 0.0)
    assert dict(read(made).cards) == register_of(made)


def test_a_second_set_can_be_read_after_the_first():
    made = twin(DeviceKind.HYBRID)
    for _ in range(2):
        assert dict(read(made).cards) == register_of(made)
        made.body.refill()


def test_a_card_put_back_unseen_ends_the_reading_with_the_gate_shut():
    made = twin(DeviceKind.HYBRID)
    person = Person()
    person.does = [("5 of 52", lambda: person.shoe.do("pushback unseen"))]
    with pytest.raises(RegisterError, match="begin again"):
        read(made, person)
    assert not made.body.gate_open


KEY = bytes(range(32))


@pytest.mark.parametrize(
    "shoe_key, our_key, sentence",
    [(KEY, None, "this table has no key"), (None, KEY, None), (KEY, KEY, None), (KEY, bytes(32), "did not prove")],
)
def test_a_shoe_with_a_key_is_read_with_its_key(shoe_key, our_key, sentence):
    made = twin(DeviceKind.HYBRID, key=shoe_key, require_auth=shoe_key is not None)
    refused = contextlib.nullcontext() if sentence is None else pytest.raises(RegisterError, match=sentence)
    with refused:
        assert dict(read(made, key=our_key).cards) == register_of(made)


def test_a_port_that_is_not_there_is_said_at_once(tmp_path):
    async def reading():
        transport = transport_for(str(tmp_path / "none"))
        await read_set(transport, STANDARD, 1, (), say=lambda _: None)

    began = time.monotonic()
    with pytest.raises(RegisterError, match="there is no serial port"):
        asyncio.run(reading())
    assert time.monotonic() - began < 5


def test_a_defect_is_not_taken_for_a_shoe_that_is_away():
    def broken(words):
        raise ZeroDivisionError(words)

    made = twin(DeviceKind.HYBRID)
    with pytest.raises(ZeroDivisionError):
        read(made, person=broken_person(broken))


def broken_person(does):
    person = Person()
    person.__class__ = type("Broken", (Person,), {"__call__": lambda self, words: does(words)})
    return person
