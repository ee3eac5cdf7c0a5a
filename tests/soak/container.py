"""A small Debian with a real systemd as its first process, in a container of systemd-nspawn on this machine."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.broker import wait_for

PROJECT = Path(__file__).parents[2]
KEPT = PROJECT / "build" / "soak"  # what takes minutes to make is made once
TOOLS = ("debootstrap=debootstrap", "systemd-nspawn=systemd-container", "nsenter=util-linux")
INSIDE = ("systemd", "systemd-sysv", "udev", "dbus", "python3", "python3-venv")
NOT_PART_OF_THE_PROJECT = (".venv", ".git", "build", "dist", ".*_cache", "__pycache__", ".hypothesis", "*.egg-info")
BOOT_SECONDS = 60.0
ROOTS_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"


def debian() -> Path:
    """Return the tree of a minimal Debian of this machine's release; nobody may change it."""
    run(PROJECT / ".ci" / "system-packages", *TOOLS)
    release = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.MULTILINE)
    suite = release[1] if release else "stable"
    tree = KEPT / f"debian-{suite}"
    if not tree.exists():
        part = tree.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.parent.mkdir(parents=True, exist_ok=True)
        run("debootstrap", "--variant=minbase", f"--include={','.join(INSIDE)}", suite, part)
        part.rename(tree)
    return tree


def wheels(tree: Path) -> Path:
    """Return a folder with the program and all that it needs, for the Python of a tree."""
    folder = KEPT / "wheels"
    for old in folder.glob("shoe_controller-*.whl"):
        old.unlink()
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, PROJECT)
    (program,) = folder.glob("shoe_controller-*.whl")
    version = (tree / "usr/bin/python3").readlink().name.removeprefix("python")
    run(
        *(*pip, "download", "--only-binary=:all:", "--python-version", version, "--dest", folder),
        *("--constraint", PROJECT / "constraints.txt", f"{program}[gpio,metrics]"),
    )
    return folder


class Container:
    """One machine. What is done to it is gone with its folder."""

    def __init__(self, folder: Path, *binds: str) -> None:
        self.root = folder / "root"
        self._binds = binds
        self._log = folder / "console.log"
        self._nspawn: subprocess.Popen | None = None
        tree = debian()
        run("cp", "-a", "--reflink=auto", tree, self.root)
        ignored = shutil.ignore_patterns(*NOT_PART_OF_THE_PROJECT)
        shutil.copytree(PROJECT, self.root / "srv/project", ignore=ignored)
        shutil.copytree(wheels(tree), self.root / "srv/wheels")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def start(self) -> None:
        options = ("--quiet", "--register=no", "--keep-unit", "--private-network", "--console=pipe")
        with self._log.open("wb") as log:
            self._nspawn = subprocess.Popen(
                ["systemd-nspawn", "--boot", "-D", str(self.root), *options, *self._binds],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self.wait_until_up()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self._nspawn.terminate()  # its way to have the container shut down
        try:
            self._nspawn.wait(20)
        except subprocess.TimeoutExpired:
            self._nspawn.kill()
            self._nspawn.wait()

    def wait_until_up(self) -> None:
        wait_for(self._is_up, f"the container is up\n{self._log.read_text()[-1000:]}", BOOT_SECONDS)

    def _is_up(self) -> bool:
        assert self._nspawn.poll() is None, f"systemd-nspawn ended: {self._log.read_text()[-1000:]}"
        return self.first_process is not None and self.run("systemctl", "is-system-running", code=None).strip() in (
            "running",
            "degraded",
        )

    @property
    def first_process(self) -> int | None:
        """The container's process 1, by its number on this machine."""
        pid = self._nspawn.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(children[0]) if children else None

    @property
    def seen_inside(self) -> Path:
        """The container's root as its processes see it, with what is mounted there."""
        return Path(f"/proc/{self.first_process}/root")

    def run(self, *words, code: int | None = 0) -> str:
        """Run a command inside and return what it printed; `code`: how it must end, None: in any way."""
        return run("nsenter", "-t", self.first_process, "-a", "--", *words, code=code, env={"PATH": ROOTS_PATH})


def run(*words, code: int | None = 0, env=None) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
        env=None if env is None else {"LANG": "C.UTF-8", **env},
    )
    told = " ".join(str(word) for word in words)
    assert code is None or done.returncode == code, f"{told}: exit code {done.returncode}\n{done.stdout[-3000:]}"
    return done.stdout
