"""The local socket: who may decide, what is understood, and what is answered."""

import asyncio
import grp
import json
import os
import pwd
import socket
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from shoe_controller.errors import ControllerError
from shoe_controller.service.control import MODE, ControlSocket, ControlSocketError, Request, decision
from shoe_controller.session import inputs as i

ME = pwd.getpwuid(os.getuid()).pw_name
MY_GROUP = grp.getgrgid(os.getgid()).gr_name


def new_shoe(shoe_id):
    return i.LoadShoe(game="six-star", decks=8, id=shoe_id)


class Desk:
    """A socket with somebody behind it who notes what was decided."""

    def __init__(self, folder, group=MY_GROUP):
        self.taken = []
        self.path = folder / "control.sock"
        self.control = ControlSocket(self.path, group, lambda: {"condition": "running"}, new_shoe)
        self.control.decide = self.decide

    async def decide(self, happened, who):
        self.taken.append((happened, who))
        return [{"type": "acknowledged"}]

    async def __aenter__(self):
        await self.control.open()
        return self

    async def __aexit__(self, *_):
        await self.control.close()

    async def ask(self, *lines):
        reader, writer = await asyncio.open_unix_connection(self.path)
        answers = []
        for line in lines:
            writer.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
            answers.append(json.loads(await reader.readline()))
        writer.close()
        return answers


@pytest.mark.parametrize(
    "request_, happened",
    [
        (Request("void", reason="  exposed \n card "), i.Void(reason="exposed card", by="ann")),
        (Request("void", reason="x" * 500), i.Void(reason="x" * 200, by="ann")),
        (Request("accept"), i.Reconstruct(by="ann")),
        (Request("accept", codes=("4d", "Th")), i.Reconstruct(codes=("4d", "Th"), by="ann")),
        (Request("key-card", codes=("Sf",)), i.Reconstruct(codes=("Sf",), by="ann")),
        (Request("ack"), i.Acknowledge(by="ann")),
        (Request("new-shoe", id="S-7"), new_shoe("S-7")),
        (Request("new-shoe", id=" S\n7 " + "x" * 100), new_shoe("S 7 " + "x" * 60)),
    ],
)
def test_a_request_is_an_input_with_the_name_of_who_asked(request_, happened):
    assert decision(request_, "ann", new_shoe) == happened


@pytest.mark.parametrize(
    "request_, sentence",
    [
        (Request("key-card"), "needs the code of the one card"),
        (Request("key-card", codes=("4d", "4d")), "needs the code of the one card"),
        (Request("accept", codes=("4x",)), "'4x' is not a card"),
        (Request("result"), "there is no command 'result'"),
    ],
)
def test_what_is_no_decision_is_answered_with_a_sentence(request_, sentence):
    with pytest.raises(ValueError, match=sentence):
        decision(request_, "ann", new_shoe)


def test_the_socket_is_for_owner_and_group_alone_and_the_kernel_says_who_asks(tmp_path):
    async def scenario():
        async with Desk(tmp_path) as desk:
            assert stat.S_IMODE(desk.path.stat().st_mode) == MODE
            (answer,) = await desk.ask({"command": "ack"})
            assert answer == {"ok": True, "facts": [{"type": "acknowledged"}]}
            assert desk.taken == [(i.Acknowledge(by=ME), ME)]
        assert not desk.path.exists()

    asyncio.run(scenario())


def test_one_connection_may_ask_many_things_and_none_of_the_wrong_ones_ends_it(tmp_path):
    async def scenario():
        async with Desk(tmp_path) as desk:
            answers = await desk.ask(
                b"not json\n",
                b'{"command":"\xff"}\n',
                {"command": "ack", "table": 7},
                {"command": "result"},
                {"command": "status"},
                {"command": "void"},
            )
            assert [answer["ok"] for answer in answers] == [False, False, False, False, True, True]
            assert answers[1]["error"] == "the request is not understood: it is not UTF-8 text"
            assert answers[4]["status"] == {"condition": "running"}
            assert len(desk.taken) == 1

    asyncio.run(scenario())


def test_without_a_journal_only_the_status_is_answered(tmp_path):
    async def scenario():
        async with Desk(tmp_path) as desk:
            desk.control.decide = None
            status, void = await desk.ask({"command": "status"}, {"command": "void"})
            assert status["ok"]
            assert "no journal" in void["error"]

    asyncio.run(scenario())


def test_a_controller_that_is_ending_says_so(tmp_path):
    async def ending(_happened, _who):
        raise ControllerError("the controller is ending")

    async def scenario():
        async with Desk(tmp_path) as desk:
            desk.control.decide = ending
            (answer,) = await desk.ask({"command": "void"})
            assert answer == {"ok": False, "error": "the controller is ending"}

    asyncio.run(scenario())


AS_NOBODY = """
import os, pwd, socket, sys
nobody = pwd.getpwnam("nobody")
os.setgroups([])
os.setgid(nobody.pw_gid)
os.setuid(nobody.pw_uid)
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    connection.sendall(b'{"command":"status"}\\n{"command":"void"}\\n')
    answers = connection.makefile("rb")
    sys.stdout.buffer.write(answers.readline() + answers.readline())
"""


def test_somebody_of_another_group_may_ask_but_not_decide():
    if os.getuid() != 0:
        pytest.fail("this test becomes another user and must run as root")

    async def scenario(folder):
        async with Desk(folder, group="no-such-group") as desk:
            # Beyond the mode of the socket: somebody gave it away by mistake.
            desk.path.chmod(0o666)
            asking = await asyncio.create_subprocess_exec(
                sys.executable, "-c", AS_NOBODY, str(desk.path), stdout=asyncio.subprocess.PIPE
            )
            told, _ = await asyncio.wait_for(asking.communicate(), 60)
            status, void = map(json.loads, told.splitlines())
            assert status["ok"]
            assert "nobody may not decide at this table" in void["error"]
            assert desk.taken == []

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        asyncio.run(scenario(Path(folder)))


def test_a_socket_left_by_a_killed_controller_is_replaced_and_one_in_use_is_not(tmp_path):
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "control.sock"))
    left.close()

    async def scenario():
        async with Desk(tmp_path) as desk:
            with pytest.raises(ControlSocketError, match="another controller answers"):
                await Desk(tmp_path).control.open()
            assert (await desk.ask({"command": "status"}))[0]["ok"], "it still answers"

    asyncio.run(scenario())


def test_a_socket_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")

    async def scenario():
        with pytest.raises(ControlSocketError, match=r"cannot be made: .*see \[local\] socket"):
            await Desk(tmp_path / "file").control.open()

    asyncio.run(scenario())


def test_a_caller_who_goes_away_or_talks_without_end_harms_nobody(tmp_path):
    async def scenario():
        async with Desk(tmp_path) as desk:
            _, writer = await asyncio.open_unix_connection(desk.path)
            writer.write(b'{"command":')
            writer.close()
            reader, writer = await asyncio.open_unix_connection(desk.path)
            writer.write(b"x" * 100_000)
            answer = json.loads(await reader.readline())
            assert "one line" in answer["error"]
            writer.close()
            assert (await desk.ask({"command": "status"}))[0]["ok"]

    asyncio.run(scenario())
