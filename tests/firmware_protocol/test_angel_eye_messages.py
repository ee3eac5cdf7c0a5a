"""What the data bytes of Angel Eye frames mean, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.angel_eye_messages import (
    RANKS,
    AngelEyeError,
    BurnCount,
    ErrorChanged,
    GameCard,
    GameResult,
    Outside,
    OutsideCard,
    OverdrawnCard,
    Preset,
    UnknownCard,
    UnknownMessage,
    card_byte,
    read_message,
)
from firmware_protocol.errors import FirmwareProtocolError
from firmware_protocol.events import Card, Target
from tests.firmware_protocol.angel_eye_vectors import FRAMES, card

cards = st.builds(Card, rank=st.sampled_from(RANKS), suit=st.sampled_from("cdhs"))
places = st.tuples(st.sampled_from(Target), st.integers(1, 15))


@pytest.mark.parametrize("frame, _sequence, message", FRAMES)
def test_data_bytes_written_by_hand_mean_what_they_should_and_back(frame, _sequence, message):
    data = bytes.fromhex(frame)[2:-3]
    assert read_message(data) == message
    assert message.to_data() == data


@pytest.mark.parametrize("suit, number", [("d", 1), ("c", 2), ("s", 3), ("h", 4)])
@pytest.mark.parametrize("rank, value", [(rank, value + 1) for value, rank in enumerate("A23456789TJQK")])
def test_each_of_the_52_cards_has_its_byte(suit, number, rank, value):
    assert card_byte(Card(rank=rank, suit=suit)) == 0x80 + 0x10 * number + value


@given(cards, places)
def test_cards_of_a_game_survive_the_way_there_and_back(drawn, place):
    for kind in (GameCard, OverdrawnCard):
        message = kind(*place, drawn)
        assert read_message(message.to_data()) == message


@given(cards, st.sampled_from(Outside))
def test_cards_outside_a_game_survive_the_way_there_and_back(drawn, outside):
    message = OutsideCard(outside, drawn)
    assert read_message(message.to_data()) == message


@pytest.mark.parametrize("code", range(64))
@pytest.mark.parametrize("active", [True, False])
def test_every_error_code_is_read(code, active):
    message = ErrorChanged(code, active=active, error_mode=active)
    assert message.to_data() == bytes((0x45 if active else 0x65, 0x80 + 0x40 * active + code))
    assert read_message(message.to_data()) == message


@pytest.mark.parametrize(
    "data, why",
    [
        ("44 81 80", "suit 0 and rank 0"),
        ("44 81 90", "suit 1 and rank 0"),
        ("44 81 9E", "suit 1 and rank 14"),
        ("44 81 D1", "suit 5"),
        ("44 81 81", "suit 0 and rank 1"),
        ("44 80 91", "the player without its place"),
        ("44 90 91", "the banker without its place"),
        ("44 B1 91", "a hand of kind 3"),
        ("64 B0 91", "for a reason of kind 3"),
        ("52 F1 91", "a hand of kind 7"),
        ("44 81 11", "lacks its bit 7"),
        ("44 01 91", "lacks its bit 7"),
    ],
)
def test_a_card_that_cannot_be_told_is_an_unknown_card_not_a_guess(data, why):
    message = read_message(bytes.fromhex(data))
    assert isinstance(message, UnknownCard)
    assert why in message.reason
    assert message.to_data() == bytes.fromhex(data)


@pytest.mark.parametrize(
    "data, why",
    [
        ("58", "type 0x58"),
        ("58 81 82", "type 0x58"),
        ("53 81", "'S' with 1 bytes"),
        ("44 81", "'D' with 1 bytes"),
        ("47 80", "result of kind 0"),
        ("47 11", "lacks its bit 7"),
        ("4C 01", "lacks its bit 7"),
        ("4D 31 32 30 33 34 85", "not text"),
        ("4D 31 32 30 33 34", "'M' with 5 bytes"),
    ],
)
def test_what_is_not_described_is_an_unknown_message_with_its_bytes(data, why):
    message = read_message(bytes.fromhex(data))
    assert isinstance(message, UnknownMessage)
    assert why in message.reason
    assert message.to_data() == bytes.fromhex(data)


@given(st.binary(min_size=1, max_size=130))
def test_reading_never_raises_and_keeps_every_byte_of_what_it_does_not_know(data):
    message = read_message(data)
    if isinstance(message, UnknownCard | UnknownMessage):
        assert message.to_data() == data


@pytest.mark.parametrize(
    "message",
    [
        GameCard(Target.PLAYER, 0, card("Ad")),
        GameCard(Target.BANKER, 16, card("Ad")),
        GameCard(Target.BURN, 16, card("Ad")),
        GameCard(Target.PLAYER, 1, card("Sf")),
        GameCard(Target.PLAYER, 1, Card(uid=b"1234")),
        BurnCount(16),
        GameResult("nobody"),
        ErrorChanged(64, active=True, error_mode=True),
        Preset("1", "0345"),
        Preset("12", "034\N{LATIN SMALL LETTER E WITH ACUTE}"),
    ],
)
def test_what_the_format_cannot_carry_is_refused_with_a_sentence(message):
    with pytest.raises(AngelEyeError, match=r"\.$") as refused:
        message.to_data()
    assert isinstance(refused.value, FirmwareProtocolError)


@pytest.mark.parametrize(
    "message",
    [
        BurnCount(0),
        BurnCount(15),
        ErrorChanged(0, active=True, error_mode=False),
        ErrorChanged(63, active=False, error_mode=True),
    ],
)
def test_the_least_and_the_most_that_a_frame_can_carry_survive_the_way_there_and_back(message):
    assert read_message(message.to_data()) == message


@pytest.mark.parametrize("code", [-1, 64])
def test_an_error_code_that_a_frame_cannot_carry_is_refused(code):
    with pytest.raises(AngelEyeError, match="it carries 0 to 63"):
        ErrorChanged(code, active=True, error_mode=False).to_data()


@pytest.mark.parametrize("target, least", [(Target.PLAYER, 1), (Target.BANKER, 1), (Target.BURN, 0)])
def test_a_place_before_the_first_is_refused_with_the_places_there_are(target, least):
    with pytest.raises(AngelEyeError, match=f"it must be {least} to 15"):
        GameCard(target, least - 1, card("Ad")).to_data()


@pytest.mark.parametrize("count", [-1, 16])
def test_a_burn_count_that_a_frame_cannot_carry_is_refused(count):
    with pytest.raises(AngelEyeError, match="it carries 0 to 15"):
        BurnCount(count).to_data()
