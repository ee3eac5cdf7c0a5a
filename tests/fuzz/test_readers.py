"""The first part of the campaign against everything that reads from outside; `make soak` runs a long one."""

import pytest

from tests.fuzz import control, page, readers
from tests.fuzz.readers import campaign


@pytest.mark.parametrize("reader", readers.SAMPLES, ids=lambda reader: reader.__name__)
def test_input_made_to_hurt_is_refused_with_a_sentence(reader):
    faults, _ = campaign(reader, readers.SAMPLES[reader], readers.WORDS[reader], 120, seed=1)
    assert faults == []


def test_a_local_request_made_to_hurt_is_answered():
    faults, understood = campaign(control.control_request, control.SAMPLES, control.WORDS, 120, seed=1)
    assert faults == []
    assert understood > 5


def test_a_web_request_made_to_hurt_is_answered_or_the_line_is_cut():
    faults, _ = campaign(page.http_request, page.SAMPLES, page.WORDS, 100, seed=1, fresh=page.request)
    assert faults == []
