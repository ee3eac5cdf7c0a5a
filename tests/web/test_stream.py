import contextlib
import http.client
import json
import logging
import socket
import threading

import pytest

from shoe_controller.cards import ALL_CODES
from shoe_controller.session import inputs
from shoe_controller.web import connection, stream
from shoe_controller.web.connection import DisplayConnection
from tests.web.table import eventually, served, settings

SHOE = "shoe fortune-six decks=8 id=S1;"


@pytest.fixture
def server(tmp_path):
    with served(tmp_path / "journal", settings(max_clients=3)) as running:
        yield running


class Listener:
    """A client of the event stream that reads message by message."""

    def __init__(self, port, path="/events", **headers):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        self._connection.request(
            "GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
        self.answer = self._connection.getresponse()
        self.raw = b""

    def message(self):
        """Return the next message as (event, id, data)."""
        fields = {}
        while True:
            line = self.answer.readline()
            assert line, "the stream ended"
            self.raw += line
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if line == b"\n" and "data" in fields:
                return fields["event"], int(fields["id"]) if "id" in fields else None, json.loads(fields["data"])
            fields[name] = value

    def until(self, event, seq=None):
        """Return the messages up to the next one of this kind."""
        got = []
        while not got or got[-1][0] != event or (seq is not None and got[-1][1] != seq):
            got.append(self.message())
        return got

    def close(self):
        self._connection.close()


@pytest.fixture
def listen(server):
    with contextlib.ExitStack() as stack:

        def open_one(**more):
            listener = Listener(server.port, **more)
            stack.callback(listener.close)
            return listener

        yield open_one


def test_a_client_gets_the_state_at_once_and_after_each_change(server, listen):
    server.play(SHOE)
    listener = listen()
    event, seq, state = listener.message()
    assert (event, seq, state["phase"]) == ("state", 1, "ready")
    server.play("bets")
    (fact, again) = listener.until("state")
    assert (fact[0], fact[1], fact[2]["type"]) == ("fact", 2, "betting")
    assert (again[1], again[2]["phase"]) == (2, "betting")
    assert listener.answer.getheader("content-type").startswith("text/event-stream")
    assert listener.answer.getheader("cache-control") == "no-store"


def test_a_beat_comes_every_second_with_what_is_newest(server, listen):
    server.play(SHOE)
    listener = listen()
    (_, _, beat) = listener.until("beat")[-1]
    assert beat == {"seq": 1, "boot": server.table.boot}


def test_a_client_that_comes_back_gets_what_it_missed(server, listen):
    server.play(SHOE + "bets;close;card 4d;card 5d;")
    for more in ({"Last_Event_ID": "3"}, {"path": "/events?after=3"}):
        got = listen(**more).until("state")
        assert [(event, seq) for event, seq, _ in got] == [("fact", 4), ("fact", 5), ("state", 5)]


@pytest.mark.parametrize("said", ["x", "-1", "1.5", "99999999999999999999", "٣"])
def test_an_id_that_is_none_is_as_if_there_were_none(server, listen, said):
    server.play(SHOE)
    got = listen(Last_Event_ID=said.encode().decode("latin-1")).until("state")
    assert [event for event, _, _ in got] == ["state"]


def test_a_client_that_knows_more_than_the_journal_is_told_of_the_gap(server, listen):
    server.play(SHOE)
    got = listen(Last_Event_ID="77").until("state")
    assert [(event, seq) for event, seq, _ in got] == [("gap", None), ("state", 1)]
    assert got[0][2] == {"after": 77, "seq": 1}


def test_a_head_request_is_answered_and_ends(server):
    connection_ = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection_.request("HEAD", "/events")
    answer = connection_.getresponse()
    assert (answer.status, answer.read()) == (200, b"")
    connection_.close()


def clients(server):
    connection_ = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection_.request("GET", "/healthz")
    answer = json.loads(connection_.getresponse().read())
    connection_.close()
    return answer["clients"]


def test_no_more_clients_than_allowed_and_a_place_is_free_again_when_one_goes(server, listen):
    listeners = [listen() for _ in range(3)]
    for listener in listeners:
        listener.message()
    refused = listen()
    assert refused.answer.status == 503
    assert refused.answer.getheader("retry-after") == "2"
    assert b"3 clients already" in refused.answer.read()
    listeners[0].close()
    eventually(lambda: clients(server) == 2, what="two clients")
    assert listen().message()[0] == "state"


def test_a_client_that_does_not_read_is_dropped_and_slows_nobody(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(stream, "SLOW_SECONDS", 0.5)
    with served(tmp_path / "journal") as server, contextlib.closing(socket.socket()) as lazy:
        server.play(SHOE + "bets;")
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect(("127.0.0.1", server.port))
        lazy.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        keen = Listener(server.port)
        keen.message()
        eventually(lambda: clients(server) == 2, what="two clients")
        taken = 0
        stop = threading.Event()

        def read():
            nonlocal taken
            while not stop.is_set():
                taken += keen.message()[0] == "state"

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        with caplog.at_level(logging.WARNING):
            # Each change is a message for both; the lazy one's buffers are full after some hundred kilobytes.
            played = 0
            for _ in range(3000):
                server.play("wager ann player 1")
                played += 1
                if clients(server) == 1:
                    break
        assert clients(server) == 1, "the client that does not read is still there"
        assert "does not read was cut off" in caplog.text
        last = server.table.tail.last_seq
        eventually(lambda: keen.raw.count(b"id: %d\n" % last), what="the newest state at the other client")
        assert taken > played / 4
        stop.set()
        server.play("close")
        reader.join(10)
        keen.close()


def test_a_connection_without_a_request_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.3)
    with served(tmp_path / "journal") as server:
        for sent in (b"", b"GET / HT"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as line:
                line.sendall(sent)
                assert _rest(line) == b""
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as line:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" in line.recv(4096)
            line.sendall(b"GET /he")
            _rest(line)


def _rest(line):
    """Return what comes until the line is closed."""
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        while got := line.recv(4096):
            answer += got
    return answer


def test_a_stream_outlives_the_deadline_for_requests(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.3)
    with served(tmp_path / "journal") as server:
        listener = Listener(server.port)
        assert [event for event, _, _ in listener.until("beat")] == ["state", "beat"]
        listener.close()


def get(server, path):
    """Return the bytes of an answer, its head among them."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return _rest(line)


# Rounds of a squeeze table: what happens before anybody may see the cards, and what shows them, if anything does.
# No face comes twice, so that each can be told from those that were shown before.
SQUEEZED = [
    ("bets;close;card 2h;card 7s;card 3d;card Tc;card 8h", "result"),
    ("bets;close;card 9h;card 6s;card Kd;card Ac", "result"),  # a natural
    ("bets;close;card 2s;card 3s;unreadable;reconstruct 4s;card 5s", "void"),
    ("bets;card 6h;reconstruct;close;card 7h;card Jd;card Js", "result"),  # a card too early
    ("bets;close;together 2d 4d order=unknown", ""),
    ("bets;close;card 5d;card 6d;returned 6d;void", ""),
    ("bets;close;card 9d;card 9s;card Qd;card Qs;card 8c;reconstruct", "result"),  # a surplus card
    ("bets;close;card 2c;card 3c;card Sf", ""),  # a foreign card
]


def test_at_a_squeeze_table_no_byte_tells_a_face_before_the_result(tmp_path):
    shown = set()
    with served(tmp_path / "journal", settings(reveal="on-result")) as server:
        server.play("shoe no-commission decks=8 id=S1 surplus=burn")
        listener = Listener(server.port)

        def told():
            """Return the faces in everything that can be had from the server now."""
            listener.until("state", server.table.tail.last_seq)
            said = listener.raw + get(server, "/state.json") + get(server, "/healthz")
            # A client that asks for the whole past gets it from the ring of facts.
            late = Listener(server.port, "/events?after=0")
            late.until("state")
            late.close()
            return {code for code in ALL_CODES if b'"%s"' % code.encode() in said + late.raw}

        for hidden, reveal in SQUEEZED:
            for line in hidden.split(";"):
                server.play(line)
                assert told() == shown, line
            if reveal:
                server.play(reveal)
                last = server.table.round_facts()[-1]
                shown |= {*last.player, *last.banker} if last.status == "complete" else set()
                assert told() == shown
            server.call(server.table.happen, inputs.Acknowledge("supervisor"))
            assert told() == shown
        listener.close()
    assert len(shown) == 17


def test_nothing_is_pushed_where_no_answer_has_begun():
    connection = DisplayConnection.__new__(DisplayConnection)
    connection.cycle = None
    assert not connection.push(b"data: x")
