"""The floor of a card's way: read, decode, append, fdatasync, publish. No rules, no chain, no signatures, no limits.

`python -m tests.bench.bare_table PTY FILE BROKER-PORT HTTP-PORT`. Whatever could be prepared is prepared: payloads are
copied from memory. A display that asks on the HTTP port gets the message as an event of its stream.
"""

import os
import select
import socket
import sys
import tty
from pathlib import Path

from tests.bench.bare_mqtt import Client, publish
from tests.bench.decoder import bare

TOPIC = "floor/events"
PAYLOAD = b'{"type":"card"}'.ljust(480, b" ")  # as large as an event of ours
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


def run(port: str, path: Path, broker: int, http: int) -> None:
    """Serve cards until the line ends."""
    line = os.open(port, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(line)
    journal = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    listener = socket.create_server(("127.0.0.1", http))
    displays: list[socket.socket] = []
    client = Client(broker, "floor")
    number, waiting = 0, b""
    poll = select.poll()
    for one in (line, client.socket.fileno(), listener.fileno()):
        poll.register(one, select.POLLIN)
    print("ready", flush=True)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == listener.fileno():
                display, _ = listener.accept()
                display.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                display.recv(4096)
                display.sendall(STREAM)
                displays.append(display)
            elif descriptor == line:
                waiting += os.read(line, 4096)
                if not waiting.endswith(b"\0"):
                    continue
                for card in bare(waiting):
                    number = number % 65535 + 1
                    os.write(journal, b"%d %r\n" % (number, card))
                    os.fdatasync(journal)
                    client.socket.sendall(publish(TOPIC, PAYLOAD, number))
                    for display in displays:
                        display.sendall(b"event: fact\nid: %d\ndata: %b\n\n" % (number, PAYLOAD))
                waiting = b""
            else:
                client.socket.recv(4096)


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
