"""Actions: what a person or a test can make a simulated shoe do, one line of text each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from drivers.simulated.body import ShoeBody
from drivers.simulated.errors import CannotDoError, OrderError


@dataclass(frozen=True, slots=True)
class Action:
    """One command: how it is written after its name, what it does, and the doing. It answers with a sentence."""

    usage: str
    meaning: str
    run: Callable[[list[str], float], str]


Actions = Mapping[str, Action]


class Twin(Protocol):
    """A simulated shoe without I/O and without a clock: bytes and times in, bytes and a story out."""

    @property
    def protocol(self) -> str:
        """What it speaks: open or angel-eye."""

    @property
    def body(self) -> ShoeBody:
        """Its cards and its gate."""

    @property
    def actions(self) -> Actions:
        """What it can be made to do."""

    @property
    def ready(self) -> bool:
        """Whether a dealer who follows the lamps would draw a card now."""

    @property
    def troubled(self) -> bool:
        """Whether it is stopped by something that a person at the shoe could mend."""

    def connection_made(self, now: float) -> None:
        """Take the cable."""

    def connection_lost(self, now: float) -> None:
        """Lose the cable."""

    def receive_data(self, data: bytes, now: float) -> None:
        """Take bytes of the host in."""

    def tick(self, now: float) -> None:
        """Do what is due by now."""

    def next_deadline(self) -> float | None:
        """Tell when `tick` is wanted next."""

    def data_to_send(self) -> bytes:
        """Hand out bytes for the host."""

    def frames_of(self, data: bytes) -> list[bytes]:
        """Take apart what is to be sent, for a wire that loses or doubles frames."""


def run_line(actions: Actions, line: str, now: float) -> str:
    """Do what a line says and give the answer, or raise SimulatedShoeError with a sentence."""
    words = line.split()
    if not words:
        return ""
    name, *rest = words
    if name == "help":
        return help_text(actions)
    if name not in actions:
        raise OrderError(f"'{name}' is not a command of this shoe: `help` lists them.")
    return actions[name].run(rest, now)


def help_text(actions: Actions) -> str:
    """List the commands."""
    heads = {name: f"{name} {action.usage}".strip() for name, action in sorted(actions.items())}
    width = max(map(len, heads.values()))
    lines = [f"  {heads[name]:{width}}  {actions[name].meaning}" for name in heads]
    return "\n".join([*lines, f"  {'help':{width}}  this list"])


def no_words(words: list[str]) -> None:
    """Refuse words behind a command that takes none."""
    if words:
        raise OrderError(f"'{' '.join(words)}' is too much: this command stands alone.")


def one_of(words: list[str], *choices: str) -> str:
    """Give the one word of a choice; the first choice is what no word means."""
    if not words:
        return choices[0]
    if len(words) > 1 or words[0] not in choices:
        raise OrderError(f"'{' '.join(words)}' is not understood here: say {' or '.join(choices)}.")
    return words[0]


def number(words: list[str], *, default: int, least: int, most: int) -> int:
    """Give the one number of a command."""
    if not words:
        return default
    if len(words) > 1 or not words[0].isdecimal() or not least <= int(words[0]) <= most:
        raise OrderError(f"'{' '.join(words)}' is not understood here: say a number from {least} to {most}.")
    return int(words[0])


def cannot(what: str) -> Action:
    """Make an action that this kind of shoe does not have, with the reason as its answer."""

    def refuse(_words: list[str], _now: float) -> str:
        raise CannotDoError(what)

    return Action("", f"({what[0].lower()}{what[1:].rstrip('.')})", refuse)
