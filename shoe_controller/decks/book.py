"""The deck book: what the daemon asks which card an id is."""

from pathlib import Path
from typing import Self

from shoe_controller.decks.deck_set import DeckSet
from shoe_controller.decks.errors import SetNameError
from shoe_controller.decks.folder import read_all


class DeckBook:
    """Every registered set, as it was when the book was loaded. Load it anew for each shoe.

    `problems` has a sentence about each file that could not be used; the cards of such a set are foreign.
    With `deck_set`, the name of the set that is in the shoe, only its cards are known: a card of another set is as
    foreign as one of no set (5.1). Without it every set that is in use counts.
    """

    def __init__(self, sets: list[DeckSet], problems: list[str] | None = None) -> None:
        self.sets = tuple(sets)
        self.problems = tuple(problems or ())
        self._by_name = {one.name: one for one in sets}
        # Sets in use come last and win: an id may be registered again after its old set was retired.
        self._by_uid = {
            uid: one for one in sorted(sets, key=lambda one: not one.retired) for uid in map(bytes.fromhex, one.cards)
        }

    @classmethod
    def load(cls, folder: Path | str) -> Self:
        """Read the folder; raise DeckFolderError if it cannot be read."""
        return cls(*read_all(Path(folder)))

    def get(self, name: str) -> DeckSet:
        """Return a set by its name, or raise SetNameError."""
        if name not in self._by_name:
            damaged = f"; {self.problems[0]}" if self.problems else ""
            raise SetNameError(f"there is no deck set {name}: see `shoe-controller decks list`{damaged}")
        return self._by_name[name]

    def set_of(self, uid: bytes) -> DeckSet | None:
        """Return the set that an id belongs to, retired ones included; None if nobody registered it."""
        return self._by_uid.get(uid)

    def code(self, uid: bytes, *, deck_set: str = "") -> str | None:
        """Return the code of the card with this id; None: it is a foreign card."""
        found = self._by_uid.get(uid)
        return None if found is None or not _counts(found, deck_set) else found.cards[uid.hex().upper()]

    def accepts_optical(self, number: int | None, *, deck_set: str = "") -> bool:
        """Tell whether an optical code with this set number is of a set in use; False: it is a foreign card."""
        return number in self.optical_numbers(deck_set=deck_set)

    def optical_numbers(self, *, deck_set: str = "") -> frozenset[int]:
        """Return the set numbers that optical codes may carry."""
        return frozenset(one.optical for one in self.sets if one.optical is not None and _counts(one, deck_set))

    def why_foreign(self, card: bytes | int | None, *, deck_set: str = "") -> str:
        """Say for the record why an id, or an optical set number, is foreign."""
        if isinstance(card, bytes):
            found, what = self._by_uid.get(card), f"the id {card.hex().upper()}"
        else:
            known = sorted((one for one in self.sets if one.optical == card), key=lambda one: bool(one.retired))
            found = known[0] if known and card is not None else None
            what = "a card without a set number" if card is None else f"the optical set number {card}"
        if found is None:
            return f"{what} is not registered"
        if found.retired:
            return f"{what} belongs to the set {found.name}, which was retired on {found.retired}"
        return f"{what} belongs to the set {found.name}, and the set {deck_set} is in the shoe"


def _counts(found: DeckSet, deck_set: str) -> bool:
    return not found.retired and deck_set in ("", found.name)
