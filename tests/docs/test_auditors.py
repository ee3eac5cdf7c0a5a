"""The auditors' page: what it describes is enough to prove a journal, without any part of this program."""

import re
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import cryptography
import pytest

from shoe_controller.journal.layout import APPLICATION_ID, SCHEMA
from shoe_controller.journal.signing import SigningKey, public_path
from shoe_controller.journal.store import Journal
from shoe_controller.journal.volumes import volume_paths
from shoe_controller.rules.games import load_all
from shoe_controller.rules.play import BANKER_DRAWS_ON
from tests.cli.program import run
from tests.journal.forging import rechain, rows, tamper
from tests.journal.table import Table

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "auditors.md").read_text()
CHAIN, RULES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def played_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    key = SigningKey.open_or_create(folder / "signing.key")
    table = Table(seed=11, trouble=0.02)
    with Journal.open(folder / "journal", table="B12", signer=key, archive_policy="shoe") as journal:
        for _ in range(2):
            entries = table.play_shoe()
            while batch := list(islice(entries, 50)):
                journal.append(batch)
    return folder


@pytest.fixture
def played(played_once, tmp_path):
    return Path(shutil.copytree(played_once, tmp_path / "table"))


def by_hand(program, *arguments):
    """Run a program of the page in a Python that does not find ours."""
    command = [sys.executable, "-I", "-S", "-c", "import sys; sys.path.append(sys.argv.pop(1)); exec(sys.argv.pop(1))"]
    libraries = Path(cryptography.__file__).parents[1]
    return subprocess.run(
        [*command, str(libraries), program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd="/",
    )


def audit(folder, key=None):
    return by_hand(CHAIN, key or public_path(folder / "signing.key"), *volume_paths(folder / "journal"))


def test_the_pages_program_proves_a_sound_journal_over_volumes(played):
    done = audit(played)
    assert done.returncode == 0, done.stderr
    entries = [row for path in volume_paths(played / "journal") for row in rows(path)]
    signed = sum(row["signature"] is not None for row in entries)
    assert len(volume_paths(played / "journal")) == 2
    assert done.stdout == f"{len(entries)} entries, {signed} signatures: sound\n"


def test_it_finds_what_was_changed(played):
    first, second = volume_paths(played / "journal")
    last_card = "(SELECT max(seq) FROM entries WHERE kind = 'card')"
    tamper(second, f"UPDATE entries SET body = replace(body, '\"}}', ' \"}}') WHERE seq = {last_card}")
    assert ": was changed" in audit(played).stderr
    tamper(first, "DELETE FROM entries WHERE seq = 3")
    assert "entry 4: does not follow the entry before" in audit(played).stderr


def test_it_finds_what_somebody_changed_who_can_hash_but_has_not_the_key(played):
    _, second = volume_paths(played / "journal")
    changed = rows(second)
    changed[5]["wall_ns"] += 1
    rechain(second, changed)
    assert "the signature is not good" in audit(played).stderr


def test_it_finds_a_volume_that_was_left_out_and_another_table_s_key(played, tmp_path):
    first, second = volume_paths(played / "journal")
    key = public_path(played / "signing.key")
    assert "does not follow" in by_hand(CHAIN, key, second, first).stderr
    SigningKey.open_or_create(tmp_path / "other.key")
    assert "the signature is not good" in audit(played, public_path(tmp_path / "other.key")).stderr


@pytest.mark.parametrize("game", sorted(load_all()))
def test_the_hash_of_a_rule_set_is_recomputed_from_its_file(game):
    done = by_hand(RULES, PROJECT / "shoe_controller" / "rules" / "data" / f"{game}.toml")
    assert done.stdout.strip() == load_all()[game].hash, done.stderr


def test_the_example_round_is_what_replay_says(tmp_path):
    (script,) = re.findall(r"^```table\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (told,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "round.table"
    path.write_text(script)
    assert run("replay", path, "--format", "json").stdout.decode().splitlines()[0] == told.strip()


def test_the_table_of_play_is_the_programs():
    words = {
        "0, 1, 2": (set(range(10)), (0, 1, 2)),
        "3": (set(range(10)) - {8}, (3,)),
        "4": (set(range(2, 8)), (4,)),
        "5": (set(range(4, 8)), (5,)),
        "6": ({6, 7}, (6,)),
        "7": (set(), (7,)),
    }
    told = dict(re.findall(r"^   \| ([\d, ]+) \| (.+) \|$", PAGE, re.MULTILINE))
    assert set(told) == set(words)
    for counts, banker in words.values():
        assert all(BANKER_DRAWS_ON[total] == counts for total in banker)


def test_every_table_and_column_is_described():
    for statement in SCHEMA:
        if found := re.match(r"CREATE TABLE (\w+)", statement):
            assert f"`{found[1]}`" in PAGE
    columns = re.findall(r"^  (\w+) [A-Z]+", next(sql for sql in SCHEMA if "TABLE entries" in sql), re.MULTILINE)
    assert len(columns) == 16
    for column in columns:
        assert f"`{column}`" in PAGE, column
    assert f"0x{APPLICATION_ID:X}" in PAGE


def test_exported_inputs_replay_to_the_recorded_rounds(played):
    """Step 5 of reproducing a round."""
    journal = played / "journal"
    script = run("export", journal, "--format", "script", "--from", "shoe=S-0001", "--to", "shoe=S-0001").stdout
    replayed = run("replay", "-", "--format", "json", input=script).stdout.decode()
    again = [line for line in replayed.splitlines() if line.startswith('{"type":"round"')]
    exported = run("export", journal, "--what", "rounds", "--format", "jsonl", "--to", "shoe=S-0001").stdout.decode()
    recorded = ["{" + line[line.index('"type":"round"') :] for line in exported.splitlines()]
    assert [line.partition(',"raw":')[0].rstrip("}") for line in recorded] == [line.rstrip("}") for line in again]
