"""Code numbers of the open protocol: every number that PROTOCOL.md gives a name."""

from enum import IntEnum, IntFlag

MAJOR = 1
MINOR = 0

FROM_HOST = 0x80  # bit of the type byte: sent by the host
SEALED = 0x40  # bit of the type byte: the body ends in a MAC


class Kind(IntEnum):
    """Type byte of a body, without the SEALED bit."""

    HELLO = 0x01
    HEARTBEAT = 0x02
    ANSWER = 0x03
    CARD_DRAWN = 0x10
    CARDS_TOGETHER = 0x11
    CARD_RETURNED = 0x12
    UNREADABLE = 0x13
    CUT_CARD = 0x14
    EMPTY = 0x15
    LID = 0x16
    JAM = 0x17
    SENSOR_FAULT = 0x18
    TAMPER = 0x19
    OVERFLOW = 0x1A
    SELF_TEST_DONE = 0x1B
    STARTED = 0x1C
    FOREIGN = 0x1D
    QUERY = 0x81
    WELCOME = 0x82
    ACK = 0x83
    REPLAY = 0x84
    GATE = 0x90
    LAMP = 0x91
    SET_TIME = 0x92
    SELF_TEST = 0x93
    IDENTIFY = 0x94
    REBOOT = 0x95


# Every type in these ranges, known or not, has the same first fields. So a host can put an event of a newer minor
# version in its place in the order, and a device can answer a command that it does not know.
EVENT_KINDS = range(0x10, 0x30)
COMMAND_KINDS = range(0x90, 0xB0)


class DeviceKind(IntEnum):
    """How the device reads cards."""

    RFID = 1
    OPTICAL = 2
    HYBRID = 3


class Capability(IntFlag):
    """What the device has."""

    GATE = 1 << 0
    LAMPS = 1 << 1
    CLOCK = 1 << 2
    SELF_TEST = 1 << 3
    KEEPS_EVENTS = 1 << 4  # its events survive a power cut
    EXIT_SENSOR = 1 << 5
    RETURN_SENSOR = 1 << 6
    CUT_CARD_SENSOR = 1 << 7
    LID_SENSOR = 1 << 8
    TAMPER_SENSOR = 1 << 9
    ORDER_OF_TOGETHER = 1 << 10  # it can tell the order of cards drawn together


class CardFlag(IntFlag):
    """What the reader noticed about one card."""

    RETRIED = 1 << 0  # more than one reading was needed
    SLOW = 1 << 1  # it took longer than usual from sensor to sensor
    MOVED_BACK = 1 << 2  # it moved backwards before it left
    READERS_DISAGREE = 1 << 3  # hybrid: RFID and optical reading do not agree


class HelloFlag(IntFlag):
    """State of the device when it says hello."""

    FRESH = 1 << 0  # no host has ever welcomed this session
    OVERFLOWED = 1 << 1
    HAS_KEY = 1 << 2
    REQUIRES_KEY = 1 << 3


class QueryFlag(IntFlag):
    """What the host brings to a greeting."""

    HAS_KEY = 1 << 0
    REQUIRES_KEY = 1 << 1


class BeatFlag(IntFlag):
    """State of the device at a heartbeat."""

    GATE_OPEN = 1 << 0
    LID_OPEN = 1 << 1
    OVERFLOWED = 1 << 2


class Verdict(IntEnum):
    """The host's answer to a hello."""

    ACCEPTED = 0
    OTHER_VERSION = 1
    KEY_REQUIRED = 2
    WRONG_KEY = 3
    SESSION_TAKEN = 4  # not a refusal: take another session number and say hello again


class Status(IntEnum):
    """The device's answer to a command."""

    DONE = 0
    NOT_SUPPORTED = 1
    BAD_ARGUMENT = 2
    BUSY = 3
    FAILED = 4
    SUPERSEDED = 5  # a later command was already carried out
    NO_ROOM = 6  # the event memory is nearly full, so the gate stays shut


class LampMode(IntEnum):
    """What a lamp does."""

    OFF = 0
    ON = 1
    SLOW_BLINK = 2
    FAST_BLINK = 3
