import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
INSTALL = PROJECT / "systemd" / "install.sh"
UNINSTALL = PROJECT / "systemd" / "uninstall.sh"
CONFIG = "etc/shoe-controller/shoe-controller.toml"


def run(*command, code=0, **options):
    assert shutil.which("systemd-sysusers"), "systemd-sysusers is not installed: apt install systemd"
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=120, check=False, **options
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def tree(root):
    return {
        str(path.relative_to(root)): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in root.rglob("*")
    }


@pytest.fixture
def root(tmp_path):
    return tmp_path / "root"


@pytest.fixture
def installed(root):
    run(INSTALL, "--root", root, "--no-program")
    return root


def test_everything_is_put_where_the_system_looks_for_it(installed):
    for path in (
        "etc/systemd/system/shoe-controller.service",
        "etc/systemd/system/shoe-controller-kiosk.service",
        "etc/udev/rules.d/99-shoe-controller.rules",
        "etc/sysusers.d/shoe-controller.conf",
        "etc/tmpfiles.d/shoe-controller.conf",
        "opt/shoe-controller/kiosk",
        CONFIG,
        CONFIG + ".sample",
    ):
        assert (installed / path).is_file(), path
    assert os.access(installed / "opt/shoe-controller/kiosk", os.X_OK)
    assert "shoe-controller:x:" in (installed / "etc/passwd").read_text()
    assert "shoe-supervisors:x:" in (installed / "etc/group").read_text()


def test_the_configuration_is_not_for_everybody(installed):
    assert stat.S_IMODE((installed / CONFIG).stat().st_mode) == 0o640
    if os.getuid() == 0:
        assert stat.S_IMODE((installed / "etc/shoe-controller").stat().st_mode) == 0o750
        group = next(
            line.split(":")[2]
            for line in (installed / "etc/group").read_text().splitlines()
            if line.startswith("shoe-controller:")
        )
        assert (installed / CONFIG).stat().st_gid == int(group)


def test_installing_again_changes_nothing(installed):
    before = tree(installed)
    said = run(INSTALL, "--root", installed, "--no-program")
    assert tree(installed) == before
    assert "stays as it is" in said


def test_a_configuration_that_is_there_is_never_overwritten(installed):
    (installed / CONFIG).write_text("# mine\n")
    (installed / "etc/systemd/system/shoe-controller.service").write_text("# old\n")
    run(INSTALL, "--root", installed, "--no-program")
    assert (installed / CONFIG).read_text() == "# mine\n"
    assert "Type=notify" in (installed / "etc/systemd/system/shoe-controller.service").read_text()


def test_it_says_what_to_do_next(root):
    first = run(INSTALL, "--root", root, "--no-program")
    for step in ("edit /etc/shoe-controller", "check-config", "doctor", "systemctl enable --now shoe-controller"):
        assert step in first
    assert "edit /etc/shoe-controller" not in run(INSTALL, "--root", root, "--no-program")


def test_make_installs_into_destdir_and_takes_it_off_again(root):
    run("make", "-C", PROJECT, "--no-print-directory", "install", f"DESTDIR={root}", "INSTALL=--no-program")
    assert (root / CONFIG).is_file()
    (root / "var/lib/shoe-controller").mkdir(parents=True, exist_ok=True)
    (root / "var/lib/shoe-controller/journal").write_text("rounds")
    said = run("make", "-C", PROJECT, "--no-print-directory", "uninstall", f"DESTDIR={root}")
    assert (root / "var/lib/shoe-controller/journal").read_text() == "rounds"
    assert (root / CONFIG).is_file()
    assert "Kept, because it proves past rounds" in said
    left = {path for path, (mode, _) in tree(root).items() if stat.S_ISREG(mode)}
    assert {path for path in left if "shoe" in path} == {CONFIG, "var/lib/shoe-controller/journal"}


def test_uninstalling_twice_does_no_harm(installed):
    run(UNINSTALL, "--root", installed)
    run(UNINSTALL, "--root", installed)


def test_a_program_of_the_same_name_that_is_not_ours_stays(installed):
    (installed / "usr/local/bin").mkdir(parents=True)
    (installed / "usr/local/bin/shoe-controller").write_text("somebody else's")
    run(UNINSTALL, "--root", installed)
    assert (installed / "usr/local/bin/shoe-controller").exists()


@pytest.mark.parametrize("script", [INSTALL, UNINSTALL])
def test_only_root_may_change_the_machine(script):
    options = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    # Read through a pipe: the user nobody may not be able to enter the folder of the project.
    said = run("bash", "-c", script.read_text(), code=1, cwd="/", **options)
    assert "run it as root" in said


@pytest.mark.parametrize("script", [INSTALL, UNINSTALL])
def test_unknown_arguments_are_refused(script):
    assert "unknown argument: --prefix" in run(script, "--prefix", "/", code=2)


# Where shells and man look, and the words with which the program makes what they find there.
SHARED = {
    "share/bash-completion/completions/shoe-controller": "completion bash",
    "share/zsh/site-functions/_shoe-controller": "completion zsh",
    "share/fish/vendor_completions.d/shoe-controller.fish": "completion fish",
    "share/man/man1/shoe-controller.1": "manual",
}
FAKE_PYTHON = """\
#!/bin/sh
# A Python whose venv has a pip that needs no network.
[ "$1" != -m ] || { mkdir -p "$3/bin"; echo "command = $3" >"$3/pyvenv.cfg"; cp "$0.pip" "$3/bin/pip"; exit 0; }
exec REAL "$@"
"""
FAKE_PIP = """\
#!/bin/sh
[ ! -e "$0.fails" ] && [ ! -e FAILS ] || { echo "no network" >&2; exit 1; }
echo "$@" >"${0%/*}/../asked"
printf '#!%s/python3\\n' "${0%/*}" >"${0%/*}/shoe-controller.txt"
printf '#!/bin/sh\\n# %s\\necho "$@"\\n' "${0%/*}" >"${0%/*}/shoe-controller"
chmod +x "${0%/*}/shoe-controller"
"""


@pytest.fixture
def python(tmp_path):
    path = tmp_path / "python"
    path.write_text(FAKE_PYTHON.replace("REAL", shutil.which("python3")))
    path.chmod(0o755)
    pip = tmp_path / "python.pip"
    pip.write_text(FAKE_PIP.replace("FAILS", str(tmp_path / "fails")))
    pip.chmod(0o755)
    return path


def releases(root):
    return {path.name for path in (root / "opt/shoe-controller").glob("release.*")}


def test_a_release_is_complete_before_it_becomes_the_current_one(root, python, tmp_path):
    environment = os.environ | {"PYTHON": str(python)}
    current = root / "opt/shoe-controller/current"
    run(INSTALL, "--root", root, env=environment)
    first = str(current.readlink())
    asked = (current / "asked").read_text()
    assert "--constraint" in asked
    assert asked.rstrip().endswith("[gpio,metrics]")
    assert (
        str((root / "usr/local/bin/shoe-controller").readlink()) == "/opt/shoe-controller/current/bin/shoe-controller"
    )
    for place, made in SHARED.items():
        assert (root / "usr/local" / place).readlink() == Path("/opt/shoe-controller/current") / place
        assert (current / place).read_text() == f"{made}\n"
    # Scripts name the path that they will have on the machine, not the one of the root that is being filled.
    assert f"# /opt/shoe-controller/{first}/bin" in (current / "bin/shoe-controller").read_text()
    assert str(root) not in (current / "pyvenv.cfg").read_text()

    (tmp_path / "fails").touch()
    assert "no network" in run(INSTALL, "--root", root, env=environment, code=1)
    assert str(current.readlink()) == first
    assert releases(root) == {first}
    (tmp_path / "fails").unlink()

    assert "pip wheel --wheel-dir" in run(INSTALL, "--root", root, "--offline", tmp_path, env=environment, code=1)
    wheel = tmp_path / "shoe_controller-9.9.9-py3-none-any.whl"
    wheel.touch()
    run(INSTALL, "--root", root, "--offline", tmp_path, env=environment)
    second = str(current.readlink())
    asked = (current / "asked").read_text()
    assert f"--no-index --find-links {tmp_path}" in asked
    assert asked.rstrip().endswith(f"{wheel}[gpio,metrics]"), "a build needs packages that no folder of wheels holds"
    assert releases(root) == {first, second}
    run(INSTALL, "--root", root, env=environment)
    assert releases(root) == {second, str(current.readlink())}

    run(UNINSTALL, "--root", root)
    assert not (root / "opt/shoe-controller").exists()
    assert not (root / "usr/local/bin/shoe-controller").is_symlink()
    assert not [place for place in SHARED if (root / "usr/local" / place).is_symlink()]
