"""Odds: the published figures, and sums that must come out."""

from fractions import Fraction
from importlib import resources
from itertools import product
from math import perm, prod

import pytest

from shoe_controller import rules as rules_package
from shoe_controller.rules.games import load_all, parse
from shoe_controller.rules.odds import count


@pytest.fixture(scope="module")
def eight_decks():
    return {game: count(rules, 8) for game, rules in load_all().items()}


def weights(eight_decks, game, wager):
    _, wagers = eight_decks[game]
    return {outcome.pays: outcome.weight for outcome in next(w for w in wagers if w.wager == wager).outcomes}


def edge(eight_decks, game, wager):
    _, wagers = eight_decks[game]
    numerator, denominator = next(w for w in wagers if w.wager == wager).house_edge
    return 100 * numerator / denominator


def test_player_banker_and_tie_of_eight_decks_are_the_published_counts(eight_decks):
    sequences, _ = eight_decks["no-commission"]
    assert sequences == 4_998_398_275_503_360
    assert weights(eight_decks, "no-commission", "player")["1:1"] == 2_230_518_282_592_256
    banker = weights(eight_decks, "no-commission", "banker")
    assert banker["1:1"] + banker["1:2"] == 2_292_252_566_437_888
    assert weights(eight_decks, "no-commission", "tie")["8:1"] == 475_627_426_473_216


def test_house_edges_are_the_published_ones(eight_decks):
    assert f"{edge(eight_decks, 'no-commission', 'banker'):.6f}" == "1.458104"
    assert f"{edge(eight_decks, 'fortune-six', 'fortune_six'):.6f}" == "16.683572"
    assert f"{edge(eight_decks, 'no-commission', 'player'):.4f}" == "1.2351"
    assert f"{edge(eight_decks, 'no-commission', 'tie'):.4f}" == "14.3596"
    assert f"{edge(eight_decks, 'no-commission', 'player_pair'):.4f}" == "10.3614"


@pytest.mark.parametrize("game", list(load_all()))
def test_the_outcomes_of_each_wager_add_up_to_all_sequences(eight_decks, game):
    sequences, wagers = eight_decks[game]
    assert sequences == perm(load_all()[game].deck.size * 8, 6)
    for wager in wagers:
        assert sum(outcome.weight for outcome in wager.outcomes) == sequences, wager.wager
        assert all(outcome.weight > 0 for outcome in wager.outcomes), wager.wager


def test_precious_pairs_are_what_counting_by_hand_gives(eight_decks):
    sequences, _ = eight_decks["sands-super"]
    found = weights(eight_decks, "sands-super", "player_precious_pair")
    two = perm(416, 2)
    assert found["30:1"] * two == sequences * 8 * 7
    assert found["12:1"] * two == sequences * 12 * 8 * 7
    assert found["15:1"] * two == sequences * (32 * 31 - 8 * 7)


def test_six_stars_are_what_counting_by_hand_gives(eight_decks):
    # Six cards, a Sau, a Luk and a Fuk in each hand: 3! orders a hand, 40 x 39 of each rank.
    found = weights(eight_decks, "six-star", "tie_bonus")
    assert found["+30000"] == 6 * 6 * (40 * 39) ** 3


def test_flaming_nines_are_what_counting_by_hand_gives(eight_decks):
    # The Player holds two fire cards that make nine and wins unless the Banker's first two make nine as well.
    wins = 0
    for first in range(10):
        of_fire = [8 * (4 if value == 0 else 1) for value in (first, 9 - first)]
        left = [40 * (4 if value == 0 else 1) - (value in (first, 9 - first)) for value in range(10)]
        nine_too = sum(left[value] * left[9 - value] for value in range(10))
        wins += of_fire[0] * of_fire[1] * (perm(518, 2) - nine_too) * perm(516, 2)
    assert weights(eight_decks, "six-star", "player")["6:5"] == wins
    assert weights(eight_decks, "six-star", "banker")["6:5"] == wins


@pytest.mark.parametrize("decks", [1, 8])
def test_four_cards_of_one_element_are_what_counting_by_hand_gives(decks):
    # Nobody draws after a natural, nor if both stand on six or seven. Four cards of each element count nothing.
    cards = [4 * decks, *[decks] * 9]
    ways = 0
    for dealt in product(range(10), repeat=4):
        player, banker = (dealt[0] + dealt[2]) % 10, (dealt[1] + dealt[3]) % 10
        if max(player, banker) >= 8 or min(player, banker) >= 6:
            ways += prod(cards[value] - dealt[:at].count(value) for at, value in enumerate(dealt))
    found = weights({"six-star": count(load_all()["six-star"], decks)}, "six-star", "element_bonus")
    assert found["50:1"] == 5 * ways * perm(65 * decks - 4, 2)


@pytest.mark.parametrize("game", list(load_all()))
def test_the_house_edge_is_exactly_what_the_outcomes_cost(eight_decks, game):
    sequences, wagers = eight_decks[game]
    for wager in wagers:
        if wager.house_edge is None:
            continue
        cost = 0
        for pays, weight in wager.outcomes:
            won, per = {"lose": (-1, 1), "push": (0, 1)}.get(pays) or map(int, pays.split(":"))
            cost -= weight * Fraction(won, per)
        assert Fraction(*wager.house_edge) == cost / sequences, wager.wager


def test_the_house_edge_is_exact_for_odds_of_any_denominator():
    text = (resources.files(rules_package) / "data" / "no-commission.toml").read_text(encoding="utf-8")
    rules = parse(text.replace('"11:1"', '"77:13"'), "a copy")
    sequences, wagers = count(rules, 1)
    pair = next(wager for wager in wagers if wager.wager == "player_pair")
    chance = Fraction(3, 51)
    assert Fraction(*pair.house_edge) == (1 - chance) - chance * Fraction(77, 13)
    assert sequences == perm(52, 6)


@pytest.mark.parametrize("game", list(load_all()))
def test_the_odds_of_one_deck_add_up_though_some_hands_cannot_be_dealt_from_it(game):
    rules = load_all()[game]
    sequences, wagers = count(rules, 1)
    assert sequences == perm(rules.deck.size, 6)
    for wager in wagers:
        assert sum(outcome.weight for outcome in wager.outcomes) == sequences, wager.wager
        assert all(outcome.weight >= 0 for outcome in wager.outcomes), wager.wager


def test_progress_goes_from_nothing_towards_all():
    told = []
    count(load_all()["no-commission"], 4, told.append)
    assert told[0] == 0
    assert told == sorted(told)
    assert 0.9 < told[-1] < 1
