"""Garbage is collected when the table rests, once, and else only when there is very much of it."""

import gc

import pytest

from shoe_controller.app.litter import UNTIL_ANYWAY, Litter


@pytest.fixture(autouse=True)
def as_it_was():
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def collections():
    return gc.get_stats()[2]["collections"]


def test_a_start_is_set_aside_and_python_collects_rarely():
    Litter().begin()
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold()[0] == UNTIL_ANYWAY


def test_a_table_that_rests_is_cleaned_once():
    litter = Litter()
    before = collections()
    for seq in (1, 2, 3):
        litter.look(seq)
    assert collections() == before
    for _ in range(3):
        litter.look(3)
    assert collections() == before + 1
    litter.look(4)
    litter.look(4)
    assert collections() == before + 2
