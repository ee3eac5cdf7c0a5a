"""The signing key of a table: made at first start, readable by its owner only, the public half beside it."""

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from shoe_controller.journal.chain import digest
from shoe_controller.journal.errors import KeyFileError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEY_ID_SIZE = 8
SIGNATURE_SIZE = 64


class Signer(Protocol):
    """What the journal needs of a key."""

    @property
    def key_id(self) -> bytes:
        """The first 8 bytes of the SHA-256 of the public key."""
        ...

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        ...

    def sign(self, statement: bytes) -> bytes:
        """Return key id and signature, 72 bytes."""
        ...


def key_id(public: bytes) -> bytes:
    """Return the short name of a public key."""
    return digest(public)[:KEY_ID_SIZE]


class SigningKey:
    """An Ed25519 key that signs the journal."""

    def __init__(self, private: "Ed25519PrivateKey") -> None:
        self._private = private
        self.public = private.public_key().public_bytes_raw()
        self.key_id = key_id(self.public)

    def sign(self, statement: bytes) -> bytes:
        """Return key id and signature, 72 bytes."""
        return self.key_id + self._private.sign(statement)

    @classmethod
    def open_or_create(cls, path: Path) -> "SigningKey":
        """Return the key in the file; make the file, and the public key beside it, if there is none."""
        if not path.exists():
            _create(path)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> "SigningKey":
        """Return the key in the file; refuse a file that others may read."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - slow
        from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

        try:
            with path.open("rb") as file:
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                pem = file.read()
        except OSError as error:
            raise KeyFileError(f"the signing key {path} cannot be read: {error.strerror}") from error
        if mode & 0o077:
            raise KeyFileError(
                f"the signing key {path} has mode {mode:04o}, so others may read it; "
                f"if nobody else had access, run 'chmod 600 {path}', else move it away and a new key is made"
            )
        try:
            private = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError) as error:
            raise KeyFileError(f"{path} holds no usable private key: {error}") from error
        if not isinstance(private, Ed25519PrivateKey):
            raise KeyFileError(f"{path} holds a key, but not an Ed25519 key")
        return cls(private)


def public_path(path: Path) -> Path:
    """Return where the public half of a key file lies."""
    return path.with_name(path.stem + ".pub.pem")


def _create(path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
    )

    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(public_path(path), public, 0o644)
        # The private key last: once it is there, it is whole, and its public half lies beside it.
        _write(path, pem, 0o600)
    except OSError as error:
        raise KeyFileError(f"the signing key {path} cannot be made: {error.strerror}") from error


def _write(path: Path, data: bytes, mode: int) -> None:
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        os.fchmod(handle, mode)
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    part.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_public_key(path: Path) -> "Ed25519PublicKey":
    """Return the public key in a PEM file."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415

    try:
        key = load_pem_public_key(path.read_bytes())
    except OSError as error:
        raise KeyFileError(f"the public key {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise KeyFileError(f"{path} holds no public key in PEM form") from error
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError(f"{path} holds a public key, but not an Ed25519 key")
    return key


def checker(public: bytes) -> "Ed25519PublicKey":
    """Return a public key from its 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    return Ed25519PublicKey.from_public_bytes(public)


def good_signature(key: "Ed25519PublicKey", statement: bytes, signature: bytes) -> bool:
    """Tell whether key id and signature (72 bytes) are this key's for the statement."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415

    try:
        key.verify(signature[KEY_ID_SIZE:], statement)
    except InvalidSignature:
        return False
    return True
