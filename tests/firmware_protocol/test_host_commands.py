import pytest

from firmware_protocol import timing
from firmware_protocol.codes import LampMode, Status
from firmware_protocol.commands import Answer, Gate, Identify, Lamp, Reboot, SelfTest, SetTime
from firmware_protocol.events import CommandAnswered, LinkUp
from firmware_protocol.host_commands import LINK_LOST, MAX_WAITING, NO_ANSWER, NOT_CONNECTED, REASONS, TOO_MANY
from firmware_protocol.host_link import HostState
from tests.firmware_protocol.wires import KEY, WIRES, Rig, Wire


def up_rig(*wires, **settings):
    rig = Rig(*wires, **settings)
    rig.run_until(lambda: rig.seen(LinkUp))
    return rig


def commands(rig):
    return [event for event in rig.device_events if hasattr(event, "command_id")]


ASK = {
    "gate": (lambda host: host.gate(is_open=True), Gate(1, open=True)),
    "lamp": (lambda host: host.lamp(3, LampMode.FAST_BLINK, 1, 2, 3), Lamp(1, 3, LampMode.FAST_BLINK, 1, 2, 3)),
    "set time": (lambda host: host.set_time(1767225600000000), SetTime(1, 1767225600000000)),
    "self-test": (lambda host: host.self_test(), SelfTest(1)),
    "identify": (lambda host: host.identify(9), Identify(1, 9)),
    "reboot": (lambda host: host.reboot(), Reboot(1)),
}


@pytest.mark.parametrize("ask, command", ASK.values(), ids=ASK.keys())
def test_a_command_is_carried_out_and_answered(ask, command):
    rig = up_rig(key=KEY)
    command_id = ask(rig.host)
    rig.run_until(lambda: command_id in rig.answers)
    assert commands(rig) == [command]
    assert rig.answers[command_id] == CommandAnswered(command_id, ok=True)


@pytest.mark.parametrize("status", Status)
def test_the_answer_says_in_words_why_a_command_was_not_done(status):
    rig = up_rig()
    rig.obey = lambda _command: status
    command_id = rig.host.gate(is_open=True)
    rig.run_until(lambda: command_id in rig.answers)
    answer = rig.answers[command_id]
    assert answer.ok is (status is Status.DONE)
    assert answer.reason == REASONS[status]
    assert bool(answer.reason) is not answer.ok


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("seed", range(2))
def test_each_command_is_carried_out_once_and_in_order_on_any_wire(wire, seed):
    rig = up_rig(wire(seed), wire(seed + 50), seed=seed)
    asked = []
    for index in range(40):
        rig.at(rig.now + 0.3 * index, lambda index=index: asked.append(rig.host.gate(is_open=index % 2 == 0)))
    rig.run_until(lambda: len(asked) == 40 and len(rig.answers) == 40)
    done = [command.command_id for command in commands(rig)]
    assert done == sorted(set(done))
    assert {command_id for command_id, answer in rig.answers.items() if answer.ok} <= set(done)


def test_a_command_goes_out_at_once_and_its_timer_starts_with_the_next_tick():
    rig = up_rig()
    rig.flush()
    rig.host.gate(is_open=True)
    assert rig.host.data_to_send()
    assert rig.host.next_deadline() <= rig.now
    rig.host.tick(rig.now + 0.5)  # the host was busy with something else
    assert rig.host.data_to_send() == b""  # not repeated yet
    assert rig.host.next_deadline() == pytest.approx(rig.now + 0.5 + timing.COMMAND_RETRY)


def test_a_command_that_is_never_answered_is_given_up():
    rig = up_rig()
    rig.obey = lambda _command: None
    rig.device.answer = lambda _command_id, _status: None
    command_id = rig.host.gate(is_open=True)
    start = rig.now
    rig.run_until(lambda: command_id in rig.answers)
    assert rig.answers[command_id] == CommandAnswered(command_id, ok=False, reason=NO_ANSWER)
    assert rig.now - start == pytest.approx(timing.COMMAND_RETRY * timing.COMMAND_TRIES, abs=0.3)
    assert len(commands(rig)) == 1


def test_commands_wait_for_the_one_before_them():
    rig = up_rig()
    asked = [rig.host.gate(is_open=True), rig.host.gate(is_open=False), rig.host.self_test()]
    assert asked == [1, 2, 3]
    rig.run_until(lambda: len(rig.answers) == 3)
    assert [command.command_id for command in commands(rig)] == asked


def test_without_a_link_a_command_is_answered_at_once_and_never_sent():
    rig = Rig()
    command_id = rig.host.gate(is_open=True)
    rig.run_for(5)
    assert rig.host.state is HostState.UP
    assert rig.answers == {command_id: CommandAnswered(command_id, ok=False, reason=NOT_CONNECTED)}
    assert commands(rig) == []


def test_a_command_does_not_outlive_its_link():
    rig = up_rig()
    dead = Wire()
    dead.mangle = lambda _data: []
    good, rig.to_device = rig.to_device, dead
    asked = [rig.host.gate(is_open=True), rig.host.self_test()]
    rig.run_for(0.1)
    rig.to_device = good
    rig.disconnect()
    rig.connect()
    rig.run_for(5)
    assert rig.answers == {command_id: CommandAnswered(command_id, ok=False, reason=LINK_LOST) for command_id in asked}
    assert commands(rig) == []


def test_the_queue_of_commands_is_bounded():
    rig = up_rig()
    asked = [rig.host.identify() for _ in range(MAX_WAITING + 1)]
    rig.take_events()
    assert rig.answers == {asked[-1]: CommandAnswered(asked[-1], ok=False, reason=TOO_MANY)}


def test_an_answer_to_nothing_is_dropped():
    rig = up_rig()
    rig.device._send(Answer(99, Status.DONE).to_bytes())
    rig.run_for(0.5)
    assert rig.answers == {}


def test_command_ids_go_round_without_the_zero():
    rig = up_rig()
    rig.host._commands._next_id = 0xFFFFFFFF
    assert [rig.host.self_test(), rig.host.self_test()] == [0xFFFFFFFF, 1]
