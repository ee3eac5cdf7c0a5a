"""Hypothesis strategies for everything that the open protocol can say."""

from hypothesis import strategies as st

from firmware_protocol import events as happened
from firmware_protocol.card_block import RANKS, SUITS
from firmware_protocol.codes import BeatFlag, DeviceKind, HelloFlag, LampMode, QueryFlag, Status, Verdict
from firmware_protocol.commands import Answer, Gate, Identify, Lamp, Reboot, SelfTest, SetTime
from firmware_protocol.delivery import MAX_NUMBER, Ack, Beat, Event, Replay
from firmware_protocol.greeting import Hello, Identity, Query, Welcome
from firmware_protocol.happenings import FAULT_KINDS, MAX_TOGETHER


def unsigned(bits):
    return st.integers(0, (1 << bits) - 1)


u8, u16, u32, u64 = unsigned(8), unsigned(16), unsigned(32), unsigned(64)
sessions = st.integers(1, 0xFFFFFFFF)
numbers = st.integers(1, MAX_NUMBER)
command_ids = st.integers(1, 0xFFFFFFFF)
nonces = st.binary(min_size=16, max_size=16)
texts = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=32)
uids = st.binary(min_size=4, max_size=10)
moments = st.none() | u64


def cards_with(uid, rank, suit, deck_set):
    return st.builds(happened.Card, uid, rank, suit, deck_set, moments, moments, st.none() | st.integers(0, 100), u16)


_ranks, _suits = st.sampled_from(RANKS), st.sampled_from(SUITS)
_deck_sets = st.none() | st.integers(1, 0xFFFFFFFF)
cards = cards_with(uids, st.none(), st.none(), st.none()) | cards_with(st.none() | uids, _ranks, _suits, _deck_sets)

happenings = st.one_of(
    st.builds(happened.CardDrawn, cards),
    st.builds(happened.CardsTogether, st.lists(cards, min_size=2, max_size=MAX_TOGETHER).map(tuple), st.booleans()),
    st.builds(happened.CardReturned, st.none() | cards),
    st.builds(happened.CardUnreadable, moments, moments),
    st.builds(happened.CardForeign, st.none() | uids),
    st.just(happened.CutCardSeen()),
    st.just(happened.ShoeEmptied()),
    st.just(happened.DeviceStarted()),
    st.builds(happened.LidMoved, st.booleans()),
    st.builds(happened.FaultChanged, st.sampled_from(sorted(FAULT_KINDS)), st.booleans(), u32),
    st.builds(happened.SelfTestDone, u32),
)


@st.composite
def hellos(draw):
    identity = st.builds(
        Identity, st.sampled_from(DeviceKind), texts, texts, st.binary(min_size=32, max_size=32), u32, u16
    )
    first = draw(st.integers(1, 0xFFFFFFFF))
    following = draw(st.integers(first, 0xFFFFFFFF))
    flags = HelloFlag(draw(st.integers(0, 15)))
    return Hello(draw(identity), draw(sessions), first, following, flags, draw(nonces), draw(nonces), minor=draw(u8))


from_device = st.one_of(
    hellos(),
    st.builds(Beat, u32, u32, st.integers(0, 7).map(BeatFlag), u64, u16, u32, u32, u32, u32),
    st.builds(Answer, command_ids, st.sampled_from(Status)),
    st.builds(Event, sessions, numbers, happenings),
)
from_host = st.one_of(
    st.builds(Query, nonces, st.integers(0, 3).map(QueryFlag)),
    st.builds(Welcome, st.sampled_from(Verdict), nonces, nonces, u32, u32),
    st.builds(Ack, sessions, st.integers(0, MAX_NUMBER)),
    st.builds(Replay, sessions, numbers),
    st.builds(Gate, command_ids, st.booleans()),
    st.builds(Lamp, command_ids, u8, st.sampled_from(LampMode), u8, u8, u8),
    st.builds(SetTime, command_ids, u64),
    st.builds(SelfTest, command_ids),
    st.builds(Identify, command_ids, u8),
    st.builds(Reboot, command_ids),
)
