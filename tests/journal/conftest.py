"""What the tests of the journal share: a key, entries as a table makes them, and a folder that holds some."""

import shutil
from itertools import islice
from pathlib import Path

import pytest

from shoe_controller.journal.entry import NewEntry, Stamp
from shoe_controller.journal.signing import SigningKey
from shoe_controller.journal.store import Journal
from tests.journal.table import Table

BOOT = "0123456789abcdef" * 2


@pytest.fixture(scope="session")
def key(tmp_path_factory):
    return SigningKey.open_or_create(tmp_path_factory.mktemp("key") / "table.pem")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "journal"


@pytest.fixture
def entry():
    """Return a function that makes the n-th card of a table."""

    def make(number, **changes):
        fields = {
            "stamp": Stamp(boot=BOOT, mono_ns=number * 1_000, wall_ns=1_700_000_000_000_000_000 + number, synced=True),
            "source": "shoe",
            "kind": "card",
            "body": b'{"type":"card","code":"4d"}',
            "facts": (b'{"type":"card","number":%d}' % number,),
            "device": (77, number),
            "raw": b"\x00frame\xff%d" % number,
            "signed": number % 8 == 0,
        }
        return NewEntry(**(fields | changes))

    return make


@pytest.fixture
def shoe():
    """Return a function that makes an entry with which a shoe comes into play."""

    def make(name="S1", *, facts=None):
        return NewEntry(
            stamp=Stamp(boot=BOOT, mono_ns=1, wall_ns=2, synced=False),
            source="controller",
            kind="shoe",
            body=b'{"type":"shoe","game":"no-commission","decks":8,"id":"%b"}' % name.encode(),
            facts=facts or (b'{"type":"shoe_loaded","shoe":"%b"}' % name.encode(),),
        )

    return make


@pytest.fixture
def journal(folder, key):
    with Journal.open(folder, table="BAC-07", signer=key) as opened:
        yield opened


def volume_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.db"))


@pytest.fixture(scope="session")
def played_once(tmp_path_factory, key):
    """Return a folder with three shoes of a troubled table, each in a volume of its own; nobody may change it."""
    folder = tmp_path_factory.mktemp("played") / "journal"
    table = Table(seed=5, trouble=0.02, wagers=1)
    with Journal.open(folder, table="BAC-07", signer=key, archive_policy="shoe") as journal:
        for _ in range(3):
            for batch in batched(table.play_shoe(), 50):
                journal.append(batch)
    return folder


@pytest.fixture
def played(played_once, tmp_path):
    """Return a copy of the folder with three shoes."""
    return Path(shutil.copytree(played_once, tmp_path / "played"))


def batched(things, size):
    """Yield lists of so many things."""
    things = iter(things)
    return iter(lambda: list(islice(things, size)), [])
