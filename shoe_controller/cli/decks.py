"""Register the deck sets of this house: which RFID id is which card.

'register' takes a set from a CSV file (a line 'id,code' for each card) or reads it through a shoe, checks that it is
complete (each face as often as there are decks, no id twice) and stores it with its hash. A card of a set that is not
registered, or retired, is a foreign card. Sets that optical shoes read are registered by the number in their codes.

Exit code 0: done; 1: the set is not complete, or a stored set is damaged; 2: wrong use or input.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoe_controller.errors import UsageError

if TYPE_CHECKING:
    from shoe_controller.config import Config, Shoe
    from shoe_controller.decks.deck_set import DeckSet
    from shoe_controller.decks.set_reader import SetReader
    from shoe_controller.rules.games import RuleSet

EXAMPLES = """\
  shoe-controller decks register red-04 --game no-commission --decks 8 --csv red-04.csv
  shoe-controller decks register red-05 --game six-star --decks 8 --device /dev/ttyUSB0
  shoe-controller decks register blue-01 --game no-commission --decks 8 --optical 4711
  shoe-controller decks list --format json
  shoe-controller decks show red-04 --cards
  shoe-controller decks retire red-04"""

LARGEST_OPTICAL = (1 << 32) - 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `decks`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    register = actions.add_parser("register", help="register a set from a CSV file or through a shoe")
    register.add_argument("set", metavar="SET", help="the name of the set, as shoe.deck_set in the configuration")
    register.add_argument("--game", required=True, help="the game whose cards these are; see 'shoe-controller games'")
    register.add_argument("--decks", type=int, required=True, metavar="N", help="decks in the set")
    source = register.add_mutually_exclusive_group(required=True)
    source.add_argument("--csv", type=Path, metavar="FILE", help="a line 'id,code' for each card")
    source.add_argument(
        "--device",
        nargs="?",
        const="",
        metavar="DEV",
        help="read the set through this shoe; without DEV through the one of the configuration",
    )
    source.add_argument("--optical", type=int, metavar="NUMBER", help="optical cards: the number of the set")
    shoe = register.add_argument_group("through a shoe")
    shoe.add_argument("--suits", default="", help="order of the suits in a new deck, as in shdc (RFID shoes)")
    shoe.add_argument("--ranks", default="", help="order of the ranks in a new deck, as in A23456789TJQK (RFID shoes)")
    shoe.add_argument("--discard", action="store_true", help="drop cards that the shoe keeps from before")
    shoe.add_argument("--key-file", type=Path, metavar="PATH", help="the key of the shoe")
    listing = actions.add_parser("list", help="list the registered sets")
    show = actions.add_parser("show", help="show a set")
    show.add_argument("set", metavar="SET")
    show.add_argument("--cards", action="store_true", help="also the ids and their cards: keep them secret")
    retire = actions.add_parser("retire", help="take a set out of use for good: its cards are foreign from now on")
    retire.add_argument("set", metavar="SET")
    for action in (register, listing, show, retire):
        action.add_argument(
            "--config", type=Path, metavar="FILE", help="the configuration (default: the installed one)"
        )
        action.add_argument("--directory", type=Path, metavar="DIR", help="the folder of the sets, instead of its own")
        action.add_argument("--format", choices=("text", "json"), default="text", help="how to answer (default: text)")


def run(args: argparse.Namespace) -> int:
    """Do the action."""
    actions = {"register": _register, "list": _list, "show": _show, "retire": _retire}
    return actions[args.action](args, _shoe_settings(args))


def _shoe_settings(args: argparse.Namespace) -> "Shoe":
    from shoe_controller.config import DEFAULT_PATH, Shoe, load  # noqa: PLC0415 - `--help` needs none of this

    # A technician's machine has sets to register and no table to configure.
    if args.config is None and not DEFAULT_PATH.exists():
        return Shoe()
    config: Config = load(args.config or DEFAULT_PATH)
    return config.shoe


def _folder(args: argparse.Namespace, shoe: "Shoe") -> Path:
    return args.directory or Path(shoe.decks_directory)


def _register(args: argparse.Namespace, shoe: "Shoe") -> int:
    from shoe_controller.decks.csv_register import read_register  # noqa: PLC0415
    from shoe_controller.decks.deck_set import make_set  # noqa: PLC0415
    from shoe_controller.decks.errors import IncompleteSetError  # noqa: PLC0415
    from shoe_controller.decks.folder import add, check_free  # noqa: PLC0415
    from shoe_controller.rules.games import find  # noqa: PLC0415

    rules = find(args.game)
    if not rules.min_decks <= args.decks <= rules.max_decks:
        raise UsageError(f"{rules.title} is played with {rules.min_decks} to {rules.max_decks} decks, not {args.decks}")
    if args.optical is not None and not 1 <= args.optical <= LARGEST_OPTICAL:
        raise UsageError(f"--optical {args.optical}: the number of a set is from 1 to {LARGEST_OPTICAL}")
    folder = _folder(args, shoe)
    check_free(folder, args.set)
    cards: list[tuple[bytes, str]] = []
    optical: int | None = args.optical
    source = "optical number"
    if args.csv is not None:
        cards, source = read_register(args.csv), "csv"
    elif args.device is not None:
        reader = _read_through_shoe(args, shoe, rules)
        if wrong := reader.wrong():
            raise IncompleteSetError(args.set, wrong)
        cards, optical, source = reader.cards, reader.optical, "shoe"
    registered = make_set(
        args.set,
        game=rules.id,
        deck=rules.deck,
        decks=args.decks,
        cards=cards,
        optical=optical,
        registered=_now(),
        source=source,
    )
    add(folder, registered)
    _print_set(args, registered, f"The set {registered.name} is registered.")
    return 0


def _read_through_shoe(args: argparse.Namespace, shoe: "Shoe", rules: "RuleSet") -> "SetReader":
    import asyncio  # noqa: PLC0415

    from drivers.errors import DeviceAddressError  # noqa: PLC0415
    from drivers.shoe_device import transport_for  # noqa: PLC0415
    from shoe_controller.cli.set_reading import read_set  # noqa: PLC0415
    from shoe_controller.config import read_secret  # noqa: PLC0415
    from shoe_controller.decks.set_reader import new_deck_order  # noqa: PLC0415

    device = args.device or shoe.device
    if not device:
        raise UsageError("no device is configured: say --device DEV; 'shoe-controller devices' lists what is there")
    if not args.device and shoe.protocol != "open":
        raise UsageError(f'a shoe of protocol "{shoe.protocol}" tells no ids: there is nothing to register through it')
    key_file = args.key_file or (Path(shoe.auth_key_file) if shoe.auth_key_file else None)
    order = new_deck_order(rules.deck, args.decks, suits=args.suits, ranks=args.ranks)
    try:
        transport = transport_for(device, baud=shoe.baud, framing=shoe.framing)
    except DeviceAddressError as error:
        raise UsageError(str(error)) from error

    def say(words: str) -> None:
        print(words, file=sys.stderr, flush=True)

    return asyncio.run(
        read_set(
            transport,
            rules.deck,
            args.decks,
            order,
            say=say,
            key=None if key_file is None else read_secret(key_file),
            discard=args.discard,
        )
    )


def _list(args: argparse.Namespace, shoe: "Shoe") -> int:
    from shoe_controller.decks.book import DeckBook  # noqa: PLC0415

    folder = _folder(args, shoe)
    book = DeckBook.load(folder)
    if args.format == "json":
        print(json.dumps({"sets": [_as_json(one) for one in book.sets], "problems": book.problems}, indent=2))
    else:
        for line in _table(book.sets) if book.sets else [f"No deck set is registered in {folder}."]:
            print(line)
        for problem in book.problems:
            print(f"shoe-controller: {problem}", file=sys.stderr)
    return 1 if book.problems else 0


def _show(args: argparse.Namespace, shoe: "Shoe") -> int:
    from shoe_controller.decks.book import DeckBook  # noqa: PLC0415

    found = DeckBook.load(_folder(args, shoe)).get(args.set)
    _print_set(args, found, f"Deck set {found.name}", cards=args.cards)
    return 0


def _retire(args: argparse.Namespace, shoe: "Shoe") -> int:
    from shoe_controller.decks.folder import retire  # noqa: PLC0415

    retired = retire(_folder(args, shoe), args.set, _now())
    _print_set(args, retired, f"The set {retired.name} is retired: its cards are foreign from the next shoe on.")
    return 0


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _print_set(args: argparse.Namespace, one: "DeckSet", title: str, *, cards: bool = False) -> None:
    if args.format == "json":
        print(json.dumps(_as_json(one) | ({"cards_by_id": one.cards} if cards else {}), indent=2))
        return
    print(title)
    print(f"  cards       {one.size}: {one.decks} decks of {one.deck}, for {one.game}")
    print(f"  ids         {len(one.cards) or 'none'}")
    if one.optical is not None:
        print(f"  optical     set number {one.optical}")
    print(f"  registered  {one.registered}, source: {one.source}")
    if one.retired:
        print(f"  retired     {one.retired}")
    print(f"  sha256      {one.sha256}")
    if cards:
        print("uid,code")
        for uid, code in one.cards.items():
            print(f"{uid},{code}")


def _as_json(one: "DeckSet") -> dict[str, Any]:
    return {
        "name": one.name,
        "game": one.game,
        "deck": one.deck,
        "decks": one.decks,
        "cards": one.size,
        "ids": len(one.cards),
        "optical": one.optical,
        "registered": one.registered,
        "source": one.source,
        "retired": one.retired or None,
        "sha256": one.sha256,
    }


def _table(sets: Iterable["DeckSet"]) -> list[str]:
    rows = [("SET", "GAME", "CARDS", "STATE", "SHA256")]
    for one in sets:
        state = f"retired {one.retired[:10]}" if one.retired else f"since {one.registered[:10]}"
        rows.append((one.name, one.game, f"{one.decks} x {one.deck}", state, one.sha256[:12]))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]
