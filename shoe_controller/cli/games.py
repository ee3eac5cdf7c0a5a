"""List the approved games, or show one game's rules and pay table so that they can be held against the document."""

import argparse
import json

EXAMPLES = """\
  shoe-controller games
  shoe-controller games six-star
  shoe-controller games --format json"""

_PLAY = """\
Rules of play (3.3 to 3.10)
  Ace counts 1, two to nine their face, ten and pictures 0; a total is the right digit of the sum.
  First and third card to the Player, second and fourth to the Banker.
  A total of 8 or 9 on two cards is a natural: no more cards.
  The Player draws on 0-5 and stands on 6-7.
  If the Player stands, the Banker draws on 0-5 and stands on 6-7. Else the Banker draws
    on 0-2 always, on 3 unless the Player's third card counts 8, on 4 if it counts 2-7,
    on 5 if it counts 4-7, on 6 if it counts 6 or 7, and never on 7.
  The higher total wins; equal totals are a tie."""

_IRREGULARITIES = """\
Irregularities
  5.1  A foreign card: the round is void, earlier results stand.
  5.2  A wrong number of cards, seen before the next round begins: void unless it can be reconstructed.
  5.3  Cards drawn together in the initial deal: void unless their order is known.
  5.4  The order of the cards in the shoe was altered: void unless it can be reconstructed.
  5.5  Not enough cards to complete the round: void.
  5.6  A wager placed or increased after "No more bets" is refused.
  5.7  A wager cannot be withdrawn after "No more bets"; it wins or loses with the result."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("game", nargs="?", metavar="GAME", help="the game to show; without it all are listed")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the list or one game."""
    import msgspec  # noqa: PLC0415

    from shoe_controller.rules.games import RuleSet, find, load_all  # noqa: PLC0415

    def as_json(rules: RuleSet) -> dict[str, object]:
        spec: dict[str, object] = msgspec.to_builtins(rules.spec)
        return {"rules_hash": rules.hash} | spec

    if args.game is None:
        games = list(load_all().values())
        if args.format == "json":
            print(json.dumps([as_json(rules) for rules in games], indent=2, ensure_ascii=False))
            return 0
        for rules in games:
            version = f"version {rules.spec.version}, " if rules.spec.version else ""
            print(f"{rules.id:15} {rules.title} ({version}{rules.spec.effective}), {rules.deck.size}-card decks")
        return 0
    rules = find(args.game)
    if args.format == "json":
        print(json.dumps(as_json(rules), indent=2, ensure_ascii=False))
        return 0
    spec = rules.spec
    version = f"Version {spec.version}, in force" if spec.version else "In force"
    print(f"{spec.title} ({spec.id})\n{version} from {spec.effective}")
    print(f"Played with {rules.min_decks} to {rules.max_decks} decks of {rules.deck.size} cards (2.1)")
    print(f"Rule set {rules.hash}\n\n{_PLAY}\n\nSettlement")
    for wager in spec.wagers:
        pushed = "; pushed on a tie" if wager.push_on else ""
        print(f"  {wager.name} ({wager.id}), {wager.clause}{pushed}")
        for line in wager.pays:
            pays, _, per = line.odds.partition(":")
            print(f"    {pays:>5} to {per}   {line.text}  [{line.clause}]")
    for bonus in spec.bonuses:
        print(f"  {bonus.name} ({bonus.id}), {bonus.clause}: to each player with a wager on {bonus.wager}")
        for prize in bonus.prizes:
            print(f"  ${prize.dollars:>9,}   {prize.text}  [{prize.clause}]")
    print(f"\n{_IRREGULARITIES}")
    return 0
