"""Archiving: the chain goes on in the next volume, and a crash at any step loses nothing."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from shoe_controller.journal import archive, chain, layout, volumes
from shoe_controller.journal.errors import (
    DuplicateEventError,
    JournalDeviceError,
    JournalMissingError,
    JournalReadOnlyError,
)
from shoe_controller.journal.reading import entries
from shoe_controller.journal.signing import checker, good_signature
from shoe_controller.journal.store import Journal

FIRST, SECOND = "journal-000000000001.db", "journal-000000000003.db"


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "lock")


def test_the_chain_goes_on_in_the_next_volume(folder, entry, key):
    with Journal.open(folder, table="BAC-07", signer=key) as journal:
        journal.append([entry(1), entry(8)])
        head, name = journal.head, journal.chain_id
        assert journal.archive() == folder / FIRST
        assert (journal.head, journal.last_seq, journal.chain_id) == (head, 2, name)
        assert journal.append([entry(9)]) == [3]
    assert names(folder) == [FIRST, SECOND]
    sealed, live = (volumes.look_at(folder / name) for name in (FIRST, SECOND))
    assert (live.first_seq, live.prev, live.predecessor, live.table) == (3, head, FIRST, "BAC-07")
    next_seq, link, signature = sealed.sealed
    assert (next_seq, link) == (3, head)
    assert good_signature(checker(key.public), chain.seal_statement(name, 3, head), signature)
    assert [e.prev for e in entries(folder, 1)][2] == head


def test_a_sealed_volume_takes_no_more_entries(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        sealed = journal.archive()
    with closing(sqlite3.connect(sealed)) as file:
        with pytest.raises(sqlite3.IntegrityError, match="finished"):
            file.execute(
                "INSERT INTO entries SELECT 2, 1, boot, 1, 1, 1, 'x', NULL, NULL, 'x', '', '', raw, prev, hash, NULL "
                "FROM entries"
            )
        for statement in ("DELETE FROM seal", "UPDATE seal SET next_seq = 1"):
            with pytest.raises(sqlite3.IntegrityError, match="never"):
                file.execute(statement)


def test_events_in_archived_volumes_are_recognised_for_ever(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(n, device=(5, n)) for n in (1, 2, 3, 7, 9, 8)])
        journal.append([entry(1, device=(6, 4_294_967_295))])
        journal.archive()
        journal.append([entry(1, device=(5, 4)), entry(1, device=(5, 10))])
        journal.archive()
        journal.archive()
        known = [n for n in range(12) if journal.has_event(5, n)]
        assert known == [1, 2, 3, 4, 7, 8, 9, 10]
        assert (journal.last_event(5), journal.last_event(6)) == (10, 4_294_967_295)
        ranges = journal._connection.execute("SELECT * FROM earlier_events").fetchall()
        assert ranges == [(5, 1, 4), (5, 7, 10), (6, 4_294_967_295, 4_294_967_295)]
        with pytest.raises(DuplicateEventError):
            journal.append([entry(1, device=(5, 8))])
        journal.append([entry(1, device=(5, 5))])


def test_places_of_sinks_move_to_the_next_volume(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        journal.move_cursor("mqtt", 1)
        journal.archive()
        assert journal.cursor("mqtt") == 1
    with Journal.open(folder) as journal:
        assert journal.cursor("mqtt") == 1


@pytest.mark.parametrize("policy, volumes_then", [("never", 1), ("shoe", 3), (1_000_000_000, 1), (25_000, 2)], ids=str)
def test_a_volume_ends_where_a_shoe_begins_as_the_policy_says(folder, entry, shoe, policy, volumes_then):
    with Journal.open(folder, archive_policy=policy) as journal:
        journal.append([shoe("S1")])
        journal.append([entry(n) for n in range(1, 101)])
        journal.append([shoe("S2"), entry(101)])
        journal.append([shoe("refused", facts=(b'{"type":"refused"}',))])
        journal.append([shoe("S3")])
    assert len(volumes.volume_paths(folder)) == volumes_then
    assert [e.seq for e in entries(folder, 1)] == list(range(1, 106))


def test_a_sealed_volume_is_one_plain_file_for_any_medium(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        sealed = journal.archive()
        assert not list(folder.glob(f"{sealed.name}-*"))
    file = sqlite3.connect(sealed)
    assert file.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    file.close()


def test_a_reader_does_not_keep_a_volume_from_being_archived(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        reader = layout.open_reader(journal.live)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM entries").fetchone() == (1,)
        sealed = journal.archive()
        journal.append([entry(2)])
        assert reader.execute("SELECT count(*) FROM entries").fetchone() == (1,)
        reader.close()
    assert volumes.look_at(sealed).sealed[0] == 2
    assert [e.seq for e in entries(folder, 1)] == [1, 2]


CRASH = """
import os, signal, sys
from pathlib import Path
from shoe_controller.journal import archive, layout, store
from shoe_controller.journal.entry import NewEntry, Stamp

folder, owner, name, when = Path(sys.argv[1]), *sys.argv[2:]

def entry(number):
    stamp = Stamp(boot="00" * 16, mono_ns=1, wall_ns=2, synced=False)
    return NewEntry(stamp, "shoe", "card", b"{}", (b'{"type":"card"}',), device=(1, number))

journal = store.Journal.open(folder)
journal.append([entry(1), entry(2)])
place = {"archive": archive, "layout": layout, "journal": store.Journal}[owner]
real = getattr(place, name)

def dying(*args, **kwargs):
    if when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    real(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(place, name, dying)
journal.archive()
raise SystemExit("the point was not reached")
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "owner, name",
    [
        ("archive", "prepare_successor"),
        ("archive", "_remove"),
        ("layout", "create"),
        ("layout", "sync_folder"),
        ("archive", "make_plain"),
        ("archive", "reveal"),
        ("journal", "_attach"),
    ],
)
def test_a_crash_at_any_step_of_archiving_loses_nothing(folder, entry, owner, name, when):
    done = subprocess.run([sys.executable, "-c", CRASH, folder, owner, name, when], check=False)
    assert done.returncode == -9
    with Journal.open(folder) as journal:
        assert journal.last_seq == 2
        assert journal.has_event(1, 2)
        assert journal.append([entry(3)]) == [3]
        journal.archive()
    found = list(entries(folder, 1))
    assert [e.seq for e in found] == [1, 2, 3]
    assert [e.prev for e in found[1:]] == [chain.link(e.hash, e.signature) for e in found[:-1]]
    assert not list(folder.glob("*.new*"))


def test_a_crash_while_the_next_volume_is_written_loses_nothing(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
    for suffix in ("", "-wal", "-journal"):
        (folder / f"journal-000000000002.db.new{suffix}").write_bytes(os.urandom(3000))
    with Journal.open(folder) as journal:
        assert journal.append([entry(2)]) == [2]
        journal.archive()
        assert journal.append([entry(3)]) == [3]


def test_the_live_volume_is_open_from_the_first_look_on_so_that_its_log_is_read_once(folder, entry):
    def is_open():
        return any(handle.resolve() == live for handle in Path("/proc/self/fd").iterdir())

    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        live = journal.live.resolve()
    assert not is_open()
    with archive.settled(folder) as found:
        assert found == journal.live
        assert is_open()
    assert not is_open()


def test_a_volume_that_a_killed_start_made_and_never_opened_is_gone_on_with(folder, entry):
    folder.mkdir()
    archive.publish_volume(folder, volumes.new_chain_meta("5" * 32, "north/B12"))
    with Journal.open(folder) as journal:
        assert journal.append([entry(1)]) == [1]
        assert journal._connection.execute("PRAGMA journal_mode").fetchone() == (b"wal",)


def test_a_start_makes_the_name_of_a_volume_durable_that_a_killed_start_left(folder, entry, monkeypatch):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
    synced = []
    monkeypatch.setattr(layout, "sync_folder", synced.append)
    with Journal.open(folder):
        assert synced == [folder]


def test_a_folder_that_cannot_be_made_durable_is_no_place_for_a_journal(folder, entry, monkeypatch):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])

    def fail(_folder):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(layout, "sync_folder", fail)
    with pytest.raises(JournalDeviceError, match="cannot be made durable: Input/output error"):
        Journal.open(folder)


def test_a_journal_whose_live_volume_was_taken_away_is_not_forked(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1), entry(2)])
        journal.archive()
        journal.append([entry(3)])
    (folder / SECOND).unlink()
    with pytest.raises(JournalMissingError, match=f"goes on after .*{FIRST} in {SECOND}, which is not there"):
        Journal.open(folder)


def test_a_plain_file_stays_wal_while_somebody_reads_it(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        live = journal.live
    reader = layout.open_reader(live)
    reader.execute("SELECT * FROM entries").fetchall()
    assert archive.make_plain(live) is False
    reader.close()
    assert archive.make_plain(live) is True


def test_files_are_found_by_folder_or_name(folder, entry, tmp_path):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        journal.archive()
    (folder / "journal-notes.db").touch()
    found = volumes.files_of([folder])
    assert [path.name for path in found] == [FIRST, "journal-000000000002.db"]
    assert volumes.files_of(found) == found
    with pytest.raises(JournalMissingError, match="no such file"):
        volumes.files_of([tmp_path / "nothing"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(JournalMissingError, match="holds no journal"):
        volumes.files_of([tmp_path / "empty"])


def test_a_folder_that_cannot_be_read_is_told_from_an_empty_one(tmp_path):
    folder = tmp_path / "journal"
    folder.symlink_to(folder)
    with pytest.raises(JournalReadOnlyError, match=f"the folder {folder} cannot be read: Too many levels"):
        volumes.volume_paths(folder)
