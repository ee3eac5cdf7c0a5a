"""The security page: each test that it names exists, and what has no other test is tested here."""

import ast
import re
from itertools import islice
from pathlib import Path

import pytest

from shoe_controller.journal.store import Journal
from tests.journal.table import Table

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "security.md").read_text()
ROWS = re.findall(r"^\| (stops|shows) \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)
NAMED = sorted(set(re.findall(r"`(tests/[^`]+)`", PAGE)))


@pytest.mark.parametrize("name", NAMED)
def test_a_test_that_the_page_names_exists(name):
    path, _, function = name.partition("::")
    tree = ast.parse((PROJECT / path).read_text())
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert any(found.startswith("test_") for found in functions)
    assert not function or function in functions


def test_each_claim_names_a_test():
    assert len(ROWS) > 30
    for claim, what, tests in ROWS:
        assert re.fullmatch(r"`tests/[^`]+`(, `tests/[^`]+`)*", tests), f"{claim}: {what}"


def test_each_attacker_of_the_threat_model_has_a_section_that_says_what_is_not_stopped():
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    attackers = [section for section in sections if "| stops |" in section]
    assert len(attackers) == 5
    assert all("\nDoes not stop: " in section for section in attackers)


def test_the_journal_of_a_shoe_in_play_names_no_card_that_did_not_come_out(tmp_path):
    table = Table(seed=3)
    entries = list(islice(table.play_shoe(), 40))
    with Journal.open(tmp_path / "journal", table="B12") as journal:
        journal.append(entries)
    drawn = {entry.body for entry in entries if entry.kind == "card"}
    came_out = set(re.findall(rb'"code":"(\w\w)"', b"".join(drawn)))
    told = set(re.findall(rb'"([A2-9TJQKSLF][cdhsfgewa])"', b"".join(b"".join(entry.facts) for entry in entries)))
    assert told
    assert told <= came_out
    (volume,) = (tmp_path / "journal").glob("*.db")
    stored = set(re.findall(rb'"([A2-9TJQK][cdhs])"', volume.read_bytes()))
    assert stored <= came_out
