import asyncio
import contextlib
import errno
import http.client
import json
import signal
import socket
import subprocess
import sys

import pytest

from shoe_controller.session.inputs import RaiseFault
from shoe_controller.web.errors import PortError
from shoe_controller.web.server import create_app, serve, why
from tests.web.table import Dealer, eventually, served, settings

SHOE = "shoe six-star decks=8 id=S1;"


def get(port, path, host="127.0.0.1"):
    connection = http.client.HTTPConnection(host, port, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.getheader("content-type"), answer.read()
    finally:
        connection.close()


def test_the_state_is_there_for_other_displays(tmp_path):
    with served(tmp_path / "journal") as server:
        server.play(SHOE + Dealer("six-star").round())
        status, kind, body = get(server.port, "/state.json")
        state = json.loads(body)
        assert (status, kind) == (200, "application/json")
        assert state["round"]["round"] == 1
        assert state["seq"] == server.table.tail.last_seq
        assert {"bead", "big", "big_eye", "small", "cockroach", "ask"} <= set(state["roads"])


def test_health_says_where_the_display_stands(tmp_path):
    with served(tmp_path / "journal") as server:
        assert json.loads(get(server.port, "/healthz")[2]) == {
            "status": "ok",
            "seq": 0,
            "boot": server.table.boot,
            "phase": "no-shoe",
            "clients": 0,
        }
        assert get(server.port, "/metrics")[0] == 404
        server.call(server.table.happen, RaiseFault(fault="jam"))
        status, _, body = get(server.port, "/healthz")
        assert (status, json.loads(body)["status"], json.loads(body)["phase"]) == (503, "fault", "fault")


class Numbers:
    content_type = "text/plain; version=0.0.4"

    def render(self):
        return b"rounds 7\n"


def test_metrics_are_shown_where_the_controller_offers_them(tmp_path):
    with served(tmp_path / "journal", metrics=Numbers()) as server:
        assert get(server.port, "/metrics") == (200, "text/plain; version=0.0.4", b"rounds 7\n")


@pytest.mark.parametrize(
    "address, others, status",
    [
        (("127.0.0.1", 5), False, 200),
        (("::1", 5), False, 200),
        (("::ffff:127.0.0.1", 5), False, 200),
        (("10.1.2.3", 5), False, 403),
        (("::ffff:10.1.2.3", 5), False, 403),
        (None, False, 403),
        (("10.1.2.3", 5), True, 200),
    ],
)
def test_metrics_are_for_this_machine_unless_allowed(table, address, others, status):
    made = table()
    app = create_app(made.feed, made.settings, metrics=Numbers(), metrics_for_others=others)
    sent = []

    async def ask():
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/metrics",
            "query_string": b"",
            "headers": [],
            "client": address,
        }

        async def receive():
            return {"type": "http.request"}

        async def send(message):
            sent.append(message)

        await app(scope, receive, send)

    asyncio.run(ask())
    assert sent[0]["status"] == status


def test_a_port_in_use_is_said_in_a_sentence(table):
    made = table()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortError) as caught:
            asyncio.run(serve(create_app(made.feed, made.settings), "127.0.0.1", port))
    assert f"127.0.0.1 port {port}: another program has that port" in str(caught.value)
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize(
    "host, sentence",
    [
        ("203.0.113.7", "this machine has no such address"),
        ("no.such.host.invalid", "cannot listen on 'no.such.host.invalid'"),
    ],
)
def test_an_address_that_is_not_ours_is_said_in_a_sentence(table, host, sentence):
    made = table()
    with pytest.raises(PortError) as caught:
        asyncio.run(serve(create_app(made.feed, made.settings), host, 0))
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "number, sentence",
    [
        (errno.EADDRINUSE, "another program has that port"),
        (errno.EADDRNOTAVAIL, "this machine has no such address"),
        (errno.EACCES, "ports below 1024 need a privilege"),
        (errno.ENOBUFS, "No buffer space available"),
    ],
)
def test_every_reason_not_to_listen_says_what_to_do(number, sentence):
    assert why("127.0.0.1", 80, number).startswith(f"the display cannot listen on 127.0.0.1 port 80: {sentence}")


def test_it_also_listens_on_ipv6(table):
    made = table()

    async def run():
        from shoe_controller.web.server import serving

        async with serving(create_app(made.feed, made.settings), "::1", 0) as (port, _):
            return await asyncio.to_thread(get, port, "/healthz", "::1")

    assert asyncio.run(run())[0] == 200


def test_serving_can_be_cancelled_and_ends_open_streams(table):
    made = table(SHOE)

    async def run():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
        task = asyncio.create_task(serve(create_app(made.feed, made.settings), "127.0.0.1", port))
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                break
            except OSError:
                await asyncio.sleep(0.01)
        assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
        writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"event: state")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 8)
        while True:
            try:
                if not await reader.read(65536):
                    break
            except ConnectionResetError:
                break
        writer.close()
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", port)

    asyncio.run(run())


def test_the_web_libraries_are_loaded_only_for_the_server():
    code = (
        "import sys, shoe_controller.web.feed, shoe_controller.web.settings;"
        "print([name for name in ('starlette', 'uvicorn', 'h11') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_settings_default_to_this_machine_alone():
    made = settings()
    assert (made.host, made.max_clients) == ("127.0.0.1", 16)


NOT_CHUNKED = b"Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_a_body_that_is_no_http_is_refused_and_not_answered_twice(tmp_path, caplog):
    with served(tmp_path / "journal") as server, socket.create_connection(("127.0.0.1", server.port), 10) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\n" + NOT_CHUNKED + b"xxxx\r\n")
        told = b"".join(iter(lambda: line.recv(4096), b""))
        assert told.startswith(b"HTTP/1.1 400 ")
        assert told.count(b"HTTP/1.1") == 1
        assert get(server.port, "/healthz")[0] == 200
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_stream_is_cut_off_when_what_follows_its_request_is_no_http(tmp_path, caplog):
    with served(tmp_path / "journal") as server, socket.create_connection(("127.0.0.1", server.port), 10) as line:
        line.sendall(b"GET /events HTTP/1.1\r\n" + NOT_CHUNKED)
        assert line.recv(15) == b"HTTP/1.1 200 OK"
        line.sendall(b"xxxx\r\n")
        with contextlib.suppress(ConnectionResetError):
            while line.recv(4096):
                pass
        eventually(lambda: json.loads(get(server.port, "/healthz")[2])["clients"] == 0, what="the stream ended")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
