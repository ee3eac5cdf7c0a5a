"""The simulated shoe on a real pty: the cable, its faults, and the production driver's port at the other end."""

import asyncio
import os
import tty

import pytest

from drivers.simulated.errors import CannotDoError, OrderError
from drivers.simulated.faults import parse_faults
from drivers.simulated.order import ShoeOrder, build_twin
from drivers.simulated.pty_shoe import SimulatedShoe
from firmware_protocol.angel_eye_link import AngelEyeHostLink, AngelEyeSettings
from firmware_protocol.events import CardDrawn, LinkUp, ShoeEvent
from firmware_protocol.host_link import HostLink

DEADLINE = 30.0


class PtyHost:
    """The real host link on the device path, run by the same loop."""

    def __init__(self, path, protocol):
        self.link = (
            HostLink(nonce=lambda: os.urandom(16))
            if protocol == "open"
            else AngelEyeHostLink(AngelEyeSettings(session=9))
        )
        self.happenings = []
        self.notices = []
        self.changed = asyncio.Event()
        self.end = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.end)
        self.loop = asyncio.get_running_loop()
        self.timer = None
        self.loop.add_reader(self.end, self.readable)
        self.link.connection_made(self.loop.time())
        self.turn()

    def close(self):
        self.loop.remove_reader(self.end)
        if self.timer:
            self.timer.cancel()
        os.close(self.end)

    def readable(self):
        self.link.receive_data(os.read(self.end, 4096), self.loop.time())
        self.turn()

    def turn(self):
        self.link.tick(self.loop.time())
        for event in self.link.events():
            if isinstance(event, ShoeEvent):
                self.happenings.append(event.happening)
                self.link.acknowledge(event.session, event.number)
            else:
                self.notices.append(event)
        if data := self.link.data_to_send():
            os.write(self.end, data)
        if self.timer:
            self.timer.cancel()
        if (at := self.link.next_deadline()) is not None:
            self.timer = self.loop.call_later(max(0.001, at - self.loop.time()), self.turn)
        self.changed.set()

    def gate(self, is_open):
        self.link.gate(is_open)
        self.turn()

    async def until(self, condition):
        async with asyncio.timeout(DEADLINE):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    def cards(self):
        return [happening for happening in self.happenings if isinstance(happening, CardDrawn)]


def run(scenario, *, protocol="open", faults="", **more):
    """Run a scenario with a shoe on its pty and a host at the other end."""

    async def both():
        twin = build_twin(ShoeOrder(protocol=protocol, decks=1))
        async with SimulatedShoe(twin, faults=parse_faults(faults), **more) as shoe:
            host = PtyHost(shoe.path, protocol)
            try:
                await host.until(lambda: any(isinstance(notice, LinkUp) for notice in host.notices))
                await scenario(shoe, host)
            finally:
                host.close()

    asyncio.run(both())


@pytest.mark.parametrize("protocol", ["open", "angel-eye"])
def test_cards_dealt_on_command_arrive_at_the_other_end_of_the_pty(protocol):
    async def scenario(shoe, host):
        host.gate(is_open=True)
        await host.until(lambda: shoe.twin.body.gate_open)
        for count in range(1, 4):
            assert shoe.do("deal").startswith("card ")
            await host.until(lambda count=count: len(host.cards()) == count)
        assert "3 out" in shoe.do("status")
        assert "gate open" in shoe.do("status")

    run(scenario, protocol=protocol)


@pytest.mark.parametrize("protocol", ["open", "angel-eye"])
def test_the_automatic_dealer_deals_and_tells(protocol):
    lines = []

    async def scenario(_shoe, host):
        host.gate(is_open=True)
        await host.until(lambda: len(host.cards()) >= 4)

    run(scenario, protocol=protocol, auto=0.02, on_line=lines.append)
    assert any(line.startswith("card ") for line in lines)


def test_cards_survive_a_wire_with_every_fault():
    async def scenario(shoe, host):
        for _ in range(20):
            shoe.do("deal force")
        await host.until(lambda: len(host.cards()) == 20)
        uids = [card.card.uid for card in host.cards()]
        assert uids == [card.uid for card in shoe.twin.body.out]

    run(scenario, faults="lose,flip,drop=0.1,repeat,reorder,late=0.05,split")


def test_damage_noise_and_lost_frames_to_order_do_no_harm():
    async def scenario(shoe, host):
        assert shoe.do("noise 300") == "300 bytes of noise sent"
        assert "damaged" in shoe.do("damage 2")
        shoe.do("deal force")
        await host.until(lambda: len(host.cards()) == 1)
        assert "lost" in shoe.do("swallow 2")
        shoe.do("deal force")
        await host.until(lambda: len(host.cards()) == 2)
        assert sum(host.link.drops.values()) > 0

    run(scenario)


def test_a_cable_is_pulled_and_plugged_again_and_the_link_follows_it(tmp_path):
    link = tmp_path / "shoe"

    async def both():
        async with SimulatedShoe(build_twin(ShoeOrder()), link=link) as shoe:
            assert shoe.device == str(link)
            assert str(link.readlink()) == shoe.path
            host = PtyHost(shoe.device, "open")
            await host.until(lambda: host.happenings)
            host.close()
            assert shoe.do("unplug") == "cable pulled out"
            assert not link.is_symlink()
            shoe.unplug()  # harmless
            with pytest.raises(CannotDoError, match="unplugged"):
                assert shoe.path
            assert "no cable" in shoe.do("status")
            shoe.do("deal force")  # a card can be drawn, and is kept
            assert shoe.do("plug") == f"cable plugged in: {shoe.path}"
            with pytest.raises(CannotDoError, match="already"):
                shoe.do("plug")
            host = PtyHost(shoe.device, "open")
            await host.until(host.cards)
            host.close()
            shoe.do("jam on")
            assert "in trouble" in shoe.do("status")
        assert not link.is_symlink()

    asyncio.run(both())


@pytest.mark.parametrize("protocol", ["open", "angel-eye"])
def test_a_shoe_without_its_cable_goes_on_and_can_be_ended(protocol):
    async def scenario():
        shoe = SimulatedShoe(build_twin(ShoeOrder(protocol=protocol, decks=1)), auto=0.001)
        async with shoe:
            shoe.do("unplug")
            shoe.do("deal force" if protocol == "open" else "deal")
            assert shoe.twin.body.cards_left < 52
        assert shoe._timer is None

    asyncio.run(scenario())


def test_without_a_link_the_device_is_the_path():
    async def both():
        async with SimulatedShoe(build_twin(ShoeOrder())) as shoe:
            assert shoe.device == shoe.path
            shoe.do("unplug")  # and the end of a shoe without its cable is an end too

    asyncio.run(both())


def test_a_link_replaces_a_link_and_nothing_else(tmp_path):
    file, old = tmp_path / "precious", tmp_path / "old"
    file.write_text("precious")
    old.symlink_to(file)

    async def both():
        with pytest.raises(OrderError, match="something else of that name"):
            async with SimulatedShoe(build_twin(ShoeOrder()), link=file):
                pass
        with pytest.raises(OrderError, match="cannot be made"):
            async with SimulatedShoe(build_twin(ShoeOrder()), link=tmp_path / "nowhere" / "shoe"):
                pass
        async with SimulatedShoe(build_twin(ShoeOrder()), link=old) as shoe:
            assert str(old.readlink()) == shoe.path

    asyncio.run(both())
    assert file.read_text() == "precious"


def test_a_link_that_somebody_else_has_taken_is_left_alone(tmp_path):
    link = tmp_path / "shoe"

    async def both():
        async with SimulatedShoe(build_twin(ShoeOrder()), link=link):
            link.unlink()
            link.symlink_to("/dev/null")

    asyncio.run(both())
    assert link.is_symlink()


def test_a_line_that_nobody_reads_fills_up_and_the_shoe_goes_on():
    async def both():
        async with SimulatedShoe(build_twin(ShoeOrder(protocol="angel-eye"))) as shoe:
            for _ in range(3):
                shoe.do("noise 100000")
            assert shoe.do("deal").startswith("card ")

    asyncio.run(both())


def test_one_seed_gives_one_run_of_noise():
    async def noise(seed):
        async with SimulatedShoe(build_twin(ShoeOrder(protocol="angel-eye")), seed=seed) as shoe:
            end = os.open(shoe.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            shoe.do("noise 64")
            data = os.read(end, 4096)
            os.close(end)
            return data

    assert asyncio.run(noise(1)) == asyncio.run(noise(1))
    assert asyncio.run(noise(1)) != asyncio.run(noise(2))
