"""What shoe and panel tell, as inputs; whose card is whose; which lamps are lit."""

import pytest

from drivers.panel.functions import Button, Doubt, Ignored, KeyTurned, Pressed, Stuck
from firmware_protocol import events as e
from shoe_controller.cards import DECKS
from shoe_controller.decks.book import DeckBook
from shoe_controller.decks.deck_set import DeckSet
from shoe_controller.service.arrivals import from_link, from_shoe
from shoe_controller.service.faces import PrintedFaces, RegisteredFaces
from shoe_controller.service.lamps import lit
from shoe_controller.service.panel_words import from_panel
from shoe_controller.session import inputs as i
from shoe_controller.session.session import Session

RED = DeckSet(
    name="red",
    game="no-commission",
    deck=52,
    decks=1,
    cards={f"{number:08X}": code for number, code in enumerate(DECKS[52].faces)},
    optical=7,
    registered="2026-01-01",
    source="test",
)
FACES = RegisteredFaces(DeckBook([RED]), "red")
FOUR = e.Card(uid=bytes(3) + b"\x03")
STRANGE = e.Card(uid=b"\xff" * 4)
OPTICAL = e.Card(rank="T", suit="h", deck_set=7)
OTHER_SET = e.Card(rank="T", suit="h", deck_set=8)
NO_CARD = e.Card(rank="S", suit="h", deck_set=7)


@pytest.mark.parametrize(
    "happening, happened",
    [
        (e.CardDrawn(FOUR), i.DrawCard(code="4c", uid="00000003")),
        (e.CardDrawn(OPTICAL), i.DrawCard(code="Th")),
        (e.CardDrawn(STRANGE), i.DrawForeign(uid="FFFFFFFF", detail="the id FFFFFFFF is not registered")),
        (e.CardDrawn(OTHER_SET), i.DrawForeign(detail="the optical set number 8 is not registered")),
        (e.CardDrawn(NO_CARD), i.DrawForeign(detail="no deck has a card Sh")),
        (e.CardsTogether((FOUR, OPTICAL), True), i.DrawTogether(("4c", "Th"), True, ("00000003", ""))),
        (e.CardsTogether((OPTICAL, OPTICAL), False), i.DrawTogether(("Th", "Th"), False)),
        (
            e.CardsTogether((OPTICAL, STRANGE), True),
            i.DrawForeign(uid="FFFFFFFF", detail="the id FFFFFFFF is not registered; drawn together with Th"),
        ),
        (e.CardReturned(FOUR), i.ReturnCard(code="4c", uid="00000003")),
        (e.CardReturned(None), i.ReturnCard()),
        (e.CardUnreadable(), i.DrawUnreadable()),
        (e.CardForeign(b"\x01\x02"), i.DrawForeign(uid="0102", detail="the shoe itself refused it")),
        (e.CardForeign(), i.DrawForeign(detail="the shoe itself refused it")),
        (e.CutCardSeen(), i.CutCard()),
        (e.ShoeEmptied(), i.ShoeEmpty()),
        (e.LidMoved(True), i.RaiseFault(fault="lid", detail="the lid is open")),
        (e.LidMoved(False), i.ClearFault(fault="lid")),
        (e.FaultChanged(e.DeviceFault.JAM, True, 4), i.RaiseFault(fault="jam", detail="code 4")),
        (e.FaultChanged(e.DeviceFault.JAM, True), i.RaiseFault(fault="jam")),
        (e.FaultChanged(e.DeviceFault.JAM, False), i.ClearFault(fault="jam")),
        (e.SelfTestDone(5), i.RaiseFault(fault="self-test", detail="failed parts 0x5")),
        (e.SelfTestDone(0), i.ClearFault(fault="self-test")),
        (e.DeviceStarted(), i.NoteDevice(event="started")),
        (e.DeviceStandby(), i.NoteDevice(event="standby")),
        (e.KeyLockChanged(True), i.NoteDevice(event="key-lock", detail="locked")),
        (e.PresetChanged("01", "0040"), i.NoteDevice(event="preset", detail="01 0040")),
        (e.BurnCountTold(7), i.NoteDevice(event="burn-count", detail="7")),
        (e.NotUnderstood("code X"), i.NoteDevice(event="not-understood", detail="code X")),
        (e.DeviceResult("tie", True, False), i.DeviceSaysResult(winner="tie", player_pair=True)),
        (e.DeviceResult(None, False, False), i.DeviceSaysResult(winner="")),
    ],
)
def test_each_happening_at_the_shoe_is_one_input(happening, happened):
    assert from_shoe(happening, FACES) == happened


@pytest.mark.parametrize(
    "drawn, target",
    [
        (e.CardDrawn(OPTICAL, e.Target.PLAYER, 1), "player1"),
        (e.CardDrawn(OPTICAL, e.Target.BANKER, 3), "banker3"),
        (e.CardDrawn(OPTICAL), ""),
        (e.CardDrawn(OPTICAL, e.Target.PLAYER, 1, outside_game="locked"), ""),
        (e.CardDrawn(OPTICAL, e.Target.PLAYER, 1, overdrawn="next-round"), ""),
    ],
)
def test_a_shoe_that_follows_the_game_says_whose_card_it_is(drawn, target):
    assert from_shoe(drawn, PrintedFaces()).target == target


def test_a_card_that_was_told_before_is_not_drawn_again():
    again = e.CardDrawn(OPTICAL, overdrawn="next-round", told_before=True)
    assert from_shoe(again, FACES) == i.NoteDevice(event="card-destination", detail="Th next-round")


@pytest.mark.parametrize(
    "notice, happened",
    [
        (
            e.LinkUp("rfid", "S1", "1.2", b"\xaa", 0, 7, authenticated=True),
            [i.NoteDevice("connected", "S1", "1.2", "aa", "rfid, authenticated")],
        ),
        (e.LinkRefused("no key"), [i.NoteDevice("refused", detail="no key"), i.RaiseFault("shoe", "no key")]),
        (e.LinkDown("silent"), [i.RaiseFault("shoe", "silent")]),
        (e.EventsMissing(1, 2, 3, "2 to 3 are gone"), [i.RaiseFault("events-missing", "2 to 3 are gone")]),
        (e.HabitSeen("bcc", "excluded"), [i.NoteDevice("habit", detail="bcc: excluded")]),
        (e.CommandAnswered(1, ok=True), []),
    ],
)
def test_what_the_link_tells_is_noted_or_a_fault(notice, happened):
    assert from_link(notice) == happened


def test_an_optical_card_of_a_shoe_without_sets_is_as_printed():
    assert PrintedFaces().code(OTHER_SET) == "Th"
    assert PrintedFaces().code(e.Card()) is None
    assert PrintedFaces().why_foreign(e.Card()) == "no deck has a card ??"


def table(*inputs):
    session = Session("table")
    for happened in inputs:
        session.handle(happened)
    return session.view()


def new_shoe(shoe_id):
    return i.LoadShoe(game="no-commission", decks=8, id=shoe_id)


LOAD = new_shoe("S1")


@pytest.mark.parametrize(
    "event, happened",
    [
        (Pressed(Button.PLACE_BETS, 0), i.PlaceBets()),
        (Pressed(Button.NO_MORE_BETS, 0), i.NoMoreBets()),
        (Pressed(Button.RESULT, 0), i.AnnounceResult()),
        (Pressed(Button.VOID, 0), i.Void(by="key-switch")),
        (Pressed(Button.ACKNOWLEDGE, 0), i.Acknowledge(by="key-switch")),
        (Pressed(Button.ACCEPT, 0), i.Reconstruct(by="key-switch")),
        (KeyTurned(True, 0), i.NoteDevice("key-switch", detail="on")),
        (KeyTurned(False, 0), i.NoteDevice("key-switch", detail="off")),
        (Stuck((Button.VOID,), 0), i.NoteDevice("button-stuck", detail="void")),
        (
            Ignored((Button.VOID, Button.RESULT), Doubt.TOGETHER, 0),
            i.NoteDevice("press-ignored", detail="void and result: together"),
        ),
    ],
)
def test_each_event_of_the_panel_is_one_input(event, happened):
    assert from_panel(event, table(LOAD), new_shoe) == happened


def test_accept_without_a_shoe_puts_the_next_one_into_play():
    assert from_panel(Pressed(Button.ACCEPT, 0), table(), new_shoe) == new_shoe("")
    ended = table(LOAD, i.ShoeEmpty())
    assert from_panel(Pressed(Button.ACCEPT, 0), ended, new_shoe) == new_shoe("")


NATURAL = [i.DrawCard(code) for code in ("9c", "2c", "Kc", "3c")]


@pytest.mark.parametrize(
    "inputs, lamps",
    [
        ([], set()),
        ([LOAD], set()),
        ([LOAD, i.PlaceBets()], {"betting"}),
        ([LOAD, i.PlaceBets(), i.NoMoreBets()], {"next_player"}),
        ([LOAD, i.PlaceBets(), i.NoMoreBets(), NATURAL[0]], {"next_banker"}),
        ([LOAD, i.PlaceBets(), i.NoMoreBets(), *NATURAL], set()),
        ([LOAD, i.PlaceBets(), i.NoMoreBets(), *NATURAL, i.AnnounceResult()], {"player"}),
        ([LOAD, i.PlaceBets(), i.NoMoreBets(), *NATURAL, i.AnnounceResult(), i.PlaceBets()], {"betting"}),
        ([LOAD, i.PlaceBets(), i.NoMoreBets(), i.DrawUnreadable()], {"alarm"}),
        ([LOAD, i.PlaceBets(), i.NoMoreBets(), i.RaiseFault("jam")], {"fault"}),
    ],
)
def test_lamps_are_a_function_of_the_table(inputs, lamps):
    assert lit(table(*inputs)) == lamps
