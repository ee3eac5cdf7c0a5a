"""Declare the round void, or reject the cards that wait for a decision. Your name goes into the journal.

Exit code 0: done; 1: refused, or no controller runs.
"""

import argparse

from shoe_controller.cli import supervisor

EXAMPLES = """\
  shoe-controller void
  shoe-controller void "cards exposed by a guest" """


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("reason", nargs="*", metavar="REASON", help="why, in words; it goes into the journal")
    supervisor.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Void the round."""
    return supervisor.decide(args, command="void", reason=" ".join(args.reason))
