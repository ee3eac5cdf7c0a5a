"""`replay`: the first contract with other people's programs."""

import json
import os
import pty
import subprocess
import sys

import pytest

from shoe_controller.cli import main
from tests.cli.program import COMMAND, ENVIRONMENT, run, start

ROUND = "bets\nclose\ncard 9h\ncard 5d\ncard Kc\ncard 2c\nresult\n"
SCRIPT = "shoe no-commission decks=8 id=evening\n" + ROUND


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "evening.table"
    path.write_text(SCRIPT)
    return path


def played(text, *options):
    answer = run("replay", "-", "--format", "json", *options, input=text.encode())
    assert (answer.returncode, answer.stderr) == (0, b"")
    return [json.loads(line) for line in answer.stdout.splitlines()]


def test_json_is_one_object_a_line_with_the_fields_of_the_contract(script, capsysbinary):
    assert main(["replay", str(script), "--format", "json"]) == 0
    lines = capsysbinary.readouterr().out.splitlines()
    result, shoe = map(json.loads, lines)
    rules_hash = result.pop("rules_hash")
    assert len(rules_hash) == 64
    assert result == {
        "type": "round",
        "shoe": "evening",
        "round": 1,
        "revision": 1,
        "status": "complete",
        "player": ["9h", "Kc"],
        "banker": ["5d", "2c"],
        "player_total": 9,
        "banker_total": 7,
        "winner": "player",
        "natural": True,
        "pays": {"player": "1:1"},
        "pushes": [],
        "irregularities": [],
        "rules": "no-commission",
        "void_rule": None,
        "void_reason": "",
        "unassigned": [],
        "keyed": [],
    }
    assert lines[0].startswith(b'{"type":"round","shoe":"evening","round":1,')
    missing = shoe.pop("missing")
    assert shoe == {
        "type": "shoe",
        "id": "evening",
        "rounds": 1,
        "cards": 4,
        "extra": {},
        "unreadable": 0,
        "ended_by": "the script ended",
    }
    assert sum(missing.values()) == 412
    assert missing["9h"] == 7
    assert missing["9c"] == 8


def test_text_is_for_people(script, capsysbinary):
    assert main(["replay", str(script), "--format", "text"]) == 0
    text = capsysbinary.readouterr().out.decode()
    assert text.splitlines()[0] == "Round 1: PLAYER wins, natural   Player 9♥ K♣ = 9   Banker 5♦ 2♣ = 7"
    assert text.splitlines()[-1] == "Shoe evening ended (the script ended): 1 round, 4 cards, 412 not seen"


def test_without_a_terminal_the_default_is_json(script, capsysbinary):
    assert main(["replay", str(script)]) == 0
    assert capsysbinary.readouterr().out.startswith(b'{"type":"round"')


def test_on_a_terminal_the_default_is_text(script):
    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, "replay", str(script)], stdout=theirs, env=ENVIRONMENT) as program:
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # a pty ends with an error when its other side is closed
            pass
        assert program.wait(30) == 0
    os.close(ours)
    assert text.decode().startswith("Round 1: PLAYER wins")


def test_all_prints_cards_and_calls_too():
    types = [fact["type"] for fact in played(SCRIPT, "--all")]
    assert types == ["shoe_loaded", "betting", "closed", "card", "card", "card", "card", "round", "shoe"]


def test_facts_come_out_while_the_script_is_still_written():
    with start("replay", "-", "--format", "json", stdin=-1, stdout=-1) as program:
        for line in SCRIPT.splitlines(keepends=True):
            program.stdin.write(line.encode())
        program.stdin.flush()
        assert json.loads(program.stdout.readline())["winner"] == "player"
        program.stdin.write(b"close\n")
        program.stdin.flush()
        assert json.loads(program.stdout.readline())["command"] == "close"
        program.stdin.close()
        assert json.loads(program.stdout.readline())["type"] == "shoe"
        assert program.wait(30) == 0


def test_a_script_may_come_out_of_a_named_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with start("replay", pipe, "--format", "json", stdout=-1) as program:
        writer = os.open(pipe, os.O_RDWR)  # this does not wait for the program, should it never open its side
        os.write(writer, SCRIPT.encode())
        assert json.loads(program.stdout.readline())["type"] == "round"
        os.close(writer)
        assert json.loads(program.stdout.readline())["type"] == "shoe"
        assert program.wait(30) == 0


def test_a_line_that_is_not_understood_is_told_with_file_and_line(tmp_path, capsysbinary):
    path = tmp_path / "wrong.table"
    path.write_text(SCRIPT + "\n# a comment\ncard 10h\n" + ROUND)
    assert main(["replay", str(path), "--format", "json"]) == 2
    told = capsysbinary.readouterr()
    place = f"{path}:{len(SCRIPT.splitlines()) + 3}: "
    assert told.err.decode() == f"{place}card: '10h' is no card; a card is a rank and a suit, as in Th, 4d or Sf\n"
    assert [json.loads(line)["type"] for line in told.out.splitlines()] == ["round"]


def test_standard_input_is_called_by_its_sign():
    answer = run("replay", "-", input=b"shoe no-commission decks=8\nnonsense\n")
    assert answer.returncode == 2
    assert answer.stdout == b""
    assert answer.stderr.decode() == "-:2: 'nonsense' is not a thing that happens at a table\n"


@pytest.mark.parametrize(
    "content,sentence",
    [
        (b"\x00\xff\xfe\x80" * 10, "{file}:1: the line is not UTF-8 text"),
        (b"\x7fELF\x02\x01" + bytes(100_000), "{file}:1: the line is longer than 4096 bytes"),
        (b"bets\n" + b"#" * 5000 + b"\nbets\n", "{file}:2: the line is longer than 4096 bytes"),
    ],
)
def test_a_file_that_is_no_text_is_told(tmp_path, capsysbinary, content, sentence):
    path = tmp_path / "binary"
    path.write_bytes(content)
    assert main(["replay", str(path)]) == 2
    assert capsysbinary.readouterr().err.decode() == sentence.format(file=path) + "\n"


def test_a_line_of_the_greatest_length_is_read(tmp_path):
    path = tmp_path / "long.table"
    path.write_bytes(b"#" * 4095 + b"\n" + SCRIPT.encode())
    assert main(["replay", str(path)]) == 0


def test_a_file_that_is_not_there_is_told(tmp_path, capsys):
    assert main(["replay", str(tmp_path / "nowhere.table")]) == 2
    assert capsys.readouterr().err == f"shoe-controller: {tmp_path}/nowhere.table: No such file or directory\n"


def test_a_directory_is_no_script(tmp_path, capsys):
    assert main(["replay", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"shoe-controller: {tmp_path}: Is a directory\n"


def test_a_file_that_cannot_be_read_on_is_told(capsys):
    # Reading a process's memory from its beginning fails with an input/output error, as a dying disk does.
    assert main(["replay", "/proc/self/mem"]) == 2
    assert capsys.readouterr().err == "shoe-controller: /proc/self/mem: Input/output error\n"


def test_the_last_line_needs_no_line_end():
    assert [fact["type"] for fact in played(SCRIPT.rstrip("\n"))] == ["round", "shoe"]


def test_an_empty_script_gives_nothing():
    assert played("") == []


@pytest.mark.parametrize("name", ["-", "file"])
def test_a_reader_that_goes_away_ends_the_replay_quietly(tmp_path, name):
    path = tmp_path / "long.table"
    path.write_text("bets\n" * 100_000)
    with (
        path.open("rb") as content,
        start("replay", path if name == "file" else "-", stdin=content, stdout=-1, stderr=-1) as program,
    ):
        assert b"refused" in program.stdout.readline()
        program.stdout.close()
        assert program.wait(60) == 0
        assert program.stderr.read() == b""


def test_a_full_disk_is_told_and_the_script_not_blamed(script):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        answer = run("replay", script, capture_output=False, stdout=full, stderr=-1)
    assert answer.returncode == 2
    assert answer.stderr.decode() == "shoe-controller: No space left on device\n"


def test_a_replay_does_not_load_what_it_does_not_need(script):
    code = (
        "import sys; from shoe_controller.cli import main; main(['replay', sys.argv[1]]);"
        "print(sorted({'transitions', 'rich', 'asyncio', 'paho', 'starlette'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, str(script)], capture_output=True, check=True, env=ENVIRONMENT, timeout=60
    )
    assert answer.stdout.splitlines()[-1] == b"[]"
