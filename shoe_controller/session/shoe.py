"""The shoe in play: which cards have left it, what is left to burn, and how many rounds are left."""

from collections import Counter
from typing import Literal

from shoe_controller.rules.games import RuleSet
from shoe_controller.rules.play import POINTS
from shoe_controller.session.inputs import LoadShoe

BadCard = Literal["foreign_card", "duplicate_card", "over_count"]


# The largest shoe holds 650 cards. A reader gone mad, or a script made to hurt, must not fill the memory with more.
MOST_BAD_CARDS = 1_000


class Shoe:
    """Counts what left one shoe. It never knows a card that has not been drawn."""

    def __init__(self, load: LoadShoe, rules: RuleSet, shoe_id: str) -> None:
        self.load = load
        self.rules = rules
        self.id = shoe_id
        self.rounds = 0
        self.cards = 0  # every card that left the shoe, whatever became of it
        self.unreadable = 0
        self.irregularities = 0
        self.rounds_left: int | None = None  # rounds still to begin, once the cut card was seen
        self.is_empty = False
        self.burn_waits_for_first_card = load.burn == "first-card"
        self.burn_left = self._burn_at_start(load)
        self._decks = load.decks
        self._seen: dict[str, int] = dict.fromkeys(rules.deck.faces, 0)  # every face of this deck, and no other
        self._extra: Counter[str] = Counter()
        self._uids: dict[str, str] = {}  # the face of each id that is out of the shoe
        self._bad_uids: set[str] = set()  # ids that came out and do not belong here

    @staticmethod
    def _burn_at_start(load: LoadShoe) -> int:
        if load.burn == "decks":
            return load.decks
        if load.burn == "first-card":
            return 1
        return load.burn if isinstance(load.burn, int) else 0

    def fault_of(self, code: str, uid: str) -> BadCard | None:
        """Tell what is wrong with a card that comes out now (5.1), or None if it belongs here."""
        if uid and (uid in self._uids or uid in self._bad_uids):
            return "duplicate_card"
        seen = self._seen.get(code)
        if seen is None:
            return "foreign_card"
        return "over_count" if seen >= self._decks else None

    def fault_of_all(self, codes: tuple[str, ...], uids: tuple[str, ...]) -> BadCard | None:
        """Tell what is wrong with any of several cards that come out together."""
        taken: list[tuple[str, str]] = []
        try:
            for code, uid in zip(codes, uids, strict=True):
                fault = self.fault_of(code, uid)
                if fault:
                    return fault
                self.count(code, uid)
                taken.append((code, uid))
            return None
        finally:
            for code, uid in taken:
                self.put_back(code, uid)

    def take(self, code: str, uid: str) -> None:
        """Count a card of this shoe that came out."""
        self.is_empty = False  # a card came out, so the sensor that said so was wrong
        self.cards += 1
        self._seen[code] += 1
        if uid:
            self._uids[uid] = code

    def count(self, code: str, uid: str) -> None:
        """Count a card that is out of the shoe, whenever it came out."""
        self.cards += 1
        self._seen[code] += 1
        if uid:
            self._uids[uid] = code

    def take_bad(self, code: str, uid: str) -> None:
        """Count a card that does not belong here."""
        self.cards += 1
        name = code or uid or "unknown"
        self._extra[name if name in self._extra or len(self._extra) < MOST_BAD_CARDS else "unknown"] += 1
        if uid and uid not in self._uids and len(self._bad_uids) < MOST_BAD_CARDS:
            self._bad_uids.add(uid)

    def take_unreadable(self) -> None:
        """Count a card whose face is not known."""
        self.is_empty = False
        self.cards += 1
        self.unreadable += 1

    def key_unreadable(self, code: str) -> None:
        """Give an unreadable card the face that a supervisor keyed."""
        self.unreadable -= 1
        self._seen[code] += 1

    def put_back(self, code: str, uid: str) -> None:
        """Forget a card that went back into the shoe and will come out again."""
        self.cards -= 1
        # An id came out with one face only, whatever the reader saw when the card was pushed back.
        self._seen[self._uids.pop(uid, code)] -= 1

    def has_seen(self, code: str, uid: str) -> bool:
        """Tell whether this card is out of the shoe: by its id if it has one, else by its face."""
        return uid in self._uids if uid else self._seen.get(code, 0) > 0

    def burn(self, code: str | None) -> None:
        """Take one card off the burn; the first card may set how many follow."""
        self.burn_left -= 1
        if self.burn_waits_for_first_card and code:
            self.burn_waits_for_first_card = False
            self.burn_left = POINTS[code] or 10

    def burn_left_after(self, codes: tuple[str, ...]) -> int:
        """Tell how many cards are left to burn once these have been."""
        left, waits = self.burn_left, self.burn_waits_for_first_card
        for code in codes:
            left, waits = (POINTS[code] or 10, False) if waits else (left - 1, False)
        return max(left, 0)

    def missing(self) -> dict[str, int]:
        """Return the copies of each face that were not seen."""
        decks = self._decks
        return {face: decks - seen for face, seen in self._seen.items() if seen < decks}

    def extra(self) -> dict[str, int]:
        """Return the copies too many of each face, and the cards that are foreign, by code or id."""
        return {face: count for face, count in sorted(self._extra.items()) if count}
