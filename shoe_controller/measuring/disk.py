"""The journal on this machine's disk: how long a card waits for it, what it writes, how fast it is verified."""

import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from shoe_controller.errors import UsageError
from shoe_controller.journal.codec import encode_fact, encode_input
from shoe_controller.journal.entry import NewEntry
from shoe_controller.journal.signing import SigningKey
from shoe_controller.journal.store import Journal
from shoe_controller.journal.verification import verify
from shoe_controller.journal.volumes import files_of
from shoe_controller.measuring.measured import Measured, percentile
from shoe_controller.measuring.play import inputs
from shoe_controller.service.clock import TableClock
from shoe_controller.session.facts import Round
from shoe_controller.session.inputs import AnyInput, DrawCard
from shoe_controller.session.session import Session

RAW = bytes(40)  # a frame of the open protocol
BATCH = 500
IO = Path("/proc/self/io")


class _Table:
    """Entries as the daemon makes them."""

    def __init__(self) -> None:
        self._session = Session("table")
        self._play = inputs(self._session)
        self._clock = TableClock(secrets.token_hex(16))
        self._cards = 0

    def entry(self) -> tuple[AnyInput, NewEntry]:
        """Return what happens next and its entry."""
        happened = next(self._play)
        facts = self._session.handle(happened)
        card = isinstance(happened, DrawCard)
        self._cards += card
        entry = NewEntry(
            stamp=self._clock.stamp(),
            source="shoe" if card else "panel",
            kind=str(happened.__struct_config__.tag),
            body=encode_input(happened),
            facts=tuple(encode_fact(fact) for fact in facts),
            device=(1, self._cards) if card else None,
            raw=RAW if card else b"",
            signed=any(isinstance(fact, Round) for fact in facts),
        )
        return happened, entry


def measure_disk(directory: Path, cards: int, verified: int) -> Iterator[Measured]:
    """Commit cards one by one in a folder of its own, which is taken away again, and verify what is there."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="shoe-controller-bench-", dir=directory)
    except OSError as error:
        raise UsageError(f"{directory}: cannot be measured: {error.strerror}") from error
    with folder as name:
        journal = Path(name) / "journal"
        signer = SigningKey.open_or_create(Path(name) / "signing.key")
        table = _Table()
        with Journal.open(journal, table="bench", signer=signer) as opened:
            yield from _commits(opened, table, cards)
            for _ in range(0, verified, BATCH):
                opened.append([table.entry()[1] for _ in range(BATCH)])
        start = time.perf_counter()
        outcome = verify(files_of([journal]), jobs=1)
        taken = time.perf_counter() - start
        assert outcome.ok, "a journal that was just written is not sound"
        yield Measured("journal verified, one core", outcome.entries / taken, "entries/s")


def _commits(journal: Journal, table: _Table, cards: int) -> Iterator[Measured]:
    waited: list[float] = []
    before = written(journal.folder)
    while len(waited) < cards:
        happened, entry = table.entry()
        start = time.perf_counter()
        journal.append([entry])
        if isinstance(happened, DrawCard):
            waited.append((time.perf_counter() - start) * 1000)
    amount = written(journal.folder) - before
    yield Measured("card on disk, half of them within", percentile(waited, 0.5), "ms")
    yield Measured("card on disk, 99 of 100 within", percentile(waited, 0.99), "ms")
    yield Measured("card on disk, the slowest", max(waited), "ms")
    yield Measured("written for a card and its share of the round", amount / cards, "bytes")


def written(folder: Path, io: Path = IO) -> int:
    """Return the bytes that this process gave to the disk so far; where the kernel does not say, what files hold."""
    try:
        lines = io.read_text(encoding="ascii").splitlines()
    except OSError:
        return sum(path.stat().st_size for path in folder.iterdir())
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))
