"""What a script made to hurt, or a reader gone mad, can make a table remember: not more than a bound."""

import pytest

from shoe_controller.session import bets as bets_module
from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session import shoe as shoe_module
from shoe_controller.session.session import Session


@pytest.fixture
def table():
    session = Session("table")
    session.handle(i.LoadShoe("no-commission", 8))
    return session


def test_foreign_ids_without_end_are_counted_and_not_kept(table, monkeypatch):
    monkeypatch.setattr(shoe_module, "MOST_BAD_CARDS", 3)
    for number in range(5):
        table.handle(i.DrawForeign(f"0{number}"))
    table.handle(i.DrawForeign("00"))
    (ended,) = table.end_of_script()
    assert ended.extra == {"00": 2, "01": 1, "02": 1, "unknown": 2}
    assert ended.cards == 6


def test_a_round_has_room_for_so_many_wagers_and_for_their_increases(table, monkeypatch):
    monkeypatch.setattr(bets_module, "MOST_WAGERS", 2)
    table.handle(i.PlaceBets())
    answers = [table.handle(i.PlaceWager(who, "player", 100))[-1] for who in ("ann", "bob", "cho", "ann")]
    assert [answer.accepted for answer in answers] == [True, True, False, True]
    assert answers[2] == f.Wager(
        "cho", "player", "1.00", False, None, "place", 1, "0.00", "the round has as many wagers as the table can book"
    )


def test_the_newest_requests_are_remembered(table, monkeypatch):
    monkeypatch.setattr(bets_module, "MOST_REQUESTS", 2)
    table.handle(i.PlaceBets())
    for number in range(5):
        table.handle(i.PlaceWager("ann", "player", 100, id=f"r{number}"))
    again = [table.handle(i.PlaceWager("ann", "player", 100, id=f"r{number}"))[-1] for number in (4, 3, 2, 0)]
    assert [answer.stake for answer in again] == ["5.00", "5.00", "5.00", "6.00"]
