"""The named conditions that game files refer to, each a function of the hands' traits.

A game file writes `banker_wins` or, with a number, `banker_wins_on(6)`. `Sight` says which cards a condition looks
at; counting odds needs it, playing does not.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from shoe_controller.rules import traits as t
from shoe_controller.rules.traits import Traits


class Sight(Enum):
    """What a condition looks at."""

    POINTS = "point totals and the number of cards"
    PLAYER_PAIR = "the Player's first two cards"
    BANKER_PAIR = "the Banker's first two cards"
    PLAYER_FIRE = "whether the Player's cards are fire"
    BANKER_FIRE = "whether the Banker's cards are fire"
    BOTH_FIRE = "whether all cards are fire"
    ONE_SUIT = "whether all cards are of one suit"
    STARS = "whether all cards are stars"


@dataclass(frozen=True)
class Condition:
    """A condition with its number filled in."""

    text: str
    sight: Sight
    holds: Callable[[Traits], bool]


@dataclass(frozen=True)
class _Plain:
    sight: Sight
    holds: Callable[[Traits], bool]


@dataclass(frozen=True)
class _Numbered:
    sight: Sight
    holds: Callable[[Traits, int], bool]


def _player_wins(h: Traits) -> bool:
    return h.player_total > h.banker_total


def _banker_wins(h: Traits) -> bool:
    return h.banker_total > h.player_total


def _tie(h: Traits) -> bool:
    return h.player_total == h.banker_total


_PLAIN: dict[str, _Plain] = {
    "player_wins": _Plain(Sight.POINTS, _player_wins),
    "banker_wins": _Plain(Sight.POINTS, _banker_wins),
    "tie": _Plain(Sight.POINTS, _tie),
    "banker_wins_on_six_with_two_cards": _Plain(
        Sight.POINTS, lambda h: _banker_wins(h) and h.banker_total == 6 and h.banker_cards == 2
    ),
    "banker_wins_on_six_with_three_cards": _Plain(
        Sight.POINTS, lambda h: _banker_wins(h) and h.banker_total == 6 and h.banker_cards == 3
    ),
    # A 6-6 tie wins too: the higher of the two totals is six in all three cases.
    "highest_total_is_six": _Plain(Sight.POINTS, lambda h: max(h.player_total, h.banker_total) == 6),
    "player_pair": _Plain(Sight.PLAYER_PAIR, lambda h: h.player_pair != t.NO_PAIR),
    "banker_pair": _Plain(Sight.BANKER_PAIR, lambda h: h.banker_pair != t.NO_PAIR),
    "player_pair_of_diamond_fours": _Plain(Sight.PLAYER_PAIR, lambda h: h.player_pair == t.DIAMOND_FOURS),
    "banker_pair_of_diamond_fours": _Plain(Sight.BANKER_PAIR, lambda h: h.banker_pair == t.DIAMOND_FOURS),
    "player_other_pair_of_fours": _Plain(Sight.PLAYER_PAIR, lambda h: h.player_pair == t.PAIR_OF_FOURS),
    "banker_other_pair_of_fours": _Plain(Sight.BANKER_PAIR, lambda h: h.banker_pair == t.PAIR_OF_FOURS),
    "player_diamond_pair": _Plain(Sight.PLAYER_PAIR, lambda h: h.player_pair == t.DIAMOND_PAIR),
    "banker_diamond_pair": _Plain(Sight.BANKER_PAIR, lambda h: h.banker_pair == t.DIAMOND_PAIR),
    "player_other_pair": _Plain(Sight.PLAYER_PAIR, lambda h: h.player_pair == t.PAIR),
    "banker_other_pair": _Plain(Sight.BANKER_PAIR, lambda h: h.banker_pair == t.PAIR),
    "player_two_red": _Plain(Sight.PLAYER_PAIR, lambda h: h.player_colour == t.RED),
    "banker_two_red": _Plain(Sight.BANKER_PAIR, lambda h: h.banker_colour == t.RED),
    "player_two_black": _Plain(Sight.PLAYER_PAIR, lambda h: h.player_colour == t.BLACK),
    "banker_two_black": _Plain(Sight.BANKER_PAIR, lambda h: h.banker_colour == t.BLACK),
    # Flaming 9's pay the winning side; nine against nine is a tie and nobody wins on points.
    "player_wins_with_flaming_nines": _Plain(Sight.PLAYER_FIRE, lambda h: h.player_flaming and _player_wins(h)),
    "banker_wins_with_flaming_nines": _Plain(Sight.BANKER_FIRE, lambda h: h.banker_flaming and _banker_wins(h)),
    "tie_with_flaming_nines": _Plain(Sight.BOTH_FIRE, lambda h: h.player_flaming and h.banker_flaming),
    "tie_with_six_stars": _Plain(Sight.STARS, lambda h: h.six_stars),
}

_NUMBERED: dict[str, _Numbered] = {
    "player_wins_on": _Numbered(Sight.POINTS, lambda h, n: _player_wins(h) and h.player_total == n),
    "banker_wins_on": _Numbered(Sight.POINTS, lambda h, n: _banker_wins(h) and h.banker_total == n),
    "tie_on": _Numbered(Sight.POINTS, lambda h, n: _tie(h) and h.player_total == n),
    "one_element_over_cards": _Numbered(
        Sight.ONE_SUIT, lambda h, n: h.one_suit and h.player_cards + h.banker_cards == n
    ),
}


def condition(text: str) -> Condition:
    """Return the condition that a game file names, or raise ValueError with a sentence."""
    match = re.fullmatch(r"(\w+?)(?:\((\d)\))?", text)
    name, number = match.groups() if match else (text, None)
    if number is None and name in _PLAIN:
        plain = _PLAIN[name]
        return Condition(text, plain.sight, plain.holds)
    if number is not None and name in _NUMBERED:
        numbered = _NUMBERED[name]
        value = int(number)
        return Condition(text, numbered.sight, lambda h: numbered.holds(h, value))
    raise ValueError(f"there is no condition {text!r}")
