"""Key files and certificates: there, readable by the daemon alone, of the right kind, not about to expire."""

import os
import pwd
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from firmware_protocol.auth import MIN_KEY_BYTES
from shoe_controller.config import Config, SecretFileError, read_password, read_secret
from shoe_controller.config.secret_files import too_open
from shoe_controller.doctor.findings import Finding, fail, ok, split, warn
from shoe_controller.doctor.machine import Machine
from shoe_controller.journal import volumes
from shoe_controller.journal.errors import JournalError, KeyFileError
from shoe_controller.journal.signing import SigningKey, public_path, read_public_key

SOON = timedelta(days=30)


def check_keys(config: Config, machine: Machine) -> Iterator[Finding]:
    """Check every file with a secret that the configuration names, and the certificates."""
    yield from _signing_key(config, machine)
    if path := config.shoe.auth_key_file:
        found = _secret("shoe key", Path(path), machine)
        if found.verdict == "ok" and len(read_secret(path)) < MIN_KEY_BYTES:
            found = fail(
                "shoe key", f"{path} has fewer than {MIN_KEY_BYTES} bytes", f"head -c 32 /dev/urandom > {path}"
            )
        yield found
    if path := config.mqtt.password_file:
        found = _secret("password", Path(path), machine)
        if found.verdict == "ok":
            try:
                read_password(path)
            except SecretFileError as error:
                found = fail("password", str(error), f"write the password, and nothing else, into {path}")
        yield found
    if path := config.mqtt.key_file:
        yield _secret("client key", Path(path), machine)
    for name, path in (("client certificate", config.mqtt.cert_file), ("authority", config.mqtt.ca_file)):
        if path:
            yield _certificate(name, Path(path))


def _is_begun(journal: Path) -> bool:
    """Tell whether there is a journal; of one that cannot be read another check tells."""
    try:
        return bool(volumes.all_volume_paths(journal))
    except JournalError:
        return False


def _signing_key(config: Config, machine: Machine) -> Iterator[Finding]:
    path = Path(config.journal.signing_key_file)
    try:
        there = path.exists()
    except OSError as error:
        yield fail("signing key", f"{path} cannot be reached: {error.strerror}", "sudo shoe-controller doctor")
        return
    if not there:
        if _is_begun(Path(config.journal.directory)):
            yield warn(
                "signing key",
                f"{path} is not there although there is a journal: the daemon will make a new one",
                "put the old one back from its copy, or give the new public key to those who verify",
            )
        else:
            yield ok("signing key", f"none yet; the daemon makes {path} when it starts")
        return
    found = _secret("signing key", path, machine)
    if found.verdict != "ok":
        yield found
        return
    try:
        key = SigningKey.open(path)
    except KeyFileError as error:
        yield fail("signing key", str(error), "put the right file back, or move it away: then a new key is made")
        return
    try:
        same = read_public_key(public_path(path)).public_bytes_raw() == key.public
    except KeyFileError:
        same = False
    if same:
        yield ok("signing key", f"{path}, key {key.key_id.hex()}, its public half beside it")
    else:
        yield warn(
            "signing key",
            f"{public_path(path)} is missing or belongs to another key",
            f"openssl pkey -in {path} -pubout -out {public_path(path)}",
        )


def _secret(check: str, path: Path, machine: Machine) -> Finding:
    try:
        status = path.stat()
    except OSError as error:
        return fail(check, f"{path} cannot be read: {error.strerror}", "put it there, mode 0600, owner shoe-controller")
    mode = stat.S_IMODE(status.st_mode)
    if too_open(mode):
        return fail(
            check,
            f"{path} has mode {mode:04o}: others can read or change the secret",
            f"sudo chmod 0600 {path}; if others had access to this machine, replace the secret as well",
        )
    owner = _owner(status.st_uid)
    if owner not in {machine.user, _owner(os.geteuid())}:
        return fail(
            check, f"{path} belongs to {owner}, and the daemon cannot read it", f"sudo chown {machine.user} {path}"
        )
    try:
        read_secret(path)
    except SecretFileError as error:
        return fail(check, *split(str(error)))
    return ok(check, f"{path}, mode {mode:04o}, owner {owner}")


def _owner(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _certificate(check: str, path: Path) -> Finding:
    from cryptography import x509  # noqa: PLC0415 - slow, and only for tables with TLS

    try:
        found = x509.load_pem_x509_certificates(path.read_bytes())
    except OSError as error:
        return fail(
            check,
            f"{path} cannot be read: {error.strerror}",
            f"put it there, readable for everybody: chmod 0644 {path}",
        )
    except ValueError:
        return fail(check, f"{path} holds no certificate in PEM form", "put the right file there")
    end = min(certificate.not_valid_after_utc for certificate in found)
    left = end - datetime.now(UTC)
    if left < timedelta():
        return fail(check, f"{path} has expired on {end:%Y-%m-%d}", "renew it (and check this machine's clock)")
    if left < SOON:
        return warn(check, f"{path} expires on {end:%Y-%m-%d}, in {left.days} days", "renew it")
    return ok(check, f"{path}, valid until {end:%Y-%m-%d}")
