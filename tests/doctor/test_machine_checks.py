"""User, service, rules, panel, disk, clock, heat and power: every line ok, or with what to do."""

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from shoe_controller.doctor import condition, disk, panel, users
from shoe_controller.doctor.disk import mounted_at

NO_PANEL = '[panel]\nfactory = "none"'


def only(findings):
    (finding,) = findings
    assert (finding.verdict == "ok") is (finding.mend == ())
    return finding.verdict, finding.what


def test_the_daemons_user_with_its_groups_is_ok(machine, groups):
    assert only(users.check_user(machine))[0] == "ok"


@pytest.mark.parametrize(
    "user, groups, verdict, sentence",
    [
        ("no-such-user", ("root",), "fail", "the user no-such-user, as whom the daemon runs, does not exist"),
        ("nobody", ("no-such-group",), "fail", "these groups do not exist: no-such-group"),
        ("nobody", ("root",), "warn", "not as the daemon's user nobody"),
    ],
)
def test_a_user_that_is_not_as_it_must_be(machine, monkeypatch, user, groups, verdict, sentence):
    monkeypatch.setattr("shoe_controller.doctor.users.GROUPS", groups)
    found, what = only(users.check_user(msgspec.structs.replace(machine, user=user)))
    assert found == verdict
    assert sentence in what


def test_the_service_must_be_installed_and_should_be_enabled(machine):
    assert only(users.check_service(machine))[0] == "ok"
    unit = machine.units[0] / "shoe-controller.service"
    (machine.units[0] / "multi-user.target.wants" / unit.name).unlink()
    assert only(users.check_service(machine)) == ("warn", "the controller is not started when the machine starts")
    unit.unlink()
    assert only(users.check_service(machine)) == ("fail", "shoe-controller.service is not installed")


RAW = 'device = "usb-raw:1209:5A0E"'
RULE = 'SUBSYSTEM=="usb", ATTR{idVendor}=="1209", ATTR{idProduct}=="5a0e", GROUP="plugdev"\n'


@pytest.mark.parametrize(
    "shoe, rules, verdict",
    [
        ('protocol = "simulated"', "", "ok"),
        ('protocol = "simulated"', None, "fail"),
        (RAW, RULE, "ok"),
        (RAW, "#" + RULE, "fail"),
        (RAW, RULE.replace("5a0e", "5a0f"), "fail"),
    ],
)
def test_udev_rules_must_be_there_and_know_a_raw_usb_shoe(machine, config, shoe, rules, verdict):
    path = machine.udev[0] / "99-shoe-controller.rules"
    path.unlink()
    if rules is not None:
        path.write_text(rules)
    assert only(users.check_udev(config(shoe), machine))[0] == verdict


def test_the_rule_that_doctor_proposes_satisfies_it(machine, config):
    (finding,) = users.check_udev(config(RAW), machine)
    (machine.udev[0] / "99-shoe-controller.rules").write_text(finding.mend[0].partition(": ")[2])
    assert only(users.check_udev(config(RAW), machine))[0] == "ok"


@pytest.mark.parametrize(
    "section, verdict, sentence",
    [
        ('factory = "none"', "ok", "none is configured"),
        ('factory = "mock"', "warn", "simulated"),
        ('factory = "lgpio"', "ok", "17 functions wired, gpiochip0 usable"),
        ('gate_open = "low"', "fail", "the gate opens at low level on pin 21"),
    ],
)
def test_the_panel(machine, config, section, verdict, sentence):
    found, what = only(panel.check_panel(config(rest=f"[panel]\n{section}"), machine))
    assert found == verdict
    assert sentence in what


def test_a_machine_without_gpio_or_without_the_library_fails(machine, config, monkeypatch):
    (machine.dev / "gpiochip0").unlink()
    assert "there are no GPIO pins here" in only(panel.check_panel(config(), machine))[1]
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert only(panel.check_panel(config(), machine)) == ("fail", "the library lgpio is not installed")


def as_nobody(action):
    """Return what an action gives for a user who is nobody, from a child process; the test itself may be root."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
            os.write(writing, msgspec.json.encode(list(action())))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return msgspec.json.decode(said)


def open_way(path):
    for folder in path.parents:
        if folder.stat().st_uid == os.getuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)


def test_pins_and_folders_that_the_user_may_not_use_fail(machine, config):
    open_way(machine.dev / "gpiochip0")
    (machine.dev / "gpiochip0").chmod(0)
    (machine.state / "journal").mkdir(mode=0o555)
    settings = config()
    (found,) = as_nobody(lambda: panel.check_panel(settings, machine))
    assert (found["verdict"], found["what"]) == ("fail", "no permission to use gpiochip0")
    findings = as_nobody(lambda: disk.check_disk(settings, machine))
    assert findings[-1]["what"] == f"{machine.state}/journal cannot be written by this user"


def test_a_good_disk_is_three_good_lines(machine, config):
    findings = list(disk.check_disk(config(), machine))
    assert [(finding.check, finding.verdict) for finding in findings] == [
        ("disk", "ok"),
        ("mount", "ok"),
        ("permissions", "ok"),
    ]
    assert findings[2].what == f"{machine.state}/journal can be made"
    (machine.state / "journal").mkdir()
    assert list(disk.check_disk(config(), machine))[2].what == f"{machine.state}/journal can be written"


def test_a_journal_outside_of_the_services_folder_is_told(machine, config):
    settings = config(journal="").journal
    elsewhere = msgspec.structs.replace(config(), journal=msgspec.structs.replace(settings, directory="/srv/journal"))
    finding = list(disk.check_disk(elsewhere, machine))[-1]
    assert finding.verdict == "warn"
    assert "ReadWritePaths=/srv/journal" in finding.mend[0]


@pytest.mark.parametrize(
    "line, verdict, sentence",
    [
        ("rw - ext4 /dev/sda rw,errors=remount-ro", "ok", "safe options"),
        ("ro,noatime - ext4 /dev/sda rw", "fail", "mounted read-only"),
        ("rw - ext4 /dev/sda ro", "fail", "mounted read-only"),
        ("rw - overlay overlay rw,lowerdir=/x", "fail", "forgets everything when the power goes"),
        ("rw - tmpfs tmpfs rw", "fail", "forgets everything"),
        ("rw - vfat /dev/sda1 rw", "fail", "does not keep what was synced"),
        ("rw - nfs4 server:/x rw", "fail", "does not keep what was synced"),
        ("rw - ext4 /dev/sda rw,nobarrier", "fail", "with the option nobarrier"),
        ("rw - ext4 /dev/sda rw,data=writeback", "warn", "data=writeback"),
    ],
)
def test_mount_options_that_lose_cards_are_told(machine, config, line, verdict, sentence):
    machine.mountinfo.write_text(f"27 1 254:0 / / {line}\n")
    (finding,) = [finding for finding in disk.check_disk(config(), machine) if finding.check == "mount"]
    assert finding.verdict == verdict
    assert sentence in finding.what


def test_the_innermost_and_topmost_mount_counts(tmp_path):
    table = tmp_path / "mountinfo"
    inner = str(tmp_path / "a b").replace(" ", "\\040")
    table.write_text(
        "1 0 0:1 / / rw - ext4 root rw\n"
        f"2 1 0:2 / {inner} rw - vfat below rw\n"
        f"3 1 0:3 / {inner} rw shared:1 master:2 - xfs above rw\n"
        f"4 1 0:4 / {inner}/deeper rw - tmpfs t rw\n"
    )
    assert mounted_at(tmp_path / "a b", table).device == "above"
    assert mounted_at(tmp_path, table).device == "root"
    assert mounted_at(tmp_path, tmp_path / "gone") is None


def test_this_machines_own_mounts_are_understood(tmp_path):
    told = subprocess.run(
        ["df", "--output=target", str(tmp_path)], check=True, capture_output=True, text=True
    ).stdout.splitlines()[1]
    assert mounted_at(tmp_path, Path("/proc/self/mountinfo")).point == Path(told)


def test_no_mount_table_is_no_verdict(machine, config):
    machine.mountinfo.unlink()
    assert [finding.check for finding in disk.check_disk(config(), machine)] == ["disk", "permissions"]


@pytest.mark.parametrize(
    "blocks, files, wanted, verdict, sentence",
    [
        (10**6, 5, 256, "ok", "MB free at"),
        (50_000, 5, 256, "warn", "less than journal.min_free_megabytes = 256"),
        (3_000, 5, 256, "fail", "the next shoe may not fit"),
        (10**6, 0, 256, "fail", "no inodes left"),
    ],
)
def test_space_is_judged_by_what_a_shoe_needs(tmp_path, monkeypatch, blocks, files, wanted, verdict, sentence):
    real = os.statvfs(tmp_path)
    full = os.statvfs_result((4096, 4096, 10**7, blocks, blocks, 100, files, files, real.f_flag, real.f_namemax))
    monkeypatch.setattr(os, "statvfs", lambda _path: full)
    finding = disk._space(tmp_path, wanted)
    assert finding.verdict == verdict
    assert sentence in finding.what


@pytest.mark.parametrize("synced, verdict", [(True, "ok"), (False, "warn")])
def test_an_unsynchronised_clock_is_a_warning_because_the_table_plays_without(monkeypatch, synced, verdict):
    monkeypatch.setattr("shoe_controller.doctor.condition.clock_synced", lambda: synced)
    assert only(condition.check_clock())[0] == verdict


def test_heat_and_low_voltage_are_warnings(machine):
    assert [finding.verdict for finding in condition.check_condition(machine)] == ["ok", "ok"]
    (machine.sys / "class/thermal/thermal_zone0/temp").write_text("81000\n")
    (machine.sys / "class/hwmon/hwmon0/in0_lcrit_alarm").write_text("1\n")
    assert [(finding.check, finding.verdict) for finding in condition.check_condition(machine)] == [
        ("heat", "warn"),
        ("power", "warn"),
    ]


def test_a_machine_that_tells_nothing_about_itself_gets_no_lines(machine):
    (machine.sys / "class/thermal/thermal_zone0/temp").write_text("n/a\n")
    (machine.sys / "class/hwmon/hwmon0/name").write_text("nvme\n")
    assert list(condition.check_condition(machine)) == []
    (machine.sys / "class/thermal/thermal_zone0/temp").unlink()
    assert list(condition.check_condition(machine)) == []
