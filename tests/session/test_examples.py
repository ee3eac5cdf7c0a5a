"""The sample scripts: there is one for each clause, and each shows what it says."""

from pathlib import Path

import pytest

from shoe_controller.replay import replay
from shoe_controller.session import facts as f

FOLDER = Path(__file__).parents[2] / "examples" / "scripts"

# What each sample shows: (kind, effect) of its irregularities, status and winner of its rounds, and what was paid.
SHOWN = {
    "5.1-foreign-card": (
        [("foreign_card", "void")],
        [("complete", "player"), ("void", None), ("complete", "player")],
        ["ann banker 50.00"],
    ),
    "5.2-surplus-card": (
        [("wrong_number", "decision"), ("wrong_number", "decision")],
        [("complete", "player"), ("complete", "tie"), ("complete", "player")],
        [],
    ),
    "5.3-drawn-together": (
        [("simultaneous_draw", "void"), ("simultaneous_draw", "noted")],
        [("void", None), ("complete", "player")],
        [],
    ),
    "5.4-order-altered": (
        [("order_altered", "decision"), ("order_altered", "decision")],
        [("complete", "player"), ("void", None)],
        [],
    ),
    "5.5-shoe-exhausted": ([("shoe_exhausted", "void")], [("void", None)], ["ann player 20.00"]),
    "5.6-late-wager": (
        [("late_wager", "refused"), ("late_wager", "refused")],
        [("complete", "player")],
        ["ann player 30.00"],
    ),
    "5.7-late-withdrawal": (
        [("late_withdrawal", "refused")],
        [("complete", "tie")],
        ["ann player 10.00", "bob tie 3090.00", "bob banker 20.00"],
    ),
}


def test_there_is_a_sample_for_each_clause():
    assert {path.stem for path in FOLDER.glob("*.table")} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_a_sample_shows_what_it_says(name):
    path = FOLDER / f"{name}.table"
    found = list(replay(path.read_bytes().splitlines(keepends=True), path.name))
    irregularities, rounds, paid = SHOWN[name]
    assert [(fact.kind, fact.effect) for fact in found if isinstance(fact, f.Irregularity)] == irregularities
    assert [(fact.status, fact.winner) for fact in found if isinstance(fact, f.Round)] == rounds
    assert [f"{fact.who} {fact.wager} {fact.paid}" for fact in found if isinstance(fact, f.Settlement)] == paid
    clause = name.partition("-")[0]
    assert {fact.rule for fact in found if isinstance(fact, f.Irregularity)} == {clause}
    void_rules = {fact.void_rule for fact in found if isinstance(fact, f.Round) and fact.status == "void"}
    assert void_rules <= {clause}
