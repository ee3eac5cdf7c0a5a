"""The simulated disk: SQLite's files on a medium that forgets what was not synced. simdisk.c says how."""

import contextlib
import ctypes as c
import functools
import hashlib
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

from tests.firmware_protocol.c_reference import gcc

SOURCE = Path(__file__).with_name("simdisk.c")
HEADER = Path("/usr/include/sqlite3.h")
_PROVED = []
SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_READONLY = 13, 10 | (3 << 8), 8


@functools.cache
def library():
    """Compile the disk, or load it as compiled before."""
    assert HEADER.exists(), "sqlite3.h is missing: install it (apt install libsqlite3-dev) to simulate a disk"
    name = f"simdisk-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]}-{os.getuid()}.so"
    path = Path(tempfile.gettempdir()) / name
    if not path.exists():
        part = path.with_suffix(f".{os.getpid()}")
        gcc("-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", SOURCE, "-o", part, "-lsqlite3")
        part.replace(path)
    loaded = c.CDLL(str(path))
    loaded.simdisk_operations.restype = c.c_long
    loaded.simdisk_syncs.restype = c.c_long
    loaded.simdisk_plan.argtypes = [c.c_long, c.c_long, c.c_int]
    loaded.simdisk_lose_cache.argtypes = [c.c_uint64, c.POINTER(c.c_int)]
    return loaded


def memory_folder():
    """Make a folder on a file system in memory, where there is one."""
    shared = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="simulation-", dir=shared if shared.is_dir() else None))


class Disk:
    """One disk in the process: while it is in use, every SQLite file is on it."""

    def __init__(self):
        self._library = library()
        self.folder = memory_folder()
        self.unsynced = 0  # changes that were in the cache when the power failed
        self.lost = 0  # those of them that did not reach the medium whole
        self.names_lost = 0
        self._names = {}  # of each folder, what the names of its files were when it was last synced

    def __enter__(self):
        assert self._library.simdisk_register() == 0, "SQLite does not take the simulated disk"
        self._library.simdisk_reset()
        if not _PROVED:
            self._prove()
            _PROVED.append(True)
        return self

    def _prove(self):
        """See to it that Python's own SQLite writes to this disk: it may have a library of its own built in."""
        with contextlib.closing(sqlite3.connect(self.folder / "proof.db")) as connection:
            connection.execute("CREATE TABLE proof (of TEXT)")
        assert self.operations, "Python's sqlite3 does not use the system's libsqlite3: simulate with another Python"
        self._library.simdisk_reset()

    def __exit__(self, *_):
        self._library.simdisk_reset()
        self._library.simdisk_unregister()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def dead(self):
        return bool(self._library.simdisk_is_dead())

    @property
    def operations(self):
        return self._library.simdisk_operations()

    @property
    def syncs(self):
        return self._library.simdisk_syncs()

    def lie(self):
        """Say of every sync that it was done, and do nothing: the disk of the control experiment."""
        self._library.simdisk_lie(1)

    def stop(self):
        """Take no operation any more: the program that used the disk is gone."""
        self._library.simdisk_power(0)

    def go_on(self):
        self._library.simdisk_plan(0, 0, 0)
        self._library.simdisk_power(1)

    def plan_cut(self, operations):
        """Cut the power at the n-th change of the disk from now."""
        self._library.simdisk_plan(operations, 0, 0)

    def plan_failure(self, operations, code):
        """Let every change from the n-th on fail with an error of SQLite."""
        self._library.simdisk_plan(0, operations, code)

    def lose_cache(self, seed):
        """Lose what a power cut loses."""
        lost = c.c_int()
        self.unsynced += self._library.simdisk_lose_cache(seed, c.byref(lost))
        self.lost += lost.value

    def sync_names(self, folder):
        """Make the names in a folder durable."""
        self._names[folder] = {entry.inode(): entry.name for entry in os.scandir(folder)}

    def lose_names(self, chance):
        """Lose new names of files that a power cut finds not synced: each of them, or not."""
        for folder, synced in self._names.items():
            for entry in tuple(os.scandir(folder)):
                before = synced.get(entry.inode(), entry.name)
                if before != entry.name and not (folder / before).exists() and chance.random() < 0.5:
                    (folder / entry.name).rename(folder / before)
                    self.names_lost += 1
