"""Appending: what is committed stays, what is refused leaves nothing behind."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import msgspec
import pytest

from shoe_controller.journal import layout
from shoe_controller.journal.errors import (
    DuplicateEventError,
    JournalBusyError,
    JournalDamagedError,
    JournalError,
    JournalFormatError,
)
from shoe_controller.journal.reading import entries
from shoe_controller.journal.store import CURSOR_STRIDE, TIDY_AFTER_ENTRIES, Journal

COPY = "1, boot, 1, 1, 1, 'x', NULL, NULL, 'x', '', '', raw, prev, hash, NULL FROM entries LIMIT 1"


def read(folder):
    return list(entries(folder, 1))


def test_an_entry_comes_back_as_it_went_in(journal, folder, entry):
    new = entry(8, facts=(b'{"type":"card","n":1}', b'{"type":"round","n":2}'))
    assert journal.append([new]) == [1]
    (found,) = read(folder)
    assert (found.stamp, found.source, found.kind, found.body, found.device, found.raw) == (
        new.stamp,
        new.source,
        new.kind,
        new.body,
        new.device,
        new.raw,
    )
    assert (found.seq, found.count) == (1, 2)
    assert found.facts == b'[{"type":"card","n":1},{"type":"round","n":2}]'
    assert found.prev == journal.volume.prev
    assert len(found.signature) == 72


def test_facts_are_numbered_without_gaps_over_entries_batches_and_restarts(folder, entry):
    with Journal.open(folder) as journal:
        two_facts = entry(2, facts=(b'{"type":"a"}', b'{"type":"b"}'))
        assert journal.append([entry(1), two_facts]) == [1, 2]
        assert journal.append([entry(3)]) == [4]
        assert journal.last_seq == 4
        head = journal.head
    with Journal.open(folder) as journal:
        assert (journal.last_seq, journal.head) == (4, head)
        assert journal.append([entry(5)]) == [5]
    found = read(folder)
    assert [(e.seq, e.count) for e in found] == [(1, 1), (2, 2), (4, 1), (5, 1)]


def test_an_empty_batch_is_no_commit(journal, folder):
    assert journal.append([]) == []
    assert read(folder) == []


def test_the_file_says_what_it_is(journal):
    with closing(sqlite3.connect(journal.live)) as file:
        settings = {
            name: file.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "journal_mode", "page_size")
        }
        strict = file.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND NOT strict").fetchall()
    assert settings == {"application_id": 0x53484F45, "user_version": 1, "journal_mode": "wal", "page_size": 1024}
    assert [name for (name,) in strict if not name.startswith("sqlite_")] == []
    assert journal._connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET raw = x'00' WHERE seq = 1",
        "DELETE FROM entries WHERE seq = 2",
        "DELETE FROM entries",
        f"INSERT OR REPLACE INTO entries SELECT 1, {COPY}",
        f"INSERT INTO entries SELECT 99, {COPY}",
        "UPDATE meta SET value = 'x'",
        "DELETE FROM meta",
        "UPDATE keys SET public = x'00'",
        "DELETE FROM keys",
    ],
)
def test_entries_are_neither_changed_nor_deleted_by_any_program(journal, folder, entry, statement):
    journal.append([entry(1), entry(2), entry(3)])
    before = read(folder)
    other = sqlite3.connect(journal.live)
    with pytest.raises(sqlite3.IntegrityError, match=r"never|only appended"):
        other.execute(statement)
    other.close()
    assert read(folder) == before


def test_an_event_of_the_shoe_is_recorded_once(journal, folder, entry):
    journal.append([entry(1), entry(2)])
    assert journal.has_event(77, 2)
    assert not journal.has_event(77, 3)
    assert not journal.has_event(78, 2)
    assert journal.last_event(77) == 2
    assert journal.last_event(78) is None
    for batch in ([entry(2)], [entry(3), entry(2)], [entry(4), entry(4)]):
        with pytest.raises(DuplicateEventError, match="already"):
            journal.append(batch)
    assert [e.device for e in read(folder)] == [(77, 1), (77, 2)]
    assert journal.append([entry(3)]) == [3]


def test_entries_without_an_event_number_may_repeat(journal, entry):
    assert journal.append([entry(1, device=None), entry(1, device=None)]) == [1, 2]
    assert journal.append([entry(1, device=None)]) == [3]


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"facts": ()}, "without facts"),
        ({"source": "a,b"}, "commas"),
        ({"source": "a\nb"}, "control"),
    ],
)
def test_an_entry_that_cannot_be_hashed_plainly_is_refused(journal, folder, entry, changes, words):
    with pytest.raises(ValueError, match=words):
        journal.append([entry(1), entry(2, **changes)])
    assert read(folder) == []
    assert journal.append([entry(1)]) == [1]


def test_an_entry_that_the_tables_refuse_leaves_nothing(journal, folder, entry):
    with pytest.raises(JournalError, match="failed"):
        journal.append([entry(1), entry(2, device=(5, None))])
    assert read(folder) == []


def test_only_one_process_writes(folder, journal):
    with pytest.raises(JournalBusyError, match="another process"):
        Journal.open(folder)
    code = "import sys, pathlib; from shoe_controller.journal.store import *; Journal.open(pathlib.Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=False)
    assert "JournalBusyError" in done.stderr


def test_the_lock_is_free_after_close_and_after_a_failed_open(folder, entry):
    with Journal.open(folder) as journal:
        live = journal.live
    live.write_bytes(b"no database at all, and long enough to be one" * 100)
    for _ in range(2):
        with pytest.raises(JournalDamagedError):
            Journal.open(folder)


@pytest.mark.parametrize(
    "make, words",
    [
        ("CREATE TABLE t (x)", "not a journal"),
        (f"PRAGMA application_id = {layout.APPLICATION_ID}; PRAGMA user_version = 9", "version 9"),
    ],
)
def test_a_foreign_database_is_refused_with_a_sentence(folder, make, words):
    folder.mkdir()
    file = sqlite3.connect(folder / "journal-000000000001.db")
    file.executescript(make)
    file.close()
    with pytest.raises(JournalFormatError, match=words):
        Journal.open(folder)


def test_a_volume_with_other_meta_is_refused_with_a_sentence(folder):
    folder.mkdir()
    layout.create(folder / "journal-000000000001.db", {"chain": "x"})
    with pytest.raises(JournalFormatError, match="'meta' is not as a journal writes it"):
        Journal.open(folder)


def test_a_volume_is_never_made_over_another(journal):
    with pytest.raises(FileExistsError):
        layout.create(journal.live, {})


def test_the_place_of_a_sink_is_kept_over_a_restart(folder, entry):
    with Journal.open(folder) as journal:
        assert journal.cursor("mqtt") == 0
        journal.append([entry(1)])
        journal.move_cursor("mqtt", 1)
        assert journal.cursor("mqtt") == 1
    with Journal.open(folder) as journal:
        assert journal.cursor("mqtt") == 1


def saved_cursors(journal):
    reader = layout.open_reader(journal.live)
    found = {bytes(sink).decode(): seq for sink, seq in reader.execute("SELECT sink, seq FROM cursors")}
    reader.close()
    return found


def test_places_of_sinks_are_written_at_the_end_of_a_round_or_when_far_behind(journal, entry):
    journal.append([entry(1)])
    journal.move_cursor("mqtt", 1)
    journal.append([entry(2)])
    assert saved_cursors(journal) == {}, "not with every card: an SD card wears out"
    journal.append([entry(8)])
    assert saved_cursors(journal) == {"mqtt": 1}
    journal.move_cursor("display", CURSOR_STRIDE + 1)
    journal.append([entry(9)])
    assert saved_cursors(journal) == {"mqtt": 1, "display": CURSOR_STRIDE + 1}
    journal.move_cursor("mqtt", 3)
    journal.save_cursors()
    assert saved_cursors(journal)["mqtt"] == 3


def test_the_write_ahead_log_is_emptied_in_quiet_moments(journal, entry):
    log = journal.live.with_name(journal.live.name + "-wal")
    journal.append([entry(n, signed=False) for n in range(1, TIDY_AFTER_ENTRIES)])
    before = journal.live.stat().st_size
    journal.tidy()
    assert journal.live.stat().st_size == before, "too little to be worth it"
    journal.append([entry(n, signed=False) for n in range(TIDY_AFTER_ENTRIES, TIDY_AFTER_ENTRIES + 2)])
    journal.tidy()
    assert journal.live.stat().st_size > before
    size = log.stat().st_size
    journal.append([entry(n, signed=False) for n in range(2000, 2010)])
    assert log.stat().st_size == size, "the log is used again from its beginning"


def test_listeners_hear_of_commits_only(journal, entry):
    heard = []
    journal.listen(lambda seq, batch: heard.append((seq, len(batch))))
    journal.append([entry(1), entry(2)])
    with pytest.raises(DuplicateEventError):
        journal.append([entry(2)])
    journal.append([entry(3)])
    assert heard == [(1, 2), (3, 1)]


def test_without_a_key_nothing_is_signed(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(8)])
    assert [e.signature for e in read(folder)] == [None]


def test_a_second_key_is_listed_beside_the_first(folder, entry, key, tmp_path):
    from shoe_controller.journal.signing import SigningKey

    for signer in (key, SigningKey.open_or_create(tmp_path / "second.pem"), key):
        with Journal.open(folder, signer=signer) as journal:
            journal.append([entry(journal.last_seq * 8 + 8)])
            ids = {row[0] for row in journal._connection.execute("SELECT id FROM keys")}
    assert len(ids) == 2
    assert [e.signature[:8] in ids for e in read(folder)] == [True] * 3


def test_the_chain_id_is_new_for_each_journal(tmp_path):
    ids = set()
    for name in "abc":
        with Journal.open(tmp_path / name, table="BAC-07") as journal:
            ids.add(journal.chain_id)
            assert journal.volume.table == "BAC-07"
    assert len(ids) == 3


def test_new_entries_are_plain_values(entry):
    assert msgspec.structs.replace(entry(1), raw=b"") != entry(1)
