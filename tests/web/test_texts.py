import json
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from firmware_protocol.events import DeviceFault
from shoe_controller.app.table_panel import PANEL_FAULT
from shoe_controller.app.table_shoe import LID
from shoe_controller.rules.games import load_all
from shoe_controller.service.arrivals import SHOE_FAULT
from shoe_controller.session.facts import Effect, Kind
from shoe_controller.session.holding import MISSING_FAULT
from shoe_controller.session.view import Phase
from shoe_controller.web.assets import assets, check_languages, languages, page_hash
from shoe_controller.web.errors import LanguageError

FOLDER = Path(__file__).resolve().parents[2] / "shoe_controller" / "web"
TEXTS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (FOLDER / "texts").glob("*.json")}
# Titles of games come with the rules; a language may have its own.
OPTIONAL = "game."


def keys(language):
    return {key for key in TEXTS[language] if not key.startswith(OPTIONAL)}


def test_english_and_chinese_are_there():
    assert {"en", "zh"} <= set(TEXTS) == set(languages())


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_every_language_has_every_text(language):
    assert keys(language) == keys("en")
    assert all(isinstance(text, str) and text.strip() for text in TEXTS[language].values())


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_a_text_has_the_same_places_to_fill_in_every_language(language):
    for key in keys("en"):
        places = [set(re.findall(r"\{(\w+)\}", TEXTS[name][key])) for name in ("en", language)]
        assert places[0] == places[1], key


def test_whatever_can_happen_has_a_text():
    english = keys("en")
    kinds = typing.get_args(Kind)
    assert {f"irregularity.{kind}" for kind in kinds} | {f"irregularity.{kind}.words" for kind in kinds} <= english
    assert {f"effect.{effect}" for effect in typing.get_args(Effect)} <= english
    assert {f"phase.{phase}" for phase in typing.get_args(Phase)} <= english


def test_every_fault_that_the_controller_can_have_has_a_text():
    faults = {SHOE_FAULT, LID, PANEL_FAULT, MISSING_FAULT, *map(str, DeviceFault)}
    assert {key for key in keys("en") if key.startswith("fault.")} == {f"fault.{one}" for one in (*faults, "other")}


def test_every_wager_of_every_game_has_a_name():
    for rules in load_all().values():
        for wager in (*rules.wagers, *rules.bonuses):
            name = re.sub(r"_wins_on_\d$", "_wins_on", wager)
            assert f"wager.{name}" in keys("en"), wager


def test_chinese_has_a_title_for_every_game():
    assert {f"game.{game}" for game in load_all()} <= set(TEXTS["zh"])


def test_every_text_that_the_page_names_is_there():
    named = set()
    for script in (FOLDER / "static").glob("*.js"):
        text = script.read_text(encoding="utf-8")
        named |= set(re.findall(r'(?:spans|say|heading|line|tag|firstText)\((?:[\w.()]+, )?"([\w.-]+)"', text))
    assert len(named) > 15
    assert named <= keys("en")


def test_texts_enter_the_page_as_text_only():
    for script in (FOLDER / "static").glob("*.js"):
        text = script.read_text(encoding="utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert way not in text, f"{script.name} uses {way}"


def test_nothing_comes_from_elsewhere():
    for address, asset in assets().items():
        text = asset.body.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, address
        assert "https://" not in text, address
        assert "@import" not in text, address


def test_the_page_has_a_hash_of_all_its_files():
    assert re.fullmatch(r"[0-9a-f]{16}", page_hash())


def test_a_language_without_texts_is_named():
    check_languages(("zh", "en"))
    with pytest.raises(LanguageError, match="no texts for the language 'tlh'; it has en, zh"):
        check_languages(("en", "tlh"))


def test_a_language_is_added_by_one_file(tmp_path):
    copy = tmp_path / "shoe_controller"
    shutil.copytree(FOLDER.parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(copy / "web" / "texts" / "en.json", copy / "web" / "texts" / "vi.json")
    code = (
        "from shoe_controller.web import assets; assets.check_languages(['vi']);"
        "print(assets.__file__, assets.languages(), '/texts/vi.json' in assets.assets())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split(maxsplit=1) == [str(copy / "web" / "assets.py"), "('en', 'vi', 'zh') True\n"]
