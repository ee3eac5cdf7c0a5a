"""What is ordered of a fleet, and what each of its processes answers."""

import msgspec

from shoe_controller.outputs.settings import Access, MqttSettings


class FleetOrder(msgspec.Struct, frozen=True):
    """So many tables, from number `first` on, for so long at such a pace. Given to a process as JSON."""

    brokers: tuple[str, ...]
    tables: int
    site: str = "fleet"
    first: int = 1
    rounds: int | None = None  # of each table
    seconds: float | None = None
    rate: float = 1.0  # rounds a minute at each table; 0: as fast as they go
    wagers: int = 8  # in each round
    seed: int = 1
    directory: str = ""  # where the journals are kept meanwhile; empty: where temporary files go
    access: Access = Access()
    patience: float = 30.0  # seconds until tables are connected, or their last events taken

    @property
    def mqtt(self) -> MqttSettings:
        """The settings of each table's feed."""
        return MqttSettings(brokers=self.brokers, access=self.access)

    def name(self, number: int) -> str:
        """Return the name of a table."""
        return f"t{number:04d}"


class Share(msgspec.Struct, frozen=True):
    """What one process reports of its tables when they have played."""

    tables: int
    rounds: int
    events: int  # facts in the journals
    untaken: int  # of these, those that the broker has not acknowledged
    seconds: float
    cpu_seconds: float
    memory_mb: float  # more than before the tables were there
