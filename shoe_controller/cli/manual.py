"""Print the manual page of this program, in the format of man(1).

Written from the program's own commands and options, so it says the same as --help. 'make install' puts it where man
looks for it.
"""

import argparse

EXAMPLES = """\
  shoe-controller manual | man -l -
  shoe-controller manual > shoe-controller.1"""


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """Add nothing: there is one page."""


def run(_args: argparse.Namespace) -> int:
    """Print the page."""
    from shoe_controller import __version__  # noqa: PLC0415
    from shoe_controller.cli.manual_page import manual_page  # noqa: PLC0415
    from shoe_controller.cli.outline import outline  # noqa: PLC0415 - loads every command

    print(manual_page(outline(), __version__), end="")
    return 0
