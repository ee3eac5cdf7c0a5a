"""The condition of the machine: free disk, memory of this process, temperature, load. Linux' own files say it."""

import os
import shutil
from pathlib import Path

import msgspec

THERMAL = Path("/sys/class/thermal/thermal_zone0/temp")
MEGABYTE = 1_000_000


class Vitals(msgspec.Struct, frozen=True):
    """What could be measured; None for what this machine does not tell."""

    disk_free_mb: int | None
    memory_mb: int | None
    cpu_celsius: float | None
    load: float | None


def measure(directory: Path, *, proc: Path = Path("/proc"), thermal: Path = THERMAL) -> Vitals:
    """Measure the machine; `directory` is where the journal is kept."""
    return Vitals(
        disk_free_mb=_disk_free_mb(directory),
        memory_mb=_memory_mb(proc / "self" / "statm"),
        cpu_celsius=_celsius(thermal),
        load=_load(proc / "loadavg"),
    )


def _disk_free_mb(directory: Path) -> int | None:
    try:
        return shutil.disk_usage(directory).free // MEGABYTE
    except OSError:
        return None


def _memory_mb(statm: Path) -> int | None:
    text = _first_line(statm)
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") // MEGABYTE if text else None


def _celsius(thermal: Path) -> float | None:
    text = _first_line(thermal)
    return round(int(text) / 1000, 1) if text else None


def _load(loadavg: Path) -> float | None:
    text = _first_line(loadavg)
    return float(text.split()[0]) if text else None


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").partition("\n")[0].strip()
    except OSError:
        return ""
