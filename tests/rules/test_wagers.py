"""Every wager of every game with a winning, a losing and a near-miss hand."""

import itertools

import pytest

from shoe_controller.rules.games import load_all
from shoe_controller.rules.play import next_card


def outcome(game, player, banker):
    player, banker = tuple(player.split()), tuple(banker.split())
    assert next_card(player, banker) is None, "the hands of this case are not complete by the Table of Play"
    return load_all()[game].outcome(player, banker)


CASES = [
    # game, wager, player, banker, pays (None: not among the winners)
    ("no-commission", "player", "9h Kc", "5d 2c", "1:1"),
    ("no-commission", "player", "5d 2c", "9h Kc", None),
    ("no-commission", "banker", "5d 2c", "9h Kc", "1:1"),
    ("no-commission", "banker", "Kd 5c Th", "6h Kc", "1:2"),
    ("no-commission", "banker", "2c 2d Th", "6h Kh", "1:2"),
    ("no-commission", "banker", "2c 2d 2h", "6h Kh", None),  # 6-6 is a tie
    ("no-commission", "tie", "6c Kd", "6h Kh", "8:1"),
    ("no-commission", "tie", "7c Kd", "6h Kh", None),
    ("no-commission", "player_pair", "9h 9c", "5d 2c", "11:1"),
    ("no-commission", "player_pair", "Kh Qc 2c", "7d Kc", None),  # both count nothing, but no pair
    ("no-commission", "player_pair", "2h 2c 5d", "7d Kc", "11:1"),  # a pair though a third card is drawn
    ("no-commission", "player_pair", "2h 4c 2d", "7d Kc", None),  # the third card makes no pair
    ("no-commission", "banker_pair", "7d Kc", "Qh Qd 2c", "11:1"),
    ("no-commission", "banker_pair", "7d Kc", "Qh Jd Qc", None),
    ("fortune-six", "fortune_six", "Kd 5c Th", "6h Kc", "12:1"),
    ("fortune-six", "fortune_six", "7h Kc", "2c 2d 2h", None),  # six, but the Player wins
    ("fortune-six", "fortune_six", "6d Kd", "6h Kc", None),  # a tie on six
    ("fortune-six", "fortune_six", "2c Kd 2h", "2h 3h Ac", "20:1"),
    ("fortune-six", "fortune_six", "2c Kd 2h", "2h 3h 2c", None),  # seven
    ("sands-elements", "fortune_six", "2f Sg 2w", "2g 3e Aw", "20:1"),
    ("sands-elements", "player_pair", "Lf La 2w", "7g Se", "11:1"),
    ("sands-elements", "player_pair", "Lf Fa 2w", "7g Se", None),
    ("sands-elements", "banker", "2f Sg Sw", "6g Se", "1:2"),
    ("six-star", "player", "4f 5f", "7g Se", "6:5"),
    ("six-star", "player", "4f 5g", "7g Se", "1:1"),  # only one fire card
    ("six-star", "player", "4g 5f", "7g Se", "1:1"),  # nor does it matter which
    ("six-star", "player", "4f 5f", "9g Se", None),  # 9-9 is a tie
    ("six-star", "player", "2f 2f 5f", "7g Se", "1:1"),  # nine on three cards is no natural
    ("six-star", "player", "8f Sf", "7g Se", "1:1"),  # eight
    ("six-star", "banker", "7g Se", "9f Tf", "6:5"),
    ("six-star", "banker", "7g Se", "9f Tg", "1:1"),
    ("six-star", "banker", "7g Se", "9g Tf", "1:1"),
    ("six-star", "banker", "2f Sg Sw", "6g Se", "1:2"),
    ("six-star", "banker", "2f Sg Sw", "6f Sf", "1:2"),  # fire, but six
    ("six-star", "fortune_six", "2f Sg Sw", "6f Sf", "12:1"),
    ("six-star", "element_bonus", "9f Sf", "2f 5f", "50:1"),
    ("six-star", "element_bonus", "9f Sf", "2f 5g", None),
    ("six-star", "element_bonus", "2w 2w 2w", "7w Sw", "500:1"),
    ("six-star", "element_bonus", "2w 2w 2g", "7w Sw", None),
    ("six-star", "element_bonus", "2a Sa 2a", "2a 3a Aa", "5000:1"),
    ("six-star", "element_bonus", "2a Sa 2a", "2a 3a Ae", None),
    ("six-star", "element_bonus", "9f Sf", "9f Lf", "50:1"),  # whatever the outcome: a tie
    ("six-star", "tie_bonus", "4f 5f", "9f Sf", "+3000"),
    ("six-star", "tie_bonus", "4f 5f", "9f Sg", None),  # the Banker's are not both fire
    ("six-star", "tie_bonus", "4g 5g", "9g Sg", None),  # one element, but not fire
    ("six-star", "tie_bonus", "Sf Lg Fe", "Fw La Sf", "+30000"),
    ("six-star", "tie_bonus", "Sf Lg Se", "Fw La Sf", None),  # two Sau and no Fuk
    ("six-star", "tie_bonus", "Sf Lg Fe", "Fw La Tf", None),
    ("sands-super", "player_precious_pair", "4d 4d", "7d Kc", "30:1"),
    ("sands-super", "player_precious_pair", "4d 4c", "7d Kc", "15:1"),
    ("sands-super", "player_precious_pair", "4c 4c", "7d Kc", "15:1"),
    ("sands-super", "player_precious_pair", "Qd Qd 5c", "7d Kc", "12:1"),
    ("sands-super", "player_precious_pair", "Qh Qh 5c", "7d Kc", "9:1"),
    ("sands-super", "player_precious_pair", "Kc Kh 5c", "7d Kc", "9:1"),
    ("sands-super", "player_precious_pair", "Kd Qd 5c", "7d Kc", None),
    ("sands-super", "banker_precious_pair", "7d Kc", "4d 4d", "30:1"),
    ("sands-super", "banker_precious_pair", "7d Kc", "4h 4d", "15:1"),
    ("sands-super", "banker_precious_pair", "7d Kc", "2d 2d 9c", "12:1"),
    ("sands-super", "banker_precious_pair", "7d Kc", "2d 2h 9c", "9:1"),
    ("sands-super", "banker_precious_pair", "7d Kc", "2d 3d 2d", None),
    ("sands-super", "player_red", "9h Kd", "7s Kc", "2:1"),
    ("sands-super", "player_red", "9h Kc", "7s Kd", None),
    ("sands-super", "player_red", "2h 2d 5c", "7s Kd", "2:1"),  # the third card's colour does not matter
    ("sands-super", "player_black", "9s Kc", "7h Kd", "2:1"),
    ("sands-super", "player_black", "9s Kd", "7h Kd", None),
    ("sands-super", "banker_red", "9s Kd", "7h Kd", "2:1"),
    ("sands-super", "banker_red", "9h Kd", "7h Ks", None),
    ("sands-super", "banker_black", "9h Kd", "7c Ks", "2:1"),
    ("sands-super", "banker_black", "9c Ks", "7c Kh", None),
    ("sands-super", "sands_six", "6h Kd", "Ks 2c 3h", "6:1"),
    ("sands-super", "sands_six", "Kd 5c Th", "6h Kc", "6:1"),
    ("sands-super", "sands_six", "6h Kd", "6c Ks", "6:1"),  # a tie on six
    ("sands-super", "sands_six", "7h Kd", "6c Ks", None),  # the loser has six
    ("sands-super", "banker", "Kd 5c Th", "6h Kc", "1:2"),
    ("sands-super", "tie", "6h Kd", "6c Ks", "8:1"),
]


@pytest.mark.parametrize("game,wager,player,banker,pays", CASES)
def test_a_wager_pays_as_the_document_says(game, wager, player, banker, pays):
    assert outcome(game, player, banker).pays.get(wager) == pays


@pytest.mark.parametrize("game,wager", [(game, wager) for game, rules in load_all().items() for wager in rules.wagers])
def test_every_wager_can_win_and_can_lose(game, wager):
    deck = load_all()[game].deck
    found = set()
    # Points decide most wagers; two suits and all ranks reach every condition of these games.
    for suits in {(deck.suits[0],) * 6, (deck.suits[1],) * 6, tuple((deck.suits * 2)[:6])}:
        for first in deck.ranks:
            for second in deck.ranks:
                for third in deck.ranks:
                    cards = [rank + suit for rank, suit in zip(first + second + third + first, suits, strict=False)]
                    player, banker = (cards[0], cards[2]), (cards[1], cards[3])
                    for rank in ("T", third, "2"):
                        if next_card(player, banker) == "player":
                            player = (*player, rank + suits[4])
                        elif next_card(player, banker) == "banker":
                            banker = (*banker, rank + suits[5])
                    found.add(wager in outcome(game, " ".join(player), " ".join(banker)).pays)
    assert found == {True, False}


def complete_hands():
    """Yield hands of all totals; which card is third does not matter here."""
    for player_two, banker_two, third, last in itertools.product("TA23456789", repeat=4):
        player, banker = ("Kd", f"{player_two}h"), ("Ks", f"{banker_two}c")
        if next_card(player, banker) == "player":
            player = (*player, f"{third}d")
        if next_card(player, banker) == "banker":
            banker = (*banker, f"{last}s")
        yield " ".join(player), " ".join(banker)


def test_of_the_wins_on_wagers_the_one_of_winner_and_winning_total_wins_and_no_other():
    seen = set()
    for player, banker in dict.fromkeys(complete_hands()):
        found = outcome("sands-super", player, banker)
        total = max(found.player_total, found.banker_total)
        won = [wager for wager in found.pays if "_wins_on_" in wager]
        assert won == [f"{found.winner}_wins_on_{total}"], (player, banker)
        seen.update(won)
    assert len(seen) == 9 + 9 + 10


def test_player_and_banker_are_pushed_on_a_tie_only():
    assert outcome("no-commission", "7h Kd", "7c Ks").pushes == ("player", "banker")
    assert outcome("no-commission", "7h Kd", "6c Ks").pushes == ()


def test_natural_is_told_for_two_card_eight_or_nine_only():
    assert outcome("no-commission", "8h Kd", "6c Ks").natural
    assert outcome("no-commission", "2h Kd", "9c Ks").natural
    assert not outcome("no-commission", "7h Kd", "6c Ks").natural
    assert not outcome("no-commission", "2h 2d 5c", "7c Ks").natural
