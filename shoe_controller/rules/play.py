"""How a hand is counted and who gets the next card: rules 3.3, 3.4, 3.7 and the Table of Play (3.9).

The five documents agree on all of this word for word, so it is code and not data. Hands are tuples of card codes
in the order in which they were dealt.
"""

from typing import Literal

from shoe_controller.cards import ALL_CODES

Side = Literal["player", "banker"]
Hand = tuple[str, ...]

# 3.3: ace counts one, two to nine their face, ten and pictures nothing.
POINTS: dict[str, int] = {code: "A23456789".find(code[0]) + 1 for code in ALL_CODES}

ANY_POINTS = frozenset(POINTS.values())

# 3.9: the point values of the Player's third card on which the Banker draws, by the Banker's two-card total.
BANKER_DRAWS_ON: dict[int, frozenset[int]] = {
    0: ANY_POINTS,
    1: ANY_POINTS,
    2: ANY_POINTS,
    3: ANY_POINTS - {8},
    4: frozenset(range(2, 8)),
    5: frozenset(range(4, 8)),
    6: frozenset({6, 7}),
    7: frozenset(),
}


def total(hand: Hand) -> int:
    """Return the point total of a hand: the right digit of the sum (3.4)."""
    points = 0
    for card in hand:
        points += POINTS[card]
    return points % 10


def _after_four(player_two: int, banker_two: int) -> Side | None:
    """Tell who draws after the initial deal, by the two-card totals (3.9)."""
    if player_two >= 8 or banker_two >= 8:
        return None
    if player_two <= 5:
        return "player"
    return "banker" if banker_two <= 5 else None


def _after_player_third(player_two: int, banker_two: int, third: int) -> Side | None:
    """Tell whether the Banker draws after the Player's third card, by two-card totals and its points (3.9)."""
    if player_two >= 8 or banker_two >= 8:
        return None
    return "banker" if third in BANKER_DRAWS_ON[banker_two] else None


# The two rules above for every sum of two cards (0 to 18, tens not yet dropped): millions of rounds are replayed.
_SUMS = range(19)
_AFTER_FOUR = tuple(tuple(_after_four(p % 10, b % 10) for b in _SUMS) for p in _SUMS)
_AFTER_PLAYER_THIRD = tuple(
    tuple(tuple(_after_player_third(p % 10, b % 10, third) for third in sorted(ANY_POINTS)) for b in _SUMS)
    for p in _SUMS
)


def next_card(player: Hand, banker: Hand) -> Side | None:
    """Tell which hand gets the next card, or None when the round is complete."""
    dealt_banker = len(banker)
    if dealt_banker < 2:
        return "player" if len(player) == dealt_banker else "banker"  # 3.7
    if dealt_banker == 3:
        return None
    points = POINTS
    second, fourth = banker
    if len(player) == 2:
        first, third = player
        return _AFTER_FOUR[points[first] + points[third]][points[second] + points[fourth]]
    first, third, fifth = player
    return _AFTER_PLAYER_THIRD[points[first] + points[third]][points[second] + points[fourth]][points[fifth]]
