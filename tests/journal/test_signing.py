"""The signing key: made once, for its owner's eyes only, and usable with openssl."""

import stat
import subprocess

import pytest

from shoe_controller.journal.errors import KeyFileError
from shoe_controller.journal.signing import (
    SigningKey,
    checker,
    good_signature,
    key_id,
    public_path,
    read_public_key,
)


def test_a_key_is_made_once_and_only_its_owner_may_read_it(tmp_path):
    path = tmp_path / "keys" / "table.pem"
    key = SigningKey.open_or_create(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(public_path(path).stat().st_mode) == 0o644
    again = SigningKey.open_or_create(path)
    assert (again.public, again.key_id) == (key.public, key.key_id)
    assert key.key_id == key_id(key.public)
    assert read_public_key(public_path(path)).public_bytes_raw() == key.public
    assert sorted(file.name for file in path.parent.iterdir()) == ["table.pem", "table.pub.pem"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o601])
def test_a_key_that_others_may_read_is_refused_with_what_to_do(tmp_path, mode):
    path = tmp_path / "table.pem"
    SigningKey.open_or_create(path)
    path.chmod(mode)
    with pytest.raises(KeyFileError, match=f"has mode {mode:04o}.*chmod 600"):
        SigningKey.open_or_create(path)


@pytest.mark.parametrize(
    "text, words",
    [
        (b"", "no usable private key"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "no usable private key"),
        ("rsa", "not an Ed25519 key"),
    ],
)
def test_a_file_that_is_no_such_key_is_refused(tmp_path, text, words):
    path = tmp_path / "table.pem"
    if text == "rsa":
        subprocess.run(["openssl", "genpkey", "-algorithm", "X25519", "-out", path], check=True)
    else:
        path.write_bytes(text)
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match=words):
        SigningKey.open(path)


def test_files_that_cannot_be_read_or_made_are_told(tmp_path):
    with pytest.raises(KeyFileError, match="cannot be read: No such file"):
        SigningKey.open(tmp_path / "none.pem")
    (tmp_path / "file").touch()
    with pytest.raises(KeyFileError, match="cannot be made"):
        SigningKey.open_or_create(tmp_path / "file" / "table.pem")
    with pytest.raises(KeyFileError, match="cannot be read"):
        read_public_key(tmp_path / "none.pem")
    with pytest.raises(KeyFileError, match="no public key"):
        read_public_key(tmp_path / "file")
    path = tmp_path / "x.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "X25519", "-out", path], check=True)
    public = subprocess.run(["openssl", "pkey", "-in", path, "-pubout"], check=True, capture_output=True).stdout
    path.write_bytes(public)
    with pytest.raises(KeyFileError, match="not an Ed25519 key"):
        read_public_key(path)


def test_a_part_of_a_key_left_by_a_crash_does_no_harm(tmp_path):
    (tmp_path / "table.pem.part").write_text("half")
    SigningKey.open_or_create(tmp_path / "table.pem")
    assert not (tmp_path / "table.pem.part").exists()


def test_only_the_right_statement_and_key_are_good(key, tmp_path):
    signature = key.sign(b"statement")
    assert len(signature) == 72
    assert good_signature(checker(key.public), b"statement", signature)
    assert not good_signature(checker(key.public), b"statements", signature)
    other = SigningKey.open_or_create(tmp_path / "other.pem")
    assert not good_signature(checker(other.public), b"statement", signature)


def test_openssl_agrees(tmp_path):
    path = tmp_path / "table.pem"
    key = SigningKey.open_or_create(path)
    (tmp_path / "statement").write_bytes(b"statement")
    (tmp_path / "signature").write_bytes(key.sign(b"statement")[8:])
    # fmt: off
    done = subprocess.run(
        ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public_path(path), "-rawin",
         "-in", tmp_path / "statement", "-sigfile", tmp_path / "signature"],
        check=True, capture_output=True, text=True,
    )
    # fmt: on
    assert "Signature Verified Successfully" in done.stdout
