"""The wagers of a round and what each gets back, exact to the cent."""

from collections.abc import Iterable, Iterator

from shoe_controller.money import Rounding, dollars, winnings
from shoe_controller.rules.games import Outcome, RuleSet
from shoe_controller.session.facts import Settlement

# Far above what a table's seats can fill: the stakes of one round, and the requests that are remembered.
MOST_WAGERS = 10_000
MOST_REQUESTS = 20_000

Answer = tuple[bool, str | None]  # accepted or not, and the clause if it was not


class Requests:
    """Which wager requests were answered, and how, by their ids: a request that comes again is booked once.

    There are two generations of at most MOST_REQUESTS ids, so that the memory is bounded and the newest are kept.
    """

    def __init__(self) -> None:
        self._newer: dict[str, Answer] = {}
        self._older: dict[str, Answer] = {}

    def answer(self, request: str) -> Answer | None:
        """Return how a request was answered, None if it has not been."""
        answer = self._newer.get(request)
        return self._older.get(request) if answer is None else answer

    def remember(self, request: str, answer: Answer) -> None:
        """Remember the first answer to a request; one without an id cannot be recognised."""
        if request and self.answer(request) is None:
            if len(self._newer) >= MOST_REQUESTS:
                self._newer, self._older = {}, self._newer
            self._newer[request] = answer


class Bets:
    """Stakes in cents by player and wager, in the order in which they were first placed."""

    def __init__(self, rules: RuleSet, rounding: Rounding) -> None:
        self._rules = rules
        self._rounding = rounding
        self._stakes: dict[tuple[str, str], int] = {}

    def stake(self, who: str, wager: str) -> int:
        """Return what a player has on a wager."""
        return self._stakes.get((who, wager), 0)

    def has_room_for(self, who: str, wager: str) -> bool:
        """Tell whether a stake can be booked; an increase always can."""
        return len(self._stakes) < MOST_WAGERS or (who, wager) in self._stakes

    def place(self, who: str, wager: str, amount: int) -> None:
        """Place a wager, or increase it."""
        self._stakes[who, wager] = self.stake(who, wager) + amount

    def withdraw(self, who: str, wager: str, amount: int) -> None:
        """Take back a part of a wager, or all of it."""
        left = self.stake(who, wager) - amount
        if left:
            self._stakes[who, wager] = left
        else:
            del self._stakes[who, wager]

    def settle(self, outcome: Outcome, number: int, revision: int) -> Iterable[Settlement]:
        """Return what each wager gets back for a result."""
        return self._settlements(outcome, number, revision) if self._stakes else ()

    def _settlements(self, outcome: Outcome, number: int, revision: int) -> Iterator[Settlement]:
        for (who, wager), stake in self._stakes.items():
            odds = outcome.odds.get(wager)
            if odds is not None:
                # A bonus is fixed money, whatever the stake, to each player who has the wager it goes with.
                prizes = outcome.prizes.items()
                prize = sum(dollars_ for bonus, dollars_ in prizes if self._rules.bonus_on[bonus] == wager) * 100
                paid = stake + winnings(stake, odds, self._rounding) + prize
                bonus = dollars(prize) if prize else None
                yield Settlement(who, wager, dollars(stake), "win", dollars(paid), str(odds), number, revision, bonus)
            elif wager in outcome.pushes:
                yield Settlement(who, wager, dollars(stake), "push", dollars(stake), None, number, revision)
            else:
                yield Settlement(who, wager, dollars(stake), "lose", dollars(0), None, number, revision)

    def refund(self, number: int, revision: int) -> Iterator[Settlement]:
        """Yield every stake handed back, for a void round."""
        for (who, wager), stake in self._stakes.items():
            yield Settlement(who, wager, dollars(stake), "refund", dollars(stake), None, number, revision)
