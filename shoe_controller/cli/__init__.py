"""The command line: `main` finds the command, loads only its module and turns errors into sentences."""

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Container, Sequence

from shoe_controller import __version__
from shoe_controller.cli.commands import COMMANDS
from shoe_controller.errors import ControllerError

PROGRAM = "shoe-controller"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 the answer is no, 2 wrong use or input."""
    _open_closed_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(arguments)
    except ControllerError as error:
        print(error if error.begins_with_file else f"{PROGRAM}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output (head, less) went away: not an error, but nothing more can be said.
        _say_no_more()
        return 0
    except OSError as error:
        # Commands tell of their own files; what is left is mostly output that cannot be written: a full disk.
        where = f"{error.filename}: " if error.filename else ""
        print(f"{PROGRAM}: {where}{error.strerror or error}", file=sys.stderr)
        _say_no_more()
        return 2


def _run(arguments: Sequence[str]) -> int:
    try:
        # Only the module of the command that was asked for is imported: start-up on a Pi matters.
        asked = next((word for word in arguments if not word.startswith("-")), "")
        args, unknown = build_program({asked}).parse_known_args(arguments)
        if unknown:
            args.refuse(f"unrecognized arguments: {' '.join(unknown)}")
        return int(args.run(args))
    finally:
        sys.stdout.flush()  # here, where a reader that went away is expected, and not when the interpreter ends


def _open_closed_streams() -> None:
    """Let a standard stream that is closed lead nowhere; else the next file to be opened would take its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _say_no_more() -> None:
    """Let what is still in the buffer of standard output go nowhere, without a complaint at the end."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def build_program(commands: Container[str]) -> argparse.ArgumentParser:
    """Return the parser of the program, with the named commands in full and the others by their summary alone."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Controller of a baccarat table: reads the shoe, enforces the rules, proves the results.",
        epilog="'%(prog)s COMMAND --help' explains a command and gives an example.",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        if name in commands:
            build_command(subparsers, name, summary)
        else:
            subparsers.add_parser(name, help=summary, add_help=False)
    return parser


def build_command(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, summary: str
) -> argparse.ArgumentParser:
    """Add the full parser of one command, from its module's docstring, EXAMPLES and add_arguments."""
    module = importlib.import_module(f"shoe_controller.cli.{name.replace('-', '_')}")
    command = subparsers.add_parser(
        name,
        help=summary,
        description=module.__doc__,
        epilog=f"examples:\n{module.EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(command)
    command.set_defaults(run=module.run, refuse=command.error)
    return command
