"""Export: rounds, cards, irregularities and all events of a journal as CSV or JSON lines.

Everything streams: a journal of any length is exported in constant memory.
"""

import csv
import io
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec

from shoe_controller.journal import layout
from shoe_controller.journal.codec import decode_fact, split_facts
from shoe_controller.journal.entry import Entry, FactRecord
from shoe_controller.journal.errors import JournalMissingError, from_sqlite
from shoe_controller.journal.planning import KnownVolume
from shoe_controller.journal.rows import entries_from, records_of
from shoe_controller.session.facts import AnyFact, Burned, CardDealt, Irregularity, Round

What = Literal["rounds", "cards", "irregularities", "events"]
Place = int | str
"""A fact's number, or the id of a shoe."""

TYPES: dict[What, frozenset[str]] = {
    "rounds": frozenset({"round"}),
    "cards": frozenset({"card", "burned"}),
    "irregularities": frozenset({"irregularity"}),
    "events": frozenset(),  # all
}
WHEN = ("seq", "time", "synced", "boot", "mono_ns", "source")
_FIELDS: dict[What, tuple[str, ...]] = {
    "rounds": Round.__struct_fields__,
    "cards": CardDealt.__struct_fields__,
    "irregularities": Irregularity.__struct_fields__,
}


def entries_between(
    known: Sequence[KnownVolume], first: int, last: int, progress: Callable[[int, int], None] | None = None
) -> Iterator[Entry]:
    """Yield the entries of volumes that hold facts from `first` to `last`."""
    total = sum(one.next_seq - one.volume.first_seq for one in known)
    done = 0
    for one in known:
        path = one.volume.path
        if one.volume.first_seq <= last and one.next_seq > first:
            connection = layout.open_reader(path)
            try:
                for entry in entries_from(connection, first):
                    if entry.seq > last or entry.seq > one.last_seq:
                        break
                    yield entry
                    if progress and entry.seq % 4096 == 0:
                        progress(done + entry.seq - one.volume.first_seq, total)
            except sqlite3.Error as error:
                raise from_sqlite(error, path, "reading the journal") from error
            finally:
                connection.close()
        done += one.next_seq - one.volume.first_seq


def records(entries: Iterable[Entry], what: What, first: int, last: int) -> Iterator[FactRecord]:
    """Yield the facts that are asked for."""
    types = TYPES[what]
    for entry in entries:
        for record in records_of(entry):
            if first <= record.seq <= last and (not types or record.type in types):
                yield record


def shoe_bounds(known: Sequence[KnownVolume], shoe: str) -> tuple[int, int]:
    """Return the first and the last fact of a shoe, from the entry in which it came into play."""
    begun: int | None = None
    for one in known:
        connection = layout.open_reader(one.volume.path)
        try:
            rows = connection.execute("SELECT seq, facts FROM entries WHERE kind = 'shoe' ORDER BY seq").fetchall()
        except sqlite3.Error as error:
            raise from_sqlite(error, one.volume.path, "reading the journal") from error
        finally:
            connection.close()
        for seq, facts in rows:
            loaded = _loaded_shoe(facts)
            if loaded is None:
                continue
            if begun is not None:
                return begun, seq - 1
            if loaded == shoe:
                begun = seq
    if begun is None:
        raise JournalMissingError(f"no shoe with the id {shoe!r} came into play in these files")
    return begun, max(one.next_seq for one in known) - 1


def _loaded_shoe(facts: bytes) -> str | None:
    for fact in split_facts(facts):
        if fact.startswith(b'{"type":"shoe_loaded"'):
            return str(msgspec.json.decode(fact)["shoe"])
    return None


def wall_time(wall_ns: int) -> str:
    """Return wall-clock time as ISO 8601 in UTC with microseconds; a clock far beyond the calendar as it stands."""
    seconds, rest = divmod(wall_ns, 1_000_000_000)
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{rest // 1000:06d}Z"
    except (OverflowError, ValueError):
        return f"{wall_ns} ns"


def json_lines(found: Iterable[FactRecord]) -> Iterator[str]:
    """Yield each fact as one JSON object: when and from where, then the fact's own fields, then the raw frame."""
    for record in found:
        stamp = record.stamp
        head = msgspec.json.encode(
            {
                "seq": record.seq,
                "time": wall_time(stamp.wall_ns),
                "synced": stamp.synced,
                "boot": stamp.boot,
                "mono_ns": stamp.mono_ns,
                "source": record.source,
            }
        )
        raw = b',"raw":"%b"}' % record.raw.hex().encode() if record.raw else b"}"
        yield (head[:-1] + b"," + record.fact[1:-1] + raw).decode() + "\n"


def csv_lines(found: Iterable[FactRecord], what: What) -> Iterator[str]:
    """Yield the header and one line for each fact."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    fields = _FIELDS.get(what)
    writer.writerow((*WHEN, *(fields or ("type", "fact")), "raw"))
    for record in found:
        cells = (record.type, record.fact.decode()) if fields is None else _cells(decode_fact(record.fact), fields)
        stamp = record.stamp
        when = (record.seq, wall_time(stamp.wall_ns), _cell(stamp.synced), stamp.boot, stamp.mono_ns, record.source)
        writer.writerow((*when, *cells, record.raw.hex()))
        if text.tell() > 65536:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def _cells(fact: AnyFact, fields: tuple[str, ...]) -> list[str]:
    if isinstance(fact, Burned):
        return [_cell({"shoe": fact.shoe, "card": fact.card, "place": "burned"}.get(name)) for name in fields]
    return [_cell(getattr(fact, name)) for name in fields]


def _cell(value: object) -> str:
    """Return a value as people read it in a table: cards with spaces between, yes-or-no as true and false."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "; ".join(f"{name} {odds}" for name, odds in value.items())
    if isinstance(value, tuple):
        return " ".join(str(part) for part in value)
    text = str(value)
    # A spreadsheet would take a text such as =1+1, typed as a reason, for a formula.
    return "'" + text if isinstance(value, str) and text[:1] in {"=", "+", "-", "@"} else text
