"""What a supervisor types: void, accept, key-card, ack, new-shoe and status, against a real daemon."""

import asyncio
import json
import sys

import pytest

from shoe_controller.cli import main
from tests.system.rig import rigged


async def command(rig, *words):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "shoe_controller", *words, "--socket", str(rig.socket),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert b"Traceback" not in err
    return process.returncode, out.decode(), err.decode()


async def deal(rig, line, recorded=True):
    await rig.until(lambda: rig.twin.body.gate_open, "the gate opens")
    rig.shoe.do(line)
    await rig.until(lambda: len(rig.recorded()) == len(rig.drawn), "it is recorded")


async def call(rig, button):
    await rig._press(button, (await rig.status()).view)


def test_a_supervisor_works_a_round_from_the_command_line(tmp_path):
    async def scenario():
        async with rigged(tmp_path, auto=None) as rig:
            rig.start()
            await rig.ready()
            code, out, _ = await command(rig, "status")
            assert (code, "phase      no-shoe" in out) == (0, True)
            code, out, _ = await command(rig, "new-shoe", "--id", "S-1")
            assert (code, "Shoe S-1: No Commission Baccarat, 4 decks" in out) == (0, True)
            code, out, _ = await command(rig, "ack")
            assert (code, "refused: there is no alarm" in out) == (1, True)
            await call(rig, "place_bets")
            await call(rig, "no_more_bets")
            await deal(rig, "deal")
            await deal(rig, "unreadable")
            code, out, _ = await command(rig, "status")
            assert "decision   a card that could not be read: key the card, or void" in out
            assert "alarm      not acknowledged yet" in out
            code, out, err = await command(rig, "key-card", "Zz")
            assert (code, out) == (1, "")
            assert "'Zz' is not a card" in err
            code, out, _ = await command(rig, "key-card", rig.drawn[-1])
            assert (code, "(keyed)" in out) == (0, True)
            code, out, _ = await command(rig, "ack", "--format", "json")
            assert (code, json.loads(out)[0]["type"], json.loads(out)[0]["by"]) == (0, "acknowledged", "root")
            rig.shoe.do("pushback")
            await rig.until(lambda: rig.recorded()[-1:] == ["returned"], "it is recorded")
            code, out, _ = await command(rig, "accept")
            assert code == 0, out
            code, out, _ = await command(rig, "void", "the", "shoe", "was", "pushed")
            assert (code, "Round 1: VOID" in out, "the shoe was pushed" in out) == (0, True, True)
            code, out, _ = await command(rig, "status", "--format", "json")
            assert json.loads(out)["view"]["round"]["status"] == "void"
            rig.shoe.do("jam on")

            async def jammed():
                return (await rig.status()).view.faults == ("jam",)

            await rig.until(jammed, "the jam is told")
            code, out, _ = await command(rig, "status")
            assert (code, "phase      fault (jam)" in out) == (1, True)
            assert await rig.stop() == 0
            assert {fact["by"] for fact in rig.facts("resolved", "acknowledged")} == {"root"}

    asyncio.run(scenario())


@pytest.mark.parametrize("words", [["status"], ["void"], ["accept"], ["ack"], ["key-card", "4d"], ["new-shoe"]])
def test_without_a_controller_there_is_one_sentence_and_code_1(tmp_path, capsys, words):
    assert main([*words, "--socket", str(tmp_path / "none.sock")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("shoe-controller: no controller answers at ")


def test_the_socket_is_found_through_the_configuration(tmp_path, capsys):
    config = tmp_path / "table.toml"
    config.write_text(
        f'[table]\nsite="a"\nname="b"\ngame="six-star"\n[shoe]\nprotocol="simulated"\n'
        f'[local]\nsocket="{tmp_path}/its.sock"\n'
    )
    assert main(["status", "--config", str(config)]) == 1
    assert f"{tmp_path}/its.sock" in capsys.readouterr().err
    assert main(["status", "--config", str(tmp_path / "none.toml")]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert main(["status"]) == 1
    assert "/run/shoe-controller/control.sock" in capsys.readouterr().err


def test_a_controller_that_hangs_or_ends_before_it_answers_is_told(tmp_path, capsys, monkeypatch):
    import socket
    import threading

    monkeypatch.setattr("shoe_controller.service.control_client.TIMEOUT_SECONDS", 0.2)
    path = tmp_path / "hung.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        assert main(["status", "--socket", str(path)]) == 1
        assert "does not answer within 0.2 s" in capsys.readouterr().err
        monkeypatch.setattr("shoe_controller.service.control_client.TIMEOUT_SECONDS", 20)

        def hang_up():
            for _ in range(2):  # the one that hung still waits in line
                listener.accept()[0].close()

        ending = threading.Thread(target=hang_up)
        ending.start()
        assert main(["status", "--socket", str(path)]) == 1
        ending.join()
        assert capsys.readouterr().err.startswith("shoe-controller: ")
