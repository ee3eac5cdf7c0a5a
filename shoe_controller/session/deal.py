"""Where a deal stands, as far as the rules can tell: a graph made once of what `total` and `next_card` say.

A card leads from one place to the next in one step, for the card that is dealt as for guards that ask what it would
lead to. Only the points of a card matter, so a few hundred places are all that there are.
"""

from shoe_controller.machine.states import dealing_state
from shoe_controller.rules.play import POINTS, Hand, Side, next_card, total


class Place:
    """What is known of two hands: the totals, whom the last card went to, and whom the next one goes to."""

    __slots__ = ("after", "banker_total", "due", "hand", "player_total", "position", "state")

    def __init__(self, player: Hand, banker: Hand, hand: Side | None, due: Side | None) -> None:
        self.player_total = total(player) if player else None
        self.banker_total = total(banker) if banker else None
        self.hand = hand
        self.position = 0 if hand is None else len(player if hand == "player" else banker)
        self.due = due
        self.state = dealing_state(player, banker)
        self.after: tuple[Place, ...] = ()  # by the points of the card; none when the hands are complete


def _places() -> Place:
    """Return the place before the first card, with all that follow."""
    cards = sorted({points: code for code, points in POINTS.items()}.items())
    known: dict[tuple[int, int, int, int, Side | None], Place] = {}

    def place(player: Hand, banker: Hand, hand: Side | None) -> Place:
        due = next_card(player, banker)
        seen = len(player), len(banker), total(player), total(banker), due
        found = known.get(seen)
        if found is None:
            found = known[seen] = Place(player, banker, hand, due)
            if due == "player":
                found.after = tuple([place((*player, code), banker, due) for _, code in cards])
            elif due == "banker":
                found.after = tuple([place(player, (*banker, code), due) for _, code in cards])
        return found

    return place((), (), None)


NO_CARDS = _places()
