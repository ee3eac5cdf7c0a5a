"""The guard at the door: which requests are let in, and what every answer says about itself.

Only GET and HEAD, only for host names that are ours (a page of another site that points its own name at this machine
is turned away), and every answer forbids the browser whatever the page does not need.
"""

from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
READING = frozenset({"GET", "HEAD"})
# A wildcard address is no name that a browser asks for.
WILDCARDS = frozenset({"0.0.0.0", "::", ""})  # noqa: S104  these are compared, not bound
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def host_names(host: str, allowed: Iterable[str]) -> frozenset[str]:
    """Return the host names that requests may name: this machine's loopback, the address listened on, and `allowed`."""
    names = {*LOOPBACK, host.lower(), *(name.lower().strip("[]") for name in allowed)}
    return frozenset(names - WILDCARDS)


def host_of(header: str) -> str:
    """Return the name in a Host header, without port and brackets, in small letters."""
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


class Guard:
    """ASGI wrapper that checks each request and adds the headers of safety to each answer."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers[name] = value
            await send(message)

        await (self._refusal(scope) or self._app)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        if scope["method"] not in READING:
            return PlainTextResponse(
                "This display can only be read: GET and HEAD.\n",
                405,
                {"Allow": "GET, HEAD", "Connection": "close"},
            )
        # No host at all is what some simple programs send; only a browser can be led here by a false name, and
        # a browser always says which name it used.
        host = Headers(scope=scope).get("host", "")
        if host and host_of(host) not in self._hosts:
            return PlainTextResponse(
                "This machine is not known by that name. If it should be, add the name to allowed_hosts in [web].\n",
                421,
            )
        return None
