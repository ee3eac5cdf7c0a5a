"""A process that plays shoes into a journal and records, on another disk, what it was told is safe.

    python -m tests.soak.disk_writer FOLDER LOG RECORD ENTRIES SEED [--careless]

A line of the record: where the disk's log ended when the commit returned, the last seq, the chain's head, the volume.
"""

import argparse
import random
from itertools import islice
from pathlib import Path

from shoe_controller.journal.signing import SigningKey
from shoe_controller.journal.store import Journal
from tests.journal.table import Table

BURST = 6  # entries of one commit, at most
TABLE = "macau/b7"


class CarelessJournal(Journal):
    """The same journal without a flush at each commit: what a power cut does to it shows that the cut is real."""

    def _attach(self, live: Path) -> None:
        super()._attach(live)
        self._connection.execute("PRAGMA synchronous = OFF")


def write(folder: Path, log: Path, record: Path, entries: int, seed: int, kind: type[Journal]) -> None:
    chance = random.Random(seed)
    table = Table(seed=seed, wagers=1)
    key = SigningKey.open_or_create(folder / "signing.key")
    with (
        record.open("w") as told,
        kind.open(folder / "journal", table=TABLE, signer=key, archive_policy="shoe") as journal,
    ):
        while table.number < entries:
            shoe = table.play_shoe()
            while batch := list(islice(shoe, chance.randint(1, BURST))):
                journal.append(batch)
                print(log.stat().st_size, journal.last_seq, journal.head.hex(), journal.live.name, file=told)
                journal.move_cursor("display", journal.last_seq)
                if chance.random() < 0.02:
                    journal.tidy()


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("folder", "log", "record"):
        parser.add_argument(name, type=Path)
    parser.add_argument("entries", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--careless", action="store_true")
    args = parser.parse_args()
    kind = CarelessJournal if args.careless else Journal
    write(args.folder, args.log, args.record, args.entries, args.seed, kind)


if __name__ == "__main__":
    main()
