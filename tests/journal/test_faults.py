"""Killed writers, full disks, read-only files: what was committed is there, what failed is not."""

import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import deque
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from shoe_controller.journal import chain, layout
from shoe_controller.journal.check import check_end
from shoe_controller.journal.errors import (
    JournalBusyError,
    JournalDamagedError,
    JournalDeviceError,
    JournalError,
    JournalFullError,
    JournalMissingError,
    JournalReadOnlyError,
    from_sqlite,
)
from shoe_controller.journal.reading import Reader, entries
from shoe_controller.journal.store import Journal

WRITER = Path(__file__).with_name("writer.py")


def start_writer(folder, batch_size=1, until=10**9, **options):
    return subprocess.Popen(
        [sys.executable, WRITER, folder, str(batch_size), str(until)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def assert_sound(folder, acked):
    """Nothing acked is lost, nothing is doubled, the chain holds over all volumes."""
    found = list(entries(folder, 1))
    numbers = [entry.device[1] for entry in found]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= acked
    for entry, following in pairwise(found):
        assert following.prev == chain.link(entry.hash, entry.signature)
        assert following.seq == entry.seq + entry.count
    assert check_end(folder).problems == ()
    return len(numbers)


@pytest.mark.parametrize("batch_size", [1, 7])
def test_a_writer_killed_at_any_moment_loses_no_entry_that_it_acked(folder, batch_size):
    chance = random.Random(batch_size)
    acked = 0
    for _ in range(10):
        with start_writer(folder, batch_size) as writer:
            for _ in range(chance.randrange(1, 120)):
                acked = int(writer.stdout.readline())
            writer.send_signal(signal.SIGKILL)
            rest = writer.stdout.read().splitlines()
            writer.stderr.read()
        whole = [line for line in rest if line.isdigit()]
        acked = int(whole[-1]) if whole else acked
        assert_sound(folder, acked)


@pytest.fixture
def small_disk(tmp_path):
    """Return a mounted file system of 1 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.fail(f"these tests mount a small tmpfs and must run as root: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_a_full_disk_is_told_as_such_and_mending_it_goes_on_without_loss(small_disk):
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(400_000))
    folder = small_disk / "journal"
    with start_writer(folder) as writer:
        output, errors = writer.communicate(timeout=60)
    assert writer.returncode == 3
    assert errors.startswith("JournalFullError: ")
    assert "no space left on the disk; make room" in errors
    acked = int(output.split()[-1])
    ballast.unlink()
    assert assert_sound(folder, acked) == acked
    with start_writer(folder, until=acked + 20) as writer:
        output, errors = writer.communicate(timeout=60)
    assert (writer.returncode, errors) == (0, "")
    assert_sound(folder, acked + 20)


def test_a_journal_goes_on_in_the_same_process_once_there_is_room(small_disk, entry):
    with Journal.open(small_disk / "journal") as journal:
        journal.append([entry(1)])
        ballast = small_disk / "ballast"
        with ballast.open("wb") as file, pytest.raises(OSError, match="No space left"):
            file.write(bytes(2_000_000))
        with pytest.raises(JournalFullError):
            deque(journal.append([entry(number)]) for number in range(2, 500))
        last = journal.last_seq
        assert not journal.has_event(77, last + 1)
        ballast.unlink()
        assert journal.append([entry(last + 1)]) == [last + 1]
    assert [e.seq for e in entries(small_disk / "journal", 1)] == list(range(1, last + 2))


def test_a_file_that_may_not_grow_is_an_error_in_words(folder):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    with start_writer(folder, preexec_fn=limit) as writer:
        output, errors = writer.communicate(timeout=60)
    assert writer.returncode == 3
    assert errors.startswith("Journal")
    acked = int(output.split()[-1])
    assert assert_sound(folder, acked) == acked


def test_a_read_only_file_system_is_told_as_such(small_disk, entry):
    folder = small_disk / "journal"
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(JournalReadOnlyError, match="cannot be written: Read-only file system"):
        Journal.open(folder)
    with pytest.raises(JournalReadOnlyError, match="cannot be made: Read-only file system"):
        Journal.open(small_disk / "other")
    assert [e.seq for e in entries(folder, 1)] == [1], "reading needs no writing"
    assert check_end(folder).ok


AS_NOBODY = """
import os, sys, pathlib, urllib.parse  # which pathlib asks for only when it is nobody, since Python 3.13
from shoe_controller.journal.store import Journal
os.setgid(65534)
os.setuid(65534)
try:
    Journal.open(pathlib.Path(sys.argv[1]))
except PermissionError as error:
    print(type(error).__name__, error)
"""


def test_a_file_without_permission_is_told_as_such(entry):
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = Path(place, "journal")
        with Journal.open(folder) as journal:
            journal.append([entry(1)])
        folder.chmod(0o755)
        journal.live.chmod(0o444)
        (folder / "lock").chmod(0o666)
        done = subprocess.run([sys.executable, "-c", AS_NOBODY, folder], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("JournalReadOnlyError "), done.stderr
    assert "writable" in done.stdout


@pytest.mark.parametrize(
    "name, kind, words",
    [
        ("SQLITE_FULL", JournalFullError, "make room"),
        ("SQLITE_READONLY_DBMOVED", JournalReadOnlyError, "writable"),
        ("SQLITE_BUSY", JournalBusyError, "another program"),
        ("SQLITE_CORRUPT", JournalDamagedError, "keep the file"),
        ("SQLITE_IOERR_FSYNC", JournalDeviceError, "system log"),
        ("SQLITE_CANTOPEN", JournalMissingError, "no such file"),
        ("SQLITE_ERROR", JournalError, "failed"),
    ],
)
def test_each_error_of_sqlite_has_a_sentence(tmp_path, name, kind, words):
    error = sqlite3.OperationalError("words of SQLite")
    error.sqlite_errorname = name
    told = from_sqlite(error, tmp_path / "journal.db", "appending to")
    assert type(told) is kind
    assert words in str(told)


def test_an_error_on_a_disk_without_room_is_a_full_disk(small_disk):
    (small_disk / "ballast").write_bytes(bytes(1_000_000))
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_WRITE"
    assert isinstance(from_sqlite(error, small_disk / "journal.db", "appending to"), JournalFullError)
    assert isinstance(from_sqlite(error, small_disk / "gone" / "x.db", "appending to"), JournalDeviceError)


def test_after_a_disk_error_only_a_fresh_start_appends_again(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
        assert isinstance(journal._failed(error), JournalDeviceError)
        with pytest.raises(JournalDeviceError):
            journal.append([entry(2)])
    with Journal.open(folder) as journal:
        assert journal.append([entry(2)]) == [2]


def test_a_closed_journal_says_so(folder, entry):
    journal = Journal.open(folder)
    journal.close()
    journal.close()
    for use in (lambda: journal.append([entry(1)]), lambda: journal.has_event(1, 1), journal.tidy, journal.archive):
        with pytest.raises(JournalError, match="closed"):
            use()


def test_reading_a_damaged_page_names_the_file(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(n) for n in range(1, 200)])
        path = journal.live
    data = bytearray(path.read_bytes())
    for page in range(20, len(data) // layout.PAGE_SIZE):
        data[page * layout.PAGE_SIZE : page * layout.PAGE_SIZE + 100] = bytes(100)
    path.write_bytes(data)
    with closing(Reader(folder)) as reader, pytest.raises(JournalDamagedError, match=path.name):
        reader.facts(0, 1000)
    with pytest.raises(JournalDamagedError, match=path.name):
        list(entries(folder, 1))
