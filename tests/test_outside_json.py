"""What decoding raises is understood, and said in words that are fit to be shown."""

import msgspec
import pytest

from shoe_controller.outside_json import LONGEST_LINE, LONGEST_REASON, NOT_UNDERSTOOD, long_line, printable, why


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    name: str = ""


class Lax(msgspec.Struct):
    name: str = ""


@pytest.mark.parametrize(
    "kind, payload, words",
    [
        (Asked, b"{", "Input data was truncated"),
        (Asked, b'{"name":"\xff"}', "it is not UTF-8 text"),
        (Lax, b'{"x":' + b"[" * 100_000, "it is nested too deeply"),
        (Asked, b'{"\x1b":1}', "JSON is malformed: invalid character (byte 2)"),
        (Asked, b'{"\xc2\x9b2J":1}', "Object contains unknown field `\\x9b2J`"),
    ],
)
def test_whatever_the_bytes_are_there_are_words_for_it(kind, payload, words):
    with pytest.raises(NOT_UNDERSTOOD) as caught:
        msgspec.json.decode(payload, type=kind)
    assert why(caught.value) == words


def test_a_reason_is_of_bounded_length():
    assert len(why(ValueError("x" * 10_000))) == LONGEST_REASON + 1


def test_text_is_made_fit_to_be_read():
    assert printable("10♥ 火") == "10♥ 火"
    assert printable("a\x1b[2J\n\u202e") == r"a\x1b[2J\n\u202e"


def test_the_first_line_that_is_too_long_is_found():
    assert long_line("x" * LONGEST_LINE + "\n") is None
    assert long_line("a\n" + "x" * (LONGEST_LINE + 1) + "\n" + "y" * 5_000) == 2
