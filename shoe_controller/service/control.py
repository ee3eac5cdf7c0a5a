"""The local socket: a supervisor's decisions and questions about the state, from people on this machine only.

One JSON object a line in each direction: `{"command":"void","reason":"…"}` is answered by `{"ok":true,"facts":[…]}`
or `{"ok":false,"error":"…"}`. The kernel says who asks (SO_PEERCRED); the name goes into the journal.
"""

import asyncio
import contextlib
import grp
import logging
import os
import pwd
import socket
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from shoe_controller.cards import is_code
from shoe_controller.errors import ControllerError
from shoe_controller.outside_json import NOT_UNDERSTOOD, why
from shoe_controller.session import inputs as i

logger = logging.getLogger(__name__)

MAX_LINE = 4096
MAX_REASON = 200
MAX_ID = 64
MODE = 0o660
_PEER = struct.Struct("3i")
ROOT = 0


class ControlSocketError(ControllerError, OSError):
    """The local socket cannot be made."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person asks for."""

    command: str
    reason: str = ""
    codes: tuple[str, ...] = ()
    id: str = ""


Decide = Callable[[i.AnyInput, str], Awaitable[list[Any]]]
"""Takes an input and who decided it; gives its facts once they are on disk."""


class Peer(msgspec.Struct, frozen=True):
    """Who is at the other end."""

    uid: int
    name: str
    groups: frozenset[int]


def decision(request: Request, by: str, new_shoe: Callable[[str], i.LoadShoe]) -> i.AnyInput:
    """Return the input that a request is; raise ValueError with a sentence if it is none."""
    match request.command:
        case "void":
            return i.Void(reason=_said(request.reason, MAX_REASON), by=by)
        case "accept":
            return i.Reconstruct(codes=_checked(request.codes), by=by)
        case "key-card":
            if len(request.codes) != 1:
                raise ValueError("key-card needs the code of the one card that could not be read")
            return i.Reconstruct(codes=_checked(request.codes), by=by)
        case "ack":
            return i.Acknowledge(by=by)
        case "new-shoe":
            return new_shoe(_said(request.id, MAX_ID))
        case _:
            raise ValueError(f"there is no command {request.command!r}")


def _said(text: str, most: int) -> str:
    """Return what a person typed as one line of bounded length."""
    return " ".join(text.split())[:most]


def _checked(codes: tuple[str, ...]) -> tuple[str, ...]:
    for code in codes:
        if not is_code(code):
            raise ValueError(f"{code!r} is not a card: write rank and suit, as in Th or 4d")
    return codes


class ControlSocket:
    """Listens while it is open. `decide` is None until there is a table to decide about; `status` always answers."""

    def __init__(
        self, path: Path, group: str, status: Callable[[], Any], new_shoe: Callable[[str], i.LoadShoe]
    ) -> None:
        self._path = path
        self._group = group
        self._status = status
        self._new_shoe = new_shoe
        self._server: asyncio.Server | None = None
        self._allowed_group = _group_id(group)
        self.decide: Decide | None = None

    async def open(self) -> None:
        """Make the socket; one that a killed controller left behind is replaced, one that is in use is not."""
        if _in_use(self._path):
            raise ControlSocketError(
                f"another controller answers on the socket {self._path}: stop it, or set another one in [local] socket"
            )
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.unlink(missing_ok=True)
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            mask = os.umask(0o777 & ~MODE)
            try:
                listener.bind(str(self._path))
            finally:
                os.umask(mask)
            if self._allowed_group is not None:
                with contextlib.suppress(PermissionError):
                    os.chown(self._path, -1, self._allowed_group)
            self._server = await asyncio.start_unix_server(self._serve, sock=listener, limit=MAX_LINE)
        except OSError as error:
            raise ControlSocketError(
                f"the socket {self._path} for local commands cannot be made: {error.strerror}; see [local] socket"
            ) from error

    async def close(self) -> None:
        """Listen no more and take the socket away."""
        if self._server is not None:
            self._server.close()
            self._server = None
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            peer = _peer(writer.get_extra_info("socket"))
            while line := await reader.readline():
                writer.write(msgspec.json.encode(await self._answer(line, peer)) + b"\n")
                await writer.drain()
        except ValueError:  # the reader found no end of the line
            writer.write(msgspec.json.encode(_no(f"a request is one line of at most {MAX_LINE} bytes")) + b"\n")
        except OSError as error:
            logger.debug("local socket: %s", error)
        finally:
            writer.close()

    async def _answer(self, line: bytes, peer: Peer) -> dict[str, Any]:
        try:
            request = msgspec.json.decode(line, type=Request)
        except NOT_UNDERSTOOD as error:
            return _no(f"the request is not understood: {why(error)}")
        if request.command == "status":
            return {"ok": True, "status": self._status()}
        if not self._may_decide(peer):
            logger.warning("local socket: %s may not decide", peer.name)
            return _no(f"{peer.name} may not decide at this table: members of the group {self._group} may")
        if self.decide is None:
            return _no("the controller has no journal to write into: see `shoe-controller status`")
        try:
            happened = decision(request, peer.name, self._new_shoe)
            return {"ok": True, "facts": await self.decide(happened, peer.name)}
        except (ValueError, ControllerError) as error:
            return _no(str(error))

    def _may_decide(self, peer: Peer) -> bool:
        return peer.uid in {ROOT, os.getuid()} or self._allowed_group in peer.groups


def _no(error: str) -> dict[str, Any]:
    return {"ok": False, "error": error}


def _in_use(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(str(path)) == 0


def _group_id(name: str) -> int | None:
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        logger.warning("local socket: there is no group %s on this machine; only root may decide", name)
        return None


def _peer(connection: Any) -> Peer:
    _, uid, gid = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        return Peer(uid, f"uid-{uid}", frozenset({gid}))
    return Peer(uid, name, frozenset({gid, *os.getgrouplist(name, gid)}))
