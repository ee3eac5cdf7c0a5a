"""The scripts in clauses/: each is played, and what it expects is told in its own comments.

A line `#> {...}` is the next fact that `replay` prints, or a part of it; every printed fact must be expected.
"""

import json
from pathlib import Path

import msgspec
import pytest

from shoe_controller.replay import replay

SCRIPTS = sorted((Path(__file__).parent / "clauses").glob("*.table"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_script_gives_what_it_expects(script):
    lines = script.read_bytes().splitlines(keepends=True)
    expected = [json.loads(line[2:]) for line in lines if line.startswith(b"#>")]
    found = [msgspec.to_builtins(fact) for fact in replay(lines, script.name)]
    shoe = [fact for fact in found if fact["type"] != "shoe" or any(e["type"] == "shoe" for e in expected)]
    parts = [{key: fact.get(key) for key in want} for fact, want in zip(shoe, expected, strict=False)]
    found_parts = [json.loads(json.dumps(part)) for part in parts]
    assert found_parts == expected
    assert len(shoe) == len(expected), f"not expected: {shoe[len(expected) :]}"


def test_there_is_a_script_for_each_clause():
    clauses = {f"5.{n}" for n in range(1, 8)}
    assert clauses <= {script.stem.split("-")[0] for script in SCRIPTS}
