"""Completion scripts for bash, zsh and fish, written from the outline of the command line."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from shoe_controller.cli.outline import Argument, Command, every_command

GAMES = "game"


def bash(program: Command, games: Sequence[str]) -> str:
    """Return the script for bash: a function that finds the command, then offers what may follow."""
    commands = list(every_command(program))
    known = "|".join(f'"{_words(command)}"' for command in commands[1:])
    values: list[str] = []
    for command in commands:
        for option in command.options:
            if option.value:
                places = "|".join(f'"{_words(command)} {flag}"' for flag in option.flags)
                values.append(f"        {places}) {_bash_values(option, games)}; return ;;")
    offers = [
        f'        "{_words(command)}") words="{" ".join(_offered(command, games))}" files={_bash_files(command)} ;;'
        for command in commands
    ]
    lines = (
        f"# Completion of {program.path[0]} for bash. Made by `{program.path[0]} completion bash`.",
        "_shoe_controller() {",
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= words= files= i",
        '    if [[ $cur == "=" ]]; then cur=; elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi',
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        '        case "$path ${COMP_WORDS[i]}" in',
        f'            {known}) path+=" ${{COMP_WORDS[i]}}" ;;',
        "        esac",
        "    done",
        '    case "$path $prev" in',
        *values,
        "    esac",
        '    case "$path" in',
        *offers,
        "    esac",
        "    [[ $cur != -* ]] || files=",
        '    mapfile -t COMPREPLY < <(compgen ${files:+-A "$files"} -W "$words" -- "$cur")',
        "    [[ -z $files ]] || compopt -o filenames 2>/dev/null",
        "}",
        f"complete -F _shoe_controller {program.path[0]}",
    )
    return "\n".join(lines) + "\n"


def _words(command: Command) -> str:
    return "".join(f" {word}" for word in command.path[1:])


def _values(argument: Argument, games: Sequence[str]) -> Sequence[str]:
    return games if argument.kind == GAMES else argument.choices


def _offered(command: Command, games: Sequence[str]) -> Iterator[str]:
    yield from (inner.path[-1] for inner in command.commands)
    for operand in command.operands:
        yield from _values(operand, games)
    for option in command.options:
        yield from option.flags


def _bash_files(command: Command) -> str:
    kinds = {operand.kind for operand in command.operands}
    return "file" if "file" in kinds else "directory" if "folder" in kinds else ""


def _bash_values(option: Argument, games: Sequence[str]) -> str:
    if option.kind in {"file", "folder"}:
        action = "file" if option.kind == "file" else "directory"
        return f'mapfile -t COMPREPLY < <(compgen -A {action} -- "$cur"); compopt -o filenames 2>/dev/null'
    # A value that nobody can guess: nothing is offered, certainly no option.
    return f'mapfile -t COMPREPLY < <(compgen -W "{" ".join(_values(option, games))}" -- "$cur")'


def zsh(program: Command, games: Sequence[str]) -> str:
    """Return the script for zsh: a function for each command, which knows its arguments."""
    lines = [f"#compdef {program.path[0]}", f"# Made by `{program.path[0]} completion zsh`."]
    for command in every_command(program):
        lines += ["", f"{_zsh_name(command)}() {{"]
        lines += _zsh_body(command, games)
        lines.append("}")
    # Autoloaded from a folder of functions the file itself is the function; sourced, it must be made known.
    name = _zsh_name(program)
    lines += ["", f'if [[ $funcstack[1] == {name} ]]; then {name} "$@"; else compdef {name} {program.path[0]}; fi']
    return "\n".join(lines) + "\n"


def _zsh_name(command: Command) -> str:
    return "_" + "__".join(command.path)


def _zsh_body(command: Command, games: Sequence[str]) -> Iterator[str]:
    specs = [_zsh_spec(argument, games) for argument in command.arguments]
    if not command.commands:
        yield "    _arguments " + " ".join(specs)
        return
    yield "    local curcontext=$curcontext state line"
    yield "    _arguments -C " + " ".join((*specs, "'1: :->command'", "'*:: :->argument'"))
    yield "    case $state in"
    yield "        command)"
    yield "            local -a commands=("
    for inner in command.commands:
        yield f"                {_quoted(inner.path[-1] + ':' + inner.summary.replace(':', chr(92) + ':'))}"
    yield "            )"
    yield "            _describe command commands ;;"
    yield "        argument)"
    yield f"            (( $+functions[{_zsh_name(command)}__$words[1]] )) && {_zsh_name(command)}__$words[1] ;;"
    yield "    esac"


def _zsh_spec(argument: Argument, games: Sequence[str]) -> str:
    action = {"file": "_files", "folder": "_files -/"}.get(argument.kind, " ")
    if values := _values(argument, games):
        action = f"({' '.join(values)})"
    value = argument.value.replace(":", " ")
    if not argument.flags:
        place = "*" if argument.many else ""
        return _quoted(f"{place}:{':' if argument.optional and not argument.many else ''}{value}:{action}")
    # Brackets and colons end a part of the specification.
    told = re.sub(r"([\[\]:])", r"\\\1", argument.help)
    tail = f"[{told}]" + (f":{value}:{action}" if argument.value else "")
    if len(argument.flags) == 1:
        return _quoted(argument.flags[0] + tail)
    return f"'({' '.join(argument.flags)})'{{{','.join(argument.flags)}}}{_quoted(tail)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def fish(program: Command, games: Sequence[str]) -> str:
    """Return the script for fish: one line for each thing that may follow."""
    name = program.path[0]
    lines = [f"# Completion of {name} for fish. Made by `{name} completion fish`.", f"complete -c {name} -f"]
    for command in every_command(program):
        here = f"complete -c {name} -n {_fish_quoted(_fish_place(command))}"
        lines += [f"{here} -a {inner.path[-1]} -d {_fish_quoted(inner.summary)}" for inner in command.commands]
        lines += [f"{here}{_fish_argument(argument, games)}" for argument in command.arguments]
    return "\n".join(lines) + "\n"


def _fish_place(command: Command) -> str:
    """Return the condition under which a command's words may follow."""
    words = [f"__fish_seen_subcommand_from {word}" for word in command.path[1:]]
    if command.commands:
        inner = " ".join(one.path[-1] for one in command.commands)
        words.append(f"not __fish_seen_subcommand_from {inner}")
    return "; and ".join(words)


def _fish_argument(argument: Argument, games: Sequence[str]) -> str:
    parts = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in argument.flags]
    values = _values(argument, games)
    if values:
        parts.append(f"-a {_fish_quoted(' '.join(values))}")
    if argument.flags and argument.value:
        parts.append("-x" if argument.kind not in {"file", "folder"} else "-r")
    if argument.kind in {"file", "folder"}:
        parts.append("-F")
    if argument.help and (argument.flags or values):
        parts.append(f"-d {_fish_quoted(argument.help)}")
    return "".join(f" {part}" for part in parts)


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[Command, Sequence[str]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def completion_script(shell: str, program: Command, games: Iterable[str]) -> str:
    """Return the completion script of a shell; `games` are the games that may be named."""
    return SHELLS[shell](program, tuple(games))
