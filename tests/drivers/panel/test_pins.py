import pytest

from drivers.errors import DriverError, PanelError, PinMapError
from drivers.panel.functions import Button, Lamp
from drivers.panel.pins import PinMap

BUTTONS = {
    "place_bets": 5,
    "no_more_bets": 6,
    "result": 13,
    "key": 19,
    "void": 26,
    "accept": 16,
    "acknowledge": 20,
}
LAMPS = {
    "player": 17,
    "banker": 27,
    "tie": 22,
    "next_player": 23,
    "next_banker": 24,
    "betting": 25,
    "alarm": 12,
    "fault": 18,
}


def test_a_whole_panel_can_be_wired():
    pins = PinMap.from_names(BUTTONS, LAMPS, 21, 4)
    assert pins.buttons[Button.VOID] == 26
    assert pins.key == 19
    assert pins.lamps[Lamp.FAULT] == 18
    assert len(pins.functions()) == 17
    assert (pins.pressed_is_high, pins.lit_is_high, pins.open_is_high) == (False, True, True)


def test_what_is_not_wired_is_left_out():
    pins = PinMap.from_names({"result": 13, "void": "none", "key": "none"}, {"tie": "none", "fault": 18}, "none", None)
    assert pins.functions() == [("button result", 13), ("lamp fault", 18)]
    assert pins.gate is None


@pytest.mark.parametrize(
    "changes, says",
    [
        ({"buttons": BUTTONS | {"result": 5}}, "button place_bets and button result are both on pin 5"),
        ({"lamps": LAMPS | {"tie": 13}}, "button result and lamp tie are both on pin 13"),
        ({"gate": 19}, "key switch and gate are both on pin 19"),
        ({"buzzer": 21}, "gate and buzzer are both on pin 21"),
        ({"buzzer": 28}, "buzzer is on pin 28, but the header has GPIO 0 to 27"),
        ({"gate": -1}, "gate is on pin -1"),
        ({"buttons": BUTTONS | {"key": "none"}}, "anybody could press accept, acknowledge, void"),
        ({"gate": 7}, "would stand open with nobody in charge; use one of the pins 9 to 27"),
        ({"gate_open": "low"}, "would stand open with nobody in charge; use one of the pins 0 to 8"),
    ],
)
def test_a_map_that_cannot_be_wired_is_refused_and_the_sentence_names_both_sides(changes, says):
    settings = {"buttons": BUTTONS, "lamps": LAMPS, "gate": 21, "buzzer": 4} | changes
    with pytest.raises(PinMapError) as caught:
        PinMap.from_names(**settings)
    assert says in str(caught.value)
    assert isinstance(caught.value, PanelError)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, DriverError)


def test_a_gate_that_opens_at_low_level_belongs_on_a_pin_that_is_pulled_up():
    assert PinMap.from_names({}, {}, 7, gate_open="low").open_is_high is False


def test_levels_follow_the_configuration():
    pins = PinMap.from_names({}, {}, button_pressed="high", lamp_lit="low")
    assert (pins.pressed_is_high, pins.lit_is_high) == (True, False)
