"""Print the exact probability of each outcome of each wager for a fresh shoe, and the house edge.

Nothing is sampled: the deals are counted over classes of equal cards, with the rules that are played.
"""

import argparse
import json
import sys
import time

EXAMPLES = """\
  shoe-controller odds no-commission --decks 8
  shoe-controller odds six-star --decks 8 --format json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("game", metavar="GAME")
    parser.add_argument("--decks", type=int, default=8, metavar="N", help="decks in the shoe (default: 8)")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Count and print."""
    from shoe_controller.errors import UsageError  # noqa: PLC0415
    from shoe_controller.rules.games import find  # noqa: PLC0415
    from shoe_controller.rules.odds import count  # noqa: PLC0415

    rules = find(args.game)
    if not rules.min_decks <= args.decks <= rules.max_decks:
        raise UsageError(f"{rules.title} is played with {rules.min_decks} to {rules.max_decks} decks, not {args.decks}")
    progress = _Progress()
    sequences, wagers = count(rules, args.decks, progress)
    progress.wipe()
    if args.format == "json":
        print(json.dumps(_as_json(rules.id, args.decks, sequences, wagers), indent=2))
        return 0
    print(f"{rules.title}, {args.decks} decks, of {sequences:,} six-card sequences")
    for wager in wagers:
        edge = "" if wager.house_edge is None else f"house edge {100 * wager.house_edge[0] / wager.house_edge[1]:.6f} %"
        print(f"{wager.wager:22} {edge}")
        for outcome in wager.outcomes:
            print(f"  {outcome.pays:>8}  {100 * outcome.weight / sequences:12.8f} %  {outcome.weight:,}")
    return 0


def _as_json(game: str, decks: int, sequences: int, wagers: list) -> dict[str, object]:  # type: ignore[type-arg]
    return {
        "game": game,
        "decks": decks,
        "sequences": sequences,
        "wagers": [
            {
                "wager": wager.wager,
                "outcomes": [
                    {"pays": o.pays, "probability": f"{o.weight}/{sequences}", "p": o.weight / sequences}
                    for o in wager.outcomes
                ],
                "house_edge": None if wager.house_edge is None else wager.house_edge[0] / wager.house_edge[1],
            }
            for wager in wagers
        ],
    }


class _Progress:
    """Tells on a terminal how far the count is, once it has taken a second."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = ""

    def __call__(self, part: float) -> None:
        if sys.stderr.isatty() and time.monotonic() - self._began > 1:
            self._shown = f"counting: {100 * part:3.0f} %"
            print(f"\r{self._shown}", end="", file=sys.stderr, flush=True)

    def wipe(self) -> None:
        """Leave the line to what is printed next."""
        if self._shown:
            print(f"\r{' ' * len(self._shown)}\r", end="", file=sys.stderr, flush=True)
