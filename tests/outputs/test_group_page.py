"""docs/group.md: the files, commands and settings that it names exist."""

import re
import tomllib
from pathlib import Path

from shoe_controller.cli import build_program
from shoe_controller.config.outputs import Mqtt

PAGE = Path(__file__).parents[2] / "docs" / "group.md"
TEXT = PAGE.read_text()


def test_every_link_leads_somewhere():
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT) if "://" not in link]
    assert "group/mosquitto.conf" in links
    assert [link for link in links if not (PAGE.parent / link).exists()] == []


def test_every_file_of_the_folder_is_named():
    assert [path.name for path in (PAGE.parent / "group").iterdir() if f"group/{path.name}" not in TEXT] == []


def test_the_commands_shown_are_understood():
    commands = re.findall(r"`(fleet [^`]*)`", TEXT)
    assert len(commands) > 4
    for command in commands:
        build_program({"fleet"}).parse_args(command.split())


def test_the_settings_shown_exist():
    shown = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert len(shown) == 2
    for text in shown:
        (section,) = tomllib.loads(re.sub(r"^ +", "", text, flags=re.MULTILINE)).items()
        assert section[0] == "mqtt"
        assert set(section[1]) <= set(Mqtt.__struct_fields__)
