"""The state of the display: all that a display may know at one moment, and nothing more.

At a squeeze table (`reveal = "on-result"`) faces, totals, naturals and whatever would tell about them stay out of
this value until the dealer has announced the result; the number of cards on the table is no secret. Whether a third
card is due is one: it narrows down the totals. So after the fourth card `next` is empty and the phase stays
`dealing` until the result.
"""

from typing import Literal

import msgspec

from shoe_controller.roads.roads import RoadsView
from shoe_controller.roads.scoreboard import Statistics
from shoe_controller.session.facts import Effect, Irregularity, Kind, Side, Winner
from shoe_controller.session.view import Phase, RoundView, TableView
from shoe_controller.web.settings import ShownTable


class ShownShoe(msgspec.Struct, frozen=True):
    """The shoe in play. `wagers` are all wagers of the game, in the order of its rules."""

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
    wagers: tuple[str, ...]


class ShownRound(msgspec.Struct, frozen=True):
    """The current round, or the last one until the next begins. A card that may not be shown yet is `""`."""

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
    unassigned: tuple[str, ...]
    keyed: tuple[str, ...]


# A table that goes wrong again and again must not make the state grow without end.
MOST_IRREGULARITIES = 16


class ShownIrregularity(msgspec.Struct, frozen=True):
    """An irregularity that waits for a person: for a decision, or to be acknowledged."""

    id: int
    kind: Kind
    rule: str | None
    round: int | None
    effect: Effect
    waits_for: Literal["decision", "acknowledgement"]
    cards: tuple[str, ...]


class Betting(msgspec.Struct, frozen=True):
    """Betting is open. `remaining_ms` is counted at the moment of sending; None: there is no countdown."""

    seconds: int
    remaining_ms: int | None


class DisplayState(msgspec.Struct, frozen=True):
    """The whole display at one moment; `seq` is the newest fact that it contains.

    Irregularities are the newest that wait for a person, those that wait for a decision last.

    `boot` changes when the controller was restarted, `page` when the files of the page have changed. Fields are only
    ever added.
    """

    seq: int
    boot: str
    version: str
    page: str
    table: ShownTable
    phase: Phase
    shoe: ShownShoe | None
    round: ShownRound | None
    next: Side | None
    betting: Betting | None
    alarm: bool
    irregularities: tuple[ShownIrregularity, ...]
    faults: tuple[str, ...]
    carried: tuple[str, ...]
    roads: RoadsView
    statistics: Statistics


class About(msgspec.Struct, frozen=True):
    """What stays the same while the controller runs."""

    boot: str
    version: str
    page: str


def is_revealed(round_: RoundView) -> bool:
    """Tell whether the dealer has announced this round.

    A round that is void without ever having been announced stays hidden. One that was announced and then voided has
    been published twice.
    """
    return round_.revision > 1 if round_.status == "void" else round_.announced


def display_state(
    view: TableView,
    seq: int,
    *,
    table: ShownTable,
    about: About,
    wagers: tuple[str, ...],
    betting: Betting | None,
    roads: RoadsView,
    statistics: Statistics,
) -> DisplayState:
    """Return what a display may know of the table."""
    squeeze = table.reveal == "on-result"
    hidden = squeeze and (view.round is None or not is_revealed(view.round))
    return DisplayState(
        seq=seq,
        boot=about.boot,
        version=about.version,
        page=about.page,
        table=table,
        phase="dealing" if hidden and view.phase == "complete" else view.phase,
        shoe=_shoe(view, wagers),
        round=None if view.round is None else _round(view.round, hidden=hidden),
        next=None if hidden and _dealt(view) >= 4 else view.next,
        betting=betting if view.betting_open else None,
        alarm=view.alarm,
        irregularities=_irregularities(view, squeeze=squeeze),
        faults=view.faults,
        carried=backs(view.carried) if squeeze else view.carried,
        roads=roads,
        statistics=statistics,
    )


def backs(cards: tuple[str, ...]) -> tuple[str, ...]:
    """Return as many card backs as there are cards."""
    return ("",) * len(cards)


def _dealt(view: TableView) -> int:
    return 0 if view.round is None else len(view.round.player) + len(view.round.banker)


def _shoe(view: TableView, wagers: tuple[str, ...]) -> ShownShoe | None:
    shoe = view.shoe
    if shoe is None:
        return None
    return ShownShoe(
        id=shoe.id,
        game=shoe.game,
        title=shoe.title,
        decks=shoe.decks,
        rules_hash=shoe.rules_hash,
        cards=shoe.cards,
        rounds=shoe.rounds,
        cut_seen=shoe.cut_seen,
        rounds_left=shoe.rounds_left,
        burn_left=shoe.burn_left,
        wagers=wagers,
    )


def _round(round_: RoundView, *, hidden: bool) -> ShownRound:
    announced = is_revealed(round_) and round_.status == "complete"
    return ShownRound(
        round=round_.round,
        revision=round_.revision,
        status="open" if hidden and round_.status == "complete" else round_.status,
        announced=announced,
        player=backs(round_.player) if hidden else round_.player,
        banker=backs(round_.banker) if hidden else round_.banker,
        player_total=None if hidden else round_.player_total,
        banker_total=None if hidden else round_.banker_total,
        # A winner is what the dealer has announced, at every table.
        winner=round_.winner if announced else None,
        natural=False if hidden else round_.natural,
        pays=round_.pays if announced else {},
        pushes=round_.pushes if announced else (),
        irregularities=round_.irregularities,
        void_rule=round_.void_rule,
        unassigned=backs(round_.unassigned) if hidden else round_.unassigned,
        keyed=() if hidden else round_.keyed,
    )


def _irregularities(view: TableView, *, squeeze: bool) -> tuple[ShownIrregularity, ...]:
    open_ones = {(one.shoe, one.id) for one in view.open_irregularities}
    waiting = {(one.shoe, one.id): one for one in (*view.open_irregularities, *view.unacknowledged)}
    newest = sorted(waiting.items(), key=lambda item: item[0] in open_ones)[-MOST_IRREGULARITIES:]
    return tuple(_irregularity(one, decision=key in open_ones, squeeze=squeeze) for key, one in newest)


def _irregularity(one: Irregularity, *, decision: bool, squeeze: bool) -> ShownIrregularity:
    return ShownIrregularity(
        id=one.id,
        kind=one.kind,
        rule=one.rule,
        round=one.round,
        effect=one.effect,
        waits_for="decision" if decision else "acknowledgement",
        # At a squeeze table an irregularity's cards may lie face down, now and in a round that is void.
        cards=backs(one.cards) if squeeze else one.cards,
    )
