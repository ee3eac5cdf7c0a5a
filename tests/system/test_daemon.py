"""The daemon as a whole process: it plays, it is configured, it says what is wrong, it ends in good order."""

import asyncio
import signal

from shoe_controller.app.opening import IN_FORCE
from tests.system.rig import rigged


def test_a_shoe_is_played_recorded_and_proved(tmp_path):
    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.start()
            await rig.ready()
            assert await rig.play(5) == 5
            assert await rig.stop() == 0
            rig.check()
            assert [fact["round"] for fact in rig.facts("round")] == [1, 2, 3, 4, 5]
            assert rig.facts("fault")[-1]["active"] is False, "an end in good order is no fault of the shoe"

    asyncio.run(scenario())


def test_irregularities_are_decided_and_play_goes_on(tmp_path):
    faults = "together=0.05,together-unknown=0.03,pushback=0.04,unreadable=0.06,surplus=0.1,jam=0.02,lid=0.02"

    async def scenario():
        async with rigged(tmp_path, faults=faults, seed=5) as rig:
            rig.start()
            await rig.ready()
            assert await rig.play(25) == 25
            assert await rig.stop() == 0
            rig.check()
            kinds = {fact["kind"] for fact in rig.facts("irregularity")}
            assert {"wrong_number", "unreadable_card"} <= kinds
            assert all(fact["by"] == "root" for fact in rig.facts("resolved"))

    asyncio.run(scenario())


def test_a_restart_in_mid_round_goes_on_at_the_right_card(tmp_path):
    async def scenario():
        async with rigged(tmp_path, auto=None) as rig:
            rig.start()
            await rig.ready()
            await rig._act((await rig.status()).view)
            for button in ("place_bets", "no_more_bets"):
                await rig._press(button, (await rig.status()).view)
            for _ in range(3):
                await rig.until(lambda: rig.twin.body.gate_open, "the gate opens")
                rig.shoe.do("deal")
                await rig.until(lambda: rig.recorded() == rig.drawn, "the card is recorded")
            assert await rig.stop() == 0
            await rig.until(lambda: not rig.twin.body.gate_open, "the gate is shut without a controller")
            rig.start()
            status = await rig.ready()
            assert (status.view.state, status.view.next) == ("deal_4", "banker")
            await rig.until(lambda: rig.twin.body.gate_open, "the gate opens for the fourth card")
            rig.shoe.do("deal")
            await rig.until(lambda: rig.recorded() == rig.drawn, "the card is recorded")
            assert await rig.stop() == 0
            rig.check()

    asyncio.run(scenario())


def test_a_gate_that_the_shoe_shut_by_itself_is_opened_again_for_the_card_that_is_due(tmp_path):
    async def scenario():
        async with rigged(tmp_path, auto=None) as rig:
            rig.start()
            await rig.ready()
            await rig._act((await rig.status()).view)
            for button in ("place_bets", "no_more_bets"):
                await rig._press(button, (await rig.status()).view)
            await rig.until(lambda: rig.twin.body.gate_open, "the gate opens")
            rig.shoe.do("jam on")
            rig.shoe.do("jam off")  # over before the controller hears of it: in its eyes the gate never moved
            assert not rig.twin.body.gate_open
            await rig.until(lambda: rig.twin.body.gate_open, "the gate opens after a short jam")
            rig.twin.set_gate(is_open=False, why="a knock")
            await rig.until(lambda: rig.twin.body.gate_open, "the gate opens after the shoe shut it for no reason told")
            assert "is not open as it should be" in rig.log.read_text()
            rig.shoe.do("deal")
            await rig.until(lambda: rig.recorded() == rig.drawn, "the card is recorded")
            assert await rig.stop() == 0

    asyncio.run(scenario())


def test_a_changed_configuration_is_an_entry_that_names_the_keys(tmp_path):
    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.start()
            await rig.ready()
            await rig.stop()
            assert rig.facts("config") == []
            rig.configure(policy={"surplus": "burn"})
            rig.start()
            status = await rig.ready()
            await rig.stop()
            (changed,) = rig.facts("config")
            assert changed["changed"] == ["policy.surplus"]
            assert changed["config_hash"] == status.config_hash == rig.facts("started")[-1]["config_hash"]
            (rig.journal / IN_FORCE).write_text("{")
            rig.start()
            await rig.ready()
            await rig.stop()
            assert "table.game" in rig.facts("config")[-1]["changed"], "what is not known counts as changed"

    asyncio.run(scenario())


def test_a_wall_clock_that_jumps_by_years_harms_neither_order_nor_play(tmp_path):
    year = 365 * 86400

    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.start()
            await rig.ready()
            assert await rig.play(1) == 1
            for step in (9 * year, -20 * year):
                steps = len(rig.facts("clock"))
                rig.say(f"wall {step}")
                await rig.until(lambda steps=steps: len(rig.facts("clock")) > steps, "the step is recorded")
                assert await rig.play(1) == 1
            assert await rig.stop() == 0
            rig.check()
            assert [round(fact["step_ms"] / 1000 / year) for fact in rig.facts("clock")] == [9, -20]

    asyncio.run(scenario())


def test_a_shoe_without_the_tables_key_is_refused_and_a_fact_says_so(tmp_path):
    key = tmp_path / "table.key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)

    async def scenario():
        async with rigged(tmp_path, shoe={"auth_key_file": str(key), "require_auth": True}) as rig:
            rig.start()
            await rig.until(lambda: rig.facts("device"), "the refusal is recorded")
            (refused,) = rig.facts("device")
            assert refused["event"] == "refused"
            assert "key" in refused["detail"]
            assert (await rig.status()).view.faults == ("shoe",)
            assert await rig.stop() == 0

    asyncio.run(scenario())


def test_an_unplugged_cable_is_a_fault_until_it_is_back_and_loses_nothing(tmp_path):
    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.start()
            await rig.ready()
            await rig.play(1)
            for _ in range(3):
                rig.shoe.do("unplug")

                async def missed():
                    return "shoe" in (await rig.status()).view.faults

                await rig.until(missed, "the shoe is missed")
                assert not (await rig.status()).view.gate_open
                rig.shoe.do("plug")
                await rig.ready()
                assert await rig.play(1) == 1
            assert (await rig.status()).shoe.connects == 4
            assert await rig.stop() == 0
            rig.check()

    asyncio.run(scenario())


def test_a_lost_panel_is_a_fault_until_it_works_again(tmp_path):
    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.configure(panel={"factory": "lgpio"})
            rig.start()

            async def told():
                status = await rig.status()
                return status if status and status.view and "panel" in status.view.faults else None

            status = await rig.until(told, "the panel's fault is recorded")
            assert "GPIO" in status.panel_problem or "lgpio" in status.panel_problem
            await rig.stop()
            rig.configure()
            rig.start()
            status = await rig.ready()
            assert status.panel_problem == ""
            assert await rig.stop() == 0

    asyncio.run(scenario())


def test_a_defect_ends_the_daemon_with_a_code_that_has_it_started_again(tmp_path):
    async def scenario():
        async with rigged(tmp_path) as rig:
            rig.start()
            await rig.ready()
            rig.say("defect")
            await rig.until(lambda: not rig.alive, "the daemon ends")
            assert rig.process.returncode == 1
            assert "a defect" in rig.log.read_text()
            rig.start()
            await rig.ready()
            assert await rig.play(1) == 1
            rig.process.send_signal(signal.SIGINT)
            await rig.until(lambda: not rig.alive, "Ctrl-C ends it too")
            assert rig.process.returncode == 0
            rig.check()

    asyncio.run(scenario())
