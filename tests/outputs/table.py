"""A table for the tests of feeds: a real journal with facts of rounds, and the feed's surroundings."""

import itertools
import os
import time
from pathlib import Path

import msgspec

from shoe_controller.journal.entry import NewEntry, Stamp
from shoe_controller.journal.store import Journal
from shoe_controller.journal.tail import Tail
from shoe_controller.messages import HealthReport, Identity
from shoe_controller.session import facts
from shoe_controller.session.view import TableView
from shoe_controller.web.feed import EMPTY_TABLE

BOOT = "0123456789abcdef" * 2
IDENTITY = Identity(site="macau", table="b7", boot=BOOT, version="1.0")


def now() -> Stamp:
    return Stamp(boot=BOOT, mono_ns=time.monotonic_ns(), wall_ns=time.time_ns(), synced=True)


def card(code: str, hand: facts.Side | None, position: int, **other) -> facts.CardDealt:
    given = {"shoe": "S1", "round": 1, "uid": "", "player_total": None, "banker_total": None, "next": None}
    return facts.CardDealt(card=code, hand=hand, position=position, complete=False, **(given | other))


def round_facts(number: int, shoe: str = "S1") -> list[facts.Fact]:
    """One plain round: player 9 against 5."""
    return [
        facts.BettingOpened(shoe=shoe, round=number),
        facts.BettingClosed(shoe=shoe, round=number, next="player"),
        card("4d", "player", 1, round=number, shoe=shoe, next="banker"),
        card("Ks", "banker", 1, round=number, shoe=shoe, next="player"),
        card("5h", "player", 2, round=number, shoe=shoe, next="banker"),
        card("5c", "banker", 2, round=number, shoe=shoe),
        facts.Round(
            shoe=shoe,
            round=number,
            revision=1,
            status="complete",
            player=("4d", "5h"),
            banker=("Ks", "5c"),
            player_total=9,
            banker_total=5,
            winner="player",
            natural=True,
            pays={"player": "1:1"},
            pushes=(),
            irregularities=(),
            rules="no-commission",
            rules_hash="ab" * 32,
        ),
    ]


def shoe_loaded(shoe: str = "S1") -> facts.ShoeLoaded:
    return facts.ShoeLoaded(
        shoe=shoe,
        game="no-commission",
        title="No Commission Baccarat",
        decks=8,
        rules_hash="ab" * 32,
        burn="none",
        surplus="next-round",
        rounds_after_cut=1,
        number=1,
    )


class Table:
    """A journal that facts can be dealt into, one entry each."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal.open(folder, table="macau/b7")
        self.source = Tail(self.journal)
        self._rounds = itertools.count(1)

    def commit(self, *what: facts.Fact, source: str = "shoe", raw: bytes = b"", kind: str = "card") -> None:
        stamp = now()
        self.journal.append(
            [
                NewEntry(stamp=stamp, source=source, kind=kind, body=b"{}", facts=(msgspec.json.encode(fact),), raw=raw)
                for fact in what
            ]
        )

    def play(self, rounds: int) -> None:
        for number in itertools.islice(self._rounds, rounds):
            self.commit(*round_facts(number))

    def snapshot(self) -> tuple[int, TableView]:
        return self.source.last_seq, EMPTY_TABLE

    def report(self) -> HealthReport:
        return HealthReport(uptime_s=1, memory_mb=os.getpid() and 20)

    def close(self) -> None:
        self.source.close()
        self.journal.close()
