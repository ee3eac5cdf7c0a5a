"""Starting a new chain after damage, once a technician has said so by name."""

from collections.abc import Callable
from pathlib import Path

from shoe_controller.config import Config
from shoe_controller.doctor.journals import daemon_runs, damage
from shoe_controller.errors import CheckFailedError, UsageError
from shoe_controller.journal import volumes
from shoe_controller.journal.errors import JournalBusyError
from shoe_controller.journal.new_chain import NewChain, start_new_chain


def mend_journal(config: Config, confirm: Callable[[str, str], str], *, reason: str = "") -> NewChain:
    """Start a new chain if the journal is damaged and the answer to `confirm(what, name)` is the file's name."""
    folder = Path(config.journal.directory)
    if daemon_runs(folder):
        raise JournalBusyError("the daemon is running: sudo systemctl stop shoe-controller, then try again")
    everything = volumes.all_volume_paths(folder)
    if not everything:
        raise UsageError(f"{folder} holds no journal: the daemon begins one by itself")
    found = damage(folder)
    if not found:
        raise CheckFailedError("the journal is sound: the daemon goes on in it, and no new chain is needed")
    name = everything[-1].name
    if confirm(found, name) != name:
        raise UsageError(f"nothing was done: to go on, {name} must be named exactly")
    return start_new_chain(folder, table=config.table.name, reason=reason or found)
