"""The whole configuration as one frozen value, its hash, and what differs between two."""

import hashlib
from collections.abc import Iterator, Mapping

import msgspec

from shoe_controller.config.hardware import Panel, Shoe
from shoe_controller.config.outputs import Journal, Local, Log, Metrics, Mqtt, SerialFeed, Web
from shoe_controller.config.table import Policy, Section, Table


class Config(Section, frozen=True, kw_only=True):
    """The configuration in force; the one file of a table decodes into this."""

    table: Table
    policy: Policy = Policy()
    shoe: Shoe = Shoe()
    panel: Panel = Panel()
    journal: Journal = Journal()
    local: Local = Local()
    web: Web = Web()
    mqtt: Mqtt = Mqtt()
    serial_feed: SerialFeed = SerialFeed()
    metrics: Metrics = Metrics()
    log: Log = Log()

    @property
    def hash(self) -> str:
        """SHA-256 of the content in force, defaults included; comments and layout of the file do not count."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()

    def flat(self) -> dict[str, str]:
        """Return every key in force as `section.key` with its value as JSON text."""
        return dict(_flatten("", msgspec.to_builtins(self)))


def changed_keys(old: Config | Mapping[str, str], new: Config | Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys whose values differ, sorted. Either side may be what `Config.flat` once returned."""
    before = old.flat() if isinstance(old, Config) else old
    after = new.flat() if isinstance(new, Config) else new
    return tuple(sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key)))


def _flatten(prefix: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flatten(f"{prefix}.{key}" if prefix else str(key), inner)
    elif not isinstance(value, dict):
        yield prefix, msgspec.json.encode(value).decode()
