"""What arrives from shoe and panel, as inputs of the session. Meaning is given by the session, not here."""

from collections.abc import Callable
from typing import Protocol

from firmware_protocol import events as e
from shoe_controller.session import inputs as i
from shoe_controller.session.holding import MISSING_FAULT

SHOE_FAULT = "shoe"


class Faces(Protocol):
    """What tells the face of a card that the shoe has read."""

    def code(self, card: e.Card) -> str | None:
        """Return the card's code; None: it is a foreign card."""

    def why_foreign(self, card: e.Card) -> str:
        """Say for the record why the card is foreign."""


def from_shoe(happening: e.Happening, faces: Faces) -> i.AnyInput:
    """Return the one input that a happening at the shoe is: each has its place in the journal, whatever it is."""
    return _READERS[type(happening)](happening, faces)


def from_link(notice: e.LinkNotice) -> list[i.AnyInput]:
    """Return what the state of the link means for the table."""
    match notice:
        case e.LinkUp():
            return [
                i.NoteDevice(
                    event="connected",
                    serial_number=notice.serial_number,
                    firmware=notice.firmware_version,
                    firmware_sha256=notice.firmware_sha256.hex() if notice.firmware_sha256 else "",
                    detail=f"{notice.kind}, {'authenticated' if notice.authenticated else 'not authenticated'}",
                )
            ]
        case e.LinkRefused():
            return [
                i.NoteDevice(event="refused", detail=notice.reason),
                i.RaiseFault(fault=SHOE_FAULT, detail=notice.reason),
            ]
        case e.LinkDown():
            return [i.RaiseFault(fault=SHOE_FAULT, detail=notice.reason)]
        case e.EventsMissing():
            return [i.RaiseFault(fault=MISSING_FAULT, detail=notice.reason)]
        case e.HabitSeen():
            return [i.NoteDevice(event="habit", detail=f"{notice.habit}: {notice.seen}")]
        case _:
            return []


def _card_drawn(drawn: e.CardDrawn, faces: Faces) -> i.AnyInput:
    if drawn.told_before:
        # It left the shoe once and was counted then; only its destination is new.
        return i.NoteDevice(event="card-destination", detail=f"{_name(drawn.card)} {drawn.overdrawn or ''}".strip())
    code = faces.code(drawn.card)
    if code is None:
        return i.DrawForeign(uid=_uid(drawn.card), detail=faces.why_foreign(drawn.card))
    return i.DrawCard(code=code, uid=_uid(drawn.card), target=_target(drawn))


def _target(drawn: e.CardDrawn) -> str:
    """Return whom the shoe says the card is for, as in `player1`; empty if it has no opinion that could differ."""
    if drawn.target is None or drawn.outside_game or drawn.overdrawn:
        return ""
    return f"{drawn.target}{drawn.index or ''}"


def _cards_together(drawn: e.CardsTogether, faces: Faces) -> i.AnyInput:
    codes = [faces.code(card) for card in drawn.cards]
    known = tuple(code for code in codes if code is not None)
    if len(known) == len(codes):
        uids = tuple(_uid(card) for card in drawn.cards)
        return i.DrawTogether(codes=known, order_known=drawn.order_known, uids=uids if any(uids) else ())
    # One of them is foreign: the round is void whatever the others are, and the record names them.
    foreign = drawn.cards[codes.index(None)]
    beside = f"; drawn together with {', '.join(known) or 'other foreign cards'}"
    return i.DrawForeign(uid=_uid(foreign), detail=faces.why_foreign(foreign) + beside)


def _card_returned(returned: e.CardReturned, faces: Faces) -> i.AnyInput:
    if returned.card is None:
        return i.ReturnCard()
    return i.ReturnCard(code=faces.code(returned.card) or "", uid=_uid(returned.card))


def _fault(changed: e.FaultChanged, _: Faces) -> i.AnyInput:
    if changed.active:
        return i.RaiseFault(fault=str(changed.fault), detail=f"code {changed.detail}" if changed.detail else "")
    return i.ClearFault(fault=str(changed.fault))


def _self_test(done: e.SelfTestDone, _: Faces) -> i.AnyInput:
    if done.failed:
        return i.RaiseFault(fault=str(e.DeviceFault.SELF_TEST), detail=f"failed parts {done.failed:#x}")
    return i.ClearFault(fault=str(e.DeviceFault.SELF_TEST))


def _lid(moved: e.LidMoved, _: Faces) -> i.AnyInput:
    return i.RaiseFault(fault="lid", detail="the lid is open") if moved.is_open else i.ClearFault(fault="lid")


def _result(told: e.DeviceResult, _: Faces) -> i.AnyInput:
    winner = told.winner if told.winner in {"player", "banker", "tie"} else ""
    return i.DeviceSaysResult(winner=winner, player_pair=told.player_pair, banker_pair=told.banker_pair)  # type: ignore[arg-type]


def _note(event: str, detail: Callable[..., str] = lambda _: "") -> Callable[..., i.AnyInput]:
    return lambda happening, _faces: i.NoteDevice(event=event, detail=detail(happening))


_READERS: dict[type, Callable[..., i.AnyInput]] = {
    e.CardDrawn: _card_drawn,
    e.CardsTogether: _cards_together,
    e.CardReturned: _card_returned,
    e.CardUnreadable: lambda _happening, _faces: i.DrawUnreadable(),
    e.CardForeign: lambda foreign, _faces: i.DrawForeign(
        uid=foreign.uid.hex().upper() if foreign.uid else "", detail="the shoe itself refused it"
    ),
    e.CutCardSeen: lambda _happening, _faces: i.CutCard(),
    e.ShoeEmptied: lambda _happening, _faces: i.ShoeEmpty(),
    e.LidMoved: _lid,
    e.FaultChanged: _fault,
    e.SelfTestDone: _self_test,
    e.DeviceStarted: _note("started"),
    e.DeviceStandby: _note("standby"),
    e.DeviceResult: _result,
    e.KeyLockChanged: _note("key-lock", lambda changed: "locked" if changed.locked else "unlocked"),
    e.PresetChanged: _note("preset", lambda changed: f"{changed.address} {changed.value}"),
    e.BurnCountTold: _note("burn-count", lambda told: str(told.count)),
    e.NotUnderstood: _note("not-understood", lambda told: told.reason),
}


def _uid(card: e.Card) -> str:
    return card.uid.hex().upper() if card.uid else ""


def _name(card: e.Card) -> str:
    return _uid(card) or f"{card.rank or '?'}{card.suit or '?'}"
