import asyncio
import subprocess
import sys
import threading

import pytest
from gpiozero.exc import PinError
from gpiozero.pins.mock import MockFactory, MockPin

from drivers.errors import PanelError
from drivers.panel import panel as panel_module
from drivers.panel.functions import Button, Doubt, Ignored, KeyTurned, Lamp, Pressed
from drivers.panel.mock_panel import MockPanel
from drivers.panel.panel import Panel
from drivers.panel.pin_factory import make_factory
from drivers.panel.pins import PinMap
from drivers.panel.shut_gate import shut_gate

PINS = PinMap.from_names(
    {"place_bets": 5, "no_more_bets": 6, "result": 13, "key": 19, "void": 26, "accept": 16, "acknowledge": 20},
    {"player": 17, "banker": 27, "tie": 22, "next_player": 23, "alarm": 12, "fault": 18},
    21,
    4,
)


class Listener:
    def __init__(self):
        self.events = []
        self.lost = []

    def panel(self, factory="mock", pins=PINS, **options):
        return Panel(pins, factory, self.events.append, self.lost.append, **options)

    def pressed(self):
        return [event.button for event in self.events if isinstance(event, Pressed)]


@pytest.fixture
def listener():
    return Listener()


@pytest.fixture
def quick_checks(monkeypatch):
    monkeypatch.setattr(panel_module, "CHECK_EVERY", 0.01)


@pytest.mark.parametrize("level", ["low", "high"])
def test_every_button_is_told_once_per_press(run, until, listener, level):
    pins = PinMap.from_names(
        {"place_bets": 5, "no_more_bets": 6, "result": 13, "key": 19, "void": 26, "accept": 16, "acknowledge": 20},
        {},
        button_pressed=level,
    )

    async def scenario():
        panel = listener.panel(pins=pins)
        panel.open()
        hand = MockPanel(panel)
        await hand.turn_key(True)
        await until(lambda: panel.key_on)
        for count, button in enumerate(Button, 1):
            hand.press(button)
            await until(lambda count=count: len(listener.pressed()) == count)
            hand.release(button)
            await until(lambda: panel._reader.next_deadline() is None)
        assert listener.pressed() == list(Button)
        panel.close()
        with pytest.raises(PanelError, match="not open"):
            hand.press(Button.RESULT)

    run(scenario())


def test_a_click_and_a_bouncing_contact_are_one_press(run, until, listener):
    async def scenario():
        panel = listener.panel()
        panel.open()
        hand = MockPanel(panel)
        for _ in range(7):
            hand.press(Button.RESULT)
            hand.release(Button.RESULT)
        await hand.click(Button.RESULT)
        await until(lambda: listener.pressed() == [Button.RESULT])
        panel.close()

    run(scenario())


def test_supervisor_buttons_need_the_key(run, until, listener):
    async def scenario():
        panel = listener.panel()
        panel.open()
        hand = MockPanel(panel)
        hand.press(Button.VOID)
        await until(lambda: listener.events)
        [ignored] = listener.events
        assert isinstance(ignored, Ignored)
        assert (ignored.buttons, ignored.doubt) == ((Button.VOID,), Doubt.KEY_OFF)
        await hand.turn_key(True)
        await until(lambda: isinstance(listener.events[-1], KeyTurned))
        panel.close()
        without = listener.panel(pins=PinMap(buttons={Button.RESULT: 13}))
        without.open()
        with pytest.raises(PanelError, match="no key switch"):
            await MockPanel(without).turn_key(True)
        without.close()

    run(scenario())


def test_edges_come_from_other_threads_and_are_handled_in_the_loop(run, until, listener):
    threads = []

    async def scenario():
        panel = Panel(PINS, "mock", lambda _: threads.append(threading.current_thread()), listener.lost.append)
        panel.open()
        pin = panel.factory.pin(13)
        await asyncio.to_thread(pin.drive_low)
        await until(lambda: threads)
        assert threads == [threading.current_thread()]
        panel.close()

    run(scenario())


def test_lamps_show_what_they_are_told_and_nothing_else(run, listener):
    async def scenario():
        panel = listener.panel()
        panel.open()
        eyes = MockPanel(panel)
        assert eyes.lit == frozenset()
        panel.show({Lamp.PLAYER, Lamp.NEXT_PLAYER, Lamp.BETTING})  # this panel has no lamp for betting
        assert eyes.lit == {Lamp.PLAYER, Lamp.NEXT_PLAYER}
        panel.show({Lamp.ALARM})
        assert eyes.lit == {Lamp.ALARM}
        panel.close()

    run(scenario())


@pytest.mark.parametrize("gate_open, pin", [("high", 21), ("low", 7)])
def test_the_gate_is_shut_unless_somebody_is_in_charge(run, listener, gate_open, pin):
    pins = PinMap.from_names({}, {}, pin, gate_open=gate_open)
    opened = gate_open == "high"

    async def scenario():
        panel = listener.panel(pins=pins)
        panel.gate(True)  # before the panel is open: nothing, and not remembered either
        panel.open()
        eyes = MockPanel(panel)
        assert not eyes.gate_is_open
        panel.gate(True)
        assert eyes.gate_is_open
        panel.gate(False)
        assert not eyes.gate_is_open
        panel.gate(True)
        gate = panel.factory.pin(pin)
        panel.close()
        assert [state.state for state in gate.states][-1] is not opened
        panel.close()
        assert not panel.is_open

    run(scenario())


PROGRAM_THAT_ENDS = """
import asyncio, sys
from drivers.panel.panel import Panel
from drivers.panel.pins import PinMap
from gpiozero.pins.mock import MockFactory, MockPin

class Wire(MockPin):
    def _change_state(self, value):
        print(int(value), flush=True)
        return super()._change_state(value)

async def main():
    panel = Panel(PinMap(gate=21), MockFactory(pin_class=Wire), print, print)
    panel.open()
    panel.gate(True)
    {end}

asyncio.run(main())
"""


@pytest.mark.parametrize("end", ["sys.exit(3)", "raise MemoryError", "pass"])
def test_the_gate_is_shut_however_the_program_ends(end):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM_THAT_ENDS.replace("{end}", end)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = done.stdout.split()
    assert "1" in lines
    assert lines[-1] == "0"


def test_after_a_kill_the_gate_is_shut_from_outside():
    factory = MockFactory()
    pin = factory.pin(21)
    pin.function = "output"
    pin.state = 1  # as the killed process left it
    shut_gate(PINS, factory)
    assert pin.states[-1].state is False
    shut_gate(PINS, "none")
    shut_gate(PinMap(), "mock")


class LosablePin(MockPin):
    lost = False
    stuck = None

    def _get_state(self):
        if LosablePin.lost:
            raise PinError("bad handle")
        if LosablePin.stuck is not None and self.info.name == "GPIO21":
            return LosablePin.stuck
        return super()._get_state()

    def _set_state(self, value):
        if LosablePin.lost:
            raise PinError("bad handle")
        super()._set_state(value)


@pytest.fixture
def losable(monkeypatch):
    monkeypatch.setattr(LosablePin, "lost", False)
    monkeypatch.setattr(LosablePin, "stuck", None)
    return MockFactory(pin_class=LosablePin)


@pytest.mark.parametrize("noticed_by", ["check", "lamps", "gate", "buzzer"])
def test_a_lost_pin_factory_is_a_fault_with_a_sentence_told_once(
    run, until, listener, losable, quick_checks, noticed_by
):
    async def scenario():
        panel = listener.panel(losable)
        panel.open()
        panel.gate(True)
        LosablePin.lost = True
        if noticed_by == "lamps":
            panel.show({Lamp.FAULT})
        elif noticed_by == "gate":
            panel.gate(False)
        elif noticed_by == "buzzer":
            panel.buzz()
        await until(lambda: listener.lost)
        assert not panel.is_open
        panel.show({Lamp.FAULT})
        panel.gate(True)
        panel.buzz(3)
        await asyncio.sleep(0)
        assert len(listener.lost) == 1
        assert "the panel is lost, its pins work no more (bad handle)" in str(listener.lost[0])

    run(scenario())


def test_a_gate_that_does_not_follow_is_a_fault(run, until, listener, losable, quick_checks):
    async def scenario():
        panel = listener.panel(losable)
        panel.open()
        LosablePin.stuck = True
        await until(lambda: listener.lost)
        assert "the gate on pin 21 does not follow: it should be shut" in str(listener.lost[0])

    run(scenario())


def test_a_missed_edge_is_found_by_the_check(run, until, listener, quick_checks):
    async def scenario():
        panel = listener.panel()
        panel.open()
        panel.factory.pin(13)._state = False  # closed, and nobody said so
        await until(lambda: listener.pressed() == [Button.RESULT])
        panel.close()

    run(scenario())


def test_a_button_that_is_down_when_the_panel_opens_does_nothing(run, until, listener):
    factory = MockFactory()

    class Held(MockPin):
        def _set_pull(self, value):
            super()._set_pull(value)
            if self.info.name == "GPIO13" and value == "up":
                self._state = False

    async def scenario():
        panel = listener.panel(factory)
        factory.pin_class = Held
        panel.open()
        hand = MockPanel(panel)
        hand.release(Button.RESULT)
        await until(lambda: panel._reader.next_deadline() is None)
        assert listener.events == []
        hand.press(Button.RESULT)
        await until(lambda: listener.pressed() == [Button.RESULT])
        panel.close()

    run(scenario())


def test_an_edge_that_comes_after_close_is_dropped(run, listener):
    async def scenario():
        panel = listener.panel()
        panel.open()
        MockPanel(panel).press(Button.RESULT)
        panel.close()
        await asyncio.sleep(0)
        assert listener.events == []

    run(scenario())


def test_the_buzzer_sounds_so_many_times(run, until, listener):
    async def scenario():
        panel = listener.panel()
        panel.open()
        ears = MockPanel(panel)
        panel.buzz(9, sound=0.5)
        assert ears.buzzing
        panel.buzz(2, sound=0.01, pause=0.01)  # replaces the first
        pin = panel.factory.pin(4)
        await until(lambda: [state.state for state in pin.states].count(False) == 3)
        assert not ears.buzzing
        assert [state.state for state in pin.states] == [False, True, False, True, False]
        panel.close()

    run(scenario())


def test_without_a_panel_everything_is_accepted_and_nothing_happens(run, listener):
    async def scenario():
        panel = listener.panel("none")
        panel.open()
        assert panel.is_open
        panel.show({Lamp.FAULT})
        panel.gate(True)
        panel.buzz()
        assert not panel.key_on
        panel.close()

    run(scenario())
    assert listener.lost == []


def test_pins_that_the_board_cannot_give_are_a_sentence(run, listener):
    async def scenario():
        # GPIO 2 has a resistor to 3.3 V on the board: it cannot be pulled down.
        panel = listener.panel(pins=PinMap(buttons={Button.RESULT: 2}, pressed_is_high=True))
        with pytest.raises(PanelError, match="the panel cannot be set up"):
            panel.open()
        assert not panel.is_open

    run(scenario())


def test_a_gate_that_cannot_be_shut_from_outside_is_a_sentence(losable):
    LosablePin.lost = True
    with pytest.raises(PanelError, match="the gate on pin 21 cannot be shut"):
        shut_gate(PINS, losable)


def test_an_unknown_factory_is_refused():
    with pytest.raises(PanelError, match="'native' is not known: use lgpio, mock, none"):
        make_factory("native")


NO_PI = """
import os, sys, warnings
warnings.simplefilter("error")
os.environ["GPIOZERO_PIN_FACTORY"] = "mock"  # gpiozero's own fallback must not be taken either
{before}
from drivers.errors import PanelError
from drivers.panel.pin_factory import make_factory
try:
    make_factory("lgpio")
except PanelError as error:
    print(error)
print(sorted(os.listdir(".")))
"""


# So that the test says the same on a Pi.
NOT_A_PI = """
import gpiozero.pins.local as local
def nothing(): raise local.PinUnknownPi("unable to locate Pi revision")
local.get_pi_revision = nothing
"""


@pytest.mark.parametrize(
    "before, says",
    [
        (NOT_A_PI, "the GPIO pins cannot be used"),
        ("sys.modules['lgpio'] = None", "lgpio, which is not installed"),
        ("import tempfile; tempfile.tempdir = '/nonexistent'", "needs a temporary directory"),
    ],
)
def test_a_machine_without_pins_gives_a_sentence_no_fallback_and_no_litter(tmp_path, before, says):
    done = subprocess.run(
        [sys.executable, "-c", NO_PI.replace("{before}", before)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert says in done.stdout, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
    assert "Traceback" not in done.stderr
