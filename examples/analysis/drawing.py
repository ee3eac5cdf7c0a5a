"""A picture in memory: rectangles, small letters, and a PNG file. Python's own library is all that it needs."""

import struct
import zlib
from pathlib import Path

Colour = tuple[int, int, int]

# Letters of 3 by 5 dots; each digit is one row, its three bits the dots from left to right.
LETTERS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71317", "4": "55711", "5": "74717", "6": "74757", "7": "71122",
    "8": "75757", "9": "75717", "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644",
    "G": "34553", "H": "55755", "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25573", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", "-": "00700", ".": "00002", ":": "02020", "_": "00007",
    "/": "11244", " ": "00000",
}  # fmt: skip
DOT = 3
LETTER_WIDTH, LETTER_HEIGHT = 4 * DOT, 5 * DOT


class Picture:
    """A picture of so many dots, white at first; the first dot is at the top left."""

    def __init__(self, width: int, height: int, colour: Colour = (255, 255, 255)) -> None:
        self.width = width
        self.height = height
        self._rows = [bytearray(bytes(colour) * width) for _ in range(height)]

    def fill(self, x: int, y: int, width: int, height: int, colour: Colour) -> None:
        """Fill a rectangle; what lies outside of the picture is left out."""
        left, right = max(x, 0), min(x + width, self.width)
        for row in self._rows[max(y, 0) : max(y + height, 0)]:
            row[3 * left : 3 * right] = bytes(colour) * max(right - left, 0)

    def write(self, x: int, y: int, text: str, colour: Colour) -> None:
        """Write in capitals; a character that is not known becomes a block."""
        for place, character in enumerate(text.upper()):
            for line, bits in enumerate(LETTERS.get(character, "77777")):
                for column in range(3):
                    if int(bits) >> (2 - column) & 1:
                        at = x + place * LETTER_WIDTH + column * DOT
                        self.fill(at, y + line * DOT, DOT, DOT, colour)

    def save(self, path: Path) -> None:
        """Write a PNG file: 8 bits a colour, no palette, no filter."""
        header = struct.pack(">2I5B", self.width, self.height, 8, 2, 0, 0, 0)
        dots = b"".join(b"\0" + row for row in self._rows)
        path.write_bytes(
            b"\x89PNG\r\n\x1a\n"
            + _chunk(b"IHDR", header)
            + _chunk(b"IDAT", zlib.compress(dots, 9))
            + _chunk(b"IEND", b"")
        )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
