"""Angel Eye frames written by hand, byte by byte, with what each says. Shared by the tests of the family."""

from firmware_protocol.angel_eye_messages import (
    BurnCount,
    CuttingCard,
    ErrorChanged,
    GameCard,
    GameResult,
    KeyLock,
    Outside,
    OutsideCard,
    OverdrawnCard,
    Preset,
    Standby,
    Started,
)
from firmware_protocol.events import Card, Target


def card(code):
    return Card(rank=code[0], suit=code[1])


# start, sequence, data, end, check: the check is the XOR of sequence, data and end.
FRAMES = [
    ("05 21 53 03 37 31", 0x21, Started()),
    ("05 22 50 03 37 31", 0x22, Standby()),
    ("05 23 44 81 91 03 37 34", 0x23, GameCard(Target.PLAYER, 1, card("Ad"))),
    ("05 24 44 91 AD 03 35 46", 0x24, GameCard(Target.BANKER, 1, card("Kc"))),
    ("05 25 64 80 B7 03 37 35", 0x25, OutsideCard(Outside.LOCKED, card("7s"))),
    ("05 26 64 90 C2 03 31 33", 0x26, OutsideCard(Outside.ERROR, card("2h"))),
    ("05 27 64 A0 CA 03 32 41", 0x27, OutsideCard(Outside.SETTING, card("Th"))),
    ("05 28 52 81 B4 03 34 43", 0x28, OverdrawnCard(Target.PLAYER, 1, card("4s"))),
    ("05 29 47 91 03 46 43", 0x29, GameResult("player", player_pair=True)),
    ("05 2A 47 A0 03 43 45", 0x2A, GameResult("tie")),
    ("05 2B 47 C3 03 41 43", 0x2B, GameResult("banker", player_pair=True, banker_pair=True)),
    ("05 2C 47 F0 03 39 38", 0x2C, GameResult(None)),
    ("05 2D 43 03 36 44", 0x2D, CuttingCard()),
    ("05 2E 45 C1 03 41 39", 0x2E, ErrorChanged(1, active=True, error_mode=True)),
    ("05 2F 65 81 03 43 38", 0x2F, ErrorChanged(1, active=False, error_mode=False)),
    ("05 30 4C 81 03 46 45", 0x30, KeyLock(locked=True)),
    ("05 31 4C 80 03 46 45", 0x31, KeyLock(locked=False)),
    ("05 32 4D 31 32 30 33 34 35 03 37 44", 0x32, Preset("12", "0345")),
    # Sequence bytes that look like control characters of the protocol.
    ("05 03 44 A2 CD 03 32 42", 0x03, GameCard(Target.BURN, 2, card("Kh"))),
    ("05 05 44 C0 CB 03 34 39", 0x05, GameCard(Target.FIRST_CARD, 0, card("Jh"))),
    ("05 06 44 D0 8A 03 31 42", 0x06, BurnCount(10)),
    ("05 15 44 82 99 03 34 39", 0x15, GameCard(Target.PLAYER, 2, card("9d"))),
]
