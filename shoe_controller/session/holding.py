"""What a session holds: the shoe, the round, its wagers, what waits, and the input that is being handled."""

from typing import Any

from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session.bets import Bets, Requests
from shoe_controller.session.decisions import Decision, Plan, plan
from shoe_controller.session.round import DrawnCard, Round
from shoe_controller.session.shoe import Shoe

# Cards may have left the shoe that the record does not have. Only a supervisor, who has compared them, ends this fault.
MISSING_FAULT = "events-missing"
_NO_IRREGULARITY = f.Irregularity(0, "simultaneous_draw", None, "", None, "noted")


class Holding:
    """The memory of a table; the classes above it ask and change it."""

    def __init__(self) -> None:
        self.state = ""
        self._input: Any = None
        self._facts: list[f.AnyFact] = []
        self._shoes = 0
        self._shoe: Shoe | None = None
        self._shoe_reported = False
        self._round: Round | None = None
        self._bets: Bets | None = None
        self._requests = Requests()
        self._last_call = ""  # the dealer's last call, bets or close: clauses 5.6 and 5.7 ask for it
        self._carried: list[DrawnCard] = []  # drawn too early, for the next round
        self._open: list[Decision] = []
        self._base = ""  # the state that the table comes back to when decisions are taken
        self._bad: f.Kind = "foreign_card"
        self._plan: Plan | None = None
        self._leads: str | None = None  # the state that the input leads to, once a guard asked
        self._unacknowledged: list[f.Irregularity] = []
        self._faults: dict[str, str] = {}

    @property
    def shoe(self) -> Shoe:
        """The shoe in play; the rows see to it that there is one."""
        assert self._shoe is not None, "there is no shoe"
        return self._shoe

    @property
    def round(self) -> Round:
        """The round in play, or the last one; the rows see to it that there is one."""
        assert self._round is not None, "there is no round"
        return self._round

    @property
    def bets(self) -> Bets:
        """The wagers of the round in play."""
        assert self._bets is not None, "there is no round"
        return self._bets

    @property
    def alarm(self) -> bool:
        """Whether something waits to be acknowledged."""
        return bool(self._unacknowledged) or MISSING_FAULT in self._faults

    def _codes(self) -> tuple[str, ...]:
        happened = self._input
        if isinstance(happened, i.DrawTogether):
            return happened.codes
        code = getattr(happened, "code", "")
        return (code,) if code else ()

    def _uids(self) -> tuple[str, ...]:
        happened = self._input
        if isinstance(happened, i.DrawTogether):
            return happened.uids or ("",) * len(happened.codes)
        return (happened.uid,)

    def _detail(self) -> str:
        return getattr(self._input, "detail", "")

    def _plan_now(self) -> Plan:
        """Return what the input leads to; worked out once for all guards."""
        if self._plan is None:
            if isinstance(self._input, i.DrawTogether):
                cards = tuple(map(DrawnCard, self._codes(), self._uids()))
                waiting = Decision(_NO_IRREGULARITY, "place", cards)
                self._plan = plan(waiting, (), self.state, self.shoe, self._round)
            else:
                self._plan = plan(self._open[0], self._input.codes, self._base, self.shoe, self._round)
        return self._plan
