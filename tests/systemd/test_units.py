import configparser
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shoe_controller.config import DEFAULT_PATH, Config, Table

FOLDER = Path(__file__).parents[2] / "systemd"
DAEMON = FOLDER / "shoe-controller.service"
KIOSK = FOLDER / "shoe-controller-kiosk.service"
DEFAULTS = Config(table=Table(site="a", name="b", game="six-star"))


class Unit(configparser.RawConfigParser):
    """A unit file; a key that is there more than once keeps all its values."""

    def __init__(self, path):
        super().__init__(strict=False, delimiters=("=",), comment_prefixes=("#",), default_section="")
        self.optionxform = str
        self.read_string(path.read_text())


def all_values(path, key):
    return [line.partition("=")[2] for line in path.read_text().splitlines() if line.startswith(f"{key}=")]


def analyze(*arguments):
    program = shutil.which("systemd-analyze")
    assert program, "systemd-analyze is not installed: apt install systemd"
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def runnable(tmp_path):
    """Return a copy of a unit whose programs exist, because `verify` looks at them."""
    stub = tmp_path / "program"
    stub.write_text("#!/bin/sh\n")
    stub.chmod(0o755)

    def copy(unit):
        text = re.sub(r"^ExecStart=\S+", f"ExecStart={stub}", unit.read_text(), flags=re.MULTILINE)
        (tmp_path / unit.name).write_text(text)
        return tmp_path / unit.name

    return copy


@pytest.mark.parametrize("unit", [DAEMON, KIOSK], ids=lambda unit: unit.name)
def test_systemd_understands_every_line_of_a_unit(unit, runnable):
    # The exit code is 0 even for unknown keys; what is said on standard error counts.
    done = analyze("verify", "--man=no", str(runnable(unit)))
    assert done.stderr == ""
    assert done.returncode == 0


def test_an_unknown_key_would_be_noticed(runnable):
    unit = runnable(DAEMON)
    unit.write_text(unit.read_text().replace("WatchdogSec=", "WatchdogSeconds="))
    assert "WatchdogSeconds" in analyze("verify", "--man=no", str(unit)).stderr


def test_the_daemon_is_hardened_to_an_exposure_of_2_or_lower():
    done = analyze("security", "--offline=yes", "--threshold=20", "--no-pager", str(DAEMON))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    # Asked again for the figure itself, so that a tool that ignores the threshold cannot pass us.
    told = re.search(r"Overall exposure level for \S+: (\d+\.\d+)", done.stdout)
    assert told
    assert float(told[1]) <= 2.0


def test_each_hardening_that_is_left_out_has_its_reason_in_the_unit():
    done = analyze("security", "--offline=yes", "--json=short", "--no-pager", str(DAEMON))
    checks = json.loads(done.stdout)
    weak = {check["name"] for check in checks if check["exposure"] not in (None, "0.0", "0", 0)}
    explained = {
        "PrivateDevices=",
        "DeviceAllow=",
        "PrivateNetwork=",
        "IPAddressDeny=",
        "RestrictAddressFamilies=~AF_(INET|INET6)",
        "RestrictAddressFamilies=~AF_UNIX",
        "RestrictAddressFamilies=~AF_NETLINK",
        "PrivateUsers=",
        "ProtectClock=",
        "SystemCallFilter=~@clock",
        "SystemCallFilter=~@privileged",
        "ProcSubset=",
        "RootDirectory=/RootImage=",
        "SupplementaryGroups=",
    }
    assert {check for check in weak if not check.startswith("CapabilityBoundingSet")} <= explained


def test_the_daemon_is_watched_and_restarted_for_ever():
    unit = Unit(DAEMON)
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"
    service = unit["Service"]
    assert (service["Type"], service["NotifyAccess"], service["Restart"]) == ("notify", "main", "always")
    assert int(service["WatchdogSec"]) >= 2 * int(service["RestartSec"])


def test_units_name_the_paths_that_the_configuration_has_by_default():
    service = Unit(DAEMON)["Service"]
    assert service["ExecStart"].endswith(f" run --config {DEFAULT_PATH}")
    state = Path("/var/lib") / service["StateDirectory"]
    for path in (DEFAULTS.journal.directory, DEFAULTS.journal.signing_key_file, DEFAULTS.shoe.decks_directory):
        assert Path(path).is_relative_to(state)
    assert Path(DEFAULTS.local.socket).parent == Path("/run") / service["RuntimeDirectory"]
    assert service["WorkingDirectory"] == f"/run/{service['RuntimeDirectory']}"
    assert f"KIOSK_URL=http://{DEFAULTS.web.host}:{DEFAULTS.web.port}/" in Unit(KIOSK)["Service"]["Environment"]


def test_serial_ports_usb_and_gpio_are_let_in():
    allowed = all_values(DAEMON, "DeviceAllow")
    for group in ("ttyS", "ttyAMA", "ttyUSB", "ttyACM", "usb_device", "gpiochip"):
        assert f"char-{group} rw" in allowed


def test_every_user_and_group_of_the_units_is_made():
    lines = [line.split() for line in (FOLDER / "shoe-controller.sysusers").read_text().splitlines()]
    made = {words[1] for words in lines if words and words[0] in ("u", "g")}
    groups = set(Unit(DAEMON)["Service"]["SupplementaryGroups"].split())
    assert {Unit(DAEMON)["Service"]["User"], Unit(KIOSK)["Service"]["User"]} | groups <= made
    assert DEFAULTS.local.group in groups
    assert {words[2] for words in lines if words and words[0] == "m" and words[1] == "shoe-controller"} == groups


MATCH = r'(SUBSYSTEMS?|KERNEL|ACTION|TEST|ATTR\{[a-zA-Z/]+\}|ENV\{[A-Z_]+\})=="[^"]+"'
ASSIGN = r'(GROUP|MODE|ENV\{[A-Z_]+\}|ATTR\{[a-z/]+\})="[^"]+"'


def test_udev_rules_are_matches_followed_by_assignments():
    lines = (FOLDER / "99-shoe-controller.rules").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert len(rules) == 4
    for rule in rules:
        assert re.fullmatch(rf"({MATCH}, )+{ASSIGN}(, {ASSIGN})*", rule), rule


def test_sentences_about_permissions_name_the_rules_file_that_we_install():
    drivers = "".join(path.read_text() for path in (FOLDER.parent / "drivers").glob("*.py"))
    assert "99-shoe-controller.rules" in drivers
