"""What the supervisor's commands have in common: where the controller is, asking it, and saying what it did."""

import argparse
import sys
from pathlib import Path
from typing import Any

from shoe_controller.config import DEFAULT_PATH, ConfigUnreadableError, Local, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say which controller is meant, and how to answer."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--config", type=Path, default=DEFAULT_PATH, metavar="FILE", help="the table's configuration")
    where.add_argument("--socket", type=Path, metavar="PATH", help="the controller's socket, instead of --config")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to answer (default: text)")


def socket_path(args: argparse.Namespace) -> Path:
    """Return the socket of the controller that is meant."""
    if args.socket is not None:
        return Path(args.socket)
    try:
        return Path(load(args.config).local.socket)
    except ConfigUnreadableError:
        # A supervisor may not read the configuration; then the socket is where it is by default.
        if args.config != DEFAULT_PATH:
            raise
        return Path(Local().socket)


def decide(args: argparse.Namespace, **request: Any) -> int:
    """Ask for a decision and print what came of it: 0 if it was taken, 1 if it was refused."""
    import msgspec  # noqa: PLC0415

    from shoe_controller.journal.codec import decode_facts  # noqa: PLC0415
    from shoe_controller.service.control_client import ask  # noqa: PLC0415
    from shoe_controller.session.facts import Refused  # noqa: PLC0415
    from shoe_controller.words import tell  # noqa: PLC0415

    answer = ask(socket_path(args), **request)
    raw = msgspec.json.encode(answer["facts"])
    facts = decode_facts(raw)
    if args.format == "json":
        sys.stdout.write(raw.decode() + "\n")
    else:
        for fact in facts:
            print(tell(fact))
    return 1 if any(isinstance(fact, Refused) for fact in facts) else 0
