"""Two complete hands as the wagers see them.

Wager predicates are functions of `Traits` alone. Two pairs of hands with equal traits therefore pay the same, which
is what lets a rule set remember what traits pay, and lets the odds be counted over classes of equal cards.
"""

from functools import cache
from typing import NamedTuple

from shoe_controller.rules.play import POINTS, Hand

RED_SUITS = "dh"
FLAMING_SUIT = "f"
STARS = frozenset("SLF")

# What the first two cards of a hand are, for pairs and colours.
NO_PAIR, PAIR, DIAMOND_PAIR, PAIR_OF_FOURS, DIAMOND_FOURS = range(5)
MIXED, RED, BLACK = range(3)


class Traits(NamedTuple):
    """Everything about two complete hands that any wager of any game depends on."""

    player_total: int
    banker_total: int
    player_cards: int
    banker_cards: int
    player_pair: int  # NO_PAIR … DIAMOND_FOURS, the highest class that fits
    banker_pair: int
    player_colour: int  # MIXED, RED or BLACK
    banker_colour: int
    player_flaming: bool  # two fire cards that make nine, and no third card
    banker_flaming: bool
    one_suit: bool  # all cards of both hands
    six_stars: bool  # a Sau, a Luk and a Fuk in each hand


def pair_class(first: str, second: str) -> int:
    """Return the highest pair class of two cards: a pair is by rank, suits may differ."""
    if first[0] != second[0]:
        return NO_PAIR
    diamonds = first[1] == second[1] == "d"
    if first[0] == "4":
        return DIAMOND_FOURS if diamonds else PAIR_OF_FOURS
    return DIAMOND_PAIR if diamonds else PAIR


def colour_class(first: str, second: str) -> int:
    """Return RED or BLACK if both cards are of that colour, else MIXED."""
    reds = (first[1] in RED_SUITS) + (second[1] in RED_SUITS)
    return (BLACK, MIXED, RED)[reds]


@cache
def _first_two(first: str, second: str) -> tuple[int, int]:
    return pair_class(first, second), colour_class(first, second)


def traits(player: Hand, banker: Hand) -> Traits:
    """Return the traits of two hands of two or three cards each."""
    points = POINTS
    player_total = sum([points[card] for card in player]) % 10
    banker_total = sum([points[card] for card in banker]) % 10
    player_pair, player_colour = _first_two(player[0], player[1])
    banker_pair, banker_colour = _first_two(banker[0], banker[1])
    return Traits(
        player_total,
        banker_total,
        len(player),
        len(banker),
        player_pair,
        banker_pair,
        player_colour,
        banker_colour,
        player_total == 9 and _is_flaming(player),
        banker_total == 9 and _is_flaming(banker),
        len({card[1] for card in player + banker}) == 1,
        player_total == banker_total == 0 and _has_three_stars(player) and _has_three_stars(banker),
    )


def _is_flaming(hand: Hand) -> bool:
    return len(hand) == 2 and hand[0][1] == FLAMING_SUIT and hand[1][1] == FLAMING_SUIT


def _has_three_stars(hand: Hand) -> bool:
    return {card[0] for card in hand} == STARS
