"""The check at start finds any damage at the end of the journal and names the entry."""

import sqlite3

import pytest

from shoe_controller.journal import check, layout
from shoe_controller.journal.check import check_end
from shoe_controller.journal.errors import JournalDamagedError, JournalMissingError
from shoe_controller.journal.store import Journal

DAMAGE = {
    "seq": "seq + 1000000",
    "count": "count + 1",
    "boot": "zeroblob(16)",
    "mono_ns": "mono_ns + 1",
    "wall_ns": "wall_ns - 1",
    "synced": "1 - synced",
    "source": "'panel'",
    "dev_session": "dev_session + 1",
    "dev_event": "dev_event + 1000000",
    "kind": "'cart'",
    "body": "replace(body, '4d', '5d')",
    "facts": "replace(facts, 'card', 'cart')",
    "raw": "zeroblob(3)",
    "prev": "zeroblob(32)",
    "hash": "zeroblob(32)",
    "signature": "zeroblob(72)",
}


def tamper(path, *statements):
    """Change a volume as somebody would who knows SQLite: without the triggers, which are put back."""
    file = sqlite3.connect(path, isolation_level=None)
    triggers = file.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        file.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        file.execute(statement)
    for _, sql in triggers:
        file.execute(sql)
    file.close()


@pytest.fixture
def written(folder, entry, key):
    with Journal.open(folder, signer=key) as journal:
        journal.append([entry(n) for n in range(1, 201)])
    return journal.live


def test_a_sound_journal_passes_and_only_its_end_is_read(written, folder):
    result = check_end(folder)
    assert (result.ok, result.entries, result.last_seq, result.signed_seq) == (True, check.LAST_ENTRIES, 200, 200)
    result.raise_if_damaged()


@pytest.mark.parametrize("column, value", DAMAGE.items())
@pytest.mark.parametrize("seq", [150, 193, 199, 200])
def test_a_change_in_any_column_is_found_and_the_entry_named(written, folder, column, value, seq):
    if column == "signature" and seq % 8:
        value, note = "zeroblob(72)", "a signature where there was none"
    else:
        note = ""
    tamper(written, f"UPDATE entries SET {column} = {value} WHERE seq = {seq}")
    result = check_end(folder)
    assert not result.ok, note
    # A signature is vouched for by the next entry's link; a number that changed shows where the next should be.
    nearby = {seq, seq + 1} if column in {"seq", "count", "signature"} else {seq}
    if column == "seq":
        nearby |= {seq + 1_000_000}
    assert result.problems[0].seq in nearby
    with pytest.raises(JournalDamagedError, match=f"entry {result.problems[0].seq}.*doctor") as caught:
        result.raise_if_damaged()
    assert caught.value.seq in nearby


def test_a_missing_entry_is_found(written, folder):
    tamper(written, "DELETE FROM entries WHERE seq = 190")
    (problem,) = check_end(folder).problems
    assert (problem.seq, problem.kind) == (191, "gap")
    assert "fact 190 should come next" in problem.what


def test_missing_triggers_and_added_tables_are_found(written, folder):
    file = sqlite3.connect(written)
    file.execute("DROP TRIGGER entries_stay")
    file.execute("CREATE TABLE more (x)")
    file.close()
    assert [str(problem) for problem in check_end(folder).problems] == [
        "journal-000000000001.db: missing: trigger entries_stay",
        "journal-000000000001.db: added: table more",
    ]


def test_a_key_that_the_journal_does_not_list_is_found(written, folder):
    tamper(written, "DELETE FROM keys")
    assert "which this journal does not list" in check_end(folder).problems[0].what


def test_a_volume_of_another_beginning_is_found(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        first = journal.archive()
        journal.append([entry(2)])
    assert check_end(folder).ok
    tamper(first, "UPDATE seal SET next_seq = 9")
    assert [p.kind for p in check_end(folder).problems] == ["seal"]
    first.unlink()
    assert check_end(folder).ok, "an archived volume may be elsewhere"
    tamper(journal.live, "UPDATE meta SET value = '00' WHERE name = 'prev'")
    assert [p.kind for p in check_end(folder).problems] == ["link"]
    tamper(journal.live, "UPDATE meta SET value = '1' WHERE name = 'first_seq'")
    assert [p.kind for p in check_end(folder).problems] == ["gap"]


def test_another_origin_is_found(folder, entry):
    with Journal.open(folder, table="BAC-07") as journal:
        journal.append([entry(1)])
    tamper(journal.live, "UPDATE meta SET value = replace(value, 'BAC-07', 'BAC-08') WHERE name = 'origin'")
    assert [p.kind for p in check_end(folder).problems] == ["origin"]


def test_a_new_journal_passes(folder):
    with Journal.open(folder):
        result = check_end(folder)
    assert (result.ok, result.entries, result.last_seq) == (True, 0, None)


def test_a_folder_without_journal_is_no_journal(tmp_path):
    with pytest.raises(JournalMissingError, match="holds no journal"):
        check_end(tmp_path)


@pytest.mark.parametrize("page", [0, 1, -2])
def test_torn_pages_are_found(written, folder, page):
    data = bytearray(written.read_bytes())
    start = page % (len(data) // layout.PAGE_SIZE) * layout.PAGE_SIZE
    data[start : start + layout.PAGE_SIZE] = b"\xee" * layout.PAGE_SIZE
    written.write_bytes(data)
    result = check_end(folder)
    assert result.problems[0].kind == "file"
    with pytest.raises(JournalDamagedError):
        result.raise_if_damaged()


def test_a_value_of_the_wrong_kind_is_found(written, folder):
    file = sqlite3.connect(written, isolation_level=None)
    file.execute("PRAGMA writable_schema = ON")
    file.execute("UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'entries'")
    file.close()
    tamper(written, "UPDATE entries SET boot = 5 WHERE seq = 180")
    assert [(p.seq, p.kind) for p in check_end(folder).problems] == [(180, "file")]
