"""A dealer who plays without a mistake: rounds for the rules alone, and inputs for a session."""

import random
import time
from collections.abc import Iterator

from shoe_controller.machine.states import DEALING
from shoe_controller.measuring.measured import Measured
from shoe_controller.rules.games import RuleSet, find
from shoe_controller.rules.play import Hand, next_card
from shoe_controller.session import inputs as i
from shoe_controller.session.session import Session

GAME = "no-commission"
DECKS = 8
ROUNDS_A_SHOE = 60  # 360 of 416 cards at most
SEED = 1
CHANCE = random.Random  # nothing here is secret, and every machine is to deal the same cards


def shuffled(rules: RuleSet, chance: random.Random) -> list[str]:
    """Return the cards of a shoe."""
    cards = list(rules.deck.faces) * DECKS
    chance.shuffle(cards)
    return cards


def deal_round(cards: list[str]) -> tuple[Hand, Hand]:
    """Deal one complete round from the end of the cards."""
    player: Hand = ()
    banker: Hand = ()
    while side := next_card(player, banker):
        if side == "player":
            player = (*player, cards.pop())
        else:
            banker = (*banker, cards.pop())
    return player, banker


def inputs(session: Session) -> Iterator[i.AnyInput]:
    """Yield what happens at a table, shoe after shoe, for ever; the session takes each before it asks for the next."""
    rules, chance = find(GAME), CHANCE(SEED)
    while True:
        cards = shuffled(rules, chance)
        yield i.LoadShoe(rules.id, DECKS)
        for _ in range(ROUNDS_A_SHOE):
            yield i.PlaceBets()
            yield i.NoMoreBets()
            while session.state in DEALING:
                yield i.DrawCard(cards.pop(), uid=f"{chance.getrandbits(56):014x}")
            yield i.AnnounceResult()


def measure_play(rounds: int) -> Iterator[Measured]:
    """Measure how fast this machine follows the rules."""
    rules, chance = find(GAME), CHANCE(SEED)
    taken = 0.0
    for _ in ("for nothing, since a program that runs for years knows all hands", "for the figure"):
        shoes = [shuffled(rules, chance) for _ in range(-(-rounds // ROUNDS_A_SHOE))]
        start = time.perf_counter()
        for cards in shoes:
            for _ in range(ROUNDS_A_SHOE):
                rules.outcome(*deal_round(cards))
        taken = time.perf_counter() - start
    yield Measured("rules alone", len(shoes) * ROUNDS_A_SHOE / taken, "rounds/s")
    for engine, name in (("transitions", "session at the table"), ("table", "session in a replay")):
        session = Session(engine)  # type: ignore[arg-type]
        play = inputs(session)
        number = rounds * 2
        start = time.perf_counter()
        for _ in range(number):
            session.handle(next(play))
        yield Measured(name, number / (time.perf_counter() - start), "inputs/s")
