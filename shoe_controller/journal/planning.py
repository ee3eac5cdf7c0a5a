"""The plan of a verification: which volumes follow each other, and the stretches that workers verify."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from shoe_controller.journal import chain, layout, volumes
from shoe_controller.journal.check import Problem
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.recovery import loads_shoe
from shoe_controller.journal.signing import KEY_ID_SIZE, checker, good_signature
from shoe_controller.journal.stretch import BEFORE_ALL, Piece, Stretch
from shoe_controller.journal.volumes import Volume

# A stretch takes about a quarter of a second: long enough to be worth sending to a worker, short enough for progress.
STRETCH_FACTS = 40_000


class Findings(msgspec.Struct):
    """What was found about the volumes as such."""

    problems: list[Problem] = []
    notes: list[str] = []

    def problem(self, path: Path, kind: str, what: str) -> None:
        """Add a problem of a volume as a whole."""
        self.problems.append(Problem(path.name, None, kind, what))


class KnownVolume(msgspec.Struct, frozen=True):
    """A volume with what the plan needs of its entries."""

    volume: Volume
    last_seq: int  # BEFORE_ALL if there are no entries
    next_seq: int
    shoes: list[int]  # entries in which a shoe came into play
    keys: dict[bytes, bytes]


def look_at_volumes(files: Sequence[Path], findings: Findings) -> list[KnownVolume]:
    """Return what the plan needs of each volume, in the order of their facts."""
    known: list[KnownVolume] = []
    for path in files:
        try:
            connection = layout.open_reader(path)
            try:
                for change in layout.schema_changes(connection):
                    findings.problem(path, "schema", change)
                known.append(_look_at(connection, path))
            finally:
                connection.close()
        except (JournalError, sqlite3.Error) as error:
            findings.problem(path, "file", str(error))
        if volumes.note_path(path).exists():
            findings.notes.append(f"{path.name} was set aside as damaged")
    known.sort(key=lambda one: (one.volume.first_seq, one.volume.chain))
    return known


def _look_at(connection: sqlite3.Connection, path: Path) -> KnownVolume:
    volume = volumes.read_volume(connection, path)
    last = connection.execute("SELECT seq, count FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
    shoes = [
        seq
        for seq, facts in connection.execute("SELECT seq, facts FROM entries WHERE kind = 'shoe' ORDER BY seq")
        if _loads(facts)
    ]
    keys = {bytes(name): bytes(public) for name, public in connection.execute("SELECT id, public FROM keys")}
    return KnownVolume(
        volume=volume,
        last_seq=last[0] if last else BEFORE_ALL,
        next_seq=sum(last) if last else volume.first_seq,
        shoes=shoes,
        keys=keys,
    )


def _loads(facts: bytes) -> bool:
    try:
        return loads_shoe(facts)
    except msgspec.DecodeError:
        return False


def runs(known: list[KnownVolume], findings: Findings) -> Iterator[list[KnownVolume]]:
    """Yield volumes that follow each other without a gap, and say where something is missing between them."""
    chains: dict[str, list[KnownVolume]] = {}
    for one in known:
        chains.setdefault(one.volume.chain, []).append(one)
    for members in chains.values():
        _check_origin(members[0], chains, findings)
        run: list[KnownVolume] = []
        for one in members:
            if run and not _follows(run[-1], one, findings):
                yield run
                run = []
            run.append(one)
        yield run


def _check_origin(first: KnownVolume, chains: dict[str, list[KnownVolume]], findings: Findings) -> None:
    volume = first.volume
    if not volume.starts_chain:
        findings.notes.append(
            f"{volume.path.name} begins with fact {volume.first_seq}; what came before was not among the files"
        )
        return
    expected = chain.origin(volume.chain, volume.table, volume.origin.rstrip("\n").rpartition("after ")[2])
    if chain.genesis(volume.origin) != volume.prev or volume.origin != expected:
        findings.problem(volume.path, "origin", "the text that the chain begins with was changed")
    after = volume.origin.rstrip("\n").rpartition("after ")[2].split()
    if len(after) == 3:
        was_there = "" if after[0] in chains else ", which was not among the files"
        findings.notes.append(f"{volume.path.name} begins a chain after fact {after[1]} of chain {after[0]}{was_there}")


def _follows(before: KnownVolume, after: KnownVolume, findings: Findings) -> bool:
    if after.volume.first_seq == before.volume.first_seq:
        what = f"it is about the same facts as {before.volume.path.name}"
    elif before.volume.sealed is None:
        what = f"{before.volume.path.name} was not sealed, but the chain goes on here"
    elif after.volume.first_seq != before.volume.sealed[0]:
        what = f"facts {before.volume.sealed[0]} to {after.volume.first_seq - 1} are in no file that was given"
    elif after.volume.prev != before.volume.sealed[1]:
        what = f"it does not go on where {before.volume.path.name} ends"
    else:
        return True
    findings.problem(after.volume.path, "seal", what)
    return False


def check_seal(one: KnownVolume, keys: dict[bytes, bytes], findings: Findings) -> None:
    """Check the signature with which a volume was finished."""
    if one.volume.sealed is None:
        return
    next_seq, link, signature = one.volume.sealed
    if signature is None:
        findings.notes.append(f"the seal of {one.volume.path.name} is not signed")
        return
    public = keys.get(signature[:KEY_ID_SIZE])
    if public is None:
        what = f"its seal is signed with the key {signature[:KEY_ID_SIZE].hex()}, which is not known here"
    elif not good_signature(checker(public), chain.seal_statement(one.volume.chain, next_seq, link), signature):
        what = "the signature of its seal is not good"
    else:
        return
    findings.problem(one.volume.path, "seal", what)


def stretches(run: list[KnownVolume], findings: Findings) -> Iterator[Stretch]:
    """Cut volumes that follow each other into stretches, each beginning after a shoe that came into play."""
    first = run[0].volume
    if not first.starts_chain:
        findings.notes.append(f"the facts of {first.path.name} are derived from its first shoe on")
    start = Stretch(first.chain, (), first.prev, first.first_seq, first.starts_chain)
    begun = first.first_seq
    after = BEFORE_ALL
    pieces: list[Piece] = []
    for one in run:
        volume = one.volume
        for shoe in one.shoes:
            if shoe - begun >= STRETCH_FACTS:
                pieces.append(Piece(volume.path, after, shoe))
                yield msgspec.structs.replace(start, pieces=tuple(pieces))
                start, begun, after, pieces = Stretch(first.chain, ()), shoe, shoe, []
        seal = None if volume.sealed is None else volume.sealed[:2]
        pieces.append(Piece(volume.path, after, one.last_seq, seal))
        after = BEFORE_ALL
    yield msgspec.structs.replace(start, pieces=tuple(pieces))
