"""PROTOCOL.md says what the code does: its examples decode, its tables have the numbers of the code."""

import re
from pathlib import Path

import pytest

import firmware_protocol
from firmware_protocol import timing
from firmware_protocol.auth import SEAL_BYTES, seal
from firmware_protocol.card_block import MAX_CARD_BYTES, RANKS, SUITS
from firmware_protocol.codes import FROM_HOST, MAJOR, MINOR, Capability, Kind, Status, Verdict
from firmware_protocol.crc import check_bytes
from firmware_protocol.delivery import MAX_NUMBER
from firmware_protocol.device_memory import CAPACITY, FEEDING_ROOM, SESSION_TAIL
from firmware_protocol.frames import MAX_BETWEEN, MAX_BODY, MAX_STUFFED, Decoder, encode_frame
from firmware_protocol.greeting import MAX_TEXT
from firmware_protocol.happenings import MAX_TOGETHER
from firmware_protocol.messages import read_from_device, read_from_host
from tests.firmware_protocol import golden

TEXT = (Path(firmware_protocol.__file__).parent / "PROTOCOL.md").read_text("utf-8")
BLOCKS = {
    lines[0]: lines[1:]
    for block in re.findall(r"^```\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    if (lines := block.splitlines()) and re.search(r"^wire  ", block, re.MULTILINE)
}
VECTORS = {vector["name"]: vector for vector in golden.MESSAGES}
SEALED = {f"sealed {vector['name']}": vector for vector in golden.load("seals")["vectors"]}


def field(lines, name):
    """Give the bytes of a named line, or those of all lines that have none: a body byte by byte."""
    named = [line.removeprefix(name) for line in lines if line.startswith(f"{name} ")]
    parts = named or [re.split(r"\s{2,}", line)[0] for line in lines if not line.startswith("wire ")]
    return bytes.fromhex("".join(parts))


def rows(head):
    """Give the rows of the table with this head."""
    after = TEXT.split(f"\n{head}\n", 1)[1].splitlines()[1:]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in after[: next((at for at, line in enumerate(after) if not line.startswith("|")), len(after))]
    ]


def test_there_are_examples_of_every_part_of_the_link():
    assert len(BLOCKS) > 12
    assert BLOCKS.keys() <= VECTORS.keys() | SEALED.keys() | {"frame mixed"}


@pytest.mark.parametrize("name", [name for name in BLOCKS if name in VECTORS])
def test_each_example_decodes_to_its_golden_message(name):
    vector = VECTORS[name]
    body, wire = field(BLOCKS[name], "body"), field(BLOCKS[name], "wire")
    assert (body, wire) == (golden.body(vector), golden.wire(vector))
    [frame] = Decoder().feed(wire)
    assert frame.body == body
    read = read_from_host if body[0] & FROM_HOST else read_from_device
    assert read(frame.body) == golden.message(vector)


@pytest.mark.parametrize("name", [name for name in BLOCKS if name in SEALED])
def test_each_sealed_example_is_sealed_by_the_key_of_the_page(name):
    key = bytes.fromhex(re.search(r"link key\n`([0-9a-f]{64})`", TEXT)[1])
    body, wire = field(BLOCKS[name], "body"), field(BLOCKS[name], "wire")
    assert body == seal(bytes.fromhex(SEALED[name]["body"]), key)
    assert encode_frame(body) == wire


def test_the_steps_of_a_frame_are_right():
    lines = BLOCKS["frame mixed"]
    body, stuffed, check = (field(lines, name) for name in ("body", "stuffed", "check"))
    assert encode_frame(body) == b"\0" + stuffed + check + b"\0" == field(lines, "wire")
    assert check_bytes(stuffed) == check


def test_every_type_has_its_number_and_its_name():
    told = {int(row[0], 16): row[1] for row in rows("| type | message | from |")}
    assert told == {
        kind: kind.name.lower().replace("_", " ").replace("self test", "self-test").replace("heart beat", "heartbeat")
        for kind in Kind
    }
    contents = {int(row[0], 16) for row in rows("| type | event | content |")}
    commands = {int(row[0], 16) for row in rows("| type | command | fields |")}
    assert contents == {kind for kind in Kind if 0x10 <= kind < 0x30}
    assert commands == {kind for kind in Kind if kind >= 0x90}


def test_every_time_is_that_of_the_code():
    told = {row[0]: float(row[1].split()[0]) for row in rows("| name | value | who | why |")}
    assert told == {name: value for name, value in vars(timing).items() if name.isupper()}


@pytest.mark.parametrize(
    "head, codes",
    [("| verdict | value | what the device does |", Verdict), ("| status | value | |", Status)],
)
def test_every_code_has_its_number_and_its_name(head, codes):
    assert {row[0]: int(row[1]) for row in rows(head)} == {code.name.lower().replace("_", " "): code for code in codes}


def test_every_capability_has_its_bit():
    assert [1 << int(row[1]) for row in rows("| capability | bit |")] == list(Capability)


def test_every_limit_is_that_of_the_code():
    told = {row[0]: row[1] for row in rows("| limit | value | derivation |")}
    assert told["bytes between two delimiters"] == str(MAX_BETWEEN)
    assert told["stuffed bytes"] == str(MAX_STUFFED)
    assert told["body"] == str(MAX_BODY)
    assert told["frame on the wire"] == str(MAX_BETWEEN + 2)
    assert told["seal"] == f"{SEAL_BYTES} bytes"
    assert told["card block"] == f"{MAX_CARD_BYTES} bytes"
    assert told["cards drawn together in one event"] == f"2 to {MAX_TOGETHER}"
    assert told["serial number, firmware version"] == f"1 to {MAX_TEXT} characters"
    assert told["event memory"] == f"{CAPACITY:,} bytes"
    assert told["room to feed"] == f"{FEEDING_ROOM} bytes"
    assert told["event number"] == f"1 to `{MAX_NUMBER:X}`"
    longest = golden.body(VECTORS["hello-longest"])
    assert told["hello"] == f"{len(longest)} bytes, {len(longest) + SEAL_BYTES} sealed"
    assert f"`{SESSION_TAIL:X}`" in TEXT


def test_version_ranks_and_suits_are_those_of_the_code():
    assert TEXT.startswith(f"# The open shoe protocol, version {MAJOR}.{MINOR}\n")
    assert all(f"`{suit}`" in TEXT for suit in SUITS)
    assert f"`{RANKS[:13]}`" in TEXT
    assert all(f"`{rank}` " in TEXT for rank in RANKS[13:])
