"""MQTT 3.1.1 over a bare socket, as little of it as a publisher or subscriber needs."""

import socket
from typing import Self

CONNECT, CONNACK, PUBLISH, SUBSCRIBE, SUBACK = 0x10, 0x20, 0x30, 0x82, 0x90
QOS_1 = 0x02
DEADLINE = 20.0


def text(value: str) -> bytes:
    """Return a string as the protocol writes it."""
    data = value.encode()
    return len(data).to_bytes(2, "big") + data


def packet(kind: int, body: bytes) -> bytes:
    """Return a packet: kind, length, body."""
    length, left = bytearray(), len(body)
    while True:
        left, part = divmod(left, 128)
        length.append(part | (0x80 if left else 0))
        if not left:
            return bytes([kind]) + bytes(length) + body


def publish(topic: str, payload: bytes, number: int) -> bytes:
    """Return a publish of QoS 1."""
    return packet(PUBLISH | QOS_1, text(topic) + number.to_bytes(2, "big") + payload)


class Client:
    """A connection to a broker; `take` returns the payload of the next message of one of our subscriptions."""

    def __init__(self, port: int, name: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), DEADLINE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()
        self.socket.sendall(packet(CONNECT, text("MQTT") + b"\x04\x02\x00\x00" + text(name)))
        assert self._packet()[0] == CONNACK

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.socket.close()

    def subscribe(self, topic: str) -> None:
        """Ask for a topic with QoS 0: what is measured is the first arrival, and it needs no answer."""
        self.socket.sendall(packet(SUBSCRIBE, b"\x00\x01" + text(topic) + b"\x00"))
        assert self._packet()[0] == SUBACK

    @property
    def pending(self) -> bool:
        """Tell whether bytes wait that were read with an earlier packet."""
        return bool(self._buffer)

    def take(self) -> bytes:
        """Wait for a message and return its payload."""
        while True:
            kind, body = self._packet()
            if kind & 0xF0 == PUBLISH:
                begin = 2 + int.from_bytes(body[:2], "big")
                return bytes(body[begin + (2 if kind & QOS_1 else 0) :])

    def _packet(self) -> tuple[int, bytes]:
        while (found := self._complete()) is None:
            data = self.socket.recv(65536)
            assert data, "the broker closed the connection"
            self._buffer += data
        return found

    def _complete(self) -> tuple[int, bytes] | None:
        length = shift = 0
        for at in range(1, min(len(self._buffer), 5)):
            length |= (self._buffer[at] & 0x7F) << shift
            shift += 7
            if not self._buffer[at] & 0x80:
                end = at + 1 + length
                if len(self._buffer) < end:
                    return None
                kind, body = self._buffer[0], bytes(self._buffer[at + 1 : end])
                del self._buffer[:end]
                return kind, body
        return None
