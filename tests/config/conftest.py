import pytest

from shoe_controller.config import ConfigError, parse

MINIMAL = """\
[table]
site = "north"
name = "B12"
game = "six-star"

[shoe]
device = "/dev/ttyUSB0"
"""


@pytest.fixture
def minimal():
    return MINIMAL


@pytest.fixture
def problems():
    """Return the problems of a configuration text as (line, key, message, allowed, suggestion)."""

    def find(text):
        with pytest.raises(ConfigError) as caught:
            parse(text, "table.toml")
        return caught.value.problems

    return find
