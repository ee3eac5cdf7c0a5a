"""The scoreboard: roads and statistics of the shoe in play, from the facts of the table.

A pair is two first cards of one rank, whatever wagers the game offers on it and however many cards follow. Other
statistics are counted from the wagers that won, so that a new game needs no change here.
"""

from collections.abc import Sequence

import msgspec

from shoe_controller.roads.bead import Bead, bead
from shoe_controller.roads.grid import Tail
from shoe_controller.roads.roads import Roads, RoadsView
from shoe_controller.session.facts import AnyFact, Round, ShoeLoaded

# Main wagers have counts of their own; a win of theirs says nothing more.
MAIN_WAGERS = frozenset({"player", "banker", "tie"})


class Statistics(msgspec.Struct, frozen=True):
    """Counts of the shoe in play. `wins` tells how often each wager beyond player, banker and tie has won."""

    rounds: int = 0
    player: int = 0
    banker: int = 0
    tie: int = 0
    player_pair: int = 0
    banker_pair: int = 0
    natural: int = 0
    void: int = 0
    wins: dict[str, int] = {}


def statistics_of(beads: Sequence[Bead]) -> Statistics:
    """Return what can be counted from beads alone: winners and pairs."""
    winners = [one.winner for one in beads]
    return Statistics(
        rounds=len(beads),
        player=winners.count("P"),
        banker=winners.count("B"),
        tie=winners.count("T"),
        player_pair=sum("P" in one.pairs for one in beads),
        banker_pair=sum("B" in one.pairs for one in beads),
    )


def has_pair(hand: tuple[str, ...]) -> bool:
    """Tell whether the first two cards of a hand are of one rank."""
    return len(hand) >= 2 and hand[0][:1] == hand[1][:1] != ""


class Scoreboard:
    """Roads and statistics of the shoe in play; feed it every fact, in order."""

    def __init__(self, tail: Tail = "redrop") -> None:
        self._tail: Tail = tail
        self._begin("")

    def _begin(self, shoe: str) -> None:
        self.shoe = shoe
        self._roads = Roads(self._tail)
        # What each round was counted as, by its number: a later revision replaces it.
        self._counted: dict[int, Round] = {}
        self._statistics = Statistics()
        self._view: RoadsView | None = None

    def take(self, fact: AnyFact) -> None:
        """Take one fact; all but a new shoe and a round's result leave the scoreboard as it is."""
        if isinstance(fact, ShoeLoaded):
            self._begin(fact.shoe)
        elif isinstance(fact, Round):
            if fact.shoe != self.shoe:
                self._begin(fact.shoe)
            self._take_round(fact)

    def _take_round(self, fact: Round) -> None:
        before = self._counted.get(fact.round)
        if before is not None and before.revision >= fact.revision:
            return
        if before is not None:
            self._count(before, -1)
            if before.status == "complete":
                self._roads.take_back()
        self._counted[fact.round] = fact
        self._view = None
        self._count(fact, 1)
        if fact.status == "complete":
            self._roads.add(_bead_of(fact))

    def _count(self, fact: Round, by: int) -> None:
        old = self._statistics
        if fact.status == "void":
            self._statistics = msgspec.structs.replace(old, void=old.void + by)
            return
        wins = dict(old.wins)
        for wager in fact.pays:
            if wager not in MAIN_WAGERS:
                wins[wager] = wins.get(wager, 0) + by
        self._statistics = Statistics(
            rounds=old.rounds + by,
            player=old.player + by * (fact.winner == "player"),
            banker=old.banker + by * (fact.winner == "banker"),
            tie=old.tie + by * (fact.winner == "tie"),
            player_pair=old.player_pair + by * has_pair(fact.player),
            banker_pair=old.banker_pair + by * has_pair(fact.banker),
            natural=old.natural + by * fact.natural,
            void=old.void,
            wins={wager: count for wager, count in wins.items() if count},
        )

    def roads(self) -> RoadsView:
        """Return the roads of the shoe in play; between two results this is the same value again."""
        if self._view is None:
            self._view = self._roads.view()
        return self._view

    def statistics(self) -> Statistics:
        """Return the counts of the shoe in play."""
        return self._statistics


def _bead_of(fact: Round) -> Bead:
    assert fact.winner is not None  # a complete round has a winner
    return bead(fact.winner, player_pair=has_pair(fact.player), banker_pair=has_pair(fact.banker))
