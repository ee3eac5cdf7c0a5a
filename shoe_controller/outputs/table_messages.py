"""What a table says of itself beside its facts: status, state and health, as bytes."""

from collections.abc import Callable

import msgspec

from shoe_controller.journal.entry import Stamp
from shoe_controller.messages import Health, HealthReport, Identity, State, Status, rfc3339
from shoe_controller.session.view import TableView


class TableMessages:
    """Makes the messages of one table."""

    def __init__(self, identity: Identity, now: Callable[[], Stamp]) -> None:
        self._identity = identity
        self._now = now

    def status(self, *, online: bool, connection: int) -> bytes:
        """Return the status of the table for its connection of that number."""
        who = self._identity
        status = Status(
            online=online,
            site=who.site,
            table=who.table,
            boot=who.boot,
            connection=connection,
            version=who.version,
        )
        return msgspec.json.encode(status)

    def state(self, seq: int, view: TableView) -> bytes:
        """Return the table as it stands after the fact `seq`."""
        who, stamp = self._identity, self._now()
        state = State(
            seq=seq,
            site=who.site,
            table=who.table,
            boot=who.boot,
            time=rfc3339(stamp.wall_ns),
            synced=stamp.synced,
            view=view,
        )
        return msgspec.json.encode(state)

    def health(self, seq: int, report: HealthReport) -> bytes:
        """Return the condition of the controller."""
        who, stamp = self._identity, self._now()
        health = Health(
            seq=seq,
            site=who.site,
            table=who.table,
            boot=who.boot,
            time=rfc3339(stamp.wall_ns),
            synced=stamp.synced,
            version=who.version,
            report=report,
        )
        return msgspec.json.encode(health)
