"""Order: which simulated shoe is wanted, and the making of it. The seed decides everything that is left to chance."""

from dataclasses import dataclass, field
from random import Random

from drivers.simulated.actions import Twin
from drivers.simulated.angel_eye_device import AngelEyeOptions
from drivers.simulated.angel_eye_twin import AngelEyeTwin
from drivers.simulated.body import ShoeBody
from drivers.simulated.errors import OrderError
from drivers.simulated.open_device import OpenOptions
from drivers.simulated.open_twin import OpenTwin
from drivers.simulated.stock import faces, make_set

PROTOCOLS = ("open", "angel-eye")
# The rest of a round and one more need at most 5 + 6 cards behind the cut card.
CUT_CARD = 16


@dataclass(frozen=True, slots=True)
class ShoeOrder:
    """A shoe: what it speaks, what is in it, and how its device is made. `cut_card` 0: none is put in."""

    protocol: str = "open"
    deck: int = 52
    decks: int = 8
    seed: int = 1
    cut_card: int = CUT_CARD
    open_options: OpenOptions = field(default_factory=OpenOptions)
    angel_eye_options: AngelEyeOptions = field(default_factory=AngelEyeOptions)


def chance(seed: int, matter: str) -> Random:
    """Give the source of chance for one matter, so that more chance in one does not change another."""
    return Random(f"{seed}/{matter}")  # noqa: S311 - a simulation must be reproducible, not secret


def build_twin(order: ShoeOrder) -> Twin:
    """Make the shoe."""
    if order.cut_card < 0:
        raise OrderError(f"The cut card cannot lie {order.cut_card} cards from the end: say 0 for none.")
    cards = make_set(faces(order.deck), order.decks, chance(order.seed, "ids"))
    body = ShoeBody(cards, chance(order.seed, "shuffle"), cut_card=order.cut_card or None)
    device = chance(order.seed, "device")
    if order.protocol == "open":
        return OpenTwin(body, device, order.open_options)
    if order.protocol == "angel-eye":
        return AngelEyeTwin(body, device, order.angel_eye_options)
    raise OrderError(f"'{order.protocol}' is not a protocol of shoes: choose {' or '.join(PROTOCOLS)}.")
