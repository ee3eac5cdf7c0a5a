"""The folder of the deck sets: one file for each set, written whole or not at all.

A file appears under its name only when it is complete and on disk. Ids are secret to the house (who knows them can
tell a card through its back with a reader), so that the files are for the controller's user and group only.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from shoe_controller.decks.deck_set import DeckSet, check_name, is_sound
from shoe_controller.decks.errors import DeckFileError, DeckFolderError, SetNameError
from shoe_controller.outside_json import NOT_UNDERSTOOD, why

SUFFIX = ".json"
FORMAT = 1
FOLDER_MODE, FILE_MODE = 0o750, 0o640


class _File(msgspec.Struct, frozen=True):
    """What is in a file."""

    format: int
    sha256: str
    set: DeckSet


def read_all(folder: Path) -> tuple[list[DeckSet], list[str]]:
    """Return the sets, by name, and a sentence about each file that is damaged. No folder: no sets."""
    sets: list[DeckSet] = []
    problems: list[str] = []
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX and not path.name.startswith("."))
    except FileNotFoundError:
        return [], []
    except OSError as error:
        raise _no_use(folder, error) from error
    for path in paths:
        try:
            sets.append(read(path))
        except DeckFileError as error:
            problems.append(str(error))
    return sets, problems


def read(path: Path) -> DeckSet:
    """Return the set in a file, or raise DeckFileError."""
    advice = "put it back from a backup, or move it away and register the set anew"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DeckFileError(f"the deck set {path} cannot be read: {error.strerror}") from error
    try:
        file = msgspec.json.decode(content, type=_File)
    except NOT_UNDERSTOOD as error:
        raise DeckFileError(f"the deck set {path} is damaged ({why(error)}): {advice}") from error
    if file.format != FORMAT:
        raise DeckFileError(f"the deck set {path} has format {file.format}, and this program knows {FORMAT}: update it")
    if file.set.sha256 != file.sha256 or not is_sound(file.set) or path.name != file.set.name + SUFFIX:
        raise DeckFileError(f"the deck set {path} is not what was registered, its hash does not fit: {advice}")
    return file.set


def check_free(folder: Path, name: str) -> None:
    """Raise what `add` would raise for this name and this folder: before a person reads 416 cards for nothing."""
    check_name(name)
    with _changing(folder):
        _check_name_is_new(name, _sound_sets(folder))
        if not os.access(folder, os.W_OK, effective_ids=True):
            raise _no_use(folder, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def add(folder: Path, deck_set: DeckSet) -> None:
    """Store a new set, or raise SetNameError if its name or one of its ids or its number is in use."""
    with _changing(folder):
        sets = _sound_sets(folder)
        _check_name_is_new(deck_set.name, sets)
        _check_cards_are_new(deck_set, sets)
        _write(folder, deck_set)


def retire(folder: Path, name: str, when: str) -> DeckSet:
    """Mark a set as retired and return it; from then on its cards are foreign."""
    path = folder / (check_name(name) + SUFFIX)
    if not path.exists():
        raise SetNameError(f"there is no deck set {name}: see `shoe-controller decks list`")
    with _changing(folder):
        before = read(path)
        if before.retired:
            raise SetNameError(f"the deck set {name} was retired already, on {before.retired}")
        after = msgspec.structs.replace(before, retired=when)
        _write(folder, after)
    return after


def _sound_sets(folder: Path) -> list[DeckSet]:
    sets, problems = read_all(folder)
    if problems:
        raise DeckFileError(f"nothing is registered while a set is damaged: {problems[0]}")
    return sets


def _check_name_is_new(name: str, sets: list[DeckSet]) -> None:
    for other in sets:
        if other.name.lower() == name.lower():
            state = f"retired on {other.retired}" if other.retired else "registered already"
            raise SetNameError(f"the deck set {other.name} is {state}: a name is used once, choose another")


def _check_cards_are_new(deck_set: DeckSet, sets: list[DeckSet]) -> None:
    for other in sets:
        if other.retired:
            continue
        if both := sorted(other.cards.keys() & deck_set.cards.keys()):
            raise SetNameError(
                f"{len(both)} of these ids belong to the set {other.name}, {both[0]} is the first: retire"
                f" {other.name} if these are its cards, else find out where copied ids come from"
            )
        if deck_set.optical is not None and other.optical == deck_set.optical:
            raise SetNameError(f"the optical number {other.optical} belongs to the set {other.name}: retire it first")


@contextmanager
def _changing(folder: Path) -> Iterator[None]:
    """Keep others from changing the folder meanwhile: two sets may not get the same ids at the same time."""
    try:
        if not folder.exists():
            folder.mkdir(FOLDER_MODE, parents=True)
            _hand_over(folder, folder.parent)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
            os.fsync(lock)
        finally:
            os.close(lock)
    except DeckFolderError:
        raise
    except OSError as error:
        raise _no_use(folder, error) from error


def _write(folder: Path, deck_set: DeckSet) -> None:
    content = msgspec.json.format(msgspec.json.encode(_File(FORMAT, deck_set.sha256, deck_set)), indent=1)
    part = folder / f".{deck_set.name}.part"
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    with os.fdopen(handle, "wb") as file:
        os.fchmod(handle, FILE_MODE)
        file.write(content + b"\n")
        file.flush()
        os.fsync(handle)
    _hand_over(part, folder)
    part.replace(folder / (deck_set.name + SUFFIX))


def _hand_over(path: Path, model: Path) -> None:
    """Give what root made to the owner of the folder: the controller does not run as root and must read it."""
    if os.geteuid() == 0:
        owner = model.stat()
        os.chown(path, owner.st_uid, owner.st_gid)


def _no_use(folder: Path, error: OSError) -> DeckFolderError:
    advice = (
        ": run this as the controller's user, as in sudo -u shoe-controller"
        if error.errno in (errno.EPERM, errno.EACCES)
        else ""
    )
    return DeckFolderError(f"the folder of the deck sets, {folder}, cannot be used: {error.strerror}{advice}")
