"""Operations to the shoe: their bytes, the shoe's reading of them, and the queue that gets each answered once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol.angel_eye_frames import StartByte, check_digits
from firmware_protocol.angel_eye_operations import Operation, OperationReader
from firmware_protocol.angel_eye_refusals import LINE_TROUBLE, NOT_NOW, NakCode
from firmware_protocol.angel_eye_requests import ANSWER_TIME, BUSY_PAUSE, LONGEST_QUEUE, TRIES, Requests
from firmware_protocol.events import CommandAnswered

LOCK = bytes.fromhex("02 4F 50 4C 4B 30 32 03 31 42")


@pytest.mark.parametrize(
    "operation, frame",
    [
        (Operation.LOCK, "02 4F 50 4C 4B 30 32 03 31 42"),
        (Operation.UNLOCK, "02 4F 50 4C 4B 30 31 03 31 38"),
        (Operation.CLEAR_ERROR, "02 4F 50 45 43 30 30 03 31 38"),
        (Operation.KEEP_OVERDRAWN, "02 4F 50 45 43 30 31 03 31 39"),
        (Operation.DISCARD_OVERDRAWN, "02 4F 50 45 43 30 32 03 31 41"),
        (Operation.CONFIRM_GAME, "02 4F 50 47 50 30 30 03 30 39"),
    ],
)
class TestOperation:
    def test_has_the_bytes_written_by_hand(self, operation, frame):
        assert operation.to_bytes() == bytes.fromhex(frame)

    def test_is_read_by_the_shoe_whole_and_byte_by_byte(self, operation, frame):
        frame = bytes.fromhex(frame)
        assert OperationReader().feed(frame * 2) == [operation] * 2
        reader = OperationReader()
        assert [found for byte in frame for found in reader.feed(bytes((byte,)))] == [operation]

    def test_is_refused_by_a_shoe_that_computes_the_check_the_other_way(self, operation, frame):
        assert OperationReader(StartByte.EXCLUDE).feed(bytes.fromhex(frame)) == [NakCode.CHECK]
        assert OperationReader(StartByte.EXCLUDE).feed(operation.to_bytes(StartByte.EXCLUDE)) == [operation]


def test_the_check_without_the_start_byte_is_the_other_documented_one():
    assert Operation.LOCK.to_bytes(StartByte.EXCLUDE)[-2:] == b"19"


def framed(text):
    frame = b"\x02" + text + b"\x03"
    return frame + check_digits(frame, StartByte.INCLUDE)


@pytest.mark.parametrize(
    "data, answer",
    [
        (LOCK[:-1] + b"C", NakCode.CHECK),
        (b"\x02" + b"0" * 127, NakCode.NO_END),
        (b"\x02OPL\x02", NakCode.NO_END),
        (b"\x02O\x02", NakCode.NO_END),
        (framed(b"OPLK2"), NakCode.FORMAT),
        (framed(b"RDLK02"), NakCode.COMMAND),
        (framed(b"OPLK03"), NakCode.TYPE),
    ],
)
def test_the_shoe_refuses_what_is_no_operation_with_its_code(data, answer):
    reader = OperationReader()
    assert reader.feed(data) == [answer]
    assert reader.feed(LOCK) == [Operation.LOCK]


def test_the_shoe_reads_an_operation_after_noise():
    assert OperationReader().feed(b"\xff\x03\x06\x02" + LOCK) == [Operation.LOCK]


@given(st.lists(st.one_of(st.binary(max_size=200), st.just(LOCK)), max_size=8).map(b"".join))
def test_the_shoe_survives_any_bytes(data):
    reader = OperationReader()
    for byte in data:
        reader.feed(bytes((byte,)))
        assert len(reader._buffer) <= 128


class Line:
    """Requests with a clock of its own."""

    def __init__(self, start=StartByte.INCLUDE):
        self.requests = Requests(start)
        self.now = 0.0

    def ask(self, operation=Operation.LOCK):
        number = self.requests.ask(operation)
        self.tick()
        return number

    def tick(self, seconds=0.0):
        self.now += seconds
        self.requests.tick(self.now)

    def run_to_deadline(self):
        self.now = self.requests.deadline(self.now)
        self.requests.tick(self.now)

    def sent(self):
        data = bytes(self.requests.to_send)
        self.requests.to_send.clear()
        return data

    def answers(self):
        answers, self.requests.answers[:] = list(self.requests.answers), []
        return answers


def test_an_operation_is_sent_and_answered_by_ack():
    line = Line()
    number = line.ask()
    assert line.sent() == LOCK
    line.requests.accepted(line.now)
    assert line.answers() == [CommandAnswered(number, ok=True)]
    assert line.requests.deadline(line.now) is None


def test_operations_go_one_at_a_time_in_order():
    line = Line()
    first, second = line.ask(Operation.UNLOCK), line.ask(Operation.LOCK)
    assert line.sent() == Operation.UNLOCK.to_bytes()
    line.requests.accepted(line.now)
    assert line.sent() == LOCK
    line.requests.accepted(line.now)
    assert line.answers() == [CommandAnswered(first, ok=True), CommandAnswered(second, ok=True)]


@pytest.mark.parametrize("reason", [nak for nak in NakCode if nak not in LINE_TROUBLE | NOT_NOW])
def test_a_final_refusal_is_answered_with_its_sentence_and_not_tried_again(reason):
    line = Line()
    number = line.ask()
    line.sent()
    line.requests.rejected(reason, line.now)
    assert line.answers() == [CommandAnswered(number, ok=False, reason=reason.sentence)]
    assert line.sent() == b""


@pytest.mark.parametrize("reason", sorted(LINE_TROUBLE, key=lambda nak: nak.code))
def test_trouble_on_the_line_is_tried_again_at_once_and_then_told(reason):
    line = Line()
    number = line.ask()
    for _ in range(TRIES):
        assert line.sent() == LOCK
        assert line.answers() == []
        line.requests.rejected(reason, line.now)
    assert line.sent() == b""
    assert line.answers() == [CommandAnswered(number, ok=False, reason=reason.sentence)]


@pytest.mark.parametrize("reason", sorted(NOT_NOW, key=lambda nak: nak.code))
def test_a_busy_shoe_is_asked_again_after_a_pause(reason):
    line = Line()
    number = line.ask()
    line.sent()
    line.requests.rejected(reason, line.now)
    assert line.sent() == b""
    line.tick(BUSY_PAUSE / 2)
    assert line.sent() == b""
    line.run_to_deadline()
    assert line.sent() == LOCK
    line.requests.accepted(line.now)
    assert line.answers() == [CommandAnswered(number, ok=True)]


def test_an_answer_that_comes_while_a_busy_shoe_is_left_alone_is_nobodys():
    line = Line()
    line.ask()
    line.requests.rejected(NakCode.BUSY, line.now)
    line.requests.accepted(line.now)
    line.requests.rejected(NakCode.BUSY, line.now)
    assert line.answers() == []
    assert line.requests.stray_answers == 2


def test_no_answer_is_tried_again_and_then_told():
    line = Line()
    number = line.ask()
    for _ in range(TRIES):
        assert line.sent() == LOCK
        line.tick(ANSWER_TIME)
    assert line.sent() == b""
    [answer] = line.answers()
    assert (answer.command_id, answer.ok) == (number, False)
    assert "did not answer" in answer.reason
    assert line.requests.unanswered


def test_the_time_for_an_answer_counts_from_when_it_was_sent_not_from_the_last_event():
    line = Line()
    line.requests.ask(Operation.LOCK)
    assert line.requests.deadline(0.0) == 0.0  # a tick is wanted at once
    line.tick(1000.0)
    line.sent()
    line.tick(ANSWER_TIME / 2)
    assert line.sent() == b""


def test_a_late_answer_to_an_earlier_try_never_answers_the_next_operation():
    line = Line()
    first, second = line.ask(Operation.UNLOCK), line.ask(Operation.LOCK)
    line.sent()
    line.tick(ANSWER_TIME)
    assert line.sent() == Operation.UNLOCK.to_bytes()
    line.requests.accepted(line.now)
    assert line.answers() == [CommandAnswered(first, ok=True)]
    line.requests.accepted(line.now + 0.1)  # the answer to the other try
    assert line.answers() == []
    assert line.sent() == b""
    line.run_to_deadline()
    assert line.sent() == LOCK
    line.requests.accepted(line.now)
    assert line.answers() == [CommandAnswered(second, ok=True)]


@pytest.mark.parametrize(
    "operation, overdraw, done",
    [
        (Operation.CLEAR_ERROR, False, True),
        (Operation.KEEP_OVERDRAWN, True, True),
        (Operation.DISCARD_OVERDRAWN, True, True),
        (Operation.CLEAR_ERROR, True, False),
        (Operation.DISCARD_OVERDRAWN, False, False),
        (Operation.LOCK, True, False),
    ],
)
def test_clearing_is_not_repeated_when_the_shoe_told_that_the_error_is_over(operation, overdraw, done):
    line = Line()
    number = line.ask(operation)
    line.sent()
    line.requests.error_cancelled(overdraw=overdraw)
    line.tick(ANSWER_TIME)
    assert line.sent() == (b"" if done else operation.to_bytes())
    assert line.answers() == ([CommandAnswered(number, ok=True)] if done else [])


def test_the_end_of_an_error_that_nobody_asked_to_clear_is_harmless():
    Line().requests.error_cancelled(overdraw=True)


def test_when_the_line_goes_everything_that_waits_is_answered():
    line = Line()
    numbers = [line.ask(), line.ask(), line.ask()]
    line.requests.give_up("gone.")
    assert line.answers() == [CommandAnswered(number, ok=False, reason="gone.") for number in numbers]
    assert line.sent() == b""


def test_the_queue_is_bounded():
    line = Line()
    numbers = [line.ask() for _ in range(LONGEST_QUEUE + 3)]
    assert [answer.command_id for answer in line.answers()] == numbers[-2:]


@given(st.lists(st.sampled_from(["ask", "yes", "no", "busy", "tick", "wait"]), max_size=60))
def test_each_operation_is_answered_exactly_once_whatever_happens(steps):
    line, asked = Line(), []
    for step in steps:
        match step:
            case "ask":
                asked.append(line.ask())
            case "yes":
                line.requests.accepted(line.now)
            case "no":
                line.requests.rejected(NakCode.OTHER, line.now)
            case "busy":
                line.requests.rejected(NakCode.BUSY, line.now)
            case "tick":
                line.tick(0.01)
            case "wait":
                line.tick(ANSWER_TIME)
    while (deadline := line.requests.deadline(line.now)) is not None:
        line.tick(max(0.0, deadline - line.now))
    assert [answer.command_id for answer in line.answers()] == sorted(asked)
