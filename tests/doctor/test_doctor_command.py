"""The command: every check in a technician's order, the verdict as exit code, and a new chain after a question."""

import getpass
import json
import os
import pty

import pytest

from shoe_controller.cli import main
from shoe_controller.doctor import examine
from shoe_controller.doctor.machine import become, current_user
from shoe_controller.journal.store import Journal
from tests.broker import wait_for
from tests.cli.program import run, start
from tests.journal.table import Table

GOOD = '[panel]\nfactory = "none"'


@pytest.fixture
def here(machine, groups, monkeypatch):
    """Let the command examine the machine of the test, as the user of the test."""
    monkeypatch.setattr("shoe_controller.doctor.Machine", lambda user: machine)
    monkeypatch.setattr("shoe_controller.doctor.machine.become", lambda user: True)
    monkeypatch.setattr("shoe_controller.doctor.condition.clock_synced", lambda: True)
    return machine


@pytest.fixture
def damaged(machine):
    """Return the folder of a journal that cannot be read any more, and the name of its file."""
    folder = machine.state / "journal"
    table = Table()
    with Journal.open(folder, table="B12") as journal:
        journal.append([entry for entry, _ in zip(table.play_shoe(), range(20), strict=False)])
    (path,) = folder.glob("*.db")
    path.write_bytes(b"\xee" * 4096)
    return folder, path.name


def test_checks_come_in_the_order_of_a_technician(machine, groups, file):
    found = list(examine(file(rest=GOOD), machine))
    order = list(dict.fromkeys(finding.check for finding in found))
    assert order == [
        "configuration", "user", "service", "udev", "shoe", "panel", "disk", "mount", "permissions", "signing key",
        "journal", "broker", "clock", "heat", "power",
    ]  # fmt: skip


def test_a_machine_that_is_fit_exits_with_0(here, file, capsys):
    assert main(["doctor", "--config", str(file(rest=GOOD)), "--user", getpass.getuser()]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[0].startswith("ok    configuration: ")
    assert "\n      -> set shoe.protocol and shoe.device" in told
    assert told.splitlines()[-1] == "Fit for play: 15 checks, 1 warned."


def test_a_machine_that_is_not_exits_with_1(here, file, capsys):
    (here.units[0] / "shoe-controller.service").unlink()
    assert main(["doctor", "--config", str(file(rest=GOOD))]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "Not fit for play: 1 of 15 checks failed, 1 warned."
    assert main(["doctor", "--config", str(file(rest=GOOD)), "--format", "json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["failed"], answer["warned"], len(answer["findings"])) == (False, 1, 1, 15)


def test_a_wrong_configuration_is_told_and_the_rest_is_examined(here, file, capsys):
    assert main(["doctor", "--config", str(file(rest="[logs]\n[lamps]"))]) == 1
    told = capsys.readouterr().out
    assert told.count("fail  configuration: ") == 2
    assert "ok    service: " in told
    assert "  journal: " not in told
    assert main(["doctor", "--config", str(here.state / "gone.toml")]) == 1
    assert "does not exist" in capsys.readouterr().out


def test_confirming_what_is_not_asked_for_is_wrong_use(capsys):
    assert main(["doctor", "--confirm", "journal-000000000001.db"]) == 2
    assert "belong to --new-chain" in capsys.readouterr().err


def test_a_new_chain_is_begun_when_the_file_is_named(here, file, damaged, capsys):
    folder, name = damaged
    config = str(file())
    assert main(["doctor", "--config", config, "--new-chain", "--confirm", "journal.db"]) == 2
    assert "nothing was done" in capsys.readouterr().err
    assert main(["doctor", "--config", config, "--new-chain", "--confirm", name, "--reason", "incident 4711"]) == 0
    told = capsys.readouterr().out
    assert "a new chain begins with fact 1000000 in " in told
    assert f"{folder / name} is untouched" in told
    assert "incident 4711" in "".join(path.read_text() for path in folder.glob("*damaged*"))
    assert main(["doctor", "--config", config, "--new-chain", "--confirm", name]) == 1
    assert "the journal is sound" in capsys.readouterr().err


def test_without_a_terminal_nobody_can_be_asked(file, damaged):
    answer = run("doctor", "--config", file(), "--user", getpass.getuser(), "--new-chain", stdin=-3)
    assert answer.returncode == 2
    assert f"There is nobody to ask: add --confirm {damaged[1]}" in answer.stderr.decode()


def test_a_person_at_a_terminal_is_asked_for_the_name_and_sees_colours(file, damaged):
    folder, name = damaged
    keyboard, terminal = pty.openpty()
    command = ("doctor", "--config", file(), "--user", getpass.getuser())
    with start(*command, "--new-chain", stdin=terminal, stdout=terminal, stderr=terminal) as program:
        said = bytearray()
        wait_for(lambda: said.extend(os.read(keyboard, 4096)) or b"type the name of the file" in said, "the question")
        os.write(keyboard, f"{name}\n".encode())
        wait_for(lambda: said.extend(os.read(keyboard, 4096)) or b"Next: sudo systemctl" in said, "the answer")
        assert program.wait(30) == 0
    assert (folder / "journal-000001000000.db").exists()
    with start(*command, stdin=terminal, stdout=terminal, stderr=terminal) as program:
        said.clear()
        wait_for(lambda: said.extend(os.read(keyboard, 4096)) or b"checks" in said, "the verdict")
        program.wait(30)
    assert b"\x1b[32mok  \x1b[0m  configuration" in said
    os.close(keyboard)
    os.close(terminal)


def test_root_becomes_the_daemons_user_for_good():
    if os.geteuid() != 0:
        assert current_user() == getpass.getuser()
        return
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            missing = become("no-such-user")
            done = become("nobody")
            os.write(writing, f"{missing} {done} {current_user()} {os.getresuid()}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "False True nobody (65534, 65534, 65534)"
    os.waitpid(child, 0)


def test_a_user_without_a_name_is_called_by_number(monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 54321)
    assert current_user() == "54321"
