"""A disk that is full, read-only or damaged under the whole daemon: gate shut, a sentence, no loss, and it recovers."""

import asyncio
import subprocess
import sys

import pytest

from tests.journal.forging import tamper
from tests.system.rig import rigged


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.fail(f"these tests mount a small tmpfs and must run as root: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


async def remount(place, how):
    done = await asyncio.create_subprocess_exec("mount", "-o", f"remount,{how}", place)
    assert await done.wait() == 0


async def command(*words):
    """Run the program as a technician does; return its exit code and what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "shoe_controller", *map(str, words), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return process.returncode, out.decode()


async def in_fault(rig):
    """Wait until the daemon is in fault, the gate is shut, and return what it says."""

    async def told():
        status = await rig.status()
        return status if status and status.condition == "fault" else None

    status = await rig.until(told, "the daemon is in fault")
    await rig.until(lambda: not rig.twin.body.gate_open, "the gate is shut")
    return status.problem


async def starts_again_until_mended(rig):
    """Be systemd: start the daemon whenever it has ended with a failure; return once it stays, in fault."""
    await rig.until(lambda: not rig.alive, "the daemon ends when a commit fails")
    assert rig.process.returncode == 1
    rig.start()
    return await in_fault(rig)


def test_a_full_disk_stops_play_and_play_goes_on_when_there_is_room(tmp_path, small_disk):
    async def scenario():
        async with rigged(tmp_path, journal={"directory": str(small_disk / "journal")}) as rig:
            rig.journal = small_disk / "journal"
            rig.start()
            await rig.ready()
            await rig.play(2)
            stuffing = small_disk / "stuffing"
            with stuffing.open("wb", buffering=0) as file:
                try:
                    while True:
                        file.write(bytes(4096))
                except OSError:
                    pass
            await rig.play(10**6)
            problem = await starts_again_until_mended(rig)
            assert "full" in problem or "space" in problem
            stuffing.unlink()
            await rig.ready()
            assert await rig.play(2) == 2
            assert await rig.stop() == 0
            rig.check()
            assert "CRITICAL journal: " in rig.log.read_text()

    asyncio.run(scenario())


def test_a_read_only_disk_stops_play_and_play_goes_on_when_it_can_be_written(tmp_path, small_disk):
    async def scenario():
        async with rigged(tmp_path, journal={"directory": str(small_disk / "journal")}) as rig:
            rig.journal = small_disk / "journal"
            rig.start()
            await rig.ready()
            await rig.play(2)
            rig.kill()
            await remount(small_disk, "ro")
            rig.start()
            assert "cannot be written" in await in_fault(rig)
            await remount(small_disk, "rw")
            await rig.ready()
            assert await rig.play(2) == 2
            assert await rig.stop() == 0
            rig.check()

    asyncio.run(scenario())


def test_a_damaged_journal_is_never_overwritten_and_a_new_chain_names_the_old_head(tmp_path):
    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.start()
            await rig.ready()
            await rig.play(3)
            assert await rig.stop() == 0
            (volume,) = rig.journal.glob("journal-*.db")
            last = max(fact["round"] for fact in rig.facts("round"))
            tamper(volume, "UPDATE entries SET body = '{}' WHERE seq = (SELECT max(seq) FROM entries)")
            damaged = volume.read_bytes()
            rig.start()
            problem = await in_fault(rig)
            assert "entry" in problem
            assert volume.read_bytes() == damaged
            code, told = await command("status", "--socket", rig.socket)
            assert code == 1
            assert problem in told
            code, told = await command("doctor", "--config", rig.config_file)
            assert code == 1
            assert "new chain" in told
            assert await rig.stop() == 0
            code, told = await command(
                "doctor", "--config", rig.config_file, "--user", "root", "--new-chain", "--confirm", volume.name
            )
            assert code == 0, told
            assert volume.read_bytes() == damaged
            rig.start()
            await rig.ready()
            assert await rig.play(1) == 1
            assert await rig.stop() == 0
            assert last >= 3

    asyncio.run(scenario())


def test_a_journal_that_fails_in_play_ends_the_daemon_with_code_1(tmp_path):
    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.start()
            await rig.ready()
            await rig.play(1)
            rig.say("break-journal")
            await rig.until(lambda: not rig.alive, "the daemon ends")
            assert rig.process.returncode == 1
            await rig.until(lambda: not rig.twin.body.gate_open, "the gate is shut")
            rig.start()
            await rig.ready()
            assert await rig.play(1) == 1
            await rig.stop()
            rig.check()

    asyncio.run(scenario())
