"""Run the controller of a table: the daemon that systemd starts.

It ends on SIGTERM or Ctrl-C in good order. If the journal fails it ends with code 1, so that it is started again.
"""

import argparse
from pathlib import Path

from shoe_controller.config import DEFAULT_PATH, load

EXAMPLES = """\
  shoe-controller run
  shoe-controller run --config table-7.toml"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--config", type=Path, default=DEFAULT_PATH, metavar="FILE", help="the configuration (default: %(default)s)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the table until it is stopped."""
    import asyncio  # noqa: PLC0415 - other commands need none of this

    from shoe_controller import logs  # noqa: PLC0415

    config = load(args.config)
    logs.setup(config.log.level)

    async def play() -> int:
        import signal  # noqa: PLC0415

        from shoe_controller.app.controller import Controller  # noqa: PLC0415
        from shoe_controller.app.litter import Litter  # noqa: PLC0415

        controller = Controller(config, litter=Litter())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, controller.stop)
        return await controller.run()

    return asyncio.run(play())
