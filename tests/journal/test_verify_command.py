"""`verify` as people and programs use it: sentences, JSON, exit codes, progress on a terminal, constant memory."""

import json
import os
import pty
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from shoe_controller.cli import main
from shoe_controller.journal import planning, verification, volumes
from shoe_controller.journal.signing import SigningKey, public_path
from shoe_controller.journal.store import Journal
from tests.journal.forging import rows, tamper
from tests.journal.table import Table

PROGRAM = Path(sys.executable).with_name("shoe-controller")


def command(capsys, *words):
    code = main(["verify", *map(str, words)])
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.fixture
def table_key(key, tmp_path):
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    path = tmp_path / "table.pub.pem"
    public = key._private.public_key()
    path.write_bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path


def test_a_sound_journal_is_told_in_sentences(played_once, table_key, key, capsys):
    code, out, err = command(capsys, played_once, "--public-key", table_key)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].startswith("3 files: ")
    assert lines[0].endswith(" rounds announced")
    assert lines[1] == "  hash chain  sound"
    assert lines[2].startswith("  signatures  sound, 3 of ")
    assert lines[2].endswith(f"(the last of each shoe, which vouches for those before it), key {key.key_id.hex()}")
    assert lines[3].startswith("  replay      sound, ")
    assert lines[4:] == ["The journal is sound."]


def test_what_was_asked_for_is_said(played_once, capsys):
    path = volumes.all_volume_paths(played_once)[0]
    code, out, _ = command(capsys, path, "--all-signatures", "--no-replay", "--jobs", "1")
    assert code == 0
    assert f"{path}: " in out
    assert "(each one)" in out
    assert "  replay      not done" in out
    assert "  note: signatures were checked with the keys that the journal itself lists" in out


def test_a_journal_without_signatures_says_none(folder, capsys):
    with Journal.open(folder) as journal:
        journal.append(list(Table(seed=4).play_shoe()))
    code, out, _ = command(capsys, folder)
    assert code == 0
    assert "  signatures  none" in out
    assert "  note: nothing in it is signed" in out


def test_damage_is_told_with_the_entry_and_exit_code_1(played, capsys):
    path = volumes.all_volume_paths(played)[1]
    cards = [row["seq"] for row in rows(path) if row["kind"] == "card"]
    tamper(path, f"UPDATE entries SET body = replace(body, 'code', 'dode') WHERE seq = {cards[9]}")
    code, out, _ = command(capsys, played, "--no-replay")
    assert code == 1
    assert "  hash chain  NOT SOUND" in out
    assert out.splitlines()[-2:] == [
        "The journal is NOT sound: 1 problem.",
        f"  {path.name}, entry {cards[9]}: its contents do not give its hash",
    ]
    code, out, _ = command(capsys, played)
    assert "  replay      NOT SOUND" in out
    assert ", entries not replayed" not in out
    assert "entries not replayed" in out
    assert "is NOT sound: 2 problems." in out


def test_more_problems_than_the_limit_are_counted(played, tmp_path, capsys):
    SigningKey.open_or_create(tmp_path / "other.pem")
    other = public_path(tmp_path / "other.pem")
    code, out, _ = command(capsys, played, "--public-key", other, "--limit", 2, "--no-replay")
    assert code == 1
    assert "  signatures  NOT SOUND" in out
    assert "more" in out.splitlines()[-1]
    assert sum("is not known here" in line for line in out.splitlines()) == 2


def test_programs_read_json(played, capsys):
    path = volumes.all_volume_paths(played)[2]
    code, out, _ = command(capsys, played, "--format", "json")
    told = json.loads(out)
    assert (code, told["ok"], told["problems"], told["problem_count"]) == (0, True, [], 0)
    assert told["entries"] == told["derived"] > 2000
    tamper(path, "UPDATE entries SET wall_ns = 0 WHERE seq = (SELECT max(seq) FROM entries)")
    code, out, _ = command(capsys, played, "--format", "json")
    (problem,) = json.loads(out)["problems"]
    assert code == 1
    assert problem == {
        "volume": path.name,
        "seq": rows(path)[-1]["seq"],
        "kind": "hash",
        "what": "its contents do not give its hash",
    }


@pytest.mark.parametrize(
    "name, contents, words",
    [
        ("gone", None, "there is no such file or folder"),
        ("empty", "folder", "holds no journal"),
        ("text.db", b"no database at all" * 99, "file is not a database"),
        ("other.db", b"", "not a journal of this program"),
    ],
)
def test_what_is_no_journal_is_wrong_use(tmp_path, capsys, name, contents, words):
    path = tmp_path / name
    if contents == "folder":
        path.mkdir()
    elif contents is not None:
        path.write_bytes(contents)
    code, out, err = command(capsys, path)
    assert (code, out) == (2, "")
    assert err.startswith("shoe-controller: ")
    assert words in err


def test_a_journal_of_a_later_version_is_refused(played, capsys):
    path = volumes.all_volume_paths(played)[0]
    tamper(path, "PRAGMA user_version = 9")
    code, _, err = command(capsys, path)
    assert code == 2
    assert "a journal of version 9; this program knows version 1" in err


def test_a_key_that_is_none_is_wrong_use(played_once, tmp_path, capsys):
    (tmp_path / "no.pem").write_text("no key")
    code, _, err = command(capsys, played_once, "--public-key", tmp_path / "no.pem")
    assert code == 2
    assert "holds no public key in PEM form" in err


@pytest.mark.parametrize("option", ["--jobs", "--limit"])
def test_numbers_must_be_positive(played_once, capsys, option):
    with pytest.raises(SystemExit) as ended:
        command(capsys, played_once, option, 0)
    assert ended.value.code == 2
    assert "invalid _positive value" not in capsys.readouterr().err


def on_terminal(*words):
    """Run the program with standard error on a terminal; return exit code, standard output, what the terminal got."""
    ours, theirs = pty.openpty()
    # Not a pipe: nobody reads it while the terminal is being read, and a full pipe would stop the program.
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(
            [PROGRAM, *map(str, words)],
            stdout=output,
            stderr=theirs,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
        ) as process,
    ):
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the far end is closed
                break
            if not part:
                break
            shown += part
        process.wait()
        output.seek(0)
        out = output.read()
    os.close(ours)
    return process.returncode, out.decode(), shown.decode()


@pytest.mark.parametrize("words", [["verify"], ["export", "--what", "events"]])
def test_a_terminal_shows_progress_and_a_pipe_does_not(played_once, words):
    name, *options = words
    code, out, shown = on_terminal(name, played_once, *options)
    assert code == 0
    assert {"verify": "verifying", "export": "exporting"}[name] in shown
    assert "100%" in shown or "━" in shown
    piped = subprocess.run([PROGRAM, name, played_once, *options], capture_output=True, check=True)
    assert piped.stderr == b""
    assert piped.stdout.decode() == out


MEASURED = """
import resource, sys
from shoe_controller.cli import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def peak(*words):
    """Return the largest resident size of a command in KB; ru_maxrss of a child counts its own image only."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    )
    return int(done.stderr.split()[-1])


@pytest.fixture(scope="module")
def lengths(tmp_path_factory):
    """Return a short journal and one twelve times as long."""
    folders = []
    for shoes in (1, 12):
        folder = tmp_path_factory.mktemp("length") / "journal"
        table = Table(seed=11)
        with Journal.open(folder) as journal:
            for _ in range(shoes):
                journal.append(list(table.play_shoe()))
        folders.append(folder)
    return folders


@pytest.mark.parametrize(
    "words", [["verify", "--jobs", "1"], ["export", "--what", "events"], ["export", "--format", "script"]]
)
def test_memory_does_not_grow_with_the_journal(lengths, words):
    name, *options = words
    short, long = (peak(name, folder, *options) for folder in lengths)
    assert long < short + 4000, "KB; the long journal's facts alone are more than that"
    assert resource.getpagesize() > 0


def test_long_journals_are_verified_on_all_cores(played_once, monkeypatch, capsys):
    monkeypatch.setattr(planning, "STRETCH_FACTS", 1)
    monkeypatch.setattr(verification, "PARALLEL_FACTS", 1)
    code, out, _ = command(capsys, played_once)
    assert code == 0
    assert "The journal is sound." in out
