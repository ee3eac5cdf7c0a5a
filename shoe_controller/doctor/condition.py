"""The machine's own condition: clock, heat, power."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from shoe_controller.clock_sync import clock_synced
from shoe_controller.doctor.findings import Finding, ok, warn
from shoe_controller.doctor.machine import Machine

# A Pi slows itself down from 80 °C on.
TOO_HOT = 80_000


def check_clock() -> Iterator[Finding]:
    """Check that the wall clock is kept right. The table plays without; times are then marked as not synced."""
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    if clock_synced():
        yield ok("clock", f"synchronised, {now}")
    else:
        yield warn(
            "clock",
            f"not synchronised ({now}): the table plays, but times in the journal are marked as not sure",
            "sudo timedatectl set-ntp true, and let the machine reach a time server ('timedatectl timesync-status')",
        )


def check_condition(machine: Machine) -> Iterator[Finding]:
    """Check heat and supply voltage, where the machine tells them."""
    heat = _number(machine.sys / "class" / "thermal" / "thermal_zone0" / "temp")
    if heat is not None and heat >= TOO_HOT:
        yield warn("heat", f"the processor has {heat / 1000:.0f} °C and slows down", "give the machine air or a cooler")
    elif heat is not None:
        yield ok("heat", f"the processor has {heat / 1000:.0f} °C")
    for sensor in sorted((machine.sys / "class" / "hwmon").glob("hwmon*")):
        if _text(sensor / "name") != "rpi_volt":
            continue
        if _number(sensor / "in0_lcrit_alarm"):
            yield warn(
                "power", "the supply voltage is or was too low", "use the supply that belongs to the Pi, a short cable"
            )
        else:
            yield ok("power", "the supply voltage is high enough")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text.lstrip("-").isdecimal() else None
