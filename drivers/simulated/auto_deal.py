"""Auto-deal: the hand of a simulated dealer, who draws while the gate is open and errs as often as told to."""

from collections.abc import Callable
from random import Random

from drivers.simulated.actions import Twin, run_line
from drivers.simulated.errors import CannotDoError, OrderError
from drivers.simulated.faults import TABLE_FAULTS, Faults

# A person needs about this many cards' time to notice and mend a jam, an open lid or an error.
MEND_AFTER_CARDS = 3


class AutoDealer:
    """Draws a card every `seconds` while the shoe is ready. `say` gets a line about each thing done."""

    def __init__(
        self, twin: Twin, seconds: float, faults: Faults, chance: Random, say: Callable[[str], None] = lambda _: None
    ) -> None:
        if not seconds > 0:
            raise OrderError(f"Seconds for each card must be more than 0, not {seconds:g}.")
        self._twin = twin
        self._seconds = seconds
        self._shares = {name: share for name, share in faults.table.items() if share}
        self._chance = chance
        self._say = say
        self._next: float | None = None
        self._mend: tuple[float, str] | None = None
        self._gate_was_open = False

    def next_deadline(self) -> float | None:
        """Tell when `tick` is wanted."""
        times = [at for at in (self._next, self._mend[0] if self._mend else None) if at is not None]
        return min(times, default=None)

    def tick(self, now: float) -> None:
        """Do what is due. Called after anything that may have changed the shoe, too."""
        if self._mend is not None and now >= self._mend[0]:
            line, self._mend = self._mend[1], None
            if self._twin.troubled:
                self._do(line, now)
        shut = self._gate_was_open and not self._twin.body.gate_open
        self._gate_was_open = self._twin.body.gate_open
        if shut and self._twin.body.out and self._happens("surplus"):
            self._fault("surplus", now)
        if not self._twin.ready:
            self._next = None
        elif self._next is None:
            self._next = now + self._seconds
        elif now >= self._next:
            self._next = now + self._seconds
            self._deal(now)

    def _deal(self, now: float) -> None:
        wrong = [name for name in self._shares if name != "surplus" and self._happens(name)]
        if wrong:
            self._fault(self._chance.choice(wrong), now)
        else:
            self._do("deal", now)

    def _fault(self, name: str, now: float) -> None:
        fault = TABLE_FAULTS[name]
        self._do(fault.command, now)
        if fault.mend and fault.mend.split()[0] in self._twin.actions:
            self._mend = (now + MEND_AFTER_CARDS * self._seconds, fault.mend)

    def _do(self, line: str, now: float) -> None:
        try:
            self._say(run_line(self._twin.actions, line, now))
        except CannotDoError as refusal:
            # What cannot happen to this shoe, or not now, is left out.
            self._say(f"({line}: {refusal})")

    def _happens(self, name: str) -> bool:
        return name in self._shares and self._chance.random() < self._shares[name]
