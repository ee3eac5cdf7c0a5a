"""The program as a whole: help, versions, unknown words, and ends that are not errors."""

import os
import re
import signal
import subprocess
import sys

import pytest

from shoe_controller import __version__
from shoe_controller.cli import main
from shoe_controller.cli.commands import COMMANDS
from tests.cli.program import run, start


def test_help_lists_every_command_with_its_summary():
    answer = run("--help")
    assert answer.returncode == 0
    text = " ".join(answer.stdout.decode().split())
    for name, summary in COMMANDS.items():
        assert f"{name} {summary}" in text


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_of_a_command_describes_it_and_gives_an_example(name, capsys):
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert re.search(rf"^examples:\n(?:.*\n)*?.*shoe-controller {name}", text, re.MULTILINE)
    assert f"usage: shoe-controller {name}" in text


def test_commands_are_listed_by_name():
    assert list(COMMANDS) == sorted(COMMANDS)


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"shoe-controller {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["reply"], ["replay"], ["replay", "x", "--format", "xml"], ["--nonsense"]])
def test_wrong_use_exits_with_2_and_says_how_it_is_used(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("usage: shoe-controller")


def test_an_unknown_command_names_those_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["reply"])
    error = capsys.readouterr().err
    assert "'reply'" in error
    assert all(name in error for name in COMMANDS)


def test_an_argument_that_a_command_does_not_have_is_answered_with_the_use_of_that_command(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["check-config", "--config", "x"])
    assert caught.value.code == 2
    usage, error = capsys.readouterr().err.splitlines()
    assert usage == "usage: shoe-controller check-config [-h] [--format {text,json}] [file]"
    assert error == "shoe-controller check-config: error: unrecognized arguments: --config"


@pytest.mark.parametrize("arguments", [("games",), ("games", "--format", "json"), ("replay", "--help")])
def test_a_reader_that_goes_away_is_no_error(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        answer = run(*arguments, capture_output=False, stdout=writer, stderr=-1)
    finally:
        os.close(writer)
    assert answer.returncode == 0
    assert answer.stderr == b""


@pytest.mark.parametrize("arguments", [("games",), ("odds", "no-commission", "--decks", "4")])
def test_output_that_cannot_be_written_is_told_in_a_sentence(arguments):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        answer = run(*arguments, capture_output=False, stdout=full, stderr=-1)
    assert answer.returncode == 2
    assert answer.stderr.decode() == "shoe-controller: No space left on device\n"


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_standard_stream_leads_nowhere(closed):
    answer = run("replay", "-", input=None, stdin=0 if closed else -3, preexec_fn=lambda: os.close(closed))
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, b"", b"")


def test_ctrl_c_ends_without_a_traceback():
    with start("replay", "-", "--format", "json", stdin=-1, stdout=-1, stderr=-1) as program:
        program.stdin.write(b"bets\n")
        program.stdin.flush()
        assert b"refused" in program.stdout.readline()
        program.send_signal(signal.SIGINT)
        assert program.wait(30) == 130
        assert program.stderr.read() == b""


def test_help_loads_no_command_and_nothing_heavy():
    code = (
        "import sys\nfrom shoe_controller.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
    )
    code += "print(*sys.modules, file=sys.stderr)"
    # What measures coverage loads much of this itself.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, env=plain
    )
    loaded = set(told.stderr.split())
    assert {name for name in loaded if name.startswith("shoe_controller.")} == {
        "shoe_controller.cli",
        "shoe_controller.cli.commands",
        "shoe_controller.errors",
    }
    assert not loaded & {"asyncio", "msgspec", "sqlite3", "cryptography", "paho", "starlette", "transitions", "rich"}
