"""All checks in the order in which a technician would go about it."""

from collections.abc import Iterator
from pathlib import Path

from shoe_controller.config import Config, ConfigError, ConfigUnreadableError, load
from shoe_controller.doctor.brokers import check_brokers
from shoe_controller.doctor.condition import check_clock, check_condition
from shoe_controller.doctor.disk import check_disk
from shoe_controller.doctor.findings import Finding, fail, ok
from shoe_controller.doctor.journals import check_journal, daemon_runs
from shoe_controller.doctor.keys import check_keys
from shoe_controller.doctor.machine import Machine
from shoe_controller.doctor.panel import check_panel
from shoe_controller.doctor.ports import check_ports
from shoe_controller.doctor.users import check_service, check_udev, check_user


def examine(file: Path, machine: Machine) -> Iterator[Finding]:
    """Yield what was found, one after the other; without a usable configuration only what needs none."""
    config = None
    try:
        config = load(file)
    except ConfigUnreadableError as error:
        yield fail(
            "configuration",
            str(error),
            f"it must be readable for the daemon: sudo chgrp {machine.user} {file}; sudo chmod 0640 {file}",
        )
    except ConfigError as error:
        for problem in error.problems:
            yield fail("configuration", str(problem), f"edit {file}, then: shoe-controller check-config {file}")
    else:
        table = config.table
        yield ok("configuration", f"{file}, table {table.site}/{table.name}, {table.game} with {table.decks} decks")
    yield from check_user(machine)
    yield from check_service(machine)
    if config is not None:
        yield from _of_the_table(config, machine)
    yield from check_clock()
    yield from check_condition(machine)


def _of_the_table(config: Config, machine: Machine) -> Iterator[Finding]:
    running = daemon_runs(Path(config.journal.directory))
    yield from check_udev(config, machine)
    yield from check_ports(config, running=running)
    yield from check_panel(config, machine)
    yield from check_disk(config, machine)
    yield from check_keys(config, machine)
    yield from check_journal(config)
    yield from check_brokers(config)
