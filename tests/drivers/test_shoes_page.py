"""docs/shoes.md says what the program does: its configurations load, its commands and addresses are understood."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from drivers.serial_address import LINES
from drivers.shoe_device import transport_for
from drivers.simulated.faults import parse_faults
from shoe_controller.cli import build_program
from shoe_controller.config.load import parse

PAGE = Path(__file__).parents[2] / "docs" / "shoes.md"
TEXT = PAGE.read_text("utf-8")
TABLE = '[table]\nsite = "s"\nname = "t"\ngame = "no-commission"\n'


@pytest.mark.parametrize("block", re.findall(r"^```toml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
def test_each_configuration_loads(block):
    shoe = parse(TABLE + block, "docs/shoes.md").shoe
    assert shoe.device == tomllib.loads(block)["shoe"]["device"]


def test_each_address_is_understood():
    table = TEXT.split("| `device` |")[1].split("\n\n")[0]
    addresses = [cell for row in table.splitlines()[2:] for cell in re.findall(r"`([^`]+)`", row.split("|")[1])]
    assert len(addresses) > 6
    for address in addresses:
        transport_for(address)


@pytest.mark.parametrize("line", re.findall(r"^ {4}(shoe-controller .*?)(?: +#.*)?$", TEXT, re.MULTILINE))
def test_each_command_is_understood(line):
    words = shlex.split(line)[1:]
    args = build_program(words).parse_args(words)
    if getattr(args, "faults", ""):
        assert parse_faults(args.faults)


def test_each_link_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (PAGE.parent / target).exists(), target


def test_speeds_are_those_of_the_code():
    for protocol, line in LINES.items():
        assert f"`{protocol}` {line.baud}" in TEXT
