"""The display of a table: follows the production feed as a page does, and knows what may be seen on it.

It holds every fact and every state that the feed gives against what the auditor saw; what must not leave the table
is a list of its own here.
"""

import asyncio

import msgspec

from shoe_controller.roads.scoreboard import Scoreboard
from shoe_controller.session import facts as f
from shoe_controller.web.feed import wagers_of
from shoe_controller.web.state import About, display_state

NOT_FOR_PLAYERS = (f.Wager, f.Settlement, f.Refused, f.Device, f.ConfigChanged, f.ClockStepped)
PRIVATE = ("uid", "uids", "by", "reason", "void_reason", "detail", "deck_set", "config_hash", "who", "stake", "paid")
CARDS = ("card", "cards", "player", "banker", "unassigned", "keyed", "player_total", "banker_total", "natural")
OUR_OWN = ("seq", "boot", "time", "synced")
LOOKS_ONE_IN = 4  # the whole state is compared so often, and after every start


def nothing(value):
    """Say whether a field shows nothing: an empty one, or cards with their backs up."""
    return not value or (isinstance(value, list) and not any(value))


class Display:
    """One page that is always open. `breach` is called with a sentence for what must not be seen, or is not."""

    def __init__(self, breach, known, *, squeeze):
        self._breach = breach
        self._known = known  # gives the table that never crashed, and the last fact
        self._squeeze = squeeze
        self._seq = 0  # the newest fact that the page has
        self._due = {}  # facts that it must get, by their seq
        self._board = Scoreboard()  # of a table that never crashed
        self._feed = None
        self._woken = False
        self._looks = 0
        self.facts = 0
        self.states = 0

    def happened(self, seq, fact):
        """A fact is in the journal."""
        self._board.take(fact)
        if not isinstance(fact, NOT_FOR_PLAYERS):
            self._due[seq] = fact

    async def serve(self, outlets):
        """Be there as long as the controller is: what production code has its web server for."""
        self._feed = outlets._display
        end = self._feed.subscribe(self._wake)
        view, last = self._known()  # the page comes back, and sees the same as if nothing had been
        self._take(last, again=True)
        self._compare(view, last)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            end()

    def _wake(self):
        self._woken = True

    def committed(self, view, last):
        """The controller has told everybody of its last commit."""
        if self._feed is None:
            return
        if not self._woken:
            self._breach(f"the display was not told of fact {last}")
        self._woken = False
        self._take(last)
        self._looks += 1
        if self._looks % LOOKS_ONE_IN == 0:
            self._compare(view, last)

    def gone(self):
        """The controller is no more."""
        self._feed, self._woken = None, False

    def _take(self, last, *, again=False):
        whole, newer = self._feed.since(self._seq)
        if not whole and not again:
            self._breach(f"the display has fact {self._seq} and cannot get those up to {last}")
        got = [seq for seq, _ in newer]
        due = [seq for seq in self._due if seq > self._seq]
        if got != (due if whole else due[len(due) - len(got) :]):
            self._breach(f"the display got facts {got} after {self._seq}, and must have {due}")
        for seq, payload in newer:
            self._check_fact(seq, msgspec.json.decode(payload), self._due[seq])
        self._due.clear()
        self.facts += len(newer)
        self._seq = last

    def _check_fact(self, seq, shown, fact):
        if shown["seq"] != seq:
            self._breach(f"the display got fact {seq} as {shown}")
        really = msgspec.json.decode(msgspec.json.encode(fact))
        told = type(fact) is f.Round and (fact.status == "complete" or fact.revision > 1)
        secret = self._squeeze and not told and type(fact) is not f.ShoeEnded  # whose `cards` is a number of them
        for name, value in shown.items():
            if name in OUR_OWN or nothing(value):
                continue
            if name in PRIVATE or (secret and name in CARDS):
                self._breach(f"the display got {name} of fact {seq}, which is not for players: {shown}")
            if value != really.get(name) and not (secret and name == "place"):
                self._breach(f"the display got fact {seq} as {shown}, the journal has {really}")
        if type(fact) is f.Burned and shown.get("card"):
            self._breach(f"the display got a burned card: {shown}")

    def _compare(self, view, last):
        state = self._feed.snapshot()
        self.states += 1
        expected = display_state(
            view,
            last,
            table=state.table,
            about=About(state.boot, state.version, state.page),
            wagers=() if view.shoe is None else wagers_of(view.shoe.game),
            betting=state.betting,
            roads=self._board.roads(),
            statistics=self._board.statistics(),
        )
        if state != expected:
            self._breach(f"the display shows {state}, without a crash {expected}")
        shown = state.round
        if shown is None or not self._squeeze:
            return
        if not shown.announced and not (view.round.status == "void" and view.round.revision > 1):
            seen = [*shown.player, *shown.banker, *shown.unassigned, *shown.keyed, shown.player_total, shown.winner]
            if any(card for card in seen) or shown.natural or shown.pays:
                self._breach(f"the display shows cards before the result: {state}")
        if any(state.carried) or any(card for one in state.irregularities for card in one.cards):
            self._breach(f"the display shows cards that lie face down: {state}")
