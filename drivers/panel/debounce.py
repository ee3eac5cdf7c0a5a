"""From raw edges with their times to presses that are beyond doubt. No I/O, no clock.

Rule 1: everything from the first contact until all buttons have been quiet is one episode, and one episode gives at
most one press. So bounce, a held button and a second button can never act a second time.

Rule 2: a press counts when exactly one button has been down without a break for the settling time, and, for a
supervisor's button, when the key was on before the first contact and did not move since.

When in doubt nothing is done, and it is said why.
"""

from collections.abc import Callable, Collection

from drivers.panel.functions import (
    KEY,
    SUPERVISOR_BUTTONS,
    Button,
    Doubt,
    Ignored,
    KeyTurned,
    PanelEvent,
    Pressed,
    Stuck,
)

SETTLE = 0.02
STUCK_AFTER = 15.0


class PressReader:
    """Feed it every edge in the order of time; call `advance` at `next_deadline`.

    A button that is down at the start has been down for who knows how long: it must be let go first.
    """

    def __init__(
        self,
        *,
        settle: float = SETTLE,
        stuck_after: float = STUCK_AFTER,
        down: Collection[Button] = (),
        key_on: bool = False,
        now: float = 0.0,
    ) -> None:
        self._settle = settle
        self._stuck_after = stuck_after
        self._now = now
        self._events: list[PanelEvent] = []
        self._down = set(down)
        self._key = self._key_on = key_on  # as the contact is, and as we believe it
        self._key_moved = now - settle
        # The episode. `_candidate` is the only button of it so far; None when the episode has been decided.
        self._began: float | None = now if down else None
        self._candidate: Button | None = None
        self._told: set[Button] = set(down)
        self._stuck_told = False
        self._steady_since = now  # the last edge of any button

    @property
    def key_on(self) -> bool:
        """Whether the supervisor's key is on."""
        return self._key_on

    @property
    def down(self) -> frozenset[Button]:
        """The buttons whose contact is closed now."""
        return frozenset(self._down)

    def edge(self, contact: Button | str, closed: bool, at: float) -> None:
        """Take in that a contact opened or closed. A time before the last one is taken as the last one."""
        self.advance(at)
        if contact == KEY:
            if closed != self._key:
                self._key = closed
                self._key_edge()
            return
        button = Button(contact)
        if closed == (button in self._down):
            return
        self._steady_since = self._now
        if closed:
            self._down.add(button)
            self._contact(button)
        else:
            self._down.discard(button)

    def advance(self, now: float) -> None:
        """Let time pass: decide what is due, in the order in which it fell due."""
        while (due := self._next()) is not None and due[0] <= now:
            self._now = max(self._now, due[0])
            due[1]()
        self._now = max(self._now, now)

    def next_deadline(self) -> float | None:
        """Tell when `advance` is wanted next."""
        due = self._next()
        return None if due is None else due[0]

    def events(self) -> list[PanelEvent]:
        """Hand out what was decided since the last call."""
        events, self._events = self._events, []
        return events

    def _next(self) -> tuple[float, Callable[[], None]] | None:
        due: list[tuple[float, Callable[[], None]]] = []
        if self._key != self._key_on:
            due.append((self._key_moved + self._settle, self._key_settled))
        if self._began is not None:
            quiet = self._steady_since + self._settle
            if not self._down:
                due.append((quiet, self._end_episode))
            elif self._candidate is not None:
                due.append((quiet, self._decide))
            if not self._stuck_told:
                due.append((self._began + self._stuck_after, self._stuck))
        return min(due, key=lambda each: each[0], default=None)

    def _contact(self, button: Button) -> None:
        if self._began is None:
            self._began = self._now
            self._candidate = button
            self._told = {button}
        elif button not in self._told:
            others = {self._candidate} if self._candidate is not None else set()
            self._candidate = None
            self._told.add(button)
            self._ignore(Doubt.TOGETHER, button, *others)

    def _key_edge(self) -> None:
        self._key_moved = self._now
        if self._candidate is not None:
            candidate, self._candidate = self._candidate, None
            self._ignore(Doubt.KEY_TURNED, candidate)

    def _key_settled(self) -> None:
        self._key_on = self._key
        self._events.append(KeyTurned(self._key_on, self._now))

    def _decide(self) -> None:
        assert self._candidate is not None
        assert self._began is not None
        button, self._candidate = self._candidate, None
        if button not in SUPERVISOR_BUTTONS:
            self._events.append(Pressed(button, self._now))
        elif not self._key:
            self._ignore(Doubt.KEY_OFF, button)
        elif self._key_moved + self._settle > self._began:
            self._ignore(Doubt.KEY_TURNED, button)
        else:
            self._events.append(Pressed(button, self._now))

    def _end_episode(self) -> None:
        self._began = self._candidate = None
        self._stuck_told = False

    def _stuck(self) -> None:
        self._stuck_told = True
        self._events.append(Stuck(tuple(sorted(self._down or self._told)), self._now))

    def _ignore(self, doubt: Doubt, *buttons: Button | None) -> None:
        self._events.append(Ignored(tuple(sorted(button for button in buttons if button)), doubt, self._now))
