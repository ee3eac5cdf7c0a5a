"""Exact odds of every wager for a fresh shoe, counted over classes of equal cards with the rules that are played.

Weights are numbers of ordered six-card sequences, so that every probability of a shoe has one denominator. Which cards
are equal depends on what a condition looks at (`Sight`): for points only the value matters; conditions that look at
suits can hold only within a small part of the deck, so that only that part is counted and moved out of what the
points alone would pay.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations_with_replacement
from math import lcm, perm
from typing import NamedTuple

from shoe_controller.money import Odds
from shoe_controller.rules.games import RuleSet
from shoe_controller.rules.play import POINTS, Hand, next_card, total
from shoe_controller.rules.predicates import Condition, Sight
from shoe_controller.rules.traits import FLAMING_SUIT, STARS, Traits, traits

Weights = Counter[Traits]
Progress = Callable[[float], None]


class OutcomeOdds(NamedTuple):
    """One outcome of a wager: what it pays (odds, `+dollars`, `push` or `lose`) and its weight."""

    pays: str
    weight: int


class WagerOdds(NamedTuple):
    """All outcomes of a wager; the house edge is None for a fixed prize."""

    wager: str
    outcomes: tuple[OutcomeOdds, ...]
    house_edge: tuple[int, int] | None


def count(rules: RuleSet, decks: int, progress: Progress = lambda _: None) -> tuple[int, list[WagerOdds]]:
    """Return the number of six-card sequences of a shoe, and the odds of each wager of the game."""
    shoe = _Shoe(rules, decks, progress)
    wagers = [_wager_odds(name, lines, shoe) for name, lines in rules.wagers.items()]
    bonuses = [_bonus_odds(name, lines, shoe) for name, lines in rules.bonuses.items()]
    return shoe.sequences, wagers + bonuses


class _Shoe:
    """A fresh shoe and the weights of everything that each sight can see in it, counted when first asked for."""

    def __init__(self, rules: RuleSet, decks: int, progress: Progress) -> None:
        self.rules = rules
        self.decks = decks
        self.cards = rules.deck.size * decks
        self.sequences = perm(self.cards, 6)
        self._progress = progress
        self._weights: dict[Sight, Weights] = {}

    def weights(self, sight: Sight) -> Weights:
        if sight not in self._weights:
            self._weights[sight] = self._count(sight)
        return self._weights[sight]

    def _count(self, sight: Sight) -> Weights:
        deck, suits = self.rules.deck, len(self.rules.deck.suits)
        if sight in (Sight.PLAYER_PAIR, Sight.BANKER_PAIR):
            return self._pairs()
        values = {face: sum(POINTS[other] == POINTS[face] for other in deck.faces) for face in _values(deck.suits[0])}
        if sight is Sight.POINTS:
            return self._hands(values, _pairs_of(values), _pairs_of(values))
        one_suit = {face: number // suits for face, number in values.items()}
        if sight is Sight.ONE_SUIT:  # every suit has the same cards: count one of them and multiply
            pairs = _pairs_of(one_suit)
            return Counter({seen: weight * suits for seen, weight in self._hands(one_suit, pairs, pairs).items()})
        if sight is Sight.STARS:
            stars = {rank + FLAMING_SUIT: suits for rank in sorted(STARS)}  # any suit may stand for all of them
            return self._hands(stars, _pairs_of(stars), _pairs_of(stars))
        fire, other = _values("f"), _values("g")
        split = {face: one_suit[face] for face in fire} | {
            face: (suits - 1) * one_suit[fire[at]] for at, face in enumerate(other)
        }
        nines = [pair for pair in _pairs_of(fire) if total(pair) == 9]
        if sight is Sight.BOTH_FIRE:
            return self._hands(split, nines, nines)
        if sight is Sight.PLAYER_FIRE:
            return self._hands(split, nines, _pairs_of(split))
        return self._hands(split, _pairs_of(split), nines)

    def _pairs(self) -> Weights:
        """Count the first two cards of a hand; the other four may be anything."""
        weights: Weights = Counter()
        rest = perm(self.cards - 2, 4)
        for first in self.rules.deck.faces:
            for second in self.rules.deck.faces:
                number = self.decks * (self.decks - (first == second))
                weights[traits((first, second), (first, second))] += number * rest
        return weights

    def _hands(self, pool: dict[str, int], player_pairs: list[Hand], banker_pairs: list[Hand]) -> Weights:
        """Count complete deals that begin with these pairs; each class of cards is a face that stands for it."""
        left = {face: number * self.decks for face, number in pool.items()}
        weights: Weights = Counter()
        for step, player in enumerate(player_pairs):
            self._progress(step / len(player_pairs))
            with_player = _draw_two(left, player)
            if not with_player:
                continue
            for banker in banker_pairs:
                with_banker = _draw_two(left, banker)
                if with_banker:
                    self._finish(weights, left, player, banker, with_player * with_banker)
                    left[banker[0]] += 1
                    left[banker[1]] += 1
            left[player[0]] += 1
            left[player[1]] += 1
        return weights

    def _finish(self, weights: Weights, left: dict[str, int], player: Hand, banker: Hand, weight: int) -> None:
        side = next_card(player, banker)
        if side is None:
            dealt = len(player) + len(banker)
            weights[traits(player, banker)] += weight * perm(self.cards - dealt, 6 - dealt)
            return
        for face, number in left.items():
            if number:
                left[face] -= 1
                if side == "player":
                    self._finish(weights, left, (*player, face), banker, weight * number)
                else:
                    self._finish(weights, left, player, (*banker, face), weight * number)
                left[face] += 1


def _values(suit: str) -> list[str]:
    """Return a face of this suit for each point value."""
    return [rank + suit for rank in "A23456789T"]


def _pairs_of(faces: Iterable[str]) -> list[Hand]:
    """Return every two of these faces once, in one order: no condition asks which came first."""
    return list(combinations_with_replacement(faces, 2))


def _draw_two(left: dict[str, int], pair: Hand) -> int:
    """Take two cards out and return in how many ways that can happen; 0, and nothing taken, if it cannot."""
    first, second = pair
    ways = left[first] * (left[second] - (first == second)) * (1 if first == second else 2)
    if ways:
        left[first] -= 1
        left[second] -= 1
    return ways


def _first(lines: list[tuple[Condition, str]], seen: Traits, nothing: str) -> str:
    return next((pays for when, pays in lines if when.holds(seen)), nothing)


def _distribution(lines: list[tuple[Condition, str]], shoe: _Shoe, *, pushes: bool) -> Counter[str]:
    """Return the weight of each thing that a wager can pay."""

    def nothing(seen: Traits) -> str:
        return "push" if pushes and seen.player_total == seen.banker_total else "lose"

    by_points = [(when, pays) for when, pays in lines if when.sight is Sight.POINTS]
    found: Counter[str] = Counter()
    if by_points:
        for seen, weight in shoe.weights(Sight.POINTS).items():
            found[_first(by_points, seen, nothing(seen))] += weight
    else:
        found["lose"] = shoe.sequences
    for sight in {when.sight: None for when, _ in lines if when.sight is not Sight.POINTS}:
        for seen, weight in shoe.weights(sight).items():
            visible = [(when, pays) for when, pays in lines if when.sight in (Sight.POINTS, sight)]
            without = _first(by_points, seen, nothing(seen))
            with_sight = _first(visible, seen, nothing(seen))
            found[without] -= weight
            found[with_sight] += weight
    return found


def _wager_odds(name: str, lines: tuple[tuple[Condition, Odds], ...], shoe: _Shoe) -> WagerOdds:
    odds = {str(value): value for _, value in lines}
    named = [(when, str(value)) for when, value in lines]
    found = _distribution(named, shoe, pushes=name in shoe.rules.pushed_on_tie)
    per = lcm(*(value.per for value in odds.values()))  # winnings are counted over one denominator
    winnings = sum(found[text] * value.pays * (per // value.per) for text, value in odds.items())
    edge = found["lose"] * per - winnings
    return WagerOdds(name, _outcomes(odds, found), (edge, shoe.sequences * per))


def _bonus_odds(name: str, lines: tuple[tuple[Condition, int], ...], shoe: _Shoe) -> WagerOdds:
    named = [(when, f"+{value}") for when, value in lines]
    pays = dict.fromkeys(pays for _, pays in named)
    return WagerOdds(name, _outcomes(pays, _distribution(named, shoe, pushes=False)), None)


def _outcomes(pays: Iterable[str], found: Counter[str]) -> tuple[OutcomeOdds, ...]:
    order = [*pays, *(("push",) if found["push"] else ()), "lose"]
    return tuple(OutcomeOdds(text, found[text]) for text in order)
