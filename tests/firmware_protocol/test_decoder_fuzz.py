"""The first part of the fuzz campaign; `make soak` runs a million frames of it."""

from tests.soak.decoder_fuzz import angel_eye_campaign, campaign, flipped_frames


def test_random_and_mutated_frames_raise_nothing_and_fill_no_memory():
    report = campaign(6_000, seed=1)
    assert report.faults == []
    assert report.accepted > 1_000
    assert report.events > 10
    assert sum(report.drops.values()) > 3_000


def test_no_golden_frame_with_flipped_bits_is_taken_for_another():
    assert flipped_frames(10_000, seed=1) == 0


def test_noise_and_mutated_frames_of_the_angel_eye_raise_nothing():
    faults, events = angel_eye_campaign(2_000, seed=1)
    assert faults == []
    assert events > 500
