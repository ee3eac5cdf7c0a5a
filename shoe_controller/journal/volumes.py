"""The files of a journal: one folder, a volume for each stretch of the chain, named by its first fact.

`journal-000000000001.db`, `journal-000000004712.db`, …: the last one is live, the others are sealed. A sealed
volume may be moved to another medium; verification and export take it from there. A damaged volume that was set
aside stays untouched where it is; a note beside it (`journal-000000004712.db.damaged`) takes it out of use.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from shoe_controller.journal import layout
from shoe_controller.journal.chain import genesis, origin
from shoe_controller.journal.errors import JournalFormatError, JournalMissingError, JournalReadOnlyError, from_sqlite

PREFIX = "journal-"
SUFFIX = ".db"
NOTE = ".damaged"


class Volume(msgspec.Struct, frozen=True):
    """What a volume says of itself."""

    path: Path
    chain: str  # 32 hexadecimal digits, drawn when the chain began
    table: str
    origin: str  # the text that the chain begins with
    first_seq: int
    prev: bytes  # what the first entry must have as prev
    predecessor: str  # the volume before, empty if the chain begins here
    sealed: tuple[int, bytes, bytes | None] | None  # next seq, link, signature

    @property
    def starts_chain(self) -> bool:
        """Tell whether the chain begins in this volume."""
        return not self.predecessor


def name_for(first_seq: int) -> str:
    """Return the file name of the volume that begins with this fact."""
    return f"{PREFIX}{first_seq:012d}{SUFFIX}"


def first_seq_of(path: Path) -> int:
    """Return the first fact of a volume, from its name."""
    return int(path.name.removeprefix(PREFIX).removesuffix(SUFFIX))


def volume_paths(folder: Path) -> list[Path]:
    """Return the volumes in a folder that are in use, in the order of their facts."""
    names = _names(folder)
    return [folder / name for name in _volume_names(names) if name + NOTE not in names]


def all_volume_paths(folder: Path) -> list[Path]:
    """Return the volumes in a folder, those set aside as damaged too, in the order of their facts."""
    return [folder / name for name in _volume_names(_names(folder))]


def _names(folder: Path) -> frozenset[str]:
    """Return what is in a folder; nothing if there is no such folder."""
    try:
        return frozenset(os.listdir(folder))  # noqa: PTH208 - names are all that is wanted, and each start asks often
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        raise JournalReadOnlyError(f"the folder {folder} cannot be read: {error.strerror}") from error


def _volume_names(names: frozenset[str]) -> list[str]:
    return sorted(
        name
        for name in names
        if name.startswith(PREFIX) and name.endswith(SUFFIX) and name[len(PREFIX) : -len(SUFFIX)].isdigit()
    )


def note_path(path: Path) -> Path:
    """Return the name of the note that says that a volume was set aside as damaged."""
    return path.with_name(path.name + NOTE)


def files_of(paths: list[Path]) -> list[Path]:
    """Return the journal files that a person named: files as they are, folders by the volumes in them."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = all_volume_paths(path)
            if not found:
                raise JournalMissingError(f"{path} holds no journal (no file named {PREFIX}*{SUFFIX})")
            files += found
        elif path.exists():
            files.append(path)
        else:
            raise JournalMissingError(f"{path}: there is no such file or folder")
    return files


def look_at(path: Path) -> Volume:
    """Return what the volume in a file says of itself."""
    with looking_at(path) as volume:
        return volume


@contextmanager
def looking_at(path: Path) -> Iterator[Volume]:
    """Give what the volume in a file says of itself, and keep it open for reading meanwhile."""
    connection = layout.open_reader(path)
    try:
        try:
            volume = read_volume(connection, path)
        except sqlite3.Error as error:
            raise from_sqlite(error, path, "reading the journal") from error
        yield volume
    finally:
        connection.close()


def new_chain_meta(chain: str, table: str, first_seq: int = 1, after: str = "-") -> dict[str, str]:
    """Return the `meta` rows of a volume in which a chain begins."""
    text = origin(chain, table, after)
    return {
        "chain": chain,
        "table": table,
        "origin": text,
        "first_seq": str(first_seq),
        "prev": genesis(text).hex(),
        "predecessor": "",
    }


def successor_meta(volume: Volume, next_seq: int, head: bytes) -> dict[str, str]:
    """Return the `meta` rows of the volume that goes on where this one ends."""
    return {
        "chain": volume.chain,
        "table": volume.table,
        "origin": volume.origin,
        "first_seq": str(next_seq),
        "prev": head.hex(),
        "predecessor": volume.path.name,
    }


def read_volume(connection: sqlite3.Connection, path: Path) -> Volume:
    """Return what the volume says of itself."""
    meta = {
        bytes(name).decode(errors="replace"): bytes(value).decode(errors="replace")
        for name, value in connection.execute("SELECT name, value FROM meta")
    }
    try:
        return Volume(
            path=path,
            chain=meta["chain"],
            table=meta["table"],
            origin=meta["origin"],
            first_seq=int(meta["first_seq"]),
            prev=bytes.fromhex(meta["prev"]),
            predecessor=meta["predecessor"],
            sealed=connection.execute("SELECT next_seq, link, signature FROM seal").fetchone(),
        )
    except (KeyError, ValueError) as error:
        raise JournalFormatError(f"{path}: the table 'meta' is not as a journal writes it ({error})") from error
