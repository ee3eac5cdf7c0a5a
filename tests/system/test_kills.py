"""The daemon killed with SIGKILL, at random moments and at each named point of an input's path.

After each restart: no card lost or doubled, no round published twice with different content, no gap in seq.
"""

import asyncio
import random

import pytest

from tests.broker import Collector, Mosquitto
from tests.system.rig import rigged
from tests.system.rigged_daemon import POINTS

RANDOM_KILLS = 50
POINT_KILLS = 17  # at each of the three points


async def killed_again_and_again(rig, kills, die):
    """Play through so many deaths; `die(n)` starts the daemon and brings about its nth death."""
    for number in range(kills):
        await die(number)
        rig.bury()
    rig.start()
    await rig.ready()
    await rig.play(1)
    assert await rig.stop() == 0


def check_rounds(rounds):
    """Hold that no round was ever published with two contents: a change is a new revision."""
    seen = {}
    for told in rounds:
        identity = (told["shoe"], told["round"], told["revision"])
        content = {key: value for key, value in told.items() if key not in ("time", "mono_ns", "boot", "synced")}
        assert seen.setdefault(identity, content) == content
    assert seen


def test_random_kills_lose_and_double_nothing_for_the_journal_and_for_subscribers(tmp_path):
    chance = random.Random(20)
    broker = Mosquitto(tmp_path / "broker").start()

    async def scenario():
        async with rigged(tmp_path, seed=3, mqtt={"brokers": [broker.url]}) as rig:

            async def die(_number):
                rig.start()
                playing = asyncio.create_task(rig.play(10**6))
                await asyncio.sleep(chance.uniform(0.15, 1.1))
                rig.process.kill()
                await playing

            await killed_again_and_again(rig, RANDOM_KILLS, die)
            rig.check()
            return rig.facts()

    try:
        with Collector(broker.port, client_id="pit") as pit:
            facts = asyncio.run(scenario())
            pit.wait(lambda pit: set(pit.seqs()) >= set(range(1, len(facts) + 1)), "every fact arrives")
    finally:
        broker.stop()
    first_of_each = {}
    for message in pit.on("events"):
        first_of_each.setdefault(message["seq"], message)
        assert first_of_each[message["seq"]] == message, "a repetition is the same message"
    assert sorted(first_of_each) == list(range(1, len(facts) + 1))
    for seq, fact in enumerate(facts, 1):
        assert fact.items() <= first_of_each[seq].items()
    check_rounds(pit.on("rounds"))


@pytest.mark.parametrize("point", POINTS)
def test_kills_at_a_named_point_lose_and_double_nothing(tmp_path, point):
    chance = random.Random(point)

    async def scenario():
        async with rigged(tmp_path, seed=4) as rig:

            async def die(_number):
                rig.start(point, chance.randint(1, 25))
                await rig.play(10**6)
                assert not rig.alive

            await killed_again_and_again(rig, POINT_KILLS, die)
            rig.check()
            check_rounds(rig.facts("round"))

    asyncio.run(scenario())
