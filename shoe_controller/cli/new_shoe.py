"""Put a new shoe into play, with the game and policies of the configuration. The one before it ends.

Exit code 0: done; 1: refused, or no controller runs.
"""

import argparse

from shoe_controller.cli import supervisor

EXAMPLES = """\
  shoe-controller new-shoe
  shoe-controller new-shoe --id S-2026-0412"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--id", default="", metavar="TEXT", help="a name for the shoe (default: it is numbered)")
    supervisor.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Load the shoe."""
    return supervisor.decide(args, command="new-shoe", id=args.id)
