"""Opening the journal at a start: key, check, replay, and the entry that says that we started."""

from pathlib import Path

import msgspec

from shoe_controller import __version__
from shoe_controller.config import Config, changed_keys
from shoe_controller.journal.codec import encode_fact, encode_input
from shoe_controller.journal.entry import NewEntry
from shoe_controller.journal.errors import JournalError, JournalReadOnlyError
from shoe_controller.journal.signing import SigningKey
from shoe_controller.journal.store import Journal
from shoe_controller.outside_json import NOT_UNDERSTOOD
from shoe_controller.service.clock import TableClock
from shoe_controller.service.recovery import rebuild
from shoe_controller.session.inputs import AnyInput, ChangeConfig, Start
from shoe_controller.session.session import Session

SOURCE = "controller"
# What was in force at the last start, so that a change can be named key by key.
IN_FORCE = "configuration.json"


class Opened(msgspec.Struct, frozen=True):
    """A journal that is open for writing, and the table as it left it."""

    journal: Journal
    session: Session
    frames: tuple[bytes, ...]  # the last frames of the shoe
    replayed: int


def open_table(config: Config, clock: TableClock) -> Opened:
    """Open, check and replay the journal and commit that we started; raise JournalError with a sentence.

    After an error nothing is held: it can be tried again once somebody has mended what is wrong.
    """
    folder = Path(config.journal.directory)
    signer = SigningKey.open_or_create(Path(config.journal.signing_key_file))
    journal = Journal.open(
        folder,
        table=f"{config.table.site}/{config.table.name}",
        signer=signer,
        archive_policy=config.journal.archive_policy,
    )
    try:
        recovered = rebuild(folder)
        _commit(journal, recovered.session, clock, Start(version=__version__, config_hash=config.hash))
        _note_change(journal, recovered.session, clock, config)
    except BaseException:
        journal.close()
        raise
    return Opened(journal, recovered.session, recovered.frames, recovered.entries)


def _commit(journal: Journal, session: Session, clock: TableClock, happened: AnyInput) -> None:
    facts = session.handle(happened)
    entry = NewEntry(
        stamp=clock.stamp(),
        source=SOURCE,
        kind=str(happened.__struct_config__.tag),
        body=encode_input(happened),
        facts=tuple(encode_fact(fact) for fact in facts),
    )
    journal.append([entry])


def _note_change(journal: Journal, session: Session, clock: TableClock, config: Config) -> None:
    path = journal.folder / IN_FORCE
    now = config.flat()
    before = _read(path)
    if before == now:
        return
    if before is not None:
        change = ChangeConfig(config_hash=config.hash, changed=changed_keys(before, now))
        _commit(journal, session, clock, change)
    try:
        part = path.with_suffix(".part")
        part.write_bytes(msgspec.json.encode(now))
        part.replace(path)
    except OSError as error:
        raise JournalReadOnlyError(f"{path} cannot be written: {error.strerror}") from error


def _read(path: Path) -> dict[str, str] | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except FileNotFoundError:
        return None
    except (OSError, *NOT_UNDERSTOOD):
        return {}  # unreadable: every key counts as changed, which is the safe side


__all__ = ["IN_FORCE", "JournalError", "Opened", "open_table"]
