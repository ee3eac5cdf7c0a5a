"""Intake of the host: which events have been handed out and which are on disk, for each session."""

from collections.abc import Callable

from firmware_protocol.admission import Progress
from firmware_protocol.drops import Drop

MAX_SESSIONS = 64  # a device that restarts for ever must not fill our memory; the journal knows the older ones


class Intake:
    """Lets every event through once and in order. `received` and `committed` are those of the current session."""

    def __init__(self, last_seen: tuple[int, int] | None, recorded: Callable[[int], int | None] | None) -> None:
        self.session = 0
        self.received = 0
        self.committed = 0
        self._recorded = recorded
        self._others: dict[int, Progress] = {}
        if last_seen is not None:
            self._others[last_seen[0]] = Progress(last_seen[1], last_seen[1])

    def known(self, session: int) -> Progress | None:
        """Tell how far a session has come, if we have ever seen it."""
        if session == self.session:
            return Progress(self.received, self.committed)
        known = self._others.get(session)
        if known is None and self._recorded is not None:
            number = self._recorded(session)
            known = Progress(number, number) if number is not None else None
        return known

    def begin(self, session: int, progress: Progress) -> None:
        """Take events of this session from now on."""
        if self.session and self.session != session:
            self._others[self.session] = Progress(self.received, self.committed)
            if len(self._others) > MAX_SESSIONS:
                del self._others[next(iter(self._others))]
        self._others.pop(session, None)
        self.session, self.received, self.committed = session, progress.received, progress.committed

    def take(self, number: int) -> Drop | None:
        """Say whether an event is the next one; what is not the next one is not handed out."""
        if number == self.received + 1:
            self.received = number
            return None
        return Drop.DUPLICATE if number <= self.received else Drop.GAP

    def commit(self, session: int, number: int) -> bool:
        """Note what is on disk; True if that is news about the current session. Only what was handed out counts."""
        if session == self.session:
            number = min(number, self.received)
            if number <= self.committed:
                return False
            self.committed = number
            return True
        known = self._others.get(session)
        if known is not None:
            committed = max(known.committed, min(number, known.received))
            self._others[session] = Progress(known.received, committed)
        return False
