"""The game as an Angel Eye follows it: standard baccarat, 52-card decks, card by card.

The shoe decides by itself whom a card is for and who has won. That the controller decides too, by the rules of the
house's game, is the point: the two are compared.
"""

from firmware_protocol.angel_eye_messages import GameResult
from firmware_protocol.events import Target

_POINTS = {rank: points for points, rank in enumerate("A23456789", start=1)}
# The banker draws to these totals after the player's third card of these points.
_BANKER_DRAWS = {3: set(range(10)) - {8}, 4: {2, 3, 4, 5, 6, 7}, 5: {4, 5, 6, 7}, 6: {6, 7}}


def points(code: str) -> int:
    """Give the points of a card."""
    return _POINTS.get(code[0], 0)


def total(hand: list[str]) -> int:
    """Give the total of a hand."""
    return sum(map(points, hand)) % 10


class Game:
    """One game: the two hands so far, and what comes next."""

    def __init__(self) -> None:
        self.player: list[str] = []
        self.banker: list[str] = []
        self._order: list[list[str]] = []  # the hand that each card went to

    @property
    def begun(self) -> bool:
        """Whether a card has been dealt."""
        return bool(self.player)

    def next_hand(self) -> Target | None:
        """Tell whom the next card is for; None when the game is over."""
        dealt = len(self.player) + len(self.banker)
        if dealt < 4:
            return Target.BANKER if dealt % 2 else Target.PLAYER
        player, banker = total(self.player[:2]), total(self.banker[:2])
        if max(player, banker) >= 8 or len(self.banker) == 3:
            return None
        if len(self.player) == 2:
            if player <= 5:
                return Target.PLAYER
            return Target.BANKER if banker <= 5 else None
        third = points(self.player[2])
        return Target.BANKER if banker <= 2 or third in _BANKER_DRAWS.get(banker, set()) else None

    def deal(self, code: str) -> tuple[Target, int]:
        """Put a card where it belongs and give its place."""
        target = self.next_hand()
        assert target is not None
        hand = self.player if target is Target.PLAYER else self.banker
        hand.append(code)
        self._order.append(hand)
        return target, len(hand)

    def take_back(self, code: str) -> None:
        """Take the last card off again if it is this one: it was pushed back."""
        if self._order and self._order[-1][-1] == code:
            self._order.pop().pop()

    def result(self) -> GameResult:
        """Give the result of a game that is over."""
        player, banker = total(self.player), total(self.banker)
        winner = "tie" if player == banker else "player" if player > banker else "banker"
        return GameResult(winner, _is_pair(self.player), _is_pair(self.banker))


def _is_pair(hand: list[str]) -> bool:
    return hand[0][0] == hand[1][0]
