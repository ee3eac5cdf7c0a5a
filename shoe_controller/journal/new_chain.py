"""Starting a new chain after damage: the damaged volume stays untouched, the new chain names its head."""

import os
import secrets
import sqlite3
from pathlib import Path

import msgspec

from shoe_controller.journal import archive, chain, layout, volumes
from shoe_controller.journal.check import own_hash
from shoe_controller.journal.errors import JournalError, JournalMissingError
from shoe_controller.journal.lock import lock_folder
from shoe_controller.journal.rows import entries_backwards

# Where the end of a damaged volume cannot be read, numbers beyond what is known may have been published: the new
# chain begins at the next multiple of this, so that no number is ever used for two facts.
ROUND_UP = 1_000_000


class NewChain(msgspec.Struct, frozen=True):
    """What was done."""

    path: Path  # the first volume of the new chain
    before: Path  # the volume before it, untouched, now set aside unless it is good and only its successor is gone
    after: str  # "chain seq link" of the old head as far as it could be read
    first_seq: int


def start_new_chain(folder: Path, *, table: str = "", reason: str = "") -> NewChain:
    """Set the newest volume aside and begin a chain that names its head. The daemon must not be running."""
    handle = lock_folder(folder)
    try:
        paths = volumes.all_volume_paths(folder)
        if not paths:
            raise JournalMissingError(f"{folder} holds no journal; there is nothing to set aside")
        before = paths[-1]
        head = _read_head(before)
        meta = volumes.new_chain_meta(secrets.token_hex(16), table or head.table, head.next_seq, head.after)
        hidden = archive.hide_volume(folder, meta, head.events, dict.fromkeys(head.sinks, head.next_seq - 1))
        if not head.sealed:
            # The note is what takes the old volume out of use. A crash before it leaves all as it was, one after
            # it a hidden volume that `archive.settle` brings into use.
            name = volumes.name_for(head.next_seq)
            text = f"{reason or 'set aside as damaged'}\nchain {meta['chain']} begins in {name}\n"
            archive.write_note(volumes.note_path(before), text)
        return NewChain(archive.reveal(hidden), before, head.after, head.next_seq)
    finally:
        os.close(handle)


class _Head(msgspec.Struct, frozen=True):
    next_seq: int
    after: str
    table: str = ""
    sealed: bool = False
    events: list[tuple[int, int, int]] = []
    sinks: list[str] = []


def _read_head(path: Path) -> _Head:
    """Return what can still be read of the end of a volume."""
    note = volumes.note_path(path)
    if note.exists():  # it was set aside before, and the volume that followed is gone
        return _unknown(volumes.first_seq_of(Path(archive.noted_successor(note))), "-")
    try:
        connection = layout.open_reader(path)
    except JournalError:
        return _unknown(volumes.first_seq_of(path), "-")
    name = "-"
    try:
        volume = volumes.read_volume(connection, path)
        name = volume.chain
        if volume.sealed:  # its successor is gone; how far that went, nobody knows
            next_seq, link, _ = volume.sealed
            after = f"{name} {next_seq - 1} {link.hex()}"
            return _Head(_round_up(next_seq), after, volume.table, True, *_carried(connection))
        last = next(entries_backwards(connection), None)
        if last is None:
            return _unknown(volume.first_seq, name)
        link = chain.link(last.hash, last.signature)
        after = f"{name} {last.seq + last.count - 1} {link.hex()}"
        next_seq = last.seq + last.count if own_hash(last) == last.hash else _round_up(last.seq)
        return _Head(next_seq, after, volume.table, False, *_carried(connection))
    except (JournalError, sqlite3.Error):
        return _unknown(volumes.first_seq_of(path), name)
    finally:
        connection.close()


def _carried(connection: sqlite3.Connection) -> tuple[list[tuple[int, int, int]], list[str]]:
    """Return what a new chain takes over: the device events that are known, and the names of the sinks."""
    sinks = [bytes(sink).decode() for (sink,) in connection.execute("SELECT sink FROM cursors")]
    return archive.event_ranges(connection), sinks


def _unknown(seq: int, name: str) -> _Head:
    return _Head(_round_up(seq), f"{name} ? ?")


def _round_up(seq: int) -> int:
    return (seq // ROUND_UP + 1) * ROUND_UP
