"""The program itself: how long it takes to answer and to be ready, and what it costs at rest and while it deals.

The daemon is started as systemd starts it, with a simulated shoe, its display and a journal in a folder of its own. For
the cost of dealing it is `demo` that runs, at the speed of a brisk dealer: its simulated people and shoe are counted
too.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from shoe_controller.errors import ControllerError
from shoe_controller.measuring.measured import Measured

MOST_READY_S = 1.0
MOST_MEMORY_MB = 64
MOST_IDLE_PERCENT = 0.5
MOST_HELP_MS = 150
DEADLINE = 60.0
# What a start leaves to do (connecting the shoe, the first beats) is over by then.
SETTLE_SECONDS = 3.0

PROGRAM = (sys.executable, "-m", "shoe_controller")
CONFIG = """\
[table]
site = "bench"
name = "bench"
game = "no-commission"
[shoe]
protocol = "simulated"
[panel]
factory = "none"
[journal]
directory = "{folder}/journal"
signing_key_file = "{folder}/signing.key"
[local]
socket = "{sockets}/control.sock"
[web]
port = {port}
"""


class DaemonNotReadyError(ControllerError):
    """The daemon that was to be measured did not get ready."""


def measure_start(times: int) -> Iterator[Measured]:
    """Measure how long the program takes to say what it can do."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run([*PROGRAM, "--help"], stdout=subprocess.DEVNULL, check=True)
        taken.append((time.perf_counter() - start) * 1000)
    yield Measured("shoe-controller --help", median(taken), "ms", MOST_HELP_MS)


def measure_daemon(directory: Path, times: int, idle_seconds: float) -> Iterator[Measured]:
    """Measure cold start to ready, resident memory and CPU at rest."""
    ready = []
    for _ in range(times - 1):
        with _started(directory) as (_, seconds):
            ready.append(seconds)
    with _started(directory) as (pid, seconds):
        used = cpu_seconds(pid)
        yield Measured("daemon, start to ready", median([*ready, seconds]), "s", MOST_READY_S)
        yield Measured("daemon, processor time until ready", used, "s")
        time.sleep(SETTLE_SECONDS)
        before, began = cpu_seconds(pid), time.monotonic()
        time.sleep(idle_seconds)
        share = (cpu_seconds(pid) - before) / (time.monotonic() - began)
        yield Measured("daemon, memory", memory_mb(pid), "MB", MOST_MEMORY_MB)
        yield Measured("daemon at rest", share * 100, "% of a core", MOST_IDLE_PERCENT)


def measure_dealing(directory: Path, seconds: float) -> Iterator[Measured]:
    """Measure CPU while cards are dealt."""
    with tempfile.TemporaryDirectory(prefix="shoe-controller-bench-", dir=directory) as name:
        said = Path(name) / "said"
        with said.open("wb") as out:
            command = [*PROGRAM, "demo", "--seed", "1", "--keep", f"{name}/table"]
            process = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            _wait_for_bets(process, said)
            before, began = cpu_seconds(process.pid), time.monotonic()
            time.sleep(seconds)
            share = (cpu_seconds(process.pid) - before) / (time.monotonic() - began)
        finally:
            process.terminate()
            process.wait()
    yield Measured("table while dealing", share * 100, "% of a core")


def _wait_for_bets(process: subprocess.Popen[bytes], said: Path) -> None:
    end = time.monotonic() + DEADLINE
    while process.poll() is None and time.monotonic() < end:
        if b"place your bets" in said.read_bytes():
            return
        time.sleep(0.1)
    raise _not_ready(said)


@contextlib.contextmanager
def _started(directory: Path) -> Iterator[tuple[int, float]]:
    """Have a daemon that is ready, by its process id; also say how long that took."""
    with (
        tempfile.TemporaryDirectory(prefix="shoe-controller-bench-", dir=directory) as name,
        # A socket's address holds 107 characters, and the directory to measure may be deep.
        tempfile.TemporaryDirectory(prefix="shoe-") as sockets,
        _running(Path(name).resolve(), Path(sockets)) as found,
    ):
        yield found


@contextlib.contextmanager
def _running(folder: Path, sockets: Path) -> Iterator[tuple[int, float]]:
    config = folder / "bench.toml"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        config.write_text(CONFIG.format(folder=folder, sockets=sockets, port=probe.getsockname()[1]), encoding="utf-8")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd, (folder / "log").open("wb") as log:
        systemd.bind(str(sockets / "notify"))
        environment = os.environ | {"NOTIFY_SOCKET": str(sockets / "notify")}
        start = time.perf_counter()
        process = subprocess.Popen([*PROGRAM, "run", "--config", config], env=environment, stdout=log, stderr=log)
        try:
            _wait_for_ready(process, systemd, folder / "log")
            yield process.pid, time.perf_counter() - start
        finally:
            process.terminate()
            process.wait()


def _wait_for_ready(process: subprocess.Popen[bytes], systemd: socket.socket, log: Path) -> None:
    systemd.settimeout(0.2)
    end = time.monotonic() + DEADLINE
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(TimeoutError):
            if systemd.recv(4096).startswith(b"READY=1"):
                return
    raise _not_ready(log)


def _not_ready(log: Path) -> DaemonNotReadyError:
    said = log.read_text(errors="replace").strip().splitlines()
    return DaemonNotReadyError(f"the daemon did not get ready: {said[-1] if said else 'it said nothing'}")


def cpu_seconds(pid: int) -> float:
    """Return what a process has used of a processor, its own time and the kernel's for it."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000
