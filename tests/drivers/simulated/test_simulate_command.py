"""`shoe-controller simulate` as a process: it prints the device path, deals, obeys its input and ends cleanly."""

import asyncio
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from shoe_controller.cli import main
from tests.drivers.simulated.test_pty_shoe import PtyHost

DEADLINE = 30.0
PROGRAM = str(Path(sys.executable).with_name("shoe-controller"))


class Simulate:
    """The process, with its output collected as it comes."""

    def __init__(self, *arguments, program=(PROGRAM,), stdin=subprocess.PIPE):
        self.process = subprocess.Popen(
            [*program, "simulate", *map(str, arguments)],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.lines = []
        self.news = threading.Condition()
        self.reader = threading.Thread(target=self.collect)
        self.reader.start()

    def collect(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.rstrip("\n"))
                self.news.notify()
        with self.news:
            self.lines.append("(the end)")
            self.news.notify()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(DEADLINE)
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def line(self, pattern):
        """Wait for a line and give it."""
        end = time.monotonic() + DEADLINE
        with self.news:
            while not (found := [line for line in self.lines if re.search(pattern, line)]):
                over = "(the end)" in self.lines or not self.news.wait(max(0.0, end - time.monotonic()))
                assert not over, f"no line like {pattern!r} in {self.lines}"
        return found[0]

    def path(self):
        self.line("shoe with")
        return self.lines[0]

    def ended(self):
        code = self.process.wait(DEADLINE)
        self.reader.join()
        self.lines.remove("(the end)")
        return code, self.process.stderr.read()


def with_host(path, protocol, scenario):
    async def both():
        host = PtyHost(path, protocol)
        try:
            return await scenario(host)
        finally:
            host.close()

    return asyncio.run(both())


@pytest.mark.parametrize("protocol", ["open", "angel-eye"])
def test_the_first_line_is_the_device_path_and_a_host_there_gets_cards(protocol):
    with Simulate("--protocol", protocol, "--auto", "0.05", "--decks", "1") as shoe:

        async def four_cards(host):
            if protocol == "open":
                await host.until(lambda: host.notices)
                host.gate(is_open=True)
            await host.until(lambda: len(host.cards()) >= 4)

        assert Path(shoe.path()).exists()
        with_host(shoe.path(), protocol, four_cards)
        shoe.line(r"card .. drawn, \d+ left")
        shoe.tell("quit")
        assert shoe.ended() == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(number, tmp_path):
    with Simulate("--link", tmp_path / "shoe") as shoe:
        shoe.path()
        assert (tmp_path / "shoe").is_symlink()
        shoe.process.send_signal(number)
        assert shoe.ended() == (0, "")
        assert not (tmp_path / "shoe").is_symlink()


def test_commands_are_answered_and_errors_do_not_end_it():
    with Simulate() as shoe:
        shoe.tell("# a comment\n\ndeal")
        assert shoe.line("gate is shut").startswith("error: ")
        shoe.tell("deal force")
        assert shoe.line("^ok: card")
        shoe.tell("fly")
        assert shoe.line("'fly' is not a command").startswith("error: ")
        shoe.tell("help")
        shoe.line("^  unreadable")
        shoe.tell("status")
        shoe.line("^ok: open shoe on /dev/pts")
        # The end of the input does not end the shoe, and a last line without its end counts.
        shoe.process.stdin.write("jam on")
        shoe.process.stdin.close()
        shoe.line("^ok: jam fault begins")
        assert shoe.process.poll() is None


def test_a_file_of_commands_is_carried_out(tmp_path):
    commands = tmp_path / "commands"
    commands.write_bytes(b"deal force\n\xff\nquit\ndeal force\n")
    with commands.open("rb") as file, Simulate(stdin=file) as shoe:
        assert shoe.ended() == (0, "")
        answers = [line.partition(":")[0] for line in shoe.lines[2:]]
        assert answers == ["ok", "error"]


def test_it_runs_without_any_input():
    with Simulate(stdin=subprocess.DEVNULL) as shoe:
        shoe.path()
        assert shoe.process.poll() is None
    with Simulate(program=("/bin/sh", "-c", 'exec "$0" "$@" <&-', PROGRAM)) as shoe:
        shoe.path()
        assert shoe.process.poll() is None


def test_it_ends_when_nobody_reads_its_output():
    process = subprocess.Popen(
        [PROGRAM, "simulate"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        process.stdout.readline()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write("deal force\n")
        process.stdin.flush()
        assert process.wait(DEADLINE) == 0
        assert process.stderr.read() == ""


def test_one_seed_gives_one_shoe(tmp_path):
    def run(name, seed):
        register, commands = tmp_path / f"{name}.csv", tmp_path / "commands"
        commands.write_text("deal force\n" * 20 + "quit\n")
        with commands.open("rb") as file, Simulate("--seed", seed, "--register", register, stdin=file) as shoe:
            assert shoe.ended() == (0, "")
            return [line for line in shoe.lines[1:] if "/dev" not in line], register.read_text()

    assert run("one", 7) == run("other", 7)
    lines, register = run("third", 8)
    assert run("one", 7) != (lines, register)
    assert register.startswith("uid,code\n")
    assert register.count("\n") == 1 + 416


def test_settings_of_both_protocols_reach_the_shoe(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    with Simulate(
        *("--game", "six-star", "--decks", 2, "--reader", "hybrid", "--deck-set", 9),
        *("--key-file", key, "--require-auth", "--memory", 1000),
    ) as shoe:
        shoe.line("130 cards")
    with Simulate(
        *("--protocol", "angel-eye", "--bcc-operations", "excluded", "--bcc-events", "included", "--locked")
    ) as shoe:
        shoe.line("416 cards")
        shoe.tell("status")
        shoe.line("gate shut")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--protocol", "morse"], "invalid choice"),
        (["--game", "whist"], "whist"),
        (["--decks", "0"], "1 to 10 decks"),
        (["--decks", "many"], "invalid int"),
        (["--cut", "-1"], "cut card"),
        (["--auto", "0"], "more than 0"),
        (["--faults", "gremlins"], "'gremlins' is not a fault"),
        (["--faults", "jam=often"], "jam=often"),
        (["--protocol", "angel-eye", "--game", "six-star"], "52-card decks only"),
        (["--memory", "10"], "--memory 10"),
        (["--memory", "99999999"], "--memory 99999999"),
        (["--require-auth"], "--key-file"),
        (["--deck-set", "-1"], "--deck-set -1"),
        (["--key-file", "/nonexistent/key"], "cannot be read"),
        (["--register", "/nonexistent/set.csv"], "cannot be written"),
        (["--link", "/nonexistent/shoe"], "cannot be made"),
    ],
)
def test_wrong_arguments_exit_with_2_and_a_sentence(arguments, words, capsys):
    try:
        code = main(["simulate", *arguments])
    except SystemExit as ended:  # how the parser of arguments ends
        code = ended.code
    said = capsys.readouterr()
    assert code == 2
    assert words in said.err
    assert said.out == ""


def test_wrong_arguments_end_the_process_with_2_too():
    with Simulate("--faults", "gremlins") as shoe:
        code, complaint = shoe.ended()
        assert code == 2
        assert complaint.startswith("shoe-controller: 'gremlins' is not a fault")
        assert shoe.lines == []


def test_a_key_that_is_too_short_is_refused(tmp_path, capsys):
    key = tmp_path / "key"
    key.write_bytes(b"short")
    key.chmod(0o600)
    assert main(["simulate", "--key-file", str(key)]) == 2
    assert "at least 16 bytes" in capsys.readouterr().err


def test_the_help_gives_examples(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["simulate", "--help"])
    assert ended.value.code == 0
    assert "shoe-controller simulate --auto 1" in capsys.readouterr().out
