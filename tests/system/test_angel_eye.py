"""The daemon with an Angel Eye shoe: it follows the game itself, keeps no events, and stands in errors."""

import asyncio

import pytest

from tests.system.rig import rigged


def test_rounds_are_played_and_the_shoes_own_results_agree(tmp_path):
    async def scenario():
        async with rigged(tmp_path, protocol="angel-eye", auto=0.02) as rig:
            rig.start()
            await rig.ready()
            assert await rig.play(4) == 4
            assert await rig.stop() == 0
            rig.check()
            assert rig.facts("irregularity") == []
            assert [fact["event"] for fact in rig.facts("device")].count("result") in (3, 4)

    asyncio.run(scenario())


def test_a_listener_beside_another_system_never_writes_a_byte(tmp_path):
    async def scenario():
        async with rigged(
            tmp_path, protocol="angel-eye", auto=None, shoe={"listen_only": True, "protocol": "angel-eye"}
        ) as rig:
            heard = []
            receive = rig.twin.receive_data
            rig.twin.receive_data = lambda data, now: (heard.append(data), receive(data, now))
            rig.start()
            await rig.ready()
            await rig._act((await rig.status()).view)
            for button in ("place_bets", "no_more_bets"):
                await rig._press(button, (await rig.status()).view)
            rig.shoe.do("deal force")
            await rig.until(lambda: rig.recorded() == rig.drawn, "the card is recorded")
            assert await rig.stop() == 0
            assert heard == []

    asyncio.run(scenario())


def overdraw_after_next_result(rig):
    """Have the dealer pull one card too many right after the shoe's next result, before it can be locked."""
    tell_result, loop = rig.twin.tell_result, asyncio.get_running_loop()

    def telling(result, now):
        rig.twin.tell_result = tell_result
        tell_result(result, now)
        loop.call_soon(rig.shoe.do, "deal force")

    rig.twin.tell_result = telling


@pytest.mark.parametrize("surplus, kept", [("next-round", True), ("burn", False)])
def test_an_overdrawn_card_goes_where_the_house_has_it_go_and_the_shoe_agrees(tmp_path, surplus, kept):
    async def scenario():
        async with rigged(tmp_path, protocol="angel-eye", auto=0.02, policy={"surplus": surplus}) as rig:
            rig.start()
            await rig.ready()
            overdraw_after_next_result(rig)
            assert await rig.play(3) == 3
            assert (await rig.status()).view.faults == ()
            assert await rig.stop() == 0
            rig.check()
            (found,) = rig.facts("irregularity")
            assert (found["kind"], found["rule"]) == ("wrong_number", "5.2")
            assert "overdraw" in {fact["fault"] for fact in rig.facts("fault")}
            second = rig.facts("round")[1]
            assert (second["player"][0] == found["cards"][0]) is kept

    asyncio.run(scenario())


def test_a_shoe_that_counts_cards_otherwise_is_decided_about_once_a_round(tmp_path):
    """A card pulled out of the locked shoe is the next round's first to us and in no game to the shoe."""

    async def scenario():
        async with rigged(tmp_path, protocol="angel-eye", auto=0.02) as rig:
            rig.start()
            await rig.ready()
            assert await rig.play(1) == 1
            await rig.until(lambda: not rig.twin.body.gate_open, "the shoe is locked")
            rig.shoe.do("deal force")

            async def asked():
                return (await rig.status()).view.open_irregularities

            await rig.until(asked, "the surplus card waits for a decision")
            assert await rig.play(1) == 1
            assert await rig.stop() == 0
            rig.check()
            kinds = [fact["kind"] for fact in rig.facts("irregularity") if fact["effect"] == "decision"]
            assert kinds == ["wrong_number", "device_disagrees"]

    asyncio.run(scenario())


def test_a_crash_while_cards_are_due_stops_the_deal_until_somebody_has_compared(tmp_path):
    """The shoe keeps nothing for us: what it dealt while nobody listened is not to be had."""

    async def scenario():
        async with rigged(tmp_path, protocol="angel-eye", auto=None) as rig:
            rig.start()
            await rig.ready()
            await rig._act((await rig.status()).view)
            for button in ("place_bets", "no_more_bets"):
                await rig._press(button, (await rig.status()).view)
            rig.shoe.do("deal force")
            await rig.until(lambda: rig.recorded() == rig.drawn, "the first card is recorded")
            rig.kill()
            rig.start()

            async def asked():
                status = await rig.status()
                return status is not None and status.view is not None and status.view.faults == ("events-missing",)

            await rig.until(asked, "the table stands and says why")
            (told,) = [fact for fact in rig.facts("fault") if fact["fault"] == "events-missing"]
            assert "Compare the cards on the table with the record" in told["detail"]
            assert (await rig.status()).view.gate_open is False
            await rig.decide(command="ack")
            assert not [fact for fact in rig.facts("refused") if fact["command"] == "ack"]
            assert (await rig.status()).view.faults == ()
            assert (await rig.status()).view.gate_open is True
            assert await rig.stop() == 0

    asyncio.run(scenario())


def test_an_error_of_the_shoe_that_ended_while_nobody_listened_does_not_stay(tmp_path):
    async def scenario():
        async with rigged(tmp_path, protocol="angel-eye", auto=0.02) as rig:
            rig.start()
            await rig.ready()
            assert await rig.play(1) == 1
            rig.shoe.do("jam")

            async def jammed():
                return "draw-timeout" in (await rig.status()).view.faults

            await rig.until(jammed, "the jam is told")
            rig.kill()
            rig.shoe.do("jam off")
            rig.start()
            await rig.ready()
            assert await rig.play(1) == 1
            assert await rig.stop() == 0

    asyncio.run(scenario())
