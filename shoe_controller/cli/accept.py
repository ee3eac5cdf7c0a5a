"""Let the round stand: accept the open irregularity as reconstructed, with the right order of the cards if it matters.

Your name goes into the journal. Exit code 0: done; 1: refused, or no controller runs.
"""

import argparse

from shoe_controller.cli import supervisor

EXAMPLES = """\
  shoe-controller accept
  shoe-controller accept 4d Th 9s      # the right order of these cards"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("codes", nargs="*", metavar="CARD", help="cards in their right order, as in 4d Th")
    supervisor.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Accept."""
    return supervisor.decide(args, command="accept", codes=args.codes)
