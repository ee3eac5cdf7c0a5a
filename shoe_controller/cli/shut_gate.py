"""Shut the gate on the panel from outside, after the controller ended in a way that left it no time to do so.

systemd runs this after every end of the controller. A gate without a panel needs nothing. Exit code 0: the gate is
shut, or there is none; 1: it cannot be shut.
"""

import argparse
from pathlib import Path

from shoe_controller.config import DEFAULT_PATH, load
from shoe_controller.errors import CheckFailedError

EXAMPLES = """\
  shoe-controller shut-gate
  shoe-controller shut-gate --config table-7.toml"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--config", type=Path, default=DEFAULT_PATH, metavar="FILE", help="the configuration (default: %(default)s)"
    )


def run(args: argparse.Namespace) -> int:
    """Shut the gate."""
    from drivers.errors import PanelError  # noqa: PLC0415 - other commands need no drivers
    from drivers.panel.shut_gate import shut_gate  # noqa: PLC0415
    from shoe_controller.app.table_panel import pin_map  # noqa: PLC0415

    panel = load(args.config).panel
    try:
        shut_gate(pin_map(panel), panel.factory)
    except PanelError as error:
        raise CheckFailedError(str(error)) from error
    return 0
