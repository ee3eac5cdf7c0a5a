"""Looking back: where in the journal a round begins and ends, read from the newest fact backwards."""

from collections.abc import Iterator

import msgspec

from shoe_controller.journal.entry import FactRecord, FactSource

# What begins a round, and what ends the one before it.
BOUNDARIES = frozenset({"betting", "shoe_loaded"})
# About a week of a busy table. Older rounds can still be asked for by their seq.
FARTHEST = 100_000
# Mostly a few dozen facts are enough; whoever looks far back soon takes large steps.
_FIRST_STEP = 32
_LONGEST_STEP = 2048


class _RoundName(msgspec.Struct):
    shoe: str = ""
    round: int = 0


def backwards(source: FactSource, farthest: int = FARTHEST) -> Iterator[FactRecord]:
    """Yield facts, the newest first, as far back as the journal goes or `farthest` facts."""
    upper = source.last_seq
    end = max(0, upper - farthest)
    step = _FIRST_STEP
    while upper > end:
        lower = max(end, upper - step)
        step = min(2 * step, _LONGEST_STEP)
        # A new chain may have left a gap in the numbers; what lies behind it was yielded already.
        yield from (record for record in reversed(source.facts(lower, upper - lower)) if record.seq <= upper)
        upper = lower


def current_round(source: FactSource) -> int:
    """Return the seq of the fact that began the current round (or shoe); the oldest within reach if none did."""
    seq = source.last_seq + 1
    for record in backwards(source):
        seq = record.seq
        if record.type in BOUNDARIES:
            break
    return seq


def round_range(source: FactSource, shoe: str, number: int) -> tuple[int, int] | None:
    """Return the first and last seq of a round: from "Place your bets" to before the next; None if not found."""
    last = source.last_seq
    for record in backwards(source):
        if record.type not in BOUNDARIES:
            continue
        if record.type == "betting":
            name = msgspec.json.decode(record.fact, type=_RoundName)
            if (name.shoe, name.round) == (shoe, number):
                return record.seq, last
        last = record.seq - 1
    return None
