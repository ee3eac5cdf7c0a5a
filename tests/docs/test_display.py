"""The page about the display names every field, event, setting and time that the display has."""

import re
import typing
from pathlib import Path

import msgspec
import pytest

from shoe_controller.config.outputs import Web
from shoe_controller.session.facts import Effect
from shoe_controller.session.view import Phase
from shoe_controller.web import connection, stream
from shoe_controller.web.public_facts import SHOWN
from shoe_controller.web.state import MOST_IRREGULARITIES, DisplayState
from tests.web.screenshots import FOR_DOCS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "display.md").read_text(encoding="utf-8")
SCRIPTS = {name: (ROOT / "shoe_controller/web/static" / name).read_text() for name in ("live.js", "page.js")}
NAMED = set(re.findall(r"`([\w.-]+)`", PAGE))


def names_of_the_state():
    for part in msgspec.json.schema(DisplayState)["$defs"].values():
        yield from part["properties"]


@pytest.mark.parametrize(
    "names",
    [
        set(names_of_the_state()),
        set(typing.get_args(Phase)),
        set(typing.get_args(Effect)),
        set(SHOWN),
        {f"web.{field.name}" for field in msgspec.structs.fields(Web)},
        set(re.findall(r'message\("(\w+)"', Path(stream.__file__).read_text())),
    ],
    ids=["state", "phases", "effects", "facts", "settings", "events"],
)
def test_everything_is_named(names):
    assert names
    assert names <= NAMED


def test_times_and_limits_are_the_programs():
    silent = int(re.search(r"SILENT_MS = (\d+)", SCRIPTS["live.js"])[1])
    notice = int(re.search(r"RESTART_NOTICE_MS = (\d+)", SCRIPTS["page.js"])[1])
    assert f"hears nothing for {silent / 1000:g} seconds" in PAGE
    assert f"says so for {notice / 1000:g} seconds" in PAGE
    assert f"takes nothing for {stream.SLOW_SECONDS:g} seconds" in PAGE
    assert f"is closed after {connection.REQUEST_SECONDS:g} seconds" in PAGE
    assert f"at most {MOST_IRREGULARITIES}," in PAGE


def test_the_pictures_are_there_and_small():
    for name in FOR_DOCS:
        assert f"](images/{name}.png)" in PAGE
        assert (ROOT / "docs/images" / f"{name}.png").stat().st_size < 120_000
