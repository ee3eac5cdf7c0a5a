"""Check whether this machine is fit for play, and say how to mend what is not.

Looks at configuration, user, service, udev rules, ports, panel, disk, key files, journal, brokers and clock. As root it
becomes the daemon's user first, so that it finds what the daemon would find. Nothing is changed. Exit code 0 if
nothing fails (warnings may be there), 1 if anything fails.

A damaged journal is never repaired or cleared. --new-chain, with the daemon stopped, sets the damaged file aside,
untouched, and begins a chain that names the old head; it asks for the file's name first.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from shoe_controller.config import DEFAULT_PATH, load
from shoe_controller.errors import UsageError

if TYPE_CHECKING:
    from shoe_controller.doctor import Finding

EXAMPLES = """\
  sudo shoe-controller doctor
  sudo shoe-controller doctor --format json
  sudo shoe-controller doctor --new-chain --reason 'SD card failed, incident 4711'"""
COLOURS = {"ok": "\x1b[32m", "warn": "\x1b[33m", "fail": "\x1b[1;31m"}
PLAIN = "\x1b[0m"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `doctor`."""
    parser.add_argument(
        "--config", type=Path, default=DEFAULT_PATH, metavar="FILE", help="the configuration (default: %(default)s)"
    )
    parser.add_argument(
        "--user", default="shoe-controller", help="the user as whom the daemon runs (default: %(default)s)"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")
    parser.add_argument(
        "--new-chain", action="store_true", help="set a damaged journal aside and begin a new chain, after a question"
    )
    parser.add_argument(
        "--confirm", metavar="NAME", default="", help="with --new-chain: the name of the file to set aside, unasked"
    )
    parser.add_argument("--reason", default="", help="with --new-chain: what to note beside the damaged file")


def run(args: argparse.Namespace) -> int:
    """Examine, or mend the journal."""
    # All of it is loaded before we become another user, who may not be able to read the folder of the program.
    from shoe_controller import doctor  # noqa: PLC0415 - only for this command
    from shoe_controller.doctor.machine import become  # noqa: PLC0415
    from shoe_controller.doctor.mending import mend_journal  # noqa: PLC0415
    from shoe_controller.outputs import mqtt_connection  # noqa: F401, PLC0415

    if (args.confirm or args.reason) and not args.new_chain:
        raise UsageError("--confirm and --reason belong to --new-chain")
    if os.geteuid() == 0:
        become(args.user)
    if args.new_chain:
        made = mend_journal(load(args.config), _asker(args.confirm), reason=args.reason)
        print(f"a new chain begins with fact {made.first_seq} in {made.path}")
        print(f"it names the old head: {made.after}")
        print(f"{made.before} is untouched. Keep a copy of it. Next: sudo systemctl start shoe-controller")
        return 0
    machine = doctor.Machine(user=args.user)
    found: list[Finding] = []
    for finding in doctor.examine(args.config, machine):
        found.append(finding)
        if args.format == "text":
            _tell(finding, colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR"))
    failed = sum(finding.verdict == "fail" for finding in found)
    warned = sum(finding.verdict == "warn" for finding in found)
    if args.format == "json":
        import msgspec  # noqa: PLC0415

        answer = {"ok": not failed, "failed": failed, "warned": warned, "findings": found}
        print(msgspec.json.encode(answer).decode())
    elif failed:
        print(f"Not fit for play: {failed} of {len(found)} checks failed, {warned} warned.")
    else:
        print(f"Fit for play: {len(found)} checks, {warned} warned.")
    return 1 if failed else 0


def _tell(finding: "Finding", *, colour: bool) -> None:
    word = f"{finding.verdict:<4}"
    if colour:
        word = f"{COLOURS[finding.verdict]}{word}{PLAIN}"
    print(f"{word}  {finding.check}: {finding.what}")
    for line in finding.mend:
        print(f"      -> {line}")
    sys.stdout.flush()


def _asker(confirmed: str) -> Callable[[str, str], str]:
    def ask(what: str, name: str) -> str:
        if confirmed:
            return confirmed
        if not sys.stdin.isatty():
            raise UsageError(f"{what}. There is nobody to ask: add --confirm {name}")
        print(f"The journal is damaged: {what}")
        print(f"{name} will be set aside, untouched, and a new chain will begin that names its head. Nothing of it is")
        print("published again. Copy the folder to another medium first. This cannot be undone.")
        return input(f"To go on, type the name of the file ({name}): ").strip()

    return ask
