"""How the configured shoe is reached, and who knows its cards."""

import contextlib
import logging
from collections.abc import AsyncIterator, Callable

import msgspec

from drivers.shoe_device import transport_for
from drivers.transport import Transport
from shoe_controller.app.simulated_shoe import SimulationOrder, TableSimulation
from shoe_controller.config import Config, Shoe
from shoe_controller.decks.book import DeckBook
from shoe_controller.service.arrivals import Faces
from shoe_controller.service.faces import PrintedFaces, RegisteredFaces

logger = logging.getLogger(__name__)


class ShoeSource(msgspec.Struct, frozen=True):
    """The way to one shoe. `faces` is asked anew for each new shoe."""

    device: str
    transport: Transport
    faces: Callable[[], Faces]
    simulation: TableSimulation | None = None


@contextlib.asynccontextmanager
async def reached(config: Config, order: SimulationOrder) -> AsyncIterator[ShoeSource]:
    """Give the way to the configured shoe; a simulated one is there as long as this lasts."""
    shoe = config.shoe
    if shoe.protocol == "simulated":
        simulation = TableSimulation(config.table, order)
        await simulation.shoe.start()
        device, book = simulation.shoe.device, simulation.book
        try:
            yield ShoeSource(device, transport_for(device), lambda: RegisteredFaces(book), simulation)
        finally:
            await simulation.shoe.stop()
        return
    transport = transport_for(
        shoe.device, shoe.protocol, baud=shoe.baud, framing=shoe.framing, listen_only=shoe.listen_only
    )
    yield ShoeSource(
        shoe.device, transport, PrintedFaces if shoe.protocol == "angel-eye" else lambda: _registered(shoe)
    )


def _registered(shoe: Shoe) -> Faces:
    book = DeckBook.load(shoe.decks_directory)
    for problem in book.problems:
        logger.warning("decks: %s", problem)
    return RegisteredFaces(book, shoe.deck_set)
