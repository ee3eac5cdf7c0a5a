"""The demonstration as a person or a script starts it."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from tests.broker import free_port

DEMO = (sys.executable, "-m", "shoe_controller", "demo")
DEADLINE = 60.0


def demo(*words):
    return subprocess.run(
        [*DEMO, "--port", str(free_port()), *words], capture_output=True, text=True, timeout=DEADLINE, check=False
    )


def test_without_a_terminal_it_prints_lines_ends_with_a_summary_and_proves_its_journal(tmp_path):
    done = demo("--rounds", "3", "--speed", "50", "--seed", "4", "--keep", str(tmp_path / "table"))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Table of no-commission with 8 decks, seed 4."
    assert "Round 3: place your bets" in lines
    assert any(re.match(r"3 rounds announced \(player \d, banker \d, tie \d\), 0 void", line) for line in lines)
    assert lines[-1].endswith("hash chain, signatures and replay are sound.")
    assert done.stderr == ""
    journal = tmp_path / "table" / "journal"
    verified = subprocess.run(
        [sys.executable, "-m", "shoe_controller", "verify", str(journal), "--format", "json"],
        capture_output=True,
        check=True,
    )
    assert json.loads(verified.stdout)["ok"] is True


def test_a_table_that_was_kept_is_taken_up_again(tmp_path):
    deep = tmp_path / ("a" * 60) / ("b" * 60)  # no socket could be made in there
    words = ("--rounds", "1", "--speed", "50", "--seed", "4", "--keep", str(deep))
    assert demo(*words).returncode == 0
    again = demo(*words)
    assert again.returncode == 0, again.stderr
    assert "Round 2: place your bets" in again.stdout


def test_faults_are_shown_with_their_resolution():
    faults = "unreadable=0.2,surplus=0.3,together=0.1,foreign=0.05"
    done = demo("--game", "six-star", "--rounds", "8", "--speed", "50", "--seed", "7", "--faults", faults)
    assert done.returncode == 0, done.stderr
    assert "a card that could not be read" in done.stdout
    assert "rule 5.2" in done.stdout
    assert "resolved: reconstruct" in done.stdout
    assert "alarm acknowledged" in done.stdout


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--game", "poker"], "poker"),
        (["--faults", "gremlins"], "'gremlins' is not a fault"),
        (["--rounds", "0"], "not a whole number from 1 up"),
        (["--speed", "0"], "not a number from 0.1 to 1000"),
        (["--speed", "fast"], "not a number from 0.1 to 1000"),
        (["--keep", "/dev/null/x"], "cannot be made"),
        (["--language", "xx"], "xx"),
        (["--decks", "40"], "40"),
    ],
)
def test_what_is_wrong_is_one_sentence(words, sentence):
    done = demo("--rounds", "1", *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_shows_the_round_live_and_ctrl_c_ends_it_cleanly():
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*DEMO, "--port", str(free_port()), "--speed", "20"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100", "LINES": "40"},
    ) as process:
        os.close(theirs)
        shown, end, told = b"", time.monotonic() + DEADLINE, False
        while process.poll() is None or select.select([ours], [], [], 0)[0]:
            assert time.monotonic() < end, shown.decode()[-2000:]
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    shown += os.read(ours, 65536)
                except OSError:
                    break
            if not told and b"RESULT" in shown:
                told = True
                process.send_signal(signal.SIGINT)
    os.close(ours)
    text = shown.decode()
    assert process.returncode == 0
    assert "PLACE YOUR BETS" in text
    assert "next_player" in text, "the lamps are shown"
    assert "Ctrl-C ends" in text
    assert "rounds announced" in text
    assert "Traceback" not in text
