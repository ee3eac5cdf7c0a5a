"""The simulated shoe as the table's own shoe: no hardware, a real pseudo-terminal, registered cards."""

import secrets
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec

from drivers.simulated.body import ShoeBody
from drivers.simulated.faults import Faults
from drivers.simulated.open_device import OpenOptions
from drivers.simulated.open_twin import OpenTwin
from drivers.simulated.order import CUT_CARD, chance
from drivers.simulated.pty_shoe import SimulatedShoe
from drivers.simulated.stock import faces, make_set
from shoe_controller.cards import DECKS
from shoe_controller.config import Table
from shoe_controller.decks.book import DeckBook
from shoe_controller.decks.deck_set import make_set as register_set
from shoe_controller.rules.games import find

SET_NAME = "simulated"


class SimulationOrder(msgspec.Struct, frozen=True):
    """How the simulated shoe behaves. `auto`: seconds for each card that it draws while the gate is open."""

    seed: int = 1
    auto: float | None = 1.0
    faults: Faults = Faults()
    cut_card: int = CUT_CARD
    link: Path | None = None


class TableSimulation:
    """A shoe on a pty and the register of its cards."""

    def __init__(
        self, table: Table, order: SimulationOrder, on_line: Callable[[str], None] = lambda _line: None
    ) -> None:
        deck = find(table.game).deck
        cards = make_set(faces(deck.size), table.decks, chance(order.seed, "ids"))
        self.body = ShoeBody(cards, chance(order.seed, "shuffle"), cut_card=order.cut_card or None)
        # The device draws its sessions by chance, whatever the seed: one that an older journal knows would be refused.
        device = Random(secrets.randbits(64))  # noqa: S311 - a simulation guards nothing
        twin = OpenTwin(self.body, device, OpenOptions(serial_number=f"SIM-{order.seed}"[:32]))
        self.shoe = SimulatedShoe(
            twin, faults=order.faults, seed=order.seed, auto=order.auto, link=order.link, on_line=on_line
        )
        register = register_set(
            SET_NAME,
            game=table.game,
            deck=DECKS[deck.size],
            decks=table.decks,
            cards=[(card.uid, card.code) for card in cards],
            registered="",
            source="simulated",
        )
        self.book = DeckBook([register])

    def refill(self) -> None:
        """Shuffle all cards and put them into the shoe, as a person does for a new shoe."""
        self.shoe.do("new-shoe")
