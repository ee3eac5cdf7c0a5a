"""The check with real hardware, gone through on mock pins and with a simulated shoe: it must work when it is needed."""

import asyncio

from drivers.panel.functions import Button, Lamp
from drivers.panel.mock_panel import MockPanel
from drivers.panel.panel import Panel
from drivers.simulated.order import ShoeOrder, build_twin
from drivers.simulated.pty_shoe import SimulatedShoe
from shoe_controller.app.table_panel import pin_map
from shoe_controller.config import Panel as PanelSettings
from tests.hil import steps


def test_a_technician_goes_through_a_panel_that_works():
    async def scenario():
        seen, busy = steps.Seen(), set()
        panel = Panel(pin_map(PanelSettings(factory="mock")), "mock", seen.take, seen.take)
        panel.open()
        hands = MockPanel(panel)

        async def answer(question):
            for lamp in Lamp:
                if f"lamp {lamp} lit" in question:
                    return hands.lit == {lamp}
            return hands.gate_is_open == ("open" in question) if "gate" in question else True

        one_hand = asyncio.Lock()

        async def do(sentence):
            async with one_hand:
                await (hands.turn_key(on=True) if "key" in sentence else hands.click(Button(sentence[6:-1])))

        def obey(sentence):
            busy.add(asyncio.create_task(do(sentence)))

        results = await steps.check_panel(panel, seen, answer, obey)
        await asyncio.gather(*busy)
        panel.close()
        assert len(results) == len(Lamp) + len(Button) + 3
        assert all(passed for _, passed in results), results

    asyncio.run(scenario())


def test_a_button_that_is_not_wired_fails(monkeypatch):
    monkeypatch.setattr(steps, "DEADLINE", 0.05)
    monkeypatch.setattr(steps.Seen.until, "__defaults__", (0.05,))

    async def scenario():
        seen = steps.Seen()
        panel = Panel(pin_map(PanelSettings(factory="mock")), "mock", seen.take, seen.take)
        panel.open()

        async def no(_question):
            return False

        results = await steps.check_panel(panel, seen, no, lambda _sentence: None)
        panel.close()
        assert not any(passed for _, passed in results)

    asyncio.run(scenario())


def test_a_technician_goes_through_a_shoe_that_works(tmp_path):
    async def scenario():
        shoe = SimulatedShoe(build_twin(ShoeOrder(seed=3)), auto=0.02, link=tmp_path / "shoe")
        async with shoe:

            async def held_back(_question):
                return True

            def obey(sentence):
                if "Pull" in sentence:
                    asyncio.get_running_loop().call_later(0.05, shoe.do, "unplug")
                elif "Put" in sentence:
                    asyncio.get_running_loop().call_later(0.05, shoe.do, "plug")

            results = await steps.check_shoe(shoe.device, held_back, obey)
        assert [name for name, passed in results if not passed] == []
        assert len(results) == 8

    asyncio.run(scenario())
