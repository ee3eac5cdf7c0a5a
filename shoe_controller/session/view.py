"""The table as it stands now: what lamps, gate, display and the retained `state` message are made of."""

from typing import Literal

import msgspec

from shoe_controller.session.facts import Irregularity, Side, Winner

Phase = Literal[
    "no-shoe",
    "burning",
    "ready",
    "betting",
    "dealing",
    "complete",
    "announced",
    "decision",
    "void",
    "shoe-ended",
    "fault",
]


class ShoeView(msgspec.Struct, frozen=True):
    """The shoe in play. `rounds_left` is None until the cut card was seen."""

    id: str
    game: str
    title: str
    decks: int
    rules_hash: str
    cards: int
    rounds: int
    cut_seen: bool
    rounds_left: int | None
    burn_left: int
    deck_set: str


class RoundView(msgspec.Struct, frozen=True):
    """The current round, or the last one until the next begins.

    Hands hold card codes; a card that may not be shown yet is `""` (only in views made for the display of a
    squeeze table). `winner`, `pays` and `pushes` are set once the round is announced.
    """

    round: int
    revision: int
    status: Literal["open", "complete", "void"]
    announced: bool
    player: tuple[str, ...]
    banker: tuple[str, ...]
    player_total: int | None
    banker_total: int | None
    winner: Winner | None
    natural: bool
    pays: dict[str, str]
    pushes: tuple[str, ...]
    irregularities: tuple[str, ...]
    void_rule: str | None
    void_reason: str
    unassigned: tuple[str, ...]
    keyed: tuple[str, ...]


class TableView(msgspec.Struct, frozen=True):
    """Everything about the table at one moment, as a function of the journal up to there.

    `phase` is what people see; `state` is the machine's own state. `next` tells who gets the next card and is
    None unless a card is due and may be drawn; the gate is open exactly then, and while cards are burned.
    """

    phase: Phase
    state: str
    shoe: ShoeView | None
    round: RoundView | None
    next: Side | None
    gate_open: bool
    betting_open: bool
    alarm: bool
    open_irregularities: tuple[Irregularity, ...]
    unacknowledged: tuple[Irregularity, ...]
    faults: tuple[str, ...]
    carried: tuple[str, ...]
