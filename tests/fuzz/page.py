"""The display's server, fed with requests made to hurt: it answers or hangs up, and is as well as before."""

import contextlib
import http.client
import json
import logging
import socket
import tempfile
from pathlib import Path

from tests.web.table import eventually, served, settings

PATHS = b"/ /state.json /events /events?after=7 /healthz /metrics /static/page.js /texts/en.json".split()
ODD_PATHS = [
    *(
        b"/static/../server.py",
        b"/static/%2e%2e/%2e%2e/etc/passwd",
        b"//",
        b"/%00",
        b"/%ff",
        b"*",
        b"",
        b"/events?after=",
    ),
    *(b"http://evil.example/", b"/" + b"a" * 20_000, b"/?" + b"&" * 5_000, b"/texts/en.json/", b"/static/\xff"),
]
METHODS = [*[b"GET"] * 6, b"HEAD", b"POST", b"OPTIONS", b"CONNECT", b"TRACE", b"BREW", b"get", b"G" * 5_000, b""]
HEADERS = [
    *(b"Host: 127.0.0.1", b"Host: evil.example", b"Host: [::1]:80", b"Host: [", b"Host:", b"Host: \xff"),
    *(b"Last-Event-ID: 3", b"Last-Event-ID: -1", b"Last-Event-ID: " + b"9" * 6_000, b"Last-Event-ID: \xb2"),
    *(b"Content-Length: 5", b"Content-Length: -1", b"Content-Length: 99999999999", b"Content-Length: 1, 2"),
    *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked", b"Expect: 100-continue"),
    *(b"Upgrade: websocket\r\nConnection: Upgrade", b"Connection: close", b"If-None-Match: *", b"Range: bytes=0-"),
    *(b"X: " + b"y" * 20_000, b"X-\x00: 1", b" folded: 1", b"no colon", b"Cookie: " + b"a=b; " * 1_000),
]
BODIES = [
    b"",
    b"",
    b"",
    b"hello",
    b"5\r\nhello\r\n0\r\n\r\n",
    b"fffffffffffffffff\r\n",
    b"\x16\x03\x01\x02",
    b"x" * 100_000,
]
SAMPLES = [
    b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + more + b"\r\n"
    for path in PATHS
    for more in (b"", b"Last-Event-ID: 3\r\n", b"Connection: close\r\n")
]
WORDS = [*METHODS, *PATHS, *ODD_PATHS, b"\r\n\r\n", *(header + b"\r\n" for header in HEADERS)]
# A request that is not whole has no answer, so this is only how long a look is.
LOOK_SECONDS = 0.1


def request(random):
    """Give a request of parts that are each well known, or each well known to be wrong."""
    version = random.choice((b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/9", b""))
    line = [random.choice(METHODS), random.choice(PATHS + ODD_PATHS), version]
    headers = [random.choice(HEADERS) for _ in range(random.choice((0, 0, 1, 2, 5, 200)))]
    if random.random() < 0.7:  # without a host, or with two, a request goes no further
        headers = [b"Host: 127.0.0.1", *(header for header in headers if not header.startswith(b"Host"))]
    return b"\r\n".join([b" ".join(line), *headers, b"", random.choice(BODIES)])


class Errors(logging.Handler):
    """Keeps what the server complains of."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.messages = []

    def emit(self, record):
        self.messages.append(self.format(record))


@contextlib.contextmanager
def http_request():
    """A server that really listens on loopback; at the end it must be as it was."""
    errors = Errors()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "journal", settings(max_clients=4)) as server:

        def read(data):
            told = _ask(server.port, data)
            assert not errors.messages, f"the server broke: {errors.messages.pop()[-2_000:]}"
            if not told:
                return False
            status = int(told.split(b" ", 2)[1])
            assert told.startswith(b"HTTP/1.1 ")
            assert status < 500 or status == 503, f"answered with {status}"
            return status == 200

        logging.getLogger().addHandler(errors)
        try:
            server.play("shoe six-star decks=8;bets;close;card 4f;card Ta")
            yield read
            eventually(lambda: _health(server.port)["clients"] == 0, what="every stream ended")
            assert not errors.messages
        finally:
            logging.getLogger().removeHandler(errors)


def _ask(port, data):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(data)
        line.settimeout(LOOK_SECONDS)
        try:
            return line.recv(65_536)
        except OSError:  # hung up, or waiting for the rest
            return b""


def _health(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        return json.loads(answer.read()) if answer.status == 200 else {"clients": -1}
    finally:
        connection.close()
