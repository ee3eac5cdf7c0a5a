"""A deck set: the cards that are put into one shoe together, and whether they are complete."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from shoe_controller.cards import DECKS, Deck, spoken
from shoe_controller.decks.errors import IncompleteSetError, SetNameError

# The length is that of the configuration's key shoe.deck_set; a name is also the name of a file.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MAX_TOLD = 20

Cards = Sequence[tuple[bytes, str]]
"""Ids with their card codes, in any order."""


class DeckSet(msgspec.Struct, frozen=True, kw_only=True):
    """One registered set.

    `cards` maps ids (upper case hexadecimal, sorted) to card codes. `optical` is the number of the set in the codes
    that optical readers see. A set has one of the two, or both. Times are UTC; `retired` is empty while it is in use.
    """

    name: str
    game: str
    deck: int
    decks: int
    cards: dict[str, str] = {}
    optical: int | None = None
    registered: str
    source: str
    retired: str = ""

    @property
    def sha256(self) -> str:
        """The hash of the register: of everything that decides which card is which, and of nothing else."""
        lines = [f"deck set {self.name}", f"{self.decks} x {self.deck}", f"optical {self.optical or '-'}"]
        lines += [f"{uid} {self.cards[uid]}" for uid in sorted(self.cards)]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def size(self) -> int:
        """How many cards the set has."""
        return self.deck * self.decks


def check_name(name: str) -> str:
    """Return the name, or raise SetNameError."""
    if NAME.fullmatch(name) is None:
        raise SetNameError(
            f"{name!r} cannot be the name of a deck set: use 1 to 64 letters, digits, '.', '_' or '-',"
            " beginning with a letter or a digit, as in red-2026-04"
        )
    return name


def make_set(
    name: str,
    *,
    game: str,
    deck: Deck,
    decks: int,
    cards: Cards,
    optical: int | None = None,
    registered: str,
    source: str,
) -> DeckSet:
    """Return the complete set of these cards, or raise IncompleteSetError with all that is wrong.

    A set that is known by its optical number alone has no cards with ids.
    """
    check_name(name)
    if cards or optical is None:
        problems = wrong_with(cards, deck, decks)
        if problems:
            raise IncompleteSetError(name, problems)
    return DeckSet(
        name=name,
        game=game,
        deck=deck.size,
        decks=decks,
        cards=dict(sorted((uid.hex().upper(), code) for uid, code in cards)),
        optical=optical,
        registered=registered,
        source=source,
    )


def wrong_with(cards: Cards, deck: Deck, decks: int) -> tuple[str, ...]:
    """Say what keeps these cards from being `decks` complete decks: each face so many times, no id twice."""
    problems = [*_repeated(cards), *wrong_faces(Counter(code for _, code in cards), deck, decks)]
    if len(problems) > MAX_TOLD:
        return (*problems[:MAX_TOLD], f"… and {len(problems) - MAX_TOLD} more")
    return tuple(problems)


def wrong_faces(faces: Mapping[str, int], deck: Deck, decks: int) -> Iterator[str]:
    """Say which faces are too few, too many, or of no such deck."""
    for code in sorted(faces.keys() - deck.face_set):
        yield f"{code} is no card of a {deck.size}-card deck"
    for code in deck.faces:
        if (number := faces.get(code, 0)) != decks:
            yield f"{code} ({spoken(code)}) is there {_times(number)} instead of {_times(decks)}"


def is_sound(deck_set: DeckSet) -> bool:
    """Tell whether a set that was read from a file could have been registered."""
    deck = DECKS.get(deck_set.deck)
    if deck is None or NAME.fullmatch(deck_set.name) is None:
        return False
    try:
        cards = [(bytes.fromhex(uid), code) for uid, code in deck_set.cards.items()]
    except ValueError:
        return False
    return not wrong_with(cards, deck, deck_set.decks) if cards else deck_set.optical is not None


def _repeated(cards: Cards) -> Iterator[str]:
    first: dict[bytes, str] = {}
    for uid, code in cards:
        if uid in first:
            yield f"the id {uid.hex().upper()} is there twice, as {first[uid]} and as {code}"
        else:
            first[uid] = code


def _times(number: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(number, f"{number} times")
