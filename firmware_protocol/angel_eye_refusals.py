"""Refusals: the codes by which an Angel Eye II-EX says no to an operation, and what they mean."""

from enum import Enum


class NakCode(Enum):
    """Why the shoe refused an operation: its code and a sentence."""

    DAMAGED = 0x01, "The shoe heard a damaged byte (overrun, framing or parity): check cable and line settings."
    CHECK = 0x02, "The shoe refused the check digits: check the cable, or change the setting bcc_operations."
    NO_END = 0x03, "The shoe missed the end of the frame: check the cable."
    FORMAT = 0x11, "The shoe does not know the format or length of this operation."
    ADDRESS = 0x12, "The shoe does not know the address."
    COMMAND = 0x13, "The shoe does not know this command."
    TYPE = 0x14, "The shoe does not know this type of operation."
    BUSY = 0x21, "The shoe is busy: try again in a moment."
    WRITING = 0x22, "The shoe is storing a value: try again in a moment."
    OTHER = 0xFF, "The shoe refused the operation in its present state."

    def __init__(self, code: int, sentence: str) -> None:
        self.code = code
        self.sentence = sentence


NAK_CODES = {nak.code: nak for nak in NakCode}
# Worth another try: at once, or after a moment.
LINE_TROUBLE = frozenset({NakCode.DAMAGED, NakCode.CHECK, NakCode.NO_END})
NOT_NOW = frozenset({NakCode.BUSY, NakCode.WRITING})
