"""CSV register: the list of a set's cards as makers of cards and other systems hand it over."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from shoe_controller.cards import is_code
from shoe_controller.decks.errors import RegisterError

# Sixteen decks of 65 cards at 40 bytes a line are 42 KB.
MAX_BYTES = 1 << 20
UID_BYTES = range(4, 11)
_HEADER = {"uid", "id"}
_SEPARATORS = re.compile(r"[:\s-]")
MAX_TOLD = 10
MAX_SHOWN = 40  # of a cell: an id of ten bytes with its separators is 29 characters long


def read_register(path: Path) -> list[tuple[bytes, str]]:
    """Return ids and codes of the lines `uid,code`, or raise RegisterError with each line that is not understood.

    The separator may be a comma, a semicolon or a tab. A first line with the names of the columns is optional; empty
    lines and lines that begin with # are left out. Repeated ids are not this function's matter.
    """
    text = _read(path)
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    separator = next((mark for mark in ",;\t" if mark in first), ",")
    cards: list[tuple[bytes, str]] = []
    problems: list[str] = []
    try:
        for number, row in _rows(text, separator):
            try:
                cards.append(_card(row))
            except ValueError as error:
                problems.append(f"{path}:{number}: {error}")
    except csv.Error as error:  # a cell without end: a quote that is never closed, or no register at all
        problems.append(f"{path}: is no CSV text: {error}")
    if problems:
        more = [f"{path}: … and {len(problems) - MAX_TOLD} more lines"] if len(problems) > MAX_TOLD else []
        raise RegisterError("\n".join(problems[:MAX_TOLD] + more), begins_with_file=True)
    if not cards:
        raise RegisterError(f"{path}: there is no card in this file", begins_with_file=True)
    return cards


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise RegisterError(f"{path}: cannot be read: {error.strerror}", begins_with_file=True) from error
    if len(content) > MAX_BYTES:
        raise RegisterError(f"{path}: is larger than {MAX_BYTES} bytes: this is no register", begins_with_file=True)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RegisterError(f"{path}: is no UTF-8 text: save it as CSV in UTF-8", begins_with_file=True) from error


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    is_first = True
    for number, row in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=separator), start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if not (is_first and cells[0].lower() in _HEADER):
            yield number, cells
        is_first = False


def _card(cells: list[str]) -> tuple[bytes, str]:
    if len(cells) != 2:
        raise ValueError(f"a line is an id and a card code, as in 04A1B2C3D4E5F6,Th, but this one has {len(cells)}")
    uid_text, code = cells
    try:
        uid = bytes.fromhex(_SEPARATORS.sub("", uid_text))
    except ValueError:
        raise ValueError(f"{_shown(uid_text)} is no id: write it in hexadecimal, as in 04A1B2C3D4E5F6") from None
    if len(uid) not in UID_BYTES:
        raise ValueError(f"{_shown(uid_text)} has {len(uid)} bytes: an id has {UID_BYTES[0]} to {UID_BYTES[-1]}")
    if not is_code(code):
        raise ValueError(f"{_shown(code)} is no card code: rank, then suit in lower case, as in Th, Ac or Sf")
    return uid, code


def _shown(cell: str) -> str:
    return repr(cell if len(cell) <= MAX_SHOWN else cell[:MAX_SHOWN] + "…")
