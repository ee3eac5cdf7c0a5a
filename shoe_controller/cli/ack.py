"""Acknowledge the alarm. Your name goes into the journal.

Exit code 0: done; 1: refused, or no controller runs.
"""

import argparse

from shoe_controller.cli import supervisor

EXAMPLES = """\
  shoe-controller ack"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    supervisor.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Acknowledge."""
    return supervisor.decide(args, command="ack")
