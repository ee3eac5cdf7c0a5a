"""Prometheus metrics of a table: what was dealt, what went wrong, how fast and how far behind.

`create(enabled=...)` returns `Metrics`, which counts nothing, or `PrometheusMetrics`. The library is imported only
by the latter; where it is not installed the table runs without metrics.
"""

import logging
from collections.abc import Callable
from importlib import import_module
from typing import Any

from shoe_controller.session.facts import AnyFact, Burned, CardDealt, Irregularity, Round, ShoeEnded

logger = logging.getLogger(__name__)

# A commit is one fsync: 1-5 ms on an SSD, 5-50 ms on an SD card, seconds on a card that is about to die.
COMMIT_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """Metrics that are switched off: every call is allowed and does nothing."""

    enabled = False
    content_type = "text/plain; charset=utf-8"

    def fact(self, fact: AnyFact) -> None:
        """Count a committed fact: cards, rounds, irregularities, shoes."""

    def committed(self, seconds: float, entries: int) -> None:
        """Count a commit of the journal, how long it took and how many entries it took at once."""

    def reconnected(self, device: str) -> None:
        """Count that a device (shoe, panel, broker, serial feed) came back after it was gone."""

    def connection(self, device: str, *, up: bool) -> None:
        """Tell whether a device or broker is there now."""

    def sink(self, name: str, lag: int) -> None:
        """Tell how many facts a sink has not delivered yet."""

    def reading(self, *, reads: int, retries: int, misses: int, crc_errors: int, buffered: int) -> None:
        """Tell the counters of the shoe's reader, as its heartbeat has them (they count from its power-on)."""

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return b""


class PrometheusMetrics(Metrics):
    """Metrics in a registry of their own, so that tables in one process (tests, fleet) do not mix."""

    enabled = True

    def __init__(self, site: str, table: str, version: str) -> None:
        library: Any = import_module("prometheus_client")
        registry = library.CollectorRegistry()
        self._render: Callable[[], bytes] = lambda: bytes(library.generate_latest(registry))
        self.content_type = library.CONTENT_TYPE_LATEST

        def metric(kind: str, name: str, text: str, labels: tuple[str, ...] = (), **options: object) -> Any:
            return getattr(library, kind)(f"shoe_{name}", text, labels, registry=registry, **options)

        metric("Info", "controller", "Which table this is").info({"site": site, "table": table, "version": version})
        self._cards = metric("Counter", "cards", "Cards that left the shoe, by what became of them", ("place",))
        self._rounds = metric("Counter", "rounds", "Rounds, each revision once", ("status", "winner"))
        self._irregularities = metric("Counter", "irregularities", "Irregularities by kind", ("kind", "effect"))
        self._shoes = metric("Counter", "shoes", "Shoes that ended")
        self._commit = metric("Histogram", "commit_seconds", "Time of a journal commit", buckets=COMMIT_BUCKETS)
        self._entries = metric("Counter", "journal_entries", "Entries committed to the journal")
        self._reconnects = metric("Counter", "reconnects", "Times a device came back", ("device",))
        self._up = metric("Gauge", "connected", "1 while a device or broker is there", ("device",))
        self._lag = metric("Gauge", "sink_lag", "Facts that a sink has not delivered yet", ("sink",))
        self._reading = metric("Gauge", "reader", "Counters of the shoe's reader since its power-on", ("counter",))

    def fact(self, fact: AnyFact) -> None:
        """Count a committed fact: cards, rounds, irregularities, shoes."""
        match fact:
            case CardDealt():
                # A card that is told again because it was carried into its round left the shoe once.
                if not fact.carried:
                    self._cards.labels(fact.place).inc()
            case Burned():
                self._cards.labels("burned").inc()
            case Round():
                self._rounds.labels(fact.status, fact.winner or "none").inc()
            case Irregularity():
                self._irregularities.labels(fact.kind, fact.effect).inc()
            case ShoeEnded():
                self._shoes.inc()
            case _:
                pass

    def committed(self, seconds: float, entries: int) -> None:
        """Count a commit of the journal, how long it took and how many entries it took at once."""
        self._commit.observe(seconds)
        self._entries.inc(entries)

    def reconnected(self, device: str) -> None:
        """Count that a device (shoe, panel, broker, serial feed) came back after it was gone."""
        self._reconnects.labels(device).inc()

    def connection(self, device: str, *, up: bool) -> None:
        """Tell whether a device or broker is there now."""
        self._up.labels(device).set(int(up))

    def sink(self, name: str, lag: int) -> None:
        """Tell how many facts a sink has not delivered yet."""
        self._lag.labels(name).set(lag)

    def reading(self, *, reads: int, retries: int, misses: int, crc_errors: int, buffered: int) -> None:
        """Tell the counters of the shoe's reader, as its heartbeat has them (they count from its power-on)."""
        counters = {"reads": reads, "retries": retries, "misses": misses, "crc_errors": crc_errors}
        for name, value in (counters | {"buffered": buffered}).items():
            self._reading.labels(name).set(value)

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return self._render()


def create(*, enabled: bool, site: str, table: str, version: str) -> Metrics:
    """Return the metrics of a table, or metrics that do nothing if they are off or the library is not there."""
    if not enabled:
        return Metrics()
    try:
        return PrometheusMetrics(site, table, version)
    except ModuleNotFoundError:
        logger.warning("metrics are off: prometheus-client is not installed (pip install 'shoe-controller[metrics]')")
        return Metrics()
