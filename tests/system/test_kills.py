"""The daemon killed with SIGKILL, at random moments and at each named point of an input's path: 101 times."""

import pytest

from tests.system.killing import kills_at, random_kills
from tests.system.rigged_daemon import POINTS

RANDOM_KILLS = 50
POINT_KILLS = 10  # at each of the points


def test_random_kills_lose_and_double_nothing_for_the_journal_and_for_subscribers(tmp_path):
    assert random_kills(tmp_path, RANDOM_KILLS, seed=3)


@pytest.mark.parametrize("point", POINTS)
def test_kills_at_a_named_point_lose_and_double_nothing(tmp_path, point):
    assert kills_at(point, tmp_path, POINT_KILLS, seed=4)
