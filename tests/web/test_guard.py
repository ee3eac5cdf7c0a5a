import asyncio
import http.client
import socket

import pytest

from shoe_controller.web.guard import Guard, host_names, host_of
from tests.web.table import served, settings


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("guard") / "journal", settings(allowed_hosts=("display.local",))) as running:
        yield running


def ask(server, method="GET", path="/state.json", host=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{server.port}")
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/", "/state.json", "/events", "/static/page.js", "/healthz", "/nothing"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_the_display_can_only_be_read(server, method, path):
    status, headers, body = ask(server, method, path)
    assert (status, headers["allow"]) == (405, "GET, HEAD")
    assert b"only be read" in body


@pytest.mark.parametrize("path", ["/", "/state.json", "/static/page.js", "/texts/zh.json", "/healthz", "/nothing"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_every_answer_forbids_what_the_page_does_not_need(server, method, path):
    status, headers, body = ask(server, method, path)
    assert status == (404 if path == "/nothing" else 200)
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers
    assert bool(body) is (method == "GET")


@pytest.mark.parametrize(
    "host, status",
    [
        ("127.0.0.1", 200),
        ("localhost:8080", 200),
        ("LOCALHOST", 200),
        ("[::1]:8080", 200),
        ("display.local", 200),
        ("Display.Local:80", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("display.local.evil.example:80", 421),
        ("0.0.0.0", 421),
    ],
)
def test_only_our_own_names_are_answered(server, host, status):
    assert ask(server, host=host)[0] == status


def test_a_program_that_names_no_host_is_answered(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as line:
        line.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert line.recv(4096).startswith(b"HTTP/1.1 200")


def test_a_websocket_is_not_offered(server):
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Key": "x3JJHMbDL1EzLkh9GBhXDw=="}
    assert ask(server, path="/events", method="POST", **headers)[0] == 405


def test_what_is_no_request_is_not_let_in():
    async def inner(*_):
        pytest.fail("a websocket was let in")

    asyncio.run(Guard(inner, frozenset())({"type": "websocket"}, None, None))


def test_nothing_beside_the_page_can_be_fetched(server):
    for path in (
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/",
        "/texts/../../x",
        "/static/page.js/..",
    ):
        assert ask(server, path=path)[0] == 404


def test_a_page_that_has_not_changed_is_not_sent_again(server):
    _, headers, body = ask(server, path="/static/page.js")
    assert headers["content-type"].startswith("text/javascript")
    status, _, again = ask(server, path="/static/page.js", If_None_Match=headers["etag"])
    assert (status, again) == (304, b"")
    assert body


def test_the_page_has_no_script_and_no_style_of_its_own(server):
    body = ask(server, path="/")[2].decode()
    assert "style=" not in body
    assert "<style" not in body
    assert body.count("<script") == 1
    assert '<script type="module" src="/static/page.js"></script>' in body
    assert "http" not in body.replace("/static/", "")  # nothing from elsewhere


def test_host_names():
    names = host_names("0.0.0.0", ["[FD00::1]", "Pit-7"])
    assert names == {"localhost", "127.0.0.1", "::1", "fd00::1", "pit-7"}
    assert host_of("[fd00::1]:8080") == "fd00::1"
