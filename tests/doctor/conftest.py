"""A machine that is fit for play, in a folder, and the configuration of a table on it."""

import getpass
import grp
import os

import pytest

from shoe_controller.config import load
from shoe_controller.doctor import Machine


@pytest.fixture
def machine(tmp_path):
    root = tmp_path / "machine"
    for folder in ("dev", "sys/class/thermal/thermal_zone0", "sys/class/hwmon/hwmon0", "udev", "units", "state"):
        (root / folder).mkdir(parents=True)
    (root / "dev/gpiochip0").touch()
    (root / "sys/class/thermal/thermal_zone0/temp").write_text("48312\n")
    (root / "sys/class/hwmon/hwmon0/name").write_text("rpi_volt\n")
    (root / "sys/class/hwmon/hwmon0/in0_lcrit_alarm").write_text("0\n")
    (root / "udev/99-shoe-controller.rules").write_text("# rules\n")
    (root / "units/multi-user.target.wants").mkdir()
    (root / "units/shoe-controller.service").write_text("[Unit]\n")
    (root / "units/multi-user.target.wants/shoe-controller.service").symlink_to("../shoe-controller.service")
    (root / "mountinfo").write_text("27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/mmcblk0p2 rw\n")
    return Machine(
        user=getpass.getuser(),
        dev=root / "dev",
        sys=root / "sys",
        mountinfo=root / "mountinfo",
        udev=(root / "udev",),
        units=(root / "units",),
        state=root / "state",
    )


@pytest.fixture
def groups(monkeypatch):
    """Stand in for the groups that only an installed machine has."""
    monkeypatch.setattr("shoe_controller.doctor.users.GROUPS", (grp.getgrgid(os.getgid()).gr_name,))


@pytest.fixture
def file(tmp_path, machine):
    """Return a function that writes a configuration; its journal and key are below the machine's state."""

    def write(shoe='protocol = "simulated"', rest="", journal=""):
        path = tmp_path / "table.toml"
        path.write_text(
            f'[table]\nsite = "north"\nname = "B12"\ngame = "no-commission"\n[shoe]\n{shoe}\n'
            f'[journal]\ndirectory = "{machine.state}/journal"\nsigning_key_file = "{machine.state}/signing.key"\n'
            f"min_free_megabytes = 16\n{journal}\n{rest}\n"
        )
        return path

    return write


@pytest.fixture
def config(file):
    return lambda *args, **options: load(file(*args, **options))
