"""From a journal to a picture: the analysis example, as a person would run it."""

import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from shoe_controller.journal.codec import decode_fact
from shoe_controller.journal.store import Journal
from shoe_controller.session.facts import Round
from tests.cli.program import run
from tests.journal.table import Table

FOLDER = Path(__file__).parents[2] / "examples" / "analysis"
BLUE, RED, GREEN, GREY = (30, 90, 200), (200, 40, 40), (20, 140, 60), (150, 150, 150)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return a CSV of two shoes, and the results that the table told of the second."""
    folder = tmp_path_factory.mktemp("table")
    table = Table(seed=11, trouble=0.02)
    results = {}
    with Journal.open(folder / "journal", table="B12") as journal:
        for _ in range(2):
            entries = list(table.play_shoe())
            journal.append(entries)
            rounds = [fact for entry in entries for fact in told_rounds(entry)]
            results = {fact.round: fact.winner or "void" for fact in rounds}
    answer = run("export", folder / "journal", "--what", "rounds")
    assert answer.returncode == 0
    (folder / "rounds.csv").write_bytes(answer.stdout)
    return folder / "rounds.csv", [result for _, result in sorted(results.items())]


def told_rounds(entry):
    return [fact for fact in map(decode_fact, entry.facts) if isinstance(fact, Round)]


def plot(*arguments):
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import plot_shoe"]
    command[-1] += "; plot_shoe.main(sys.argv[1:])"
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def read_png(path):
    """Return the dots of a picture, row by row, after checking every chunk."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        body = data[at + 4 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length) == (zlib.crc32(body),)
        chunks[body[:4]] = body[4:]
        at += 12 + length
    width, height, *kind = struct.unpack(">2I5B", chunks[b"IHDR"])
    assert kind == [8, 2, 0, 0, 0]
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[y * (3 * width + 1) : (y + 1) * (3 * width + 1)] for y in range(height)]
    assert all(row[0] == 0 for row in rows)
    return [[tuple(row[1 + 3 * x : 4 + 3 * x]) for x in range(width)] for row in rows]


def test_the_picture_has_a_field_of_the_right_colour_for_each_round(exported, tmp_path):
    rounds, results = exported
    done = plot(rounds, tmp_path / "shoe.png")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path}/shoe.png: shoe S-0002, {len(results)} rounds\n"
    dots = read_png(tmp_path / "shoe.png")
    across = (920 - 60) / len(results)
    colours = {"player": BLUE, "banker": RED, "tie": GREEN, "void": GREY}
    shown = [dots[430][round(60 + (number + 0.4) * across)] for number in range(len(results))]
    assert shown == [colours[result] for result in results]
    assert "void" in results


def test_a_shoe_can_be_asked_for_by_name(exported, tmp_path):
    assert "shoe S-0001," in plot(exported[0], tmp_path / "shoe.png", "S-0001").stdout
    missing = plot(exported[0], tmp_path / "none.png", "S-0009")
    assert missing.returncode == 1
    assert "has no rounds of a shoe S-0009" in missing.stderr
    assert not (tmp_path / "none.png").exists()


def test_wrong_use_is_told():
    assert "usage: plot_shoe.py" in plot().stderr
