"""Key files, certificates and the journal's integrity, and what a technician is told to do."""

import os
import shutil
from pathlib import Path

import pytest

from shoe_controller.doctor import keys
from shoe_controller.doctor.journals import check_journal, daemon_runs, damage
from shoe_controller.doctor.keys import check_keys
from shoe_controller.doctor.mending import mend_journal
from shoe_controller.errors import CheckFailedError, UsageError
from shoe_controller.journal.errors import JournalBusyError
from shoe_controller.journal.new_chain import start_new_chain
from shoe_controller.journal.signing import SigningKey, public_path
from shoe_controller.journal.store import Journal
from tests.certificates import DAY, Authority
from tests.journal.table import Table


def told(findings):
    found = list(findings)
    assert all(finding.mend for finding in found if finding.verdict != "ok")
    return [(finding.check, finding.verdict, finding.what) for finding in found]


@pytest.fixture
def signing_key(machine):
    path = machine.state / "signing.key"
    SigningKey.open_or_create(path)
    return path


@pytest.fixture
def folder(machine, signing_key):
    """Return a journal with a few rounds in it."""
    folder = machine.state / "journal"
    table = Table()
    with Journal.open(folder, table="B12", signer=SigningKey.open(signing_key)) as journal:
        for entry, _ in zip(table.play_shoe(), range(60), strict=False):
            journal.append([entry])
    return folder


def newest(folder):
    return max(folder.glob("*.db"))


def destroy(path):
    path.write_bytes(b"\xee" * 4096)


def secret(tmp_path, name, content, mode=0o600):
    path = tmp_path / name
    path.write_bytes(content)
    path.chmod(mode)
    return path


def only_signing(findings):
    ((check, verdict, what),) = told(findings)
    assert check == "signing key"
    return verdict, what


def test_before_the_first_start_there_is_no_key(config, machine):
    verdict, what = only_signing(check_keys(config(), machine))
    assert (verdict, "none yet" in what) == ("ok", True)


def test_a_journal_that_cannot_be_read_is_left_to_its_own_check(config, machine):
    (machine.state / "journal").write_text("not a folder")
    verdict, what = only_signing(check_keys(config(), machine))
    assert (verdict, "none yet" in what) == ("ok", True)


def test_a_key_with_its_public_half_is_ok(config, machine, signing_key):
    verdict, what = only_signing(check_keys(config(), machine))
    assert verdict == "ok"
    assert SigningKey.open(signing_key).key_id.hex() in what


def test_a_key_that_is_gone_although_there_is_a_journal_is_told(config, machine, folder, signing_key):
    signing_key.unlink()
    verdict, what = only_signing(check_keys(config(), machine))
    assert verdict == "warn"
    assert "although there is a journal" in what


@pytest.mark.parametrize(
    "spoil, verdict, sentence",
    [
        (lambda path: path.chmod(0o644), "fail", "has mode 0644: others can read"),
        (lambda path: path.write_text("no key"), "fail", "signing.key"),
        (lambda path: public_path(path).unlink(), "warn", "is missing or belongs to another key"),
        (lambda path: public_path(path).write_text("no key"), "warn", "is missing or belongs to another key"),
    ],
)
def test_a_key_that_is_not_as_it_must_be(config, machine, signing_key, spoil, verdict, sentence):
    spoil(signing_key)
    found, what = only_signing(check_keys(config(), machine))
    assert found == verdict
    assert sentence in what


def test_the_public_key_that_doctor_proposes_is_the_right_one(config, machine, signing_key):
    kept = public_path(signing_key).read_bytes()
    public_path(signing_key).unlink()
    (finding,) = check_keys(config(), machine)
    assert shutil.which("openssl"), "openssl is not installed: apt install openssl"
    assert os.system(finding.mend[0]) == 0
    assert public_path(signing_key).read_bytes() == kept


def test_a_key_out_of_reach_is_told(config, machine, monkeypatch):
    def exists(_path, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(keys.Path, "exists", exists)
    assert only_signing(check_keys(config(), machine)) == (
        "fail",
        f"{machine.state}/signing.key cannot be reached: Permission denied",
    )


@pytest.mark.parametrize(
    "section, key, content, mode, verdict, sentence",
    [
        ("shoe", "auth_key_file", b"k" * 32, 0o600, "ok", "mode 0600, owner"),
        ("shoe", "auth_key_file", b"k" * 15, 0o600, "fail", "fewer than 16 bytes"),
        ("shoe", "auth_key_file", b"k" * 32, 0o640, "fail", "has mode 0640"),
        ("shoe", "auth_key_file", b"k" * 20_000, 0o600, "fail", "larger than"),
        ("shoe", "auth_key_file", None, 0, "fail", "cannot be read: No such file"),
        ("mqtt", "password_file", b"secret\n", 0o600, "ok", "mode 0600"),
        ("mqtt", "password_file", b"two\nlines\n", 0o600, "fail", "on one line"),
        ("mqtt", "password_file", b"secret\n", 0o604, "fail", "has mode 0604"),
    ],
)
def test_secrets_are_for_the_daemon_alone(config, machine, tmp_path, section, key, content, mode, verdict, sentence):
    path = secret(tmp_path, "secret", content, mode) if content else tmp_path / "secret"
    if section == "shoe":
        settings = config(f'protocol = "simulated"\n{key} = "{path}"')
    else:
        settings = config(rest=f'[mqtt]\nbrokers = ["mqtt://broker.example"]\nuser = "table"\n{key} = "{path}"')
    _, (_, found, what) = told(check_keys(settings, machine))
    assert found == verdict
    assert sentence in what


@pytest.mark.parametrize("owner, name", [(65534, "nobody"), (54321, "54321")])
def test_a_secret_of_another_owner_cannot_be_read_by_the_daemon(machine, tmp_path, monkeypatch, owner, name):
    path = secret(tmp_path, "secret", b"k" * 32)
    if os.geteuid() == 0:
        os.chown(path, owner, -1)
    else:
        real = Path.stat
        status = list(path.stat())
        status[4] = owner
        monkeypatch.setattr(Path, "stat", lambda one, **o: os.stat_result(status) if one == path else real(one, **o))
    finding = keys._secret("shoe key", path, machine)
    assert (finding.verdict, finding.what) == ("fail", f"{path} belongs to {name}, and the daemon cannot read it")


def test_certificates_are_judged_by_the_day_they_expire(config, machine, tmp_path, monkeypatch):
    authority = Authority(tmp_path)
    cert, key = authority.issue("table")
    old, old_key = authority.issue("old", expired=True)
    tls = f'[mqtt]\nbrokers = ["mqtts://broker.example"]\nca_file = "{authority.file}"\n'

    def verdicts(cert, key):
        settings = config(rest=f'{tls}cert_file = "{cert}"\nkey_file = "{key}"')
        return [(check, verdict) for check, verdict, _ in told(check_keys(settings, machine))][1:]

    soon = [("client key", "ok"), ("client certificate", "warn"), ("authority", "warn")]
    assert verdicts(cert, key) == soon
    assert verdicts(old, old_key)[1] == ("client certificate", "fail")
    assert verdicts(tmp_path / "gone.pem", key)[1] == ("client certificate", "fail")
    assert verdicts(key, key)[1] == ("client certificate", "fail"), "a key is no certificate"
    monkeypatch.setattr(keys, "SOON", DAY / 2)
    assert verdicts(cert, key)[1:] == [("client certificate", "ok"), ("authority", "ok")]


def test_no_journal_yet_is_ok(config, machine):
    assert told(check_journal(config()))[0][1] == "ok"
    (machine.state / "journal").mkdir()
    ((_, verdict, what),) = told(check_journal(config()))
    assert verdict == "ok"
    assert what.startswith("none yet")


def test_a_folder_that_cannot_be_listed_is_told(config, machine):
    (machine.state / "journal").write_text("not a folder")
    ((_, verdict, what),) = told(check_journal(config()))
    assert verdict == "fail"
    assert "cannot be read: Not a directory" in what


def test_a_sound_journal_says_how_to_check_all_of_it(config, folder):
    ((_, verdict, what),) = told(check_journal(config()))
    assert verdict == "ok"
    assert what.startswith("1 file, ")
    assert "sound; 'shoe-controller verify" in what


def test_a_journal_without_an_entry_is_sound(config, machine):
    Journal.open(machine.state / "journal", table="B12").close()
    ((_, verdict, what),) = told(check_journal(config()))
    assert verdict == "ok"
    assert "no entry yet" in what


def test_a_damaged_journal_fails_with_what_a_technician_can_do(config, folder):
    destroy(newest(folder))
    (finding,) = check_journal(config())
    assert finding.verdict == "fail"
    assert f"copy the whole folder {folder}" in finding.mend[0]
    assert "doctor --new-chain" in finding.mend[-1]


def test_a_volume_that_was_taken_away_is_missed(config, machine):
    folder = machine.state / "journal"
    table = Table()
    with Journal.open(folder, table="B12") as journal:
        for entry, _ in zip(table.play_shoe(), range(20), strict=False):
            journal.append([entry])
        journal.archive()
        for entry, _ in zip(table.play_shoe(), range(20), strict=False):
            journal.append([entry])
    assert damage(folder) == ""
    newest(folder).unlink()
    ((_, verdict, what),) = told(check_journal(config()))
    assert verdict == "fail"
    assert "which is not there" in what


def test_a_journal_that_was_set_aside_is_remembered(config, folder):
    destroy(newest(folder))
    start_new_chain(folder, table="B12")
    (_, sound, _), (_, aside, what) = told(check_journal(config()))
    assert (sound, aside) == ("ok", "warn")
    assert "set aside as damaged: journal-" in what


def test_a_new_chain_that_waits_for_its_name_is_no_damage(config, folder, monkeypatch):
    from shoe_controller.journal import archive

    destroy(newest(folder))
    monkeypatch.setattr(archive, "reveal", lambda hidden: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        start_new_chain(folder, table="B12")
    assert damage(folder) == ""
    assert told(check_journal(config()))[0] == ("journal", "ok", "a new chain waits for the daemon")


def test_whether_a_daemon_runs_is_told_by_its_lock(machine):
    folder = machine.state / "journal"
    assert not daemon_runs(folder)
    with Journal.open(folder, table="B12"):
        assert daemon_runs(folder)
    assert not daemon_runs(folder)


def test_a_damaged_journal_is_mended_only_by_name(config, folder):
    destroy(newest(folder))
    asked = []
    with pytest.raises(UsageError, match="nothing was done"):
        mend_journal(config(), lambda what, name: asked.append((what, name)) or "yes")
    ((_, name),) = asked
    made = mend_journal(config(), lambda _what, name: name, reason="SD card failed")
    assert made.before.name == name
    assert damage(folder) == ""


def test_a_sound_or_a_busy_journal_is_never_set_aside(config, machine, folder):
    with pytest.raises(CheckFailedError, match="the journal is sound"):
        mend_journal(config(), lambda _what, name: name)
    with Journal.open(folder), pytest.raises(JournalBusyError, match="systemctl stop"):
        mend_journal(config(), lambda _what, name: name)


def test_no_journal_cannot_be_set_aside(config):
    with pytest.raises(UsageError, match="holds no journal"):
        mend_journal(config(), lambda _what, name: name)
