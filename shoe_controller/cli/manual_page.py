"""The manual page in roff (man macros), written from the outline of the command line."""

from collections.abc import Iterator

from shoe_controller.cli.outline import Argument, Command, every_command

EXIT_CODES = (
    ("0", "Done."),
    ("1", "The answer is no: a check failed, a journal is not sound, a decision was refused."),
    ("2", "Wrong use, or input that cannot be understood or read. The sentence on standard error says which."),
)
FILES = (
    ("/etc/shoe-controller/shoe-controller.toml", "The configuration of the table."),
    ("/var/lib/shoe-controller/journal/", "The journal."),
    ("/var/lib/shoe-controller/signing.key", "The key that signs the journal; its public half is signing.pub.pem."),
    ("/var/lib/shoe-controller/decks/", "Registered deck sets."),
    ("/run/shoe-controller/control.sock", "The socket for decisions of a supervisor on this machine."),
)


def manual_page(program: Command, version: str) -> str:
    """Return the page."""
    return "\n".join(_lines(program, version)) + "\n"


def _lines(program: Command, version: str) -> Iterator[str]:
    name = program.path[0]
    yield f'.TH {name.upper()} 1 "" "{name} {version}" "User Commands"'
    yield ".SH NAME"
    yield f"{_text(name)} \\- controller of a baccarat table"
    yield ".SH SYNOPSIS"
    yield f"\\fB{_text(name)}\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]"
    yield ".SH DESCRIPTION"
    yield from _paragraphs(program.description)
    yield ".SH OPTIONS"
    yield from _arguments(program)
    yield ".SH COMMANDS"
    for command in list(every_command(program))[1:]:
        yield from _command(command)
    yield ".SH EXIT STATUS"
    yield from _pairs(EXIT_CODES)
    yield ".SH FILES"
    yield from _pairs(FILES)


def _command(command: Command) -> Iterator[str]:
    words = " ".join(command.path[1:])
    yield f".SS {_text(words)}"
    yield f"\\fB{_text(' '.join(command.path))}\\fR{_synopsis(command)}"
    yield from _paragraphs(command.description or command.summary)
    yield from _arguments(command)
    if command.examples:
        yield ".PP"
        yield "Examples:"
        yield ".PP"
        yield ".EX"
        yield from (_text(line) for line in command.examples.splitlines())
        yield ".EE"


def _synopsis(command: Command) -> str:
    parts: list[str] = []
    for option in _own_options(command):
        shown = f"\\fB{_text(option.flags[-1])}\\fR{_value(option, ' ')}"
        parts.append(f"[{shown}]" if option.optional else shown)
    if command.commands:
        parts.append("\\fB" + "\\fR|\\fB".join(_text(inner.path[-1]) for inner in command.commands) + "\\fR ...")
    for operand in command.operands:
        shown = _value(operand) + (" ..." if operand.many else "")
        parts.append(f"[{shown}]" if operand.optional else shown)
    return "".join(f" {part}" for part in parts)


def _own_options(command: Command) -> tuple[Argument, ...]:
    """Return the options without --help, which every command has."""
    return tuple(option for option in command.options if "--help" not in option.flags)


def _arguments(command: Command) -> Iterator[str]:
    options = command.options if len(command.path) == 1 else _own_options(command)
    for argument in (*command.operands, *options):
        yield ".TP"
        flags = ", ".join(f"\\fB{_text(flag)}\\fR" for flag in argument.flags)
        yield flags + _value(argument, " " if flags else "")
        yield _text(argument.help)


def _value(argument: Argument, before: str = "") -> str:
    if not argument.value:
        return ""
    if argument.choices:
        return before + "\\fB" + "\\fR|\\fB".join(_text(choice) for choice in argument.choices) + "\\fR"
    return f"{before}\\fI{_text(argument.value)}\\fR"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.strip().split("\n\n"):
        yield ".PP"
        yield from (_text(line.strip()) for line in paragraph.splitlines())


def _pairs(pairs: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for term, words in pairs:
        yield ".TP"
        yield f"\\fB{_text(term)}\\fR"
        yield _text(words)


def _text(text: str) -> str:
    """Return a text of which roff takes nothing for a request: backslashes, dashes, a dot or quote in front.

    Signs beyond ASCII are named by their number: what a roff takes the bytes for depends on where it runs.
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in escaped)
    return f"\\&{escaped}" if escaped[:1] in {".", "'"} else escaped
