"""A table whose daemon dies again and again, and what must be true of its journal and its feeds afterwards.

After each restart: no card lost or doubled, no round published twice with different content, no gap in seq.
"""

import asyncio
import random
from pathlib import Path

from tests.broker import Collector, Mosquitto
from tests.system.rig import rigged


async def killed_again_and_again(rig, kills, die):
    """Play through so many deaths; `die()` starts the daemon and brings about its death."""
    for _ in range(kills):
        await die()
        rig.bury()
    rig.start()
    await rig.ready()
    await rig.play(1)

    async def settled():
        status = await rig.status()
        return not rig.twin.link.memory and all(feed.lag == 0 for feed in status.feeds)

    # What is still on its way at the end comes with the next start: it is neither lost nor there yet.
    await rig.until(settled, "the shoe has told everything, and so have the feeds")
    assert await rig.stop() == 0, "it ends in good order"
    rig.check()


def random_kills(folder: Path, kills: int, seed: int, **table) -> list[dict]:
    """Kill the daemon at random moments while it publishes to a broker; return the facts, each seen by a subscriber."""
    chance = random.Random(seed)
    broker = Mosquitto(folder / "broker").start()

    async def scenario():
        async with rigged(folder, seed=seed, mqtt={"brokers": [broker.url]}, **table) as rig:

            async def die():
                rig.start()
                playing = asyncio.create_task(rig.play(10**6))
                if chance.random() < 0.3:  # as likely as not before it plays
                    await asyncio.sleep(chance.uniform(0.1, 1.0))
                else:
                    await rig.until(rig.status, "the daemon answers")
                    await asyncio.sleep(chance.uniform(0.0, 0.7))
                rig.process.kill()
                await playing

            await killed_again_and_again(rig, kills, die)
            return rig.facts()

    try:
        with Collector(broker.port, client_id="pit") as pit:
            facts = asyncio.run(scenario())
            pit.wait(lambda pit: set(pit.seqs()) >= set(range(1, len(facts) + 1)), "every fact arrives")
    finally:
        broker.stop()
    check_messages(pit.on("events"), facts)
    check_rounds(pit.on("rounds"))
    return facts


def kills_at(point: str, folder: Path, kills: int, seed: int, **table) -> list[dict]:
    """Kill the daemon each time when the path of an input passes a named point; return the facts."""
    chance = random.Random(f"{point} {seed}")

    async def scenario():
        async with rigged(folder, seed=seed, **table) as rig:

            async def die():
                rig.start(point, chance.randint(1, 25))
                await rig.play(10**6)
                assert not rig.alive

            await killed_again_and_again(rig, kills, die)
            return rig.facts()

    facts = asyncio.run(scenario())
    check_rounds([fact for fact in facts if fact["type"] == "round"])
    return facts


def check_messages(messages, facts):
    """Hold that a subscriber got each fact, without a gap, and the same each time that it was repeated."""
    first_of_each = {}
    for message in messages:
        first_of_each.setdefault(message["seq"], message)
        assert first_of_each[message["seq"]] == message, "a repetition is the same message"
    assert sorted(first_of_each) == list(range(1, len(facts) + 1))
    for seq, fact in enumerate(facts, 1):
        assert fact.items() <= first_of_each[seq].items()


def check_rounds(rounds):
    """Hold that no round was ever published with two contents: a change is a new revision."""
    seen = {}
    for told in rounds:
        identity = (told["shoe"], told["round"], told["revision"])
        content = {key: value for key, value in told.items() if key not in ("time", "mono_ns", "boot", "synced")}
        assert seen.setdefault(identity, content) == content
    assert seen
