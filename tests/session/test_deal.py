"""The places of a deal say what the rules say of the hands themselves."""

from shoe_controller.machine.states import COMPLETE, dealing_state
from shoe_controller.rules.play import POINTS, next_card, total
from shoe_controller.session.deal import NO_CARDS

ONE_OF_EACH = ("Th", "Ac", "2d", "3s", "4f", "5c", "6g", "7h", "8w", "9a")  # by their points


def every_deal(place, player=(), banker=()):
    """Yield every deal by points, card by card, with the place that the graph leads to."""
    yield place, player, banker
    for points, code in enumerate(ONE_OF_EACH):
        if place.due == "player":
            yield from every_deal(place.after[points], (*player, code), banker)
        elif place.due == "banker":
            yield from every_deal(place.after[points], player, (*banker, code))


def test_every_deal_by_points_stands_where_the_rules_say():
    complete = 0
    for place, player, banker in every_deal(NO_CARDS):
        assert place.due == next_card(player, banker), (player, banker)
        assert place.player_total == (total(player) if player else None), (player, banker)
        assert place.banker_total == (total(banker) if banker else None), (player, banker)
        assert place.state == dealing_state(player, banker), (player, banker)
        complete += place.state == COMPLETE
    assert complete > 100_000


def test_the_last_card_is_told_with_its_hand_and_its_position_there():
    place, told = NO_CARDS, []
    assert (place.hand, place.position) == (None, 0)
    for card in ("2d", "3s", "Ac", "Th", "4f", "Th"):
        place = place.after[POINTS[card]]
        told.append((place.hand, place.position))
    assert told == [("player", 1), ("banker", 1), ("player", 2), ("banker", 2), ("player", 3), ("banker", 3)]


def test_a_banker_who_draws_alone_gets_a_third_card():
    place = NO_CARDS
    for card in ("6g", "5c", "Th", "Th", "2d"):  # 6 against 5: the Player stands
        place = place.after[POINTS[card]]
    assert (place.hand, place.position, place.banker_total, place.due) == ("banker", 3, 7, None)


def test_nothing_follows_a_complete_deal():
    assert all(place.after == () for place, _, _ in every_deal(NO_CARDS) if place.due is None)
    assert all(len(place.after) == 10 for place, _, _ in every_deal(NO_CARDS) if place.due is not None)


def test_the_cards_of_this_test_are_one_of_each_point_value():
    assert [POINTS[code] for code in ONE_OF_EACH] == list(range(10))
