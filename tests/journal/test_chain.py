"""The bytes that are hashed: no two entries share them, and a third party gets the same hash."""

import hashlib

from hypothesis import example, given
from hypothesis import strategies as st

from shoe_controller.journal import chain

NAMES = st.text(st.characters(exclude_characters=",", exclude_categories=("C", "Z")), max_size=8).map(str.encode)
ENTRIES = st.tuples(
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=16, max_size=16),
    st.integers(1, 2**62),
    st.integers(1, 2**31),
    st.integers(0, 2**62),
    st.integers(-(2**62), 2**62),
    st.integers(0, 1),
    st.none() | st.integers(0, 2**32 - 1),
    st.none() | st.integers(0, 2**32 - 1),
    NAMES,
    NAMES,
    st.binary(max_size=20),
    st.binary(max_size=20),
    st.binary(max_size=20),
)
PLAIN = (b"p" * 32, b"b" * 16, 7, 2, 100, 200, 1, 5, 6, b"card", b"shoe", b"{}", b"[]", b"raw")


def replaced(place, value):
    return (*PLAIN[:place], value, *PLAIN[place + 1 :])


@given(ENTRIES, ENTRIES)
@example(replaced(7, None), replaced(7, 0))
@example(replaced(8, None), replaced(8, 0))
@example(replaced(11, b"{}["), replaced(12, b"[[]"))
@example(replaced(7, 1), replaced(7, 11))
def test_different_entries_have_different_contents(one, other):
    assert (chain.contents(*one) == chain.contents(*other)) == (one == other)


@given(ENTRIES, st.integers(0, 13), ENTRIES)
def test_a_change_of_any_one_field_changes_the_contents(entry, place, other):
    changed = (*entry[:place], other[place], *entry[place + 1 :])
    assert (chain.contents(*entry) == chain.contents(*changed)) == (entry == changed)


def test_the_contents_are_the_documented_bytes():
    assert chain.contents(*PLAIN) == b"p" * 32 + b"b" * 16 + b"7,2,100,200,1,5:6,card,shoe,2,2,3\n{}[]raw"


def test_the_contents_of_an_entry_without_device_have_a_dash():
    entry = (*PLAIN[:7], None, None, *PLAIN[9:])
    assert b",1,-,card," in chain.contents(*entry)


def test_a_signature_becomes_part_of_the_link():
    own = chain.digest(b"entry")
    assert chain.link(own, None) == own
    assert chain.link(own, b"signature") == hashlib.sha256(own + b"signature").digest()


def test_the_origin_of_a_chain_names_the_table_and_the_head_before():
    text = chain.origin("ab" * 16, "BAC-07", "cd 5 ef")
    assert text == f"shoe-controller journal 1\nchain {'ab' * 16}\ntable BAC-07\nafter cd 5 ef\n"
    assert chain.genesis(text) == hashlib.sha256(text.encode()).digest()


def test_statements_say_which_chain_and_which_entry_is_signed():
    assert chain.entry_statement("ab", 5, b"\x01\x02") == b"shoe-controller entry 1\nab\n5\n0102\n"
    assert chain.seal_statement("ab", 6, b"\x01\x02") == b"shoe-controller seal 1\nab\n6\n0102\n"
