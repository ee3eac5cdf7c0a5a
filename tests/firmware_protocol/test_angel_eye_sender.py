"""The sending side of Angel Eye: copies, sequence, and how cards of 65-card decks are carried."""

import pytest

from firmware_protocol.angel_eye_frames import StartByte
from firmware_protocol.angel_eye_messages import AngelEyeError, GameCard, Standby, Started, card_byte
from firmware_protocol.angel_eye_sender import AngelEyeSender, carried_as
from firmware_protocol.events import Card, Target
from tests.firmware_protocol.angel_eye_vectors import FRAMES, card


@pytest.mark.parametrize("frame, sequence, message", FRAMES)
def test_everything_is_said_three_times_with_the_bytes_written_by_hand(frame, sequence, message):
    assert AngelEyeSender(sequence=sequence).say(message) == bytes.fromhex(frame) * 3


def test_the_sequence_counts_events_and_wraps():
    sender = AngelEyeSender(sequence=0xFF)
    assert sender.say(Started())[1] == 0xFF
    assert sender.say(Standby())[1] == 0x00
    assert sender.sequence == 1


def test_the_check_can_include_the_start_byte_and_copies_can_be_fewer():
    sender = AngelEyeSender(sequence=7, copies=1, bcc_unsolicited=StartByte.INCLUDE)
    assert sender.say(Standby()) == bytes.fromhex("05 07 50 03 35 31")


@pytest.mark.parametrize("sequence", [-1, 256])
def test_a_sequence_that_is_no_byte_is_refused(sequence):
    with pytest.raises(AngelEyeError):
        AngelEyeSender(sequence=sequence)


def test_cards_of_a_52_card_deck_are_carried_as_they_are():
    for code in ("Ad", "Th", "Jc", "Ks"):
        assert carried_as(card(code)) == card(code)


def test_the_65_cards_of_the_other_deck_have_a_byte_each():
    carried = {card_byte(carried_as(card(rank + suit))) for rank in "A23456789TSLF" for suit in "fgewa"}
    assert len(carried) == 65


@pytest.mark.parametrize("code, byte", [("Sf", 0xCB), ("Lg", 0x9C), ("Fe", 0xAD), ("Aw", 0xB1), ("Ta", 0x8A)])
def test_element_cards_are_carried_by_this_table(code, byte):
    message = GameCard(Target.PLAYER, 1, carried_as(card(code)))
    assert message.to_data() == bytes((0x44, 0x81, byte))


def test_a_card_without_a_rank_cannot_be_carried():
    with pytest.raises(AngelEyeError):
        card_byte(carried_as(Card(suit="f")))
