"""Brokers that each do exactly one thing wrong."""

import asyncio
import socket
import struct
from contextlib import asynccontextmanager

CONNACK = {4: b"\x20\x02\x00\x00", 5: b"\x20\x03\x00\x00\x00"}
REFUSES_VERSION = b"\x20\x02\x00\x01"


def _version(connect: bytes) -> int:
    # Fixed header and remaining length, then the protocol's name with its length, then the level.
    start = 2 if connect[1] < 128 else 3
    return connect[start + 6]


async def never_answers(reader, writer) -> None:
    await reader.read()


async def never_acks(reader, writer) -> None:
    connect = await reader.read(4096)
    writer.write(CONNACK[_version(connect)])
    await reader.read()


async def hangs_up(reader, writer) -> None:
    await reader.read(4096)


async def hangs_up_at_once(reader, writer) -> None:
    pass


async def offers_qos_0_only(reader, writer) -> None:
    await reader.read(4096)
    writer.write(b"\x20\x05\x00\x00\x02\x24\x00")
    await reader.read()


async def talks_nonsense(reader, writer) -> None:
    await reader.read(4096)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await reader.read()


async def lets_another_in(reader, writer) -> None:
    await reader.read(4096)
    writer.write(CONNACK[5])
    await reader.read(4096)
    writer.write(b"\xe0\x02\x8e\x00")
    await reader.read()


async def shuts_down(reader, writer) -> None:
    await reader.read(4096)
    writer.write(CONNACK[5])
    await reader.read(4096)
    writer.write(b"\xe0\x02\x8b\x00")
    await reader.read()


async def does_not_let_us_read(reader, writer) -> None:
    await reader.read(4096)
    writer.write(CONNACK[5])
    await reader.read(4096)
    writer.write(b"\x90\x04\x00\x01\x00\x87")
    await reader.read()


def unavailable(code: int):
    async def handle(reader, writer) -> None:
        connect = await reader.read(4096)
        writer.write(b"\x20\x03\x00%c\x00" % code if _version(connect) == 5 else b"\x20\x02\x00\x03")
        await reader.read()

    return handle


def only_knows_3_1_1(port: int, *, says_so: bool):
    """In front of a real broker: turns version 5 down, or hangs up on it, as old brokers do."""

    async def handle(reader, writer) -> None:
        connect = await reader.read(4096)
        if _version(connect) == 5:
            if says_so:
                writer.write(REFUSES_VERSION)
            return
        await _forward(reader, writer, port, connect)

    return handle


class Cutter:
    """In front of a real broker: resets the connection after so many bytes from the table, in mid-message."""

    def __init__(self, port: int, after: int, times: int) -> None:
        self._port = port
        self._after = after
        self.times = times

    async def handle(self, reader, writer) -> None:
        if self.times <= 0:
            await _forward(reader, writer, self._port, b"")
            return
        self.times -= 1
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._port)
        back = asyncio.ensure_future(_copy(inner_reader, writer))
        left = self._after
        while left > 0 and (data := await reader.read(min(left, 512))):
            inner_writer.write(data)
            left -= len(data)
        back.cancel()
        inner_writer.close()
        # Linger 0: the other end gets a reset, not an end.
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()


async def _forward(reader, writer, port: int, first: bytes) -> None:
    inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
    inner_writer.write(first)
    try:
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))
    finally:
        inner_writer.close()


async def _copy(reader, writer) -> None:
    while data := await reader.read(4096):
        writer.write(data)
    writer.close()


@asynccontextmanager
async def serving(handle):
    """Serve on a free loopback port and yield the URL."""
    tasks: set[asyncio.Task] = set()

    async def handler(reader, writer) -> None:
        tasks.add(asyncio.current_task())
        try:
            await handle(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield f"mqtt://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
