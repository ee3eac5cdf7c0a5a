"""The daemon's user, its groups, the unit and the udev rules: what `make install` sets up."""

import grp
import pwd
from collections.abc import Iterator
from pathlib import Path

from shoe_controller.config import Config
from shoe_controller.doctor.findings import Finding, fail, ok, warn
from shoe_controller.doctor.machine import GROUPS, Machine, current_user

UNIT = "shoe-controller.service"
RULES = "99-shoe-controller.rules"
INSTALL = "sudo make install   (in the folder of the program; what is there stays)"


def check_user(machine: Machine) -> Iterator[Finding]:
    """Check that the daemon's user is there and that the checks are made in its name."""
    try:
        pwd.getpwnam(machine.user)
    except KeyError:
        yield fail("user", f"the user {machine.user}, as whom the daemon runs, does not exist", INSTALL)
        return
    missing = [name for name in GROUPS if not _group_exists(name)]
    if missing:
        yield fail("user", f"these groups do not exist: {', '.join(missing)}", INSTALL)
    elif current_user() != machine.user:
        yield warn(
            "user",
            f"checked as {current_user()}, not as the daemon's user {machine.user}: the daemon may be allowed less"
            " or more",
            "sudo shoe-controller doctor",
        )
    else:
        yield ok("user", f"{machine.user}, with the groups {', '.join(GROUPS)}")


def _group_exists(name: str) -> bool:
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True


def check_service(machine: Machine) -> Iterator[Finding]:
    """Check that systemd starts the daemon at boot."""
    if not any((folder / UNIT).exists() for folder in machine.units):
        yield fail("service", f"{UNIT} is not installed", INSTALL)
    elif not any((folder / "multi-user.target.wants" / UNIT).is_symlink() for folder in machine.units):
        yield warn(
            "service",
            "the controller is not started when the machine starts",
            "sudo systemctl enable --now shoe-controller",
        )
    else:
        yield ok("service", "the controller is started when the machine starts")


def check_udev(config: Config, machine: Machine) -> Iterator[Finding]:
    """Check that the rules that give devices to the daemon are in place, for a raw USB shoe too."""
    found = next((path for folder in machine.udev if (path := folder / RULES).exists()), None)
    if found is None:
        yield fail(
            "udev", f"{RULES} is not installed", INSTALL, "sudo udevadm control --reload && sudo udevadm trigger"
        )
        return
    device = config.shoe.device
    if device.startswith("usb-raw:"):
        _, vendor, product = device.lower().split(":")[:3]
        if not _names(found, vendor, product):
            yield fail(
                "udev",
                f"{found} has no rule for the shoe {vendor}:{product}",
                f'add to {found}: SUBSYSTEM=="usb", ENV{{DEVTYPE}}=="usb_device", ATTR{{idVendor}}=="{vendor}",'
                f' ATTR{{idProduct}}=="{product}", GROUP="plugdev", MODE="0660"',
                "sudo udevadm control --reload && sudo udevadm trigger",
            )
            return
    yield ok("udev", f"rules in {found}")


def _names(rules: Path, vendor: str, product: str) -> bool:
    lines = rules.read_text(encoding="utf-8", errors="replace").lower().splitlines()
    wanted = (f'attr{{idvendor}}=="{vendor}"', f'attr{{idproduct}}=="{product}"')
    return any(all(part in line for part in wanted) for line in lines if not line.lstrip().startswith("#"))
