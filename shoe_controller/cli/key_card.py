"""Key in the face of a card that could not be read. It is marked as keyed, with your name, in the journal.

Exit code 0: done; 1: refused, or no controller runs.
"""

import argparse

from shoe_controller.cli import supervisor

EXAMPLES = """\
  shoe-controller key-card 7h"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("code", metavar="CARD", help="rank and suit, as in Th or 4d; Sf is Sau of fire")
    supervisor.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Key the card."""
    return supervisor.decide(args, command="key-card", codes=[args.code])
