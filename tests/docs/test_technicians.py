"""The technicians' page and its drawing have the pins that the configuration has."""

import re
from itertools import islice
from pathlib import Path

import msgspec

from shoe_controller.app.controller import RETRY_SECONDS
from shoe_controller.app.table_panel import TRY_AGAIN_SECONDS
from shoe_controller.config import Panel
from shoe_controller.doctor.journals import damage
from shoe_controller.journal.new_chain import start_new_chain
from shoe_controller.journal.store import Journal
from tests.journal.table import Table

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "technicians.md").read_text()
DRAWING = (DOCS / "images" / "wiring.svg").read_text()
# Header pin of each GPIO, as the makers of the Pi publish it.
HEADER = {
    2: 3, 3: 5, 4: 7, 14: 8, 15: 10, 17: 11, 18: 12, 27: 13, 22: 15, 23: 16, 24: 18, 10: 19, 9: 21, 25: 22, 11: 23,
    8: 24, 7: 26, 0: 27, 1: 28, 5: 29, 6: 31, 12: 32, 13: 33, 19: 35, 16: 36, 26: 37, 20: 38, 21: 40,
}  # fmt: skip


def defaults():
    panel = Panel()
    pins = {"panel.gate": panel.gate, "panel.buzzer": panel.buzzer}
    for name in ("buttons", "lamps"):
        pins |= {f"panel.{name}.{key}": pin for key, pin in msgspec.structs.asdict(getattr(panel, name)).items()}
    return {key: (pin, HEADER[pin]) for key, pin in pins.items()}


def test_the_table_has_every_default_pin():
    told = re.findall(r"^\| .+ \| `(panel\.[a-z_.]+)` \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)
    assert {key: (int(gpio), int(pin)) for key, gpio, pin in told} == defaults()


def test_the_drawing_has_the_same_pins():
    told = re.findall(r'data-key="([a-z_.]+)" data-gpio="(\d+)" data-pin="(\d+)">([^<]+)<', DRAWING)
    assert {key: (int(gpio), int(pin)) for key, gpio, pin, _ in told} == defaults()
    assert all(f"GPIO {gpio}" in text for _, gpio, _, text in told)


def test_times_are_the_programs():
    assert f"It is tried every {TRY_AGAIN_SECONDS:g} s" in PAGE
    assert f"It tries again every {RETRY_SECONDS:g} s" in PAGE


def test_sealed_volumes_of_a_copy_lead_to_numbers_that_were_never_used(tmp_path):
    """What the page says of an SD card that cannot be read."""
    folder, table = tmp_path / "journal", Table(seed=3)
    with Journal.open(folder, table="north/B12") as journal:
        journal.append(list(islice(table.play_shoe(), 60)))
        journal.archive()
        journal.append(list(islice(table.play_shoe(), 60)))
        last = journal.last_seq
    max(folder.glob("*.db")).unlink()
    assert "which is not there" in damage(folder)
    assert start_new_chain(folder).first_seq > last
    Journal.open(folder).close()
