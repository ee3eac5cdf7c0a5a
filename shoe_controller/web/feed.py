"""The display's feed: follows the journal and always has the state that displays may see.

The controller calls `committed` after each commit, on its event loop; displays ask for `snapshot` and for the facts
`since` one they know. Nothing here waits for a display, and no display can make the controller read the journal:
facts for late comers are kept in a ring of fixed length.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

import msgspec

from shoe_controller import __version__
from shoe_controller.errors import UsageError
from shoe_controller.journal.entry import FactRecord, FactSource
from shoe_controller.journal.errors import JournalMissingError
from shoe_controller.roads.scoreboard import Scoreboard
from shoe_controller.rules.games import find
from shoe_controller.session.facts import Round, ShoeLoaded
from shoe_controller.session.view import TableView
from shoe_controller.web.assets import page_hash
from shoe_controller.web.public_facts import public_fact
from shoe_controller.web.settings import DisplaySettings
from shoe_controller.web.state import About, Betting, DisplayState, display_state

# Some shoes' worth of facts for displays that come back, about 2 MB at the most.
KEPT = 4096
# Facts are read from the journal in portions, so that a start does not hold a whole shoe's records at once.
PORTION = 512

EMPTY_TABLE = TableView(
    phase="no-shoe",
    state="no_shoe",
    shoe=None,
    round=None,
    next=None,
    gate_open=False,
    betting_open=False,
    alarm=False,
    open_irregularities=(),
    unacknowledged=(),
    faults=(),
    carried=(),
)


class DisplaySource(Protocol):
    """What the server needs to know of the table."""

    def snapshot(self) -> DisplayState:
        """Return the state as of now."""
        ...

    def since(self, seq: int) -> tuple[bool, list[tuple[int, bytes]]]:
        """Return the facts after seq as (seq, JSON), and whether none of them is missing."""
        ...

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Have `wake` called after each change; the function returned ends that."""
        ...


class Feed:
    """The display's view of one table, over its journal."""

    def __init__(
        self,
        facts: FactSource,
        settings: DisplaySettings,
        boot: str,
        *,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """Begin with what the journal holds. `clock` is the one that stamps the journal's entries."""
        self._facts = facts
        self._settings = settings
        self._about = About(boot, __version__, page_hash())
        self._clock = clock
        self._board = Scoreboard(settings.tail)
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._whole_after = 0  # every public fact after this one is still kept
        self._betting_since: int | None = None
        self._listeners: set[Callable[[], None]] = set()
        self._seq = self._before_this_shoe()
        self._view = EMPTY_TABLE
        self._whole_after = self._seq
        self._follow(facts.last_seq)
        self._state: DisplayState | None = None  # built when somebody asks

    def committed(self, view: TableView, seq: int) -> None:
        """Take the table as it is after fact `seq`, which is in the journal now, and wake the displays."""
        self._view = view
        self._follow(seq)
        self._state = None
        for wake in tuple(self._listeners):
            wake()

    def snapshot(self) -> DisplayState:
        """Return the state as of now; only the countdown is newer than the last commit."""
        state = self._state = self._state or self._build()
        if state.betting is None or self._betting_since is None or not self._settings.countdown:
            return state
        gone_ms = (self._clock() - self._betting_since) // 1_000_000
        left = max(0, self._settings.countdown * 1000 - gone_ms)
        return msgspec.structs.replace(state, betting=Betting(self._settings.countdown, left))

    def since(self, seq: int) -> tuple[bool, list[tuple[int, bytes]]]:
        """Return the facts after seq as (seq, JSON), and whether none of them is missing."""
        # Whoever follows needs the newest few: look from the end.
        newer: list[tuple[int, bytes]] = []
        for kept in reversed(self._kept):
            if kept[0] <= seq:
                break
            newer.append(kept)
        newer.reverse()
        return self._whole_after <= seq <= self._seq, newer

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Have `wake` called after each change; the function returned ends that."""
        self._listeners.add(wake)
        return lambda: self._listeners.discard(wake)

    def _build(self) -> DisplayState:
        shoe = self._view.shoe
        return display_state(
            self._view,
            self._seq,
            table=self._settings.table,
            about=self._about,
            wagers=() if shoe is None else wagers_of(shoe.game),
            betting=Betting(self._settings.countdown, None),
            roads=self._board.roads(),
            statistics=self._board.statistics(),
        )

    def _before_this_shoe(self) -> int:
        """Return the fact before the one that began the shoe in play, looking backwards; 0 if there is none."""
        end = self._facts.last_seq
        portion = PORTION
        while end > 0:
            start = max(0, end - portion)
            try:
                records = self._facts.facts(start, end - start)
            except JournalMissingError:
                # Facts that old were moved away; a smaller step back may still find some.
                if portion == 1:
                    return end
                portion //= 2
                continue
            for record in reversed(records):
                if record.type == "shoe_loaded":
                    return record.seq - 1
            end = start
        return 0

    def _follow(self, seq: int) -> None:
        while self._seq < seq:
            records = self._facts.facts(self._seq, min(PORTION, seq - self._seq))
            if not records or records[0].seq > seq:  # the caller is ahead of its journal: show what is on disk
                return
            for record in records:
                if record.seq <= seq:
                    self._take(record)

    def _take(self, record: FactRecord) -> None:
        if record.type == "shoe_loaded":
            self._board.take(msgspec.json.decode(record.fact, type=ShoeLoaded))
        elif record.type == "round":
            self._board.take(msgspec.json.decode(record.fact, type=Round))
        elif record.type == "betting":
            # A monotonic clock says nothing about a time before the last start.
            self._betting_since = record.stamp.mono_ns if record.stamp.boot == self._about.boot else None
        shown = public_fact(record, self._settings.table.reveal)
        if shown is not None:
            if len(self._kept) == KEPT:
                self._whole_after = self._kept[0][0]
            self._kept.append((record.seq, shown))
        self._seq = record.seq


def wagers_of(game: str) -> tuple[str, ...]:
    """Return the wagers and bonuses of a game in the order of its rules; none for a game that is no longer known."""
    try:
        rules = find(game)
    except UsageError:
        return ()
    return (*rules.wagers, *rules.bonuses)
