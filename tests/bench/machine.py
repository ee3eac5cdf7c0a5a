"""Where figures were measured: they mean nothing without it."""

import os
import platform
import sqlite3
import ssl
import subprocess
import sys
import time
from pathlib import Path

import msgspec


class Machine(msgspec.Struct, frozen=True):
    """The machine, its programs and the code that was measured."""

    processor: str
    cores: int
    memory_gb: float
    system: str
    python: str
    sqlite: str
    openssl: str
    disk: str
    commit: str
    load: float
    when: str
    niceness: int | None = None  # None: a run from before this was noted


def this_machine() -> Machine:
    """Return the facts of this machine now."""
    return Machine(
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)),
        memory_gb=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=sys.version.split()[0],
        sqlite=sqlite3.sqlite_version,
        openssl=ssl.OPENSSL_VERSION.split(",")[0],
        disk=_disk(Path(__file__).parents[2]),
        commit=_commit(),
        load=round(os.getloadavg()[0], 1),
        when=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        niceness=os.nice(0),
    )


def _processor() -> str:
    model = Path("/proc/device-tree/model")  # a Pi says there what it is
    if model.exists():
        return model.read_text(errors="replace").rstrip("\0")
    lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _disk(folder: Path) -> str:
    answer = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=False)
    return answer.stdout.strip() or "unknown"


def _commit() -> str:
    answer = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return answer.stdout.strip() or "unknown"
