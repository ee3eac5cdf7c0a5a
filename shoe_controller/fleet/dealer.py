"""A simulated dealer: what happens next at a table, as the rules of play would have it, from a shuffled shoe."""

from collections.abc import Iterator
from random import Random

from shoe_controller.session import inputs as i
from shoe_controller.session.view import TableView

DECKS = 8
BEHIND_CUT = 16
_FACES = tuple(rank + suit for suit in "cdhs" for rank in "A23456789TJQK")
_WAGERS = ("player", "banker", "tie", "player_pair", "banker_pair")


class Dealer:
    """Plays on from wherever the table stands. The same chance gives the same shoes and the same wagers."""

    def __init__(self, chance: Random, *, wagers: int, game: str = "no-commission") -> None:
        self._chance = chance
        self._wagers = wagers
        self._game = game
        self._cards: list[str] = []
        self._shoes = 0
        self._cut_shown = False

    def round(self, view: TableView) -> Iterator[i.AnyInput]:
        """Yield what happens in the next round; the table must have taken one before the next is asked for."""
        if view.shoe is None or view.phase == "shoe-ended":
            yield self._new_shoe()
        yield i.PlaceBets()
        for seat in range(self._wagers):
            stake = self._chance.randrange(1, 100) * 2500
            yield i.PlaceWager(who=f"seat-{seat + 1}", wager=self._chance.choice(_WAGERS), amount=stake)
        yield i.NoMoreBets()

    def card(self) -> Iterator[i.AnyInput]:
        """Yield what comes out of the shoe when a card is due: the card, behind the cut card if that is next."""
        if len(self._cards) <= BEHIND_CUT and not self._cut_shown:
            self._cut_shown = True
            yield i.CutCard()
        yield i.DrawCard(code=self._cards.pop())

    def _new_shoe(self) -> i.LoadShoe:
        self._cards = list(_FACES) * DECKS
        self._chance.shuffle(self._cards)
        self._cut_shown = False
        self._shoes += 1
        return i.LoadShoe(game=self._game, decks=DECKS, id=f"shoe-{self._shoes}")
