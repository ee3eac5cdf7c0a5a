"""Files that hold a secret: read only if nobody but their owner could have read them."""

import os
import stat
from pathlib import Path

from shoe_controller.errors import UsageError

# Keys are 32 bytes and passwords a line; PEM keys of 4096 bits have 3.3 KB.
MAX_BYTES = 16_384


class SecretFileError(UsageError):
    """A secret's file is missing, may not be read, or can be read by others; the text says how to mend it."""


def too_open(mode: int) -> bool:
    """Tell whether a file mode lets anybody but the owner at the file."""
    return bool(stat.S_IMODE(mode) & (stat.S_IRWXG | stat.S_IRWXO))


def read_secret(path: Path | str) -> bytes:
    """Return the content of a secret's file, byte for byte."""
    try:
        with Path(path).open("rb") as file:
            # The mode of the open file, not of the name: nobody can swap the file in between.
            mode = os.fstat(file.fileno()).st_mode
            if too_open(mode):
                raise SecretFileError(
                    f"{path} has mode {stat.S_IMODE(mode):04o}, so that others can read the secret: chmod 0600 {path}"
                )
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SecretFileError(f"{path} cannot be read: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise SecretFileError(f"{path} is larger than {MAX_BYTES} bytes: this is no key and no password")
    return content


def read_password(path: Path | str) -> str:
    """Return the password that stands on the one line of its file."""
    try:
        password = read_secret(path).decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise SecretFileError(f"{path} is no UTF-8 text: {error.reason} at byte {error.start}") from error
    if not password or "\n" in password:
        raise SecretFileError(f"{path} must hold the password on one line, and nothing else")
    return password
