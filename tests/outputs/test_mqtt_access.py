"""Passwords and certificates, right and wrong: a clear sentence, said once, and the feed keeps trying."""

import asyncio
import logging
import ssl
import subprocess

import pytest

from shoe_controller.outputs.errors import FeedSettingsError
from shoe_controller.outputs.settings import Access
from shoe_controller.outputs.tls import tls_context, tls_sentence
from tests.broker import Mosquitto, free_port, program
from tests.certificates import Authority
from tests.outputs.feeding import fed, feeding, quick, until


@pytest.fixture(autouse=True)
def all_levels(caplog):
    caplog.set_level(logging.DEBUG, "shoe_controller")


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path / "ca")


def secret(path, text, mode=0o600):
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def complaint(table, settings, caplog, tries=2):
    """Let a feed try and return what it said: one WARNING, however often it tried."""

    async def scenario():
        async with feeding(table, settings) as feed:
            await until(lambda: len(caplog.records) >= tries, "it keeps trying")
            assert not feed.health().connected
            assert feed.health().detail

    asyncio.run(scenario())
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(said) == 1, said
    return said[0]


def works(table, settings):
    async def scenario():
        async with feeding(table, settings) as feed:
            await fed(table, feed)
            await until(lambda: feed.health().connected, "connected")

    table.play(1)
    asyncio.run(scenario())


@pytest.fixture
def guarded(tmp_path):
    """A broker that knows one user."""
    users = tmp_path / "users"
    subprocess.run([program("mosquitto_passwd", "mosquitto"), "-b", "-c", users, "b7", "right"], check=True)
    broker = Mosquitto(tmp_path / "guarded", "allow_anonymous false", f"password_file {users}").start()
    yield broker
    broker.stop()


@pytest.mark.parametrize("version", ["3.1.1", "5"])
def test_the_right_password_opens_the_door(guarded, table, tmp_path, version):
    password = secret(tmp_path / "password", "right\n")
    works(table, quick(guarded.url, version=version, access=Access(user="b7", password_file=password)))


@pytest.mark.parametrize("version", ["3.1.1", "5"])
def test_a_wrong_password_is_told_as_such(guarded, table, tmp_path, caplog, version):
    access = Access(user="b7", password_file=secret(tmp_path / "password", "wrong"))
    said = complaint(table, quick(guarded.url, version=version, access=access), caplog)
    assert "`user` and `password_file`" in said


def test_a_password_that_is_mended_is_taken_at_the_next_try(guarded, table, tmp_path, caplog):
    async def scenario():
        access = Access(user="b7", password_file=secret(tmp_path / "password", "wrong"))
        async with feeding(table, quick(guarded.url, access=access)) as feed:
            await until(lambda: caplog.records, "a complaint")
            secret(tmp_path / "password", "right")
            await until(lambda: feed.health().connected, "connected")

    asyncio.run(scenario())


def test_a_password_that_others_can_read_is_not_used(guarded, table, tmp_path, caplog):
    access = Access(user="b7", password_file=secret(tmp_path / "password", "right", mode=0o644))
    assert "chmod 0600" in complaint(table, quick(guarded.url, access=access), caplog)


def tls_broker(folder, certificate, *lines):
    cert, key = certificate
    return Mosquitto(folder, listener=(f"certfile {cert}", f"keyfile {key}", *lines)).start()


def tls_url(broker):
    return f"mqtts://127.0.0.1:{broker.port}"


@pytest.mark.parametrize("version", ["3.1.1", "5"])
def test_tls_with_client_certificates_works(authority, table, tmp_path, version):
    certificate = authority.issue("broker", host="127.0.0.1")
    broker = tls_broker(tmp_path / "tls", certificate, f"cafile {authority.file}", "require_certificate true")
    cert, key = authority.issue("b7")
    access = Access(ca_file=str(authority.file), cert_file=str(cert), key_file=str(key))
    try:
        works(table, quick(tls_url(broker), version=version, access=access))
    finally:
        broker.stop()


@pytest.mark.parametrize(
    "host, expired, foreign, sentence",
    [
        ("127.0.0.1", True, False, "shows a certificate that has expired"),
        ("127.0.0.1", False, True, "not signed by an authority that we trust: check `ca_file`"),
        ("127.0.0.2", False, False, "made out to another address"),
        ("other.example", False, False, "made out to another"),
    ],
)
def test_a_broker_with_the_wrong_certificate_is_not_trusted(
    authority, table, tmp_path, caplog, host, expired, foreign, sentence
):
    issuer = Authority(tmp_path / "other", "Other CA") if foreign else authority
    broker = tls_broker(tmp_path / "tls", issuer.issue("broker", host=host, expired=expired))
    try:
        said = complaint(table, quick(tls_url(broker), access=Access(ca_file=str(authority.file))), caplog)
    finally:
        broker.stop()
    assert sentence in said


@pytest.mark.parametrize("tls_version", ["", "tls_version tlsv1.2"])
@pytest.mark.parametrize(
    "own, sentence",
    [
        ("expired", "our certificate has expired: renew `cert_file`"),
        ("foreign", "does not trust the authority that signed our certificate"),
        ("none", "wants a client certificate"),
    ],
)
def test_a_client_certificate_that_the_broker_refuses_is_told_as_such(
    authority, table, tmp_path, caplog, own, sentence, tls_version
):
    certificate = authority.issue("broker", host="127.0.0.1")
    lines = [f"cafile {authority.file}", "require_certificate true", tls_version]
    broker = tls_broker(tmp_path / "tls", certificate, *lines)
    access = Access(ca_file=str(authority.file))
    if own != "none":
        issuer = Authority(tmp_path / "other", "Other CA") if own == "foreign" else authority
        cert, key = issuer.issue("b7", expired=own == "expired")
        access = Access(ca_file=str(authority.file), cert_file=str(cert), key_file=str(key))
    try:
        said = complaint(table, quick(tls_url(broker), version="5", access=access), caplog)
    finally:
        broker.stop()
    assert sentence in said


def test_tls_to_a_port_without_tls_is_told_as_such(authority, broker, table, caplog):
    said = complaint(table, quick(tls_url(broker), access=Access(ca_file=str(authority.file))), caplog)
    assert "does not speak TLS" in said or "closed the connection" in said or "cannot be reached" in said


def test_no_tls_to_a_port_with_tls_is_told(authority, table, tmp_path, caplog):
    broker = tls_broker(tmp_path / "tls", authority.issue("broker", host="127.0.0.1"))
    try:
        assert broker.url in complaint(table, quick(broker.url), caplog)
    finally:
        broker.stop()


def test_files_that_cannot_be_used_are_named(authority, table, tmp_path, caplog):
    settings = quick(f"mqtts://127.0.0.1:{free_port()}", access=Access(ca_file=str(tmp_path / "none.pem")))
    assert "none.pem cannot be used (No such file or directory)" in complaint(table, settings, caplog)


def test_tls_below_1_2_is_never_spoken(authority):
    context = tls_context(Access(ca_file=str(authority.file)))
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


def test_without_ca_file_the_authorities_of_the_machine_are_trusted():
    assert tls_context(Access()).verify_mode == ssl.CERT_REQUIRED


def test_a_key_that_others_can_read_is_not_used(authority):
    cert, key = authority.issue("b7")
    key.chmod(0o640)
    with pytest.raises(FeedSettingsError, match="chmod 0600"):
        tls_context(Access(ca_file=str(authority.file), cert_file=str(cert), key_file=str(key)))


@pytest.mark.parametrize("broken", ["cert", "ca", "missing"])
def test_a_file_that_holds_something_else_is_told_as_such(authority, tmp_path, broken):
    cert, key = authority.issue("b7")
    ca = authority.file
    if broken == "missing":
        cert.unlink()
    else:
        (cert if broken == "cert" else ca).write_text("nothing\n")
    with pytest.raises(FeedSettingsError, match="cannot be used"):
        tls_context(Access(ca_file=str(ca), cert_file=str(cert), key_file=str(key)))


def test_an_alert_that_is_not_known_is_left_to_the_caller():
    assert tls_sentence("something else") is None
