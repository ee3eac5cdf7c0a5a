"""The unit under a real systemd: ready, watchdog, restarts, sandbox, boot, install, uninstall, all seen happening."""

import asyncio
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

from shoe_controller.journal.volumes import volume_paths
from tests.soak.container import PROJECT, Container
from tests.soak.sandbox_probe import RESULT
from tests.system.rig import Rig

NAME = "systemd"
KILLS = 10
UNIT = "shoe-controller.service"
CONFIG = "etc/shoe-controller/shoe-controller.toml"
STATE = "var/lib/shoe-controller"
PORT = "/dev/ttyV0"
# Ours alone, beside the unit: a pty is no kind of port that a table has, the probe looks out of the sandbox, and a file
# in the run folder makes the consumer of all inputs hang while everything else goes on.
DROP_IN = """\
[Service]
DeviceAllow=char-pts rw
ExecStartPre=/usr/bin/python3 /bench/sandbox_probe.py
Environment=PYTHONPATH=/bench
"""
HANG = "hang"
RIGGED = """\
import os
try:
    from shoe_controller.service.table import Table
except ImportError:  # the probe's Python
    pass
else:
    work = Table.work
    Table.work = lambda self: None if os.path.exists("/run/shoe-controller/hang") else work(self)
"""
READ_ONLY = {"write in /etc", "write in /usr", "write in its own program", "write in its configuration"}


class Bench:
    """The container with the program, a shoe on a pty of this machine, and a person who asks systemd."""

    def __init__(self, box: Container, rig: Rig, report) -> None:
        self.box = box
        self.rig = rig
        self.report = report

    async def run(self, *words, code=0) -> str:
        return await asyncio.to_thread(self.box.run, *words, code=code)

    async def show(self, *names: str) -> list[str]:
        told = await self.run("systemctl", "show", UNIT, *(f"--property={name}" for name in names))
        values = dict(line.split("=", 1) for line in told.splitlines())
        return [values[name] for name in names]

    async def restarts(self) -> int:
        return int((await self.show("NRestarts"))[0])

    async def playing(self):
        """Wait until the daemon says that it plays and has its shoe."""
        self.rig.socket = self.box.seen_inside / "run/shoe-controller/control.sock"
        return await self.rig.ready()

    async def restarted(self, before: int, deadline: float) -> float:
        """Wait until systemd has started the daemon again and it plays; return the seconds."""
        start = time.monotonic()

        async def once_more():
            return await self.restarts() > before

        await self.rig.until(once_more, "systemd starts the daemon again", deadline)
        await self.playing()
        return time.monotonic() - start

    async def deal(self) -> None:
        """Pull a card through the shut gate: the shoe tells it as soon as it can."""
        self.rig.shoe.do("deal force")

    async def recorded(self) -> None:
        await self.rig.until(lambda: self.rig.recorded() == self.rig.drawn, "each card is in the journal")


class Log:
    """What the service has told systemd's journal; the rig shows it when something does not happen."""

    def __init__(self, box: Container) -> None:
        self._box = box

    def read_text(self) -> str:
        return self._box.run("journalctl", "--unit", UNIT, "--no-pager", "--output", "cat", code=None)


async def installs(bench):
    told = await bench.run("/srv/project/systemd/install.sh", "--offline", "/srv/wheels")
    assert f"edit /{CONFIG}" in told
    assert "systemctl enable --now shoe-controller" in told
    assert "shoe-controller" in await bench.run("shoe-controller", "--version")
    assert await bench.show("LoadState", "ActiveState") == ["loaded", "inactive"]
    root = bench.box.root
    assert (root / STATE).stat().st_mode & 0o777 == 0o750
    assert (root / "usr/local/share/man/man1/shoe-controller.1").is_symlink()
    again = await bench.run("/srv/project/systemd/install.sh", "--no-program")
    assert "your configuration" in again


async def becomes_a_table(bench):
    """Put this table's configuration and decks where the installed ones are, and what only the bench needs."""
    root, rig = bench.box.root, bench.rig
    (root / CONFIG).write_text(rig.config_file.read_text())
    shutil.copytree(rig.folder / "decks", root / STATE / "decks")
    await bench.run("chown", "-R", "shoe-controller:", f"/{STATE}/decks")
    drop_ins = root / "etc/systemd/system" / f"{UNIT}.d"
    drop_ins.mkdir()
    (drop_ins / "bench.conf").write_text(DROP_IN)
    (root / "bench").mkdir()
    shutil.copy(PROJECT / "tests/soak/sandbox_probe.py", root / "bench")
    (root / "bench/sitecustomize.py").write_text(RIGGED)
    letter = root / "home/guest/letter"
    letter.parent.mkdir()
    letter.write_text("for everybody to read, but not for the service")
    await bench.run("systemctl", "daemon-reload")
    await bench.run("shoe-controller", "check-config")


async def is_ready_when_it_says_so(bench):
    await bench.run("systemctl", "start", UNIT)
    kind, active, status, begun, ready = await bench.show(
        "Type", "ActiveState", "StatusText", "ExecMainStartTimestampMonotonic", "ActiveEnterTimestampMonotonic"
    )
    assert (kind, active) == ("notify", "active")
    assert status.startswith("running: "), status
    bench.report.figure("seconds to READY", (int(ready) - int(begun)) / 1e6)
    await bench.playing()
    bench.rig.shoe.do("new-shoe")
    await bench.rig.decide(command="new-shoe")
    await bench.deal()
    await bench.recorded()

    async def told():
        return ", shoe " in (await bench.show("StatusText"))[0]

    await bench.rig.until(told, "systemctl status tells of the shoe")


async def keeps_to_its_sandbox(bench):
    found = json.loads((bench.box.seen_inside / "run/shoe-controller" / RESULT).read_text())
    for name, refused in found["forbidden"].items():
        assert refused, f"the service can {name}"
    for name in READ_ONLY:
        assert found["forbidden"][name] == os.strerror(30), f"{name}: {found['forbidden'][name]}"
    for name, refused in found["allowed"].items():
        assert not refused, f"the service cannot {name}: {refused}"
    status = dict(line.split(":\t", 1) for line in found["status"].splitlines() if ":\t" in line)
    assert found["user"] > 0
    assert (int(status["CapEff"], 16), int(status["CapBnd"], 16)) == (0, 0)
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    state = bench.box.root / STATE
    assert {path.stat().st_uid for path in state.iterdir()} == {found["user"]}
    assert (state / "signing.key").stat().st_mode & 0o777 == 0o600
    outside = await probed_outside(bench)
    sandboxed = [name for name, refused in found["forbidden"].items() if outside[name] != refused]
    bench.report.figure("things that the service cannot do", len(found["forbidden"]))
    bench.report.figure("of these refused by the sandbox, not by file modes", len(sandboxed))
    assert len(sandboxed) > len(found["forbidden"]) // 2, f"the sandbox refuses only {sandboxed}"


async def probed_outside(bench):
    """Return what is refused to the same user outside of the unit: the rest is the sandbox's doing."""
    user = ("setpriv", "--reuid=shoe-controller", "--regid=shoe-controller", "--init-groups")
    await bench.run("install", "-d", "-o", "shoe-controller", "/run/outside")
    probe = ("env", "--chdir=/run/outside", "RUNTIME_DIRECTORY=/run/outside", "python3", "/bench/sandbox_probe.py")
    await bench.run(*user, *probe)
    return json.loads((bench.box.seen_inside / "run/outside" / RESULT).read_text())["forbidden"]


async def comes_back_after_sigkill(bench):
    kills = bench.report.sized(KILLS)
    longest = 0.0
    for _ in range(kills):
        before = await bench.restarts()
        await bench.run("systemctl", "kill", "--signal=KILL", UNIT)
        await bench.deal()
        longest = max(longest, await bench.restarted(before, 30))
        await bench.recorded()
    bench.report.figure("restarts after SIGKILL", kills)
    bench.report.figure("seconds to play after SIGKILL, at most", longest)


async def is_restarted_when_it_stands_still(bench):
    before = await bench.restarts()
    await bench.run("systemctl", "kill", "--signal=STOP", UNIT)
    await bench.deal()
    seconds = await bench.restarted(before, 60)
    assert "Watchdog timeout" in bench.rig.log.read_text()
    await bench.recorded()
    bench.report.figure("seconds to play after SIGSTOP", seconds)


async def is_restarted_when_only_the_consumer_hangs(bench):
    before, timeouts = await bench.restarts(), bench.rig.log.read_text().count("Watchdog timeout")
    (bench.box.seen_inside / "run/shoe-controller" / HANG).touch()
    await bench.deal()
    assert (await bench.rig.status()).condition == "running", "everything but the consumer goes on"
    seconds = await bench.restarted(before, 60)
    assert bench.rig.log.read_text().count("Watchdog timeout") == timeouts + 1
    await bench.recorded()
    bench.report.figure("seconds to play after the consumer hung", seconds)


async def stays_in_fault_with_a_damaged_journal(bench):
    await bench.run("systemctl", "stop", UNIT)
    live = volume_paths(bench.rig.journal)[-1]
    sound = live.read_bytes()
    live.write_bytes(sound[: len(sound) // 2])
    await bench.run("systemctl", "start", UNIT)
    before, (limit,) = await bench.restarts(), await bench.show("WatchdogUSec")
    assert limit == "10s"
    end = time.monotonic() + 14
    while time.monotonic() < end:
        active, status = await bench.show("ActiveState", "StatusText")
        assert active == "active"
        assert status.startswith("fault: "), status
        await asyncio.sleep(0.5)
    assert await bench.restarts() == before, "a restart would not help"
    assert len(live.read_bytes()) == len(sound) // 2, "a damaged journal is left as it is"
    live.write_bytes(sound)
    await bench.playing()
    (status,) = await bench.show("StatusText")
    assert status.startswith("running: "), status
    await bench.deal()
    await bench.recorded()


async def starts_with_the_machine(bench):
    await bench.run("systemctl", "enable", "--quiet", UNIT)
    await asyncio.to_thread(bench.box.stop)
    await asyncio.to_thread(bench.box.start)
    await bench.playing()
    await bench.deal()
    await bench.recorded()


async def stops_in_good_order(bench):
    start = time.monotonic()
    await bench.run("systemctl", "stop", UNIT)
    bench.report.figure("seconds to stop", time.monotonic() - start)
    assert await bench.show("ActiveState", "Result", "ExecMainStatus") == ["inactive", "success", "0"]
    assert not bench.rig.twin.body.gate_open
    bench.rig.check()


async def uninstalls_and_keeps_what_proves_past_rounds(bench):
    root = bench.box.root
    before = {path.name: path.read_bytes() for path in volume_paths(bench.rig.journal)}
    shutil.rmtree(root / "etc/systemd/system" / f"{UNIT}.d")
    told = await bench.run("/srv/project/systemd/uninstall.sh")
    assert "Kept, because it proves past rounds" in told
    assert await bench.show("LoadState") == ["not-found"]
    for gone in ("opt/shoe-controller", "usr/local/bin/shoe-controller", f"etc/systemd/system/{UNIT}"):
        assert not (root / gone).is_symlink(), gone
        assert not (root / gone).exists(), gone
    assert not list(root.glob("etc/systemd/system/*.wants/shoe-controller*"))
    assert (root / CONFIG).read_text() == bench.rig.config_file.read_text()
    assert {path.name: path.read_bytes() for path in volume_paths(bench.rig.journal)} == before
    bench.rig.check()


STEPS = (
    installs,
    becomes_a_table,
    is_ready_when_it_says_so,
    keeps_to_its_sandbox,
    comes_back_after_sigkill,
    is_restarted_when_it_stands_still,
    is_restarted_when_only_the_consumer_hangs,
    stays_in_fault_with_a_damaged_journal,
    starts_with_the_machine,
    stops_in_good_order,
    uninstalls_and_keeps_what_proves_past_rounds,
)


async def all_steps(report, folder):
    rig = Rig(
        folder,
        auto=None,
        seed=report.seed,
        shoe={"device": PORT, "decks_directory": f"/{STATE}/decks"},
        journal={"directory": f"/{STATE}/journal", "signing_key_file": f"/{STATE}/signing.key"},
        local={"socket": "/run/shoe-controller/control.sock", "group": "shoe-supervisors"},
    )
    async with rig.shoe:
        give_to_dialout(rig.shoe.path)
        box = await asyncio.to_thread(Container, folder, f"--bind={rig.shoe.path}:{PORT}")
        rig.journal, rig.log = box.root / STATE / "journal", Log(box)
        await asyncio.to_thread(box.start)
        try:
            bench = Bench(box, rig, report)
            for step in STEPS:
                report.say(step.__name__.replace("_", " "))
                try:
                    await step(bench)
                except AssertionError as error:
                    report.fault(f"{step.__name__.replace('_', ' ')}: {error}")
                    return
        finally:
            await asyncio.to_thread(box.stop)
    report.figure("steps seen", len(STEPS))


def give_to_dialout(port):
    """Do to a pty what udev does to a serial port. The group has the same number in every Debian."""
    os.chown(port, 0, 20)
    Path(port).chmod(0o660)


def run(report):
    if os.getuid() != 0:
        report.fault("a container with a systemd of its own is started by root only")
        return False
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(all_steps(report, Path(name)))
    return True
