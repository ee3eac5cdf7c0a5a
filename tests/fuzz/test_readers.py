"""The first part of the campaign against readers; `make soak` runs a long one."""

import pytest

from tests.fuzz.readers import SAMPLES, WORDS, campaign


@pytest.mark.parametrize("reader", SAMPLES, ids=lambda reader: reader.__name__)
def test_input_made_to_hurt_is_refused_with_a_sentence(reader):
    faults, understood = campaign(reader, SAMPLES[reader], WORDS[reader], 400, seed=1)
    assert faults == []
    assert understood >= 0
