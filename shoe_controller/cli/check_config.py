"""Check a configuration file and print everything that is wrong with it.

Exit code 0: the file can be used; 1: it cannot, and every problem is listed with its line, what is allowed and
what was probably meant; 2: the file cannot be read. Devices, files and brokers that it names are not touched:
'shoe-controller doctor' does that.
"""

import argparse
from pathlib import Path

import msgspec

from shoe_controller.config import DEFAULT_PATH, ConfigError, ConfigUnreadableError, load

EXAMPLES = """\
  shoe-controller check-config /etc/shoe-controller/shoe-controller.toml
  shoe-controller check-config --format json shoe-controller.toml"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "file", nargs="?", type=Path, default=DEFAULT_PATH, help="the configuration file (default: %(default)s)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")


def run(args: argparse.Namespace) -> int:
    """Check the file; return 0 if it can be used, 1 if not."""
    try:
        config = load(args.file)
    except ConfigUnreadableError:
        raise
    except ConfigError as error:
        if args.format == "json":
            _print_json({"ok": False, "file": str(args.file), "problems": error.problems})
        else:
            for problem in error.problems:
                print(problem)
            count = len(error.problems)
            print(f"{args.file}: {count} problem{'s' if count > 1 else ''}; the configuration cannot be used")
        return 1
    if args.format == "json":
        _print_json({"ok": True, "file": str(args.file), "hash": config.hash, "problems": ()})
    else:
        table = config.table
        print(f"{args.file}: ok. Table {table.site}/{table.name} plays {table.game} with {table.decks} decks.")
        print(f"configuration hash: {config.hash}")
    return 0


def _print_json(answer: dict[str, object]) -> None:
    print(msgspec.json.encode(answer).decode())
