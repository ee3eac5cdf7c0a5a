"""The figures of a fleet: what was measured, as values and as text."""

from collections.abc import Sequence

import msgspec

from shoe_controller.fleet.census import Census
from shoe_controller.fleet.order import Share
from shoe_controller.fleet.watched import Used


class Figures(msgspec.Struct, frozen=True):
    """What one run of a fleet came to. Delays are in milliseconds from the happening at a table to the consumer."""

    tables: int
    processes: int
    seconds: float
    rounds: int
    events: int
    messages: int  # all that reached the consumer
    events_per_second: float
    messages_per_second: float
    delay_p50_ms: float
    delay_p99_ms: float
    delay_max_ms: float
    lost: int
    repeated: int
    requests: int
    cpu_percent_per_table: float
    memory_mb_per_table: float
    broker_cpu_percent: float | None = None
    broker_memory_mb: float | None = None


def figures(shares: Sequence[Share], census: Census, broker: Used | None) -> Figures:
    """Put together what the processes, the consumer and the watched broker came to."""
    tables = sum(share.tables for share in shares)
    events = sum(share.events for share in shares)
    seconds = max(share.seconds for share in shares)
    cpu = sum(share.cpu_seconds for share in shares)
    return Figures(
        tables=tables,
        processes=len(shares),
        seconds=round(seconds, 2),
        rounds=sum(share.rounds for share in shares),
        events=events,
        messages=census.messages,
        events_per_second=round(events / seconds, 1),
        messages_per_second=round(census.messages / seconds, 1),
        delay_p50_ms=round(census.delay(0.5), 2),
        delay_p99_ms=round(census.delay(0.99), 2),
        delay_max_ms=round(census.delay(1.0), 2),
        lost=events - census.events,
        repeated=census.listener.repeated,
        requests=census.listener.requests,
        cpu_percent_per_table=round(100 * cpu / seconds / tables, 3),
        memory_mb_per_table=round(sum(share.memory_mb for share in shares) / tables, 2),
        broker_cpu_percent=None if broker is None else round(100 * broker.cpu_seconds / seconds, 1),
        broker_memory_mb=None if broker is None else broker.memory_mb,
    )


def as_text(found: Figures) -> str:
    """Return the figures for people."""
    delays = f"{found.delay_p50_ms:.2f} ms p50, {found.delay_p99_ms:.2f} ms p99, {found.delay_max_ms:.2f} ms at most"
    lines = [
        f"{found.tables:,} tables in {found.processes} processes, {found.rounds:,} rounds in {found.seconds:,.1f} s",
        f"events      {found.events:,}, {found.events_per_second:,.1f} a second",
        f"messages    {found.messages:,} at the consumer, {found.messages_per_second:,.1f} a second",
        f"delay       {delays}, from the happening at the table to the consumer",
        f"lost        {found.lost:,}, repeated {found.repeated:,}, asked again {found.requests:,} times",
        f"each table  {found.cpu_percent_per_table:.2f} % of a core, {found.memory_mb_per_table:.2f} MB",
    ]
    if found.broker_cpu_percent is not None:
        lines.append(f"broker      {found.broker_cpu_percent:.1f} % of a core, {found.broker_memory_mb:,.0f} MB")
    return "\n".join(lines)
