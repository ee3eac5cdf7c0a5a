"""The outline of the command line: every command with its arguments, as the parsers have them.

Completion and manual page are written from this, so they cannot say anything else than `--help`.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from shoe_controller.cli import PROGRAM, build_program
from shoe_controller.cli.commands import COMMANDS

Kind = Literal["word", "file", "folder", "game"]
FILES = {"FILE", "FILE|-", "JOURNAL", "PATH"}
FOLDERS = {"DIR", "DIRECTORY"}


class Argument(msgspec.Struct, frozen=True):
    """An option, or without flags an operand. `value` is the name of what it takes, empty for a switch."""

    flags: tuple[str, ...]
    value: str
    help: str
    choices: tuple[str, ...] = ()
    kind: Kind = "word"
    optional: bool = False
    many: bool = False


class Command(msgspec.Struct, frozen=True):
    """The program, a command of it, or a command of a command; `path` are the words that lead to it."""

    path: tuple[str, ...]
    summary: str
    description: str
    examples: str
    arguments: tuple[Argument, ...]
    commands: tuple["Command", ...] = ()

    @property
    def options(self) -> tuple[Argument, ...]:
        """The arguments that begin with a dash."""
        return tuple(argument for argument in self.arguments if argument.flags)

    @property
    def operands(self) -> tuple[Argument, ...]:
        """The arguments that do not."""
        return tuple(argument for argument in self.arguments if not argument.flags)


def outline() -> Command:
    """Return the whole program. This imports the modules of all commands."""
    return _command(build_program(COMMANDS), (PROGRAM,), "")


def every_command(command: Command) -> Iterator[Command]:
    """Yield a command and all below it."""
    yield command
    for inner in command.commands:
        yield from every_command(inner)


def _command(parser: argparse.ArgumentParser, path: tuple[str, ...], summary: str) -> Command:
    arguments: list[Argument] = []
    commands: list[Command] = []
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to its arguments
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            summaries = {choice.dest: choice.help or "" for choice in action._get_subactions()}  # noqa: SLF001
            commands += [_command(inner, (*path, name), summaries[name]) for name, inner in action.choices.items()]
        elif action.help is not argparse.SUPPRESS:
            arguments.append(_argument(action))
    examples = (parser.epilog or "").removeprefix("examples:\n") if len(path) > 1 else ""
    return Command(path, summary, parser.description or "", examples, tuple(arguments), tuple(commands))


def _argument(action: argparse.Action) -> Argument:
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    choices = tuple(str(choice) for choice in action.choices or ())
    return Argument(
        flags=tuple(action.option_strings),
        value="" if action.nargs == 0 else name,
        help=" ".join(((action.help or "") % (vars(action) | {"prog": PROGRAM})).split()),
        choices=choices,
        kind=_kind(action, name),
        optional=not action.required if action.option_strings else action.nargs in {"?", "*"},
        many=action.nargs in {"*", "+"},
    )


def _kind(action: argparse.Action, name: str) -> Kind:
    if action.dest == "game":
        return "game"
    if name in FOLDERS:
        return "folder"
    return "file" if action.type is Path or name in FILES else "word"
