"""The local socket, fed with requests made to hurt: each line is answered, or the connection ends with an answer."""

import asyncio
import contextlib
import tempfile
from pathlib import Path

import msgspec

from shoe_controller.service.control import MAX_LINE, ControlSocket
from shoe_controller.session import inputs as i
from shoe_controller.session.session import Session

SAMPLES = [
    b'{"command":"status"}\n',
    b'{"command":"void","reason":"a dispute"}\n',
    b'{"command":"accept","codes":["4d","Th"]}\n{"command":"ack"}\n',
    b'{"command":"key-card","codes":["Sf"]}\n',
    b'{"command":"new-shoe","id":"S2"}\n',
]
WORDS = [b'"command":', b'"codes":', b'"reason":', b'"id":', b"[]", b"null", b'"void"', b'"accept"', b"{}", b"1"]
DEADLINE = 30.0


@contextlib.contextmanager
def control_request():
    """A socket that is really listened on, with a table behind it."""
    session = Session("table")
    broken = []
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        path = Path(folder) / "control"
        control = ControlSocket(path, "root", lambda: {"phase": "x"}, lambda name: i.LoadShoe("six-star", 8, id=name))

        async def decide(happened, _who):
            return [msgspec.to_builtins(fact) for fact in session.handle(happened)]

        async def say(writer, data):
            with contextlib.suppress(ConnectionError):  # it may hang up in the middle of too long a line
                writer.write(data)
                await writer.drain()
                writer.write_eof()

        async def ask(data):
            asyncio.get_running_loop().set_exception_handler(lambda _loop, context: broken.append(context))
            async with asyncio.timeout(DEADLINE):
                reader, writer = await asyncio.open_unix_connection(str(path))
                try:
                    return (await asyncio.gather(say(writer, data), reader.read()))[1]
                except ConnectionError:
                    return None
                finally:
                    writer.close()

        def read(data):
            told = runner.run(ask(data))
            assert not broken, f"the server broke: {broken.pop()}"
            if told is None:
                assert any(len(line) > MAX_LINE for line in data.split(b"\n")), "it hung up without a reason"
                return False
            answers = [msgspec.json.decode(line) for line in told.splitlines()]
            asked = len(data.splitlines()) if data else 0
            assert answers or not asked, "no answer"
            assert all(answer["ok"] or answer["error"] for answer in answers)
            return any(answer["ok"] for answer in answers)

        runner.run(control.open())
        control.decide = decide
        try:
            yield read
        finally:
            runner.run(control.close())
