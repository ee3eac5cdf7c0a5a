"""The twin of the Angel Eye: the game that it follows, its errors, its lock, and what the real host makes of it."""

import pytest

from drivers.simulated.angel_eye_device import STANDBY_AFTER, AngelEyeOptions
from drivers.simulated.angel_eye_game import Game
from drivers.simulated.errors import CannotDoError, OrderError
from drivers.simulated.order import ShoeOrder
from firmware_protocol.angel_eye_frames import StartByte
from firmware_protocol.events import (
    BurnCountTold,
    CardDrawn,
    CardForeign,
    CardReturned,
    CardUnreadable,
    CutCardSeen,
    DeviceFault,
    DeviceResult,
    DeviceStandby,
    DeviceStarted,
    FaultChanged,
    HabitSeen,
    KeyLockChanged,
    PresetChanged,
    Target,
)
from tests.drivers.simulated.twin_rig import TwinRig

EYE = ShoeOrder(protocol="angel-eye")


def up(order=EYE, **more):
    rig = TwinRig(order, **more)
    rig.run_for(1)
    return rig


def told(rig, line):
    """Do something and give what the host was told of it, stand-by aside."""
    before = len(rig.journal)
    rig.do(line)
    rig.run_for(STANDBY_AFTER / 2)
    return rig.happenings()[before:]


def play(rig):
    """Deal one game to its result."""
    before = len(rig.journal)
    while not any(isinstance(happening, DeviceResult) for happening in rig.happenings()[before:]):
        rig.do("deal")
        rig.run_for(0.3)
    return rig.happenings()[before:]


def fault(which, code, *, active=True):
    return FaultChanged(which, active, code)


def test_a_game_is_told_card_by_card_with_its_hands_and_its_result():
    rig = up()
    *cards, result = play(rig)
    assert [card.target for card in cards[:4]] == [Target.PLAYER, Target.BANKER] * 2
    assert [card.index for card in cards[:4]] == [1, 1, 2, 2]
    assert rig.codes() == rig.out()
    assert isinstance(result, DeviceResult)
    rig.run_for(STANDBY_AFTER)
    assert rig.happenings()[-1] == DeviceStandby()


def test_a_whole_shoe_of_games_arrives_with_its_cut_card():
    rig = up(ShoeOrder(protocol="angel-eye", decks=4, cut_card=16))
    while rig.twin.body.cards_left:
        if rig.twin.ready:
            rig.do("deal")
        rig.run_for(0.3)
    assert rig.codes() == rig.out()
    assert len(rig.codes()) == 208
    assert CutCardSeen() in rig.happenings()
    assert [event.number for event in rig.journal] == list(range(1, len(rig.journal) + 1))


@pytest.mark.parametrize(
    "player, banker, winner, pairs",
    [
        ("9h Kh", "2c 3c", "player", (False, False)),  # a natural ends it
        ("2h 2d", "8c Kc", "banker", (True, False)),
        ("6h Kh", "6c Kc", "tie", (False, False)),
        ("6h Kh", "2c 2d Tc", "player", (False, True)),  # player stands: banker draws to 5
        ("7h Kh", "5c Kd 3c", "banker", (False, False)),
        ("6h Kh", "7c Kc", "banker", (False, False)),  # both stand
        ("5h Kh 8h", "3c Kc", "tie", (False, False)),  # banker 3 does not draw to an 8
        ("5h Kh 9h", "3c Kc 6c", "banker", (False, False)),
        ("Kh Qh Ah", "4c Kc", "banker", (False, False)),  # banker 4 does not draw to a 1
        ("Kh Qh 6h", "6c Kc 2c", "banker", (False, False)),  # banker 6 draws to a 6
        ("Kh Qh 5h", "6c Kc", "banker", (False, False)),
        ("Kh Qh 9h", "7c Kc", "player", (False, False)),  # banker 7 stands
        ("Kh Qh 9h", "2c Kc 7d", "tie", (False, False)),  # banker 2 always draws
    ],
)
def test_the_shoe_follows_the_standard_drawing_rules(player, banker, winner, pairs):
    player, banker = player.split(), banker.split()
    game = Game()
    assert not game.begun
    hands = {Target.PLAYER: iter(player), Target.BANKER: iter(banker)}
    while (target := game.next_hand()) is not None:
        assert game.deal(next(hands[target]))[0] is target
    assert game.begun
    assert (game.player, game.banker) == (player, banker)
    result = game.result()
    assert result.winner == winner
    assert (result.player_pair, result.banker_pair) == pairs


def test_a_shoe_that_lies_about_the_winner_can_be_had():
    honest, liar = up(), up()
    liar.do("wrong-result")
    truth, lie = play(honest)[-1], play(liar)[-1]
    assert lie.winner in ("player", "banker")
    assert lie.winner != truth.winner
    liar.run_for(2 * STANDBY_AFTER)
    honest.run_for(2 * STANDBY_AFTER)
    assert play(honest)[-1] == play(liar)[-1]


@pytest.mark.parametrize(
    "line, happenings",
    [
        ("unreadable", [CardUnreadable(), fault(DeviceFault.UNREADABLE, 1)]),
        ("foreign", [CardForeign(None), fault(DeviceFault.CODE, 6)]),
        ("jam", [fault(DeviceFault.TIMEOUT, 7)]),
        ("button", [fault(DeviceFault.BUTTON, 3)]),
        ("cut", [CutCardSeen()]),
        ("preset 12 0345", [PresetChanged("12", "0345")]),
        ("key on", [KeyLockChanged(locked=True)]),
        ("key off", [KeyLockChanged(locked=False)]),
        ("end-game", [DeviceResult(None, player_pair=False, banker_pair=False)]),
        ("reboot", [DeviceStarted()]),
        ("new-shoe", [DeviceStarted()]),
        ("together unknown", [CardUnreadable(), fault(DeviceFault.UNREADABLE, 1)]),
        ("clear", None),
        ("lid open", None),
        ("empty", None),
        ("sensor", None),
        ("tamper", None),
        ("self-test", None),
        ("pushback", None),
        ("duplicate", None),
        ("jam off", None),
    ],
)
def test_what_can_happen_is_told_and_what_cannot_is_refused_with_a_sentence(line, happenings):
    rig = up()
    if happenings is None:
        with pytest.raises(CannotDoError, match=r"\.$"):
            rig.do(line)
    else:
        assert told(rig, line) == happenings


def test_an_error_stops_the_deal_until_the_host_clears_it():
    rig = up()
    rig.do("deal")
    rig.do("unreadable")
    assert rig.twin.troubled
    assert not rig.twin.ready
    with pytest.raises(CannotDoError, match="in error"):
        rig.do("deal")
    assert rig.answer_to(rig.host.clear_error()).ok
    rig.run_for(1)
    assert rig.happenings()[-1] == fault(DeviceFault.UNREADABLE, 1, active=False)
    assert rig.twin.ready
    rig.do("deal")


def test_a_card_pulled_from_a_shoe_in_error_is_told_as_such():
    rig = up()
    rig.do("button")
    [drawn] = [h for h in told(rig, "deal force") if isinstance(h, CardDrawn)]
    assert drawn.outside_game == "error"


def test_a_jam_is_cleared_by_hand():
    rig = up()
    rig.do("jam on")
    with pytest.raises(CannotDoError, match="jammed"):
        rig.do("deal force")
    assert told(rig, "jam off")[-1] == fault(DeviceFault.TIMEOUT, 7, active=False)
    rig.do("deal")


def test_a_card_pushed_back_is_a_reverse_run_and_comes_again():
    rig = up()
    rig.do("deal")
    first = rig.out()[0]
    assert told(rig, "pushback")[-2:] == [CardReturned(None), fault(DeviceFault.REVERSE_RUN, 4)]
    rig.do("clear")
    rig.do("deal")
    assert rig.out() == [first]
    rig.run_for(1)
    drawn = [h for h in rig.happenings() if isinstance(h, CardDrawn)]
    assert [(card.target, card.index) for card in drawn] == [(Target.PLAYER, 1)] * 2


def test_a_card_pushed_back_after_the_result_does_not_change_the_game():
    rig = up()
    play(rig)
    rig.do("pushback")
    rig.do("clear")
    rig.run_for(2 * STANDBY_AFTER)
    assert DeviceStandby() in rig.happenings()
    assert rig.twin.ready


def test_two_cards_together_in_order_are_two_cards():
    rig = up()
    rig.do("together known")
    rig.run_for(1)
    assert rig.codes() == rig.out()
    assert len(rig.out()) == 2


def test_two_cards_cannot_be_drawn_when_one_is_left():
    rig = up(ShoeOrder(protocol="angel-eye", decks=1, cut_card=0))
    while rig.twin.body.cards_left > 1:
        if rig.twin.ready:
            rig.do("deal")
        rig.run_for(0.5)
    rig.run_for(2)
    with pytest.raises(CannotDoError, match="one card left"):
        rig.do("together")


def test_one_copy_of_a_card_too_many_can_be_drawn():
    rig = up()
    rig.do("deal")
    rig.run_for(1)
    [again] = told(rig, "duplicate")
    assert again.card.rank + again.card.suit == rig.out()[0]
    assert again.target is Target.BANKER


@pytest.mark.parametrize("keep", [True, False])
def test_an_overdrawn_card_is_kept_for_the_next_game_or_discarded_as_the_host_says(keep):
    rig = up()
    play(rig)
    overdraw = told(rig, "deal")
    assert overdraw[0] == fault(DeviceFault.OVERDRAW, 2)
    assert overdraw[1].outside_game == "error"
    assert not rig.answer_to(rig.host.clear_error()).ok  # that is for the other errors
    before = len(rig.journal)
    assert rig.answer_to(rig.host.clear_overdraw(keep=keep)).ok
    rig.run_for(2)
    after = rig.happenings()[before:]
    assert after[:2] == [fault(DeviceFault.OVERDRAW, 2, active=False), DeviceStandby()]
    if keep:
        assert after[2].told_before
        assert (after[2].target, after[2].index, after[2].overdrawn) == (Target.PLAYER, 1, "next-round")
    else:
        assert len(after) == 2
    rig.do("deal")
    rig.run_for(1)
    assert rig.happenings()[-1].target is (Target.BANKER if keep else Target.PLAYER)


@pytest.mark.parametrize("words, kept", [("", False), (" discard", False), (" keep", True)])
def test_an_overdraw_is_cleared_at_the_shoe_too(words, kept):
    rig = up()
    play(rig)
    rig.do("deal")
    happenings = told(rig, f"clear{words}")
    assert any(isinstance(h, CardDrawn) and h.told_before for h in happenings) == kept


def test_an_error_after_the_result_does_not_keep_the_next_game_from_beginning():
    rig = up()
    play(rig)
    rig.do("button")
    rig.run_for(2 * STANDBY_AFTER)
    assert DeviceStandby() in rig.happenings()
    assert not rig.twin.ready
    assert rig.answer_to(rig.host.clear_error()).ok
    assert rig.twin.ready


def test_an_overdrawn_card_pushed_back_is_no_overdraw_any_more():
    rig = up()
    play(rig)
    rig.do("deal")
    rig.run_for(2 * STANDBY_AFTER)
    assert DeviceStandby() not in rig.happenings()
    rig.do("pushback")
    assert rig.answer_to(rig.host.clear_error()).ok
    rig.run_for(1)
    assert rig.happenings()[-3:] == [
        fault(DeviceFault.REVERSE_RUN, 4, active=False),
        fault(DeviceFault.OVERDRAW, 2, active=False),
        DeviceStandby(),
    ]
    [drawn] = told(rig, "deal")
    assert (drawn.target, drawn.index) == (Target.PLAYER, 1)


def test_the_host_locks_and_unlocks_the_shoe():
    rig = up()
    assert rig.gate(False).ok
    with pytest.raises(CannotDoError, match="gate is shut"):
        rig.do("deal")
    [drawn] = told(rig, "deal force")
    assert drawn.outside_game == "locked"
    assert rig.gate(True).ok
    assert "shoe locked" in rig.twin.body.story()
    rig.do("deal")


def test_unlocking_after_a_result_begins_the_next_game():
    rig = up()
    play(rig)
    assert not rig.twin.ready
    assert rig.gate(True).ok
    assert rig.twin.ready


def test_confirming_the_game_begins_the_next_one():
    rig = up()
    assert rig.answer_to(rig.host.confirm_game()).ok
    play(rig)
    assert rig.answer_to(rig.host.confirm_game()).ok
    assert rig.twin.ready


def test_a_key_that_is_turned_beats_the_host():
    rig = up()
    rig.do("key on")
    answer = rig.gate(True)
    assert not answer.ok
    assert answer.reason.endswith(".")
    rig.do("key off")
    assert rig.gate(True).ok


def test_clearing_what_is_not_there_is_refused():
    rig = up()
    assert not rig.answer_to(rig.host.clear_error()).ok
    assert not rig.answer_to(rig.host.clear_overdraw(keep=True)).ok


def test_cards_drawn_in_setting_mode_are_of_no_game():
    rig = up()
    rig.do("setting on")
    [drawn] = told(rig, "deal")
    assert drawn.outside_game == "setting"
    rig.do("setting off")
    [drawn] = told(rig, "deal")
    assert drawn.target is Target.PLAYER


def test_cards_are_burned_as_the_first_card_says():
    rig = up()
    rig.do("burn")
    rig.run_for(1)
    first, count, *burned = [h for h in rig.happenings() if isinstance(h, CardDrawn | BurnCountTold)]
    assert first.target is Target.FIRST_CARD
    assert isinstance(count, BurnCountTold)
    assert [card.target for card in burned] == [Target.BURN] * count.count
    assert len(rig.out()) == 1 + count.count


def test_a_number_of_cards_is_burned_and_none_during_a_game():
    rig = up()
    assert rig.do("burn 3") == "3 cards burned"
    rig.do("deal")
    with pytest.raises(CannotDoError, match="before the first"):
        rig.do("burn")


def test_a_reboot_in_mid_round_forgets_the_game_and_not_the_cards():
    rig = up()
    for _ in range(3):
        rig.do("deal")
        rig.run_for(0.5)
    rig.do("reboot")
    rig.run_for(1)
    assert rig.happenings()[-1] == DeviceStarted()
    assert rig.codes() == rig.out()
    [drawn] = told(rig, "deal")
    assert (drawn.target, drawn.index) == (Target.PLAYER, 1)


def test_a_sequence_byte_that_wraps_loses_and_doubles_nothing():
    rig = up()
    assert "2 more" in rig.do("wrap 2")
    for _ in range(30):
        if rig.twin.ready:
            rig.do("deal")
        rig.run_for(0.4)
    assert rig.codes() == rig.out()


def test_without_a_cable_what_is_said_is_lost():
    rig = up()
    rig.disconnect()
    rig.do("deal")
    rig.connect()
    rig.run_for(1)
    assert rig.codes() == []


@pytest.mark.parametrize("operations", StartByte)
@pytest.mark.parametrize("events", StartByte)
def test_the_check_can_be_computed_either_way(operations, events):
    rig = up(
        ShoeOrder(
            protocol="angel-eye",
            angel_eye_options=AngelEyeOptions(bcc_operations=operations, bcc_unsolicited=events, locked=True),
        )
    )
    assert not rig.twin.ready
    assert rig.gate(True).ok
    rig.do("deal")
    rig.run_for(1)
    assert rig.codes() == rig.out()
    assert HabitSeen("bcc_operations", operations.value) in rig.notices


def test_a_host_that_computes_the_check_otherwise_is_told_no():
    rig = TwinRig(EYE)
    rig.host._requests._start = StartByte.EXCLUDE
    answer = rig.gate(False)
    assert "bcc_operations" in answer.reason
    assert any(line.startswith("refuses what the host said") for line in rig.twin.body.story())


def test_a_listener_sees_everything_and_writes_nothing():
    rig = up(listen_only=True)
    play(rig)
    assert not rig.gate(False).ok
    rig.run_for(10)
    assert rig.codes() == rig.out()
    assert rig.written == b""


def test_an_angel_eye_knows_52_card_decks_only():
    with pytest.raises(OrderError, match="52-card"):
        TwinRig(ShoeOrder(protocol="angel-eye", deck=65))


@pytest.mark.parametrize("line", ["deal twice", "burn 11", "preset 1 2", "key ajar", "wrap 256", "foreign refused"])
def test_words_that_are_not_understood_are_refused_with_a_sentence(line):
    with pytest.raises(OrderError, match=r"\.$"):
        up().do(line)


def test_one_seed_gives_one_run():
    def run(seed):
        rig = up(ShoeOrder(protocol="angel-eye", seed=seed))
        return play(rig), [event.raw for event in rig.journal]

    assert run(3) == run(3)
    assert run(3) != run(4)
