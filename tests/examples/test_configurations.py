"""The sample configurations: each is accepted as it is and shows the set-up that its name says."""

from pathlib import Path

import pytest

from shoe_controller.cli import main
from shoe_controller.config import load

FOLDER = Path(__file__).parents[2] / "examples" / "config"
SHOWN = {
    "rfid-serial": ("open", "/dev/serial/by-id/", {"require_auth": True}),
    "angel-eye-listen-only": ("angel-eye", "socket://", {"listen_only": True}),
    "usb": ("open", "usb-raw:", {}),
}


def test_there_is_a_sample_for_each_set_up():
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_a_sample_is_accepted_as_it_is(name, capsys):
    assert main(["check-config", str(FOLDER / f"{name}.toml")]) == 0
    assert ": ok. Table north/" in capsys.readouterr().out


@pytest.mark.parametrize("name", SHOWN)
def test_a_sample_shows_the_set_up_that_its_name_says(name):
    protocol, device, also = SHOWN[name]
    shoe = load(FOLDER / f"{name}.toml").shoe
    assert shoe.protocol == protocol
    assert shoe.device.startswith(device)
    assert {key: getattr(shoe, key) for key in also} == also
