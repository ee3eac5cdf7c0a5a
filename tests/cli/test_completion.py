"""Completion in real shells: what is typed is completed from the program's own commands and options."""

import os
import pty
import shlex
import shutil
import subprocess

import pytest

from shoe_controller.cli import main
from shoe_controller.cli.commands import COMMANDS
from shoe_controller.cli.outline import every_command, outline
from tests.broker import program, wait_for

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture(scope="module")
def whole():
    return outline()


@pytest.fixture
def script(tmp_path, capsys):
    """Return a function that writes a shell's script into a file."""

    def write(shell):
        assert main(["completion", shell]) == 0
        path = tmp_path / f"completion.{shell}"
        path.write_text(capsys.readouterr().out)
        return path

    return write


@pytest.fixture
def bash(script, tmp_path):
    """Return a function that lets a bash complete a line, in a folder of its own."""
    source = script("bash")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "two words.toml").touch()
    (folder / "journal").mkdir()

    def complete(*words):
        line = " ".join(shlex.quote(word) for word in ("shoe-controller", *words))
        commands = (
            f"source {shlex.quote(str(source))}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shoe_controller; "
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-c", commands],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
            cwd=folder,
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1]

    return complete


@pytest.mark.parametrize(
    "words, expected",
    [
        (("exp",), ["export"]),
        (("--v",), ["--version"]),
        (("verify", "--all-s"), ["--all-signatures"]),
        (("export", "--what", ""), ["rounds", "cards", "irregularities", "events"]),
        (("export", "--what", "c"), ["cards"]),
        (("export", "--what", "=", "c"), ["cards"]),
        (("export", "--what", "="), ["rounds", "cards", "irregularities", "events"]),
        (("odds", "s"), ["sands-elements", "sands-super", "six-star"]),
        (("simulate", "--game", "f"), ["fortune-six"]),
        (("decks", "re"), ["register", "retire"]),
        (("decks", "show", "--car"), ["--cards"]),
        (("decks", "show", "--game"), []),
        (("check-config", "two"), ["two words.toml"]),
        (("export", "-o", "jou"), ["journal"]),
        (("decks", "list", "--directory", ""), ["journal"]),
        (("listen", "--site", ""), [""]),
        (("games", "--format", "json", "six"), ["six-star"]),
        (("nonsense", "--form"), []),
    ],
)
def test_bash_completes_what_may_follow(bash, words, expected):
    assert [word for word in bash(*words) if word] == [word for word in expected if word]


def test_bash_offers_every_command_and_every_option(bash, whole):
    assert set(COMMANDS) < set(bash(""))
    for command in every_command(whole):
        offered = bash(*command.path[1:], "-")
        assert offered == [flag for option in command.options for flag in option.flags], command.path


def test_fish_completes_what_may_follow(script):
    fish, source = program("fish", "fish"), script("fish")

    def complete(line):
        done = subprocess.run(
            [fish, "--no-config", "-c", f"source {source}; complete -C {shlex.quote('shoe-controller ' + line)}"],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        assert done.stderr == ""
        return [word.partition("\t")[0] for word in done.stdout.splitlines()]

    assert complete("expo") == ["export"]
    assert set(complete("")) >= set(COMMANDS)
    assert complete("export --what c") == ["cards"]
    assert complete("decks re") == ["register", "retire"]
    assert complete("odds six") == ["six-star"]
    assert "--all-signatures" in complete("verify --a")
    assert "--all-signatures" not in complete("export --a")


def test_zsh_completes_what_may_follow(script, tmp_path):
    """An interactive zsh on a terminal of its own, with Tab pressed."""
    zsh, source = program("zsh", "zsh"), script("zsh")
    keyboard, terminal = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "TERM": "dumb", "HOME": str(tmp_path), "ZDOTDIR": str(tmp_path)}
    said = bytearray()

    def typed(text, awaited):
        said.clear()
        os.write(keyboard, text.encode())
        wait_for(lambda: said.extend(os.read(keyboard, 4096)) or awaited in said, f"{awaited} after {text}: {said!r}")

    with subprocess.Popen(
        [zsh, "-f", "-i"], stdin=terminal, stdout=terminal, stderr=terminal, env=environment
    ) as shell:
        try:
            typed("PS1='read''y> '; autoload -Uz compinit; compinit -u -D\n", b"ready> ")
            typed(f"source {source}; echo sour''ced\n", b"sourced")
            typed("shoe-controller expo\t", b"export")
            typed("--wh\tcar\t", b"cards")
            typed("\x15shoe-controller decks regi\t", b"register")
            typed("\x15shoe-controller odds sands-s\t", b"sands-super")
            typed("\x15exit\n", b"exit")
        finally:
            os.close(terminal)
            shell.kill()
    os.close(keyboard)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_script_is_sound_in_its_shell(script, shell):
    subprocess.run([program(shell, shell), "-n", script(shell)], check=True, timeout=30)


def test_the_installed_names_are_the_ones_that_shells_look_for(script):
    assert script("zsh").read_text().startswith("#compdef shoe-controller\n")
    assert "complete -F _shoe_controller shoe-controller" in script("bash").read_text()
    assert shutil.which("bash")
