"""Outcomes by classes of hands against the conditions of the game file, which are the one definition of the wagers."""

import random

import pytest

from shoe_controller.rules import games
from shoe_controller.rules.games import load_all
from shoe_controller.rules.hand_classes import HandClasses
from shoe_controller.rules.play import next_card
from shoe_controller.rules.predicates import condition
from shoe_controller.rules.traits import traits

GAMES = sorted(load_all())
SHOES = 60


def deals(cards, chance):
    """Yield complete hands dealt from these cards until too few are left."""
    chance.shuffle(cards)
    while len(cards) >= 6:
        player = banker = ()
        while side := next_card(player, banker):
            if side == "player":
                player = (*player, cards.pop())
            else:
                banker = (*banker, cards.pop())
        yield player, banker


def few_suits(rules, chance):
    """Return cards of two suits, with many pictures: what flaming nines, elements and stars are made of."""
    suits = chance.sample(rules.deck.suits, 1 + chance.randrange(2))
    cards = [face for face in rules.deck.faces if face[1] in suits]
    return cards * 8 + [face for face in cards if face[0] in "SLF9TJ"] * 24


@pytest.mark.parametrize("game", GAMES)
def test_classes_of_hands_pay_what_the_conditions_say(game):
    rules, chance = load_all()[game], random.Random(9)
    shoes = [list(rules.deck.faces) * 8 for _ in range(SHOES)] + [few_suits(rules, chance) for _ in range(SHOES)]
    for shoe in shoes:
        for player, banker in deals(shoe, chance):
            assert rules.outcome(player, banker) == rules.work_out(traits(player, banker)), (player, banker)


@pytest.mark.parametrize("game", GAMES)
def test_every_pair_of_first_cards_pays_what_the_conditions_say(game):
    rules = load_all()[game]
    other = rules.deck.faces[3:5]
    for first in rules.deck.faces:
        for second in rules.deck.faces:
            for hands in (((first, second), other), (other, (first, second))):
                assert rules.outcome(*hands) == rules.work_out(traits(*hands)), hands


@pytest.mark.parametrize(
    "when",
    [
        "player_wins_with_flaming_nines",
        "banker_wins_with_flaming_nines",
        "tie_with_flaming_nines",
        "one_element_over_cards(4)",
        "tie_with_six_stars",
    ],
)
def test_a_game_tells_apart_what_its_only_condition_asks_for(when):
    # The games ask for several of these, so that one can stand in for another.
    classes, chance = HandClasses([condition(when)]), random.Random(7)
    rules, found = load_all()["six-star"], {}
    stars = [face for face in rules.deck.faces if face[0] in "SLFT"] * 8
    for shoe in (stars, *(few_suits(rules, chance) for _ in range(SHOES))):
        for hands in deals(shoe, chance):
            numbers = tuple(classes.of(hand).number for hand in hands)
            holds = condition(when).holds(traits(*hands))
            assert found.setdefault(numbers, holds) == holds, hands
    assert set(found.values()) == {True, False}


def test_fire_cards_are_cards_like_others_to_a_game_that_does_not_ask_for_them():
    wagers = load_all()["sands-elements"].wagers.values()
    classes = HandClasses(when for lines in wagers for when, _ in lines)
    assert classes.of(("4f", "5f")) is classes.of(("4g", "5g"))


def test_outcomes_that_are_forgotten_are_worked_out_again(monkeypatch):
    monkeypatch.setattr(games, "MOST_OUTCOMES", 10)
    text = (games.resources.files(games.__package__) / "data" / "sands-super.toml").read_text()
    rules, chance = games.parse(text, "a copy"), random.Random(4)
    for player, banker in deals(list(rules.deck.faces) * 8, chance):
        assert rules.outcome(player, banker) == rules.work_out(traits(player, banker))
        assert len(rules._known) <= 10


@pytest.mark.parametrize("game,most", [("no-commission", 100), ("sands-super", 250), ("six-star", 500)])
def test_a_game_tells_few_hands_apart(game, most):
    rules, chance = load_all()[game], random.Random(2)
    lines = (*rules.wagers.values(), *rules.bonuses.values())
    classes = HandClasses(when for line in lines for when, _ in line)
    numbers = set()
    for _ in range(SHOES):
        for hands in deals(list(rules.deck.faces) * 8, chance):
            numbers |= {classes.of(hand).number for hand in hands}
    assert len(numbers) <= most
