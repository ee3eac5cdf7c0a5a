"""What a simulated shoe is made of, and how faults and commands are written."""

from random import Random

import pytest

from drivers.simulated.actions import Action, help_text, run_line
from drivers.simulated.auto_deal import AutoDealer
from drivers.simulated.body import LONGEST_STORY
from drivers.simulated.errors import OrderError
from drivers.simulated.faults import TABLE_FAULTS, WIRE_MEANINGS, Faults, parse_faults
from drivers.simulated.order import ShoeOrder, build_twin
from drivers.simulated.stock import faces, make_set, register_csv
from drivers.simulated.wire import GOOD_WIRE, WireFaults
from firmware_protocol.events import LinkUp
from tests.drivers.simulated.twin_rig import TwinRig


@pytest.mark.parametrize("deck, suits", [(52, 4), (65, 5)])
def test_a_set_has_every_face_as_often_as_it_has_decks_and_no_id_twice(deck, suits):
    cards = make_set(faces(deck), 8, Random(1))
    assert len(cards) == deck * 8
    assert len({card.uid for card in cards}) == deck * 8
    assert len({card.suit for card in cards}) == suits
    assert all(sum(card.code == face for card in cards) == 8 for face in faces(deck))


def test_ids_are_never_given_twice_even_if_chance_gives_them_twice():
    class Repeating(Random):
        def randbytes(self, n):
            return super().randbytes(n)[:1].ljust(n, b"\0")

    cards = make_set(faces(52), 1, Repeating(1))
    assert len({card.uid for card in cards}) == 52


def test_the_register_says_nothing_about_the_order_in_the_shoe():
    twin = build_twin(ShoeOrder(decks=1))
    head, *lines = register_csv(twin.body.set).splitlines()
    assert head == "uid,code"
    assert lines == sorted(lines)
    assert sorted(line.split(",")[1] for line in lines) == sorted(faces(52))


@pytest.mark.parametrize(
    "order, words",
    [
        (ShoeOrder(deck=51), "no deck of 51"),
        (ShoeOrder(decks=0), "1 to 10 decks"),
        (ShoeOrder(decks=11), "1 to 10 decks"),
        (ShoeOrder(cut_card=-1), "cut card"),
        (ShoeOrder(protocol="morse"), "open or angel-eye"),
    ],
)
def test_an_order_that_makes_no_shoe_is_refused_with_a_sentence(order, words):
    with pytest.raises(OrderError, match=words):
        build_twin(order)


def test_a_cut_card_beyond_the_shoe_is_not_put_in():
    twin = build_twin(ShoeOrder(decks=1, cut_card=60))
    assert not twin.body.cut_due


def test_a_story_that_nobody_reads_does_not_grow_for_ever():
    body = build_twin(ShoeOrder()).body
    for _ in range(LONGEST_STORY + 10):
        body.tell("again")
    assert len(body.story()) == LONGEST_STORY
    assert body.story() == []


# --- faults ---


def test_faults_are_written_as_names_with_or_without_a_share():
    assert parse_faults("") == Faults({}, GOOD_WIRE)
    assert parse_faults("unreadable=0.5, lose=0.25,late=3,split") == Faults(
        {"unreadable": 0.5}, WireFaults(lose=0.25, late=3.0, split=True)
    )
    assert parse_faults("jam").table == {"jam": TABLE_FAULTS["jam"].share}
    assert parse_faults("table").table.keys() == TABLE_FAULTS.keys()
    assert parse_faults("wire").table == {}
    assert parse_faults("wire,lose=0").wire.lose == 0
    assert parse_faults("all") == Faults(parse_faults("table").table, parse_faults("wire").wire)
    assert parse_faults("table=0").table == dict.fromkeys(TABLE_FAULTS, 0.0)


@pytest.mark.parametrize("text", ["gremlins", "jam=2", "jam=-0.1", "jam=often", "lose=nan", "late=61", "jam=", "=1"])
def test_a_fault_that_is_not_understood_is_refused_with_a_sentence(text):
    with pytest.raises(OrderError, match=r"\.$"):
        parse_faults(text)


def test_every_fault_of_the_wire_has_a_meaning():
    assert set(WIRE_MEANINGS) == set(WireFaults.__dataclass_fields__)


# --- commands ---


def test_an_empty_line_does_nothing_and_help_lists_every_command():
    actions = build_twin(ShoeOrder()).actions
    assert run_line(actions, "   ", 0.0) == ""
    text = run_line(actions, "help", 0.0)
    assert text == help_text(actions)
    assert all(f"  {name} " in text for name in actions)
    with pytest.raises(OrderError, match="'fly' is not a command"):
        run_line(actions, "fly", 0.0)
    assert "what it does" in help_text({"it": Action("", "what it does", lambda _words, _now: "")})


@pytest.mark.parametrize("protocol", ["open", "angel-eye"])
def test_every_fault_of_the_table_is_a_command_of_the_shoe(protocol):
    actions = build_twin(ShoeOrder(protocol=protocol)).actions
    for fault in TABLE_FAULTS.values():
        assert fault.command.split()[0] in actions


# --- the automatic dealer ---


def dealt(faults="", *, protocol="open", seed=1, until=100, seconds=0.5):
    """Let the dealer deal, with a host that opens the gate whenever it may; give the rig and what was done."""
    rig = TwinRig(ShoeOrder(protocol=protocol, seed=seed, decks=4))
    if protocol == "open":
        rig.run_until(lambda: any(isinstance(notice, LinkUp) for notice in rig.notices))
    said = []
    dealer = AutoDealer(rig.twin, seconds, parse_faults(faults), Random(seed), said.append)
    count = 0
    while len(said) < until and rig.twin.body.cards_left > 2:
        count += 1
        assert count < 5000, said[-10:]
        if not rig.twin.body.gate_open and rig.host.next_deadline() is not None:
            rig.host.gate(True)
        elif protocol == "open" and faults and count % 20 == 0:
            rig.host.gate(False)
        dealer.tick(rig.now)
        rig.turn()
        rig.run_for(0.1)
    rig.run_for(10)
    return rig, said


@pytest.mark.parametrize("protocol", ["open", "angel-eye"])
def test_the_dealer_draws_while_the_gate_is_open(protocol):
    rig, said = dealt(protocol=protocol)
    assert all(line.startswith("card ") for line in said)
    assert rig.codes() == rig.out()


def test_the_dealer_waits_while_the_gate_is_shut():
    twin = build_twin(ShoeOrder())
    dealer = AutoDealer(twin, 1.0, Faults(), Random(1))
    dealer.tick(0.0)
    assert dealer.next_deadline() is None
    twin.body.gate_open = True
    dealer.tick(5.0)
    assert dealer.next_deadline() == 6.0
    dealer.tick(6.0)
    assert len(twin.body.out) == 1


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_dealer_needs_time_for_a_card(seconds):
    with pytest.raises(OrderError, match="more than 0"):
        AutoDealer(build_twin(ShoeOrder()), seconds, Faults(), Random(1))


@pytest.mark.parametrize("protocol", ["open", "angel-eye"])
@pytest.mark.parametrize("name", TABLE_FAULTS)
def test_the_dealer_makes_each_fault_and_the_game_goes_on(name, protocol):
    rig, said = dealt(f"{name}=0.3", protocol=protocol, until=60)
    usual = [line for line in said if line.startswith("card ") and line.endswith("left")]
    if (protocol, name) == ("angel-eye", "lid"):
        assert "(lid open: An Angel Eye has no message for its lid.)" in said
    elif name != "surplus":  # which looks like any other card, and needs a gate that the host shuts
        assert len(usual) < len(said)
    assert len(usual) > 5
    rig.run_for(5)
    assert rig.journal


def test_one_seed_gives_one_dealer():
    assert dealt("table", seed=4)[1] == dealt("table", seed=4)[1]
    assert dealt("table", seed=4)[1] != dealt("table", seed=5)[1]
