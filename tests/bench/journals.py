"""Journals to measure with: a table that plays, signed, as the daemon would have written it; kept below build/."""

import shutil
import sys
from itertools import islice
from pathlib import Path

from shoe_controller.journal.signing import SigningKey
from shoe_controller.journal.store import Journal
from tests.bench.figures import BUILD
from tests.journal.table import Table

BATCH = 4000
TROUBLE = 0.0005  # irregularities a card
SEED = 5


def played(rounds: int) -> Path:
    """Return the folder of a journal with at least so many rounds; made once."""
    folder = BUILD / "bench-journals" / f"{rounds}-rounds"
    if (folder / "complete").exists():
        return folder / "journal"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    key = SigningKey.open_or_create(folder / "table.pem")
    table = Table(seed=SEED, trouble=TROUBLE)
    done = 0
    with Journal.open(folder / "journal", table="BENCH", signer=key) as journal:
        while done < rounds:
            entries = iter(table.play_shoe())
            while batch := list(islice(entries, BATCH)):
                journal.append(batch)
                done += sum(entry.kind == "result" for entry in batch)
            if sys.stderr.isatty():
                print(f"\r  playing {rounds:,} rounds into a journal: {done:,} ", end="", file=sys.stderr)
    (folder / "complete").touch()
    return folder / "journal"
