"""The other end of the local socket: what a command on this machine asks the controller."""

import socket
from pathlib import Path
from typing import Any

import msgspec

from shoe_controller.errors import CheckFailedError, ControllerError
from shoe_controller.outside_json import NOT_UNDERSTOOD

TIMEOUT_SECONDS = 10.0


class NotRunningError(CheckFailedError):
    """No controller answers on the socket."""


class RefusedError(CheckFailedError):
    """The controller answered no; the text is its sentence."""


def ask(path: Path, **request: Any) -> dict[str, Any]:
    """Send one request and return the answer; raise NotRunningError or RefusedError with a sentence."""
    line = msgspec.json.encode(request) + b"\n"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(TIMEOUT_SECONDS)
            connection.connect(str(path))
            connection.sendall(line)
            answer = msgspec.json.decode(connection.makefile("rb").readline(), type=dict[str, Any])
    except PermissionError as error:
        raise ControllerError(
            f"{path} may not be used by you: a supervisor must be in the group that [local] group names"
        ) from error
    except TimeoutError as error:
        raise NotRunningError(f"the controller at {path} does not answer within {TIMEOUT_SECONDS:g} s") from error
    except OSError as error:
        raise NotRunningError(
            f"no controller answers at {path} ({error.strerror or error}): is it running, and is this the socket of"
            " its configuration?"
        ) from error
    except NOT_UNDERSTOOD as error:
        raise NotRunningError(f"the controller at {path} ended before it answered") from error
    if not answer.get("ok"):
        raise RefusedError(str(answer.get("error", "refused")))
    return answer
