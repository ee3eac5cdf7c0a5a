"""Game files: one TOML file a game, checked when loaded, with a content hash that names the rule set.

A rule set's hash covers every value of its file and no comment or space, so that the same rules have the same hash
wherever they are loaded.
"""

import datetime as dt
import hashlib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from shoe_controller.cards import DECKS, Deck
from shoe_controller.errors import UsageError
from shoe_controller.money import Odds, parse_odds
from shoe_controller.outside_json import LONGEST_LINE, NOT_UNDERSTOOD, long_line, why
from shoe_controller.rules.hand_classes import HandClasses
from shoe_controller.rules.play import Hand
from shoe_controller.rules.predicates import Condition, condition
from shoe_controller.rules.traits import Traits, traits

Winner = Literal["player", "banker", "tie"]
Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_-]*$")]
Text = Annotated[str, msgspec.Meta(min_length=1)]

# Outcomes that are remembered, about 4 MB: the common ones, so that years of play do not fill the memory.
MOST_OUTCOMES = 4096


class GameFileError(UsageError):
    """A game file is not as it must be; the sentence begins with the file."""

    begins_with_file = True


class PayLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a pay table: the first line whose condition holds is paid."""

    when: str
    odds: str
    text: Text
    clause: Text


class WagerSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One wager as the game file has it."""

    id: Name
    name: Text
    clause: Text
    pays: Annotated[tuple[PayLine, ...], msgspec.Meta(min_length=1)]
    push_on: Literal["tie"] | None = None


class PrizeLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a bonus table: fixed money in dollars."""

    when: str
    dollars: Annotated[int, msgspec.Meta(gt=0)]
    text: Text
    clause: Text


class BonusSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"wager": "with"}):
    """Fixed money for each player with a wager on `with`."""

    id: Name
    name: Text
    wager: str
    clause: Text
    prizes: Annotated[tuple[PrizeLine, ...], msgspec.Meta(min_length=1)]


class GameSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole game file."""

    id: Name
    title: Text
    version: str
    effective: dt.date
    deck: Literal[52, 65]
    decks: tuple[int, int]
    wagers: Annotated[tuple[WagerSpec, ...], msgspec.Meta(min_length=3)]
    bonuses: tuple[BonusSpec, ...] = ()


class Outcome(NamedTuple):
    """What two complete hands mean: the winner, every wager that wins with its odds, and what is pushed."""

    winner: Winner
    player_total: int
    banker_total: int
    natural: bool
    odds: dict[str, Odds]
    prizes: dict[str, int]  # dollars
    pays: dict[str, str]  # odds and prizes as they are published
    pushes: tuple[str, ...]


class RuleSet:
    """A game with its conditions resolved. `outcome` remembers what classes of hands pay, for speed."""

    def __init__(self, spec: GameSpec) -> None:
        self.spec = spec
        self.id = spec.id
        self.title = spec.title
        self.deck: Deck = DECKS[spec.deck]
        self.min_decks, self.max_decks = spec.decks
        self.hash = hashlib.sha256(msgspec.json.encode(spec, order="sorted")).hexdigest()
        self.wagers: dict[str, tuple[tuple[Condition, Odds], ...]] = {
            wager.id: tuple((condition(line.when), parse_odds(line.odds)) for line in wager.pays)
            for wager in spec.wagers
        }
        self.bonuses: dict[str, tuple[tuple[Condition, int], ...]] = {
            bonus.id: tuple((condition(prize.when), prize.dollars) for prize in bonus.prizes) for bonus in spec.bonuses
        }
        self.bonus_on: dict[str, str] = {bonus.id: bonus.wager for bonus in spec.bonuses}
        self.pushed_on_tie = tuple(wager.id for wager in spec.wagers if wager.push_on == "tie")
        lines = (*self.wagers.values(), *self.bonuses.values())
        self._no_cards = HandClasses(when for line in lines for when, _ in line).no_cards
        self._known: dict[tuple[int, int], Outcome] = {}

    def outcome(self, player: Hand, banker: Hand) -> Outcome:
        """Return what two complete hands mean."""
        no_cards = self._no_cards
        player_class = no_cards[player[0]][player[1]]
        if len(player) == 3:
            player_class = player_class[player[2]]
        banker_class = no_cards[banker[0]][banker[1]]
        if len(banker) == 3:
            banker_class = banker_class[banker[2]]
        both = player_class.number, banker_class.number
        outcome = self._known.get(both)
        if outcome is None:
            if len(self._known) >= MOST_OUTCOMES:
                self._known.clear()
            outcome = self._known[both] = self.work_out(traits(player, banker))
        return outcome

    def work_out(self, seen: Traits) -> Outcome:
        """Return what hands with these traits mean, from the conditions of the game file."""
        winner: Winner
        if seen.player_total > seen.banker_total:
            winner = "player"
        elif seen.banker_total > seen.player_total:
            winner = "banker"
        else:
            winner = "tie"
        odds = {
            wager: next(odds for when, odds in lines if when.holds(seen))
            for wager, lines in self.wagers.items()
            if any(when.holds(seen) for when, _ in lines)
        }
        prizes = {
            bonus: next(prize for when, prize in lines if when.holds(seen))
            for bonus, lines in self.bonuses.items()
            if any(when.holds(seen) for when, _ in lines)
        }
        pays = {wager: str(value) for wager, value in odds.items()} | {
            bonus: f"+{value}" for bonus, value in prizes.items()
        }
        # A natural is made by two cards and nobody draws after it, so four cards and an 8 or 9 say it all.
        natural = seen.player_cards == seen.banker_cards == 2 and max(seen.player_total, seen.banker_total) >= 8
        pushes = self.pushed_on_tie if winner == "tie" else ()
        return Outcome(winner, seen.player_total, seen.banker_total, natural, odds, prizes, pays, pushes)


def parse(text: str, name: str) -> RuleSet:
    """Return the rule set of a game file's text; `name` is the file for messages."""
    if number := long_line(text):
        raise GameFileError(f"{name}:{number}: is longer than {LONGEST_LINE} characters")
    try:
        spec = msgspec.toml.decode(text, type=GameSpec)
        _check(spec)
        return RuleSet(spec)
    except (*NOT_UNDERSTOOD, ValueError) as error:
        raise GameFileError(f"{name}: {why(error)}") from error


def load(path: Path | Traversable) -> RuleSet:
    """Load one game file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GameFileError(f"{path}: cannot be read: {error}") from error
    return parse(text, str(path))


@cache
def load_all() -> dict[str, RuleSet]:
    """Return the approved games that ship with the program, by id."""
    files = sorted(
        (file for file in resources.files(__package__).joinpath("data").iterdir() if file.name.endswith(".toml")),
        key=lambda file: file.name,
    )
    games = {rules.id: rules for rules in map(load, files)}
    if len(games) != len(files):
        raise GameFileError(f"{__package__}: two game files have the same id")
    return games


def find(game: str) -> RuleSet:
    """Return the rule set of a game id, or raise a sentence that names the games there are."""
    games = load_all()
    if game not in games:
        raise UsageError(f"there is no game {game!r}; the games are {', '.join(games)}")
    return games[game]


def _check(spec: GameSpec) -> None:
    """Raise ValueError with a sentence for what types alone cannot tell."""
    ids = [wager.id for wager in spec.wagers] + [bonus.id for bonus in spec.bonuses]
    for name in ids:
        if ids.count(name) > 1:
            raise ValueError(f"the wager {name!r} is there twice")
    missing = {"player", "banker", "tie"} - set(ids)
    if missing:
        raise ValueError(f"the wager {min(missing)!r} is missing")
    low, high = spec.decks
    if not 1 <= low <= high:
        raise ValueError(f"decks = [{low}, {high}] must be the smallest and the largest number of decks")
    for bonus in spec.bonuses:
        if bonus.wager not in ids:
            raise ValueError(f"the bonus {bonus.id!r} goes with {bonus.wager!r}, which is no wager of this game")
