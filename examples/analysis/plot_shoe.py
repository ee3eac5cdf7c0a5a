"""Draw the results of a shoe, from a CSV export of a journal, as a PNG picture.

    shoe-controller export /var/lib/shoe-controller/journal --what rounds > rounds.csv
    python3 plot_shoe.py rounds.csv shoe.png [SHOE]

The lines count the rounds that Player, Banker and Tie have won so far; the strip below them has one field a round.
Without SHOE the last shoe of the file is drawn. Needs Python 3.11 and nothing else.
"""

import csv
import sys
from collections import Counter
from pathlib import Path

from drawing import LETTER_HEIGHT, LETTER_WIDTH, Colour, Picture

WIDTH, HEIGHT = 960, 480
LEFT, RIGHT, TOP, BOTTOM = 60, 920, 70, 380
STRIP = 410
INK, GRID = (40, 40, 40), (225, 225, 225)
COLOURS: dict[str, Colour] = {
    "player": (30, 90, 200),
    "banker": (200, 40, 40),
    "tie": (20, 140, 60),
    "void": (150, 150, 150),
}


def results_of(file: Path, shoe: str = "") -> tuple[str, list[str]]:
    """Return the shoe's id and the result of each of its rounds: player, banker, tie or void."""
    shoes: dict[str, dict[int, str]] = {}
    with file.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            # A result that was taken back is there again with a higher revision, further down: the last row counts.
            shoes.setdefault(row["shoe"], {})[int(row["round"])] = row["winner"] or row["status"]
    if not shoes or (shoe and shoe not in shoes):
        raise SystemExit(f"{file} has no rounds{f' of a shoe {shoe}' if shoe else ''}: export them with --what rounds")
    shoe = shoe or list(shoes)[-1]
    return shoe, [result for _, result in sorted(shoes[shoe].items())]


def draw(shoe: str, results: list[str]) -> Picture:
    """Return the picture of a shoe."""
    picture = Picture(WIDTH, HEIGHT)
    counts = Counter(results)
    most = max(counts[name] for name in ("player", "banker", "tie")) or 1
    across, up = (RIGHT - LEFT) / len(results), (BOTTOM - TOP) / most
    _frame(picture, shoe, results, counts)
    for wins in range(0, most + 1, 10):
        y = round(BOTTOM - wins * up)
        picture.fill(LEFT, y, RIGHT - LEFT, 1, GRID)
        picture.write(LEFT - 5 - LETTER_WIDTH * len(str(wins)), y - LETTER_HEIGHT // 2, str(wins), INK)
    so_far: Counter[str] = Counter()
    for number, result in enumerate(results):
        x, after = round(LEFT + number * across), round(LEFT + (number + 1) * across)
        if number % 10 == 0:
            picture.write(x, BOTTOM + 8, str(number + 1), INK)
        picture.fill(x, STRIP, max(after - x - 1, 1), 40, COLOURS[result])
        so_far[result] += 1
        for name in ("tie", "player", "banker"):
            y, before = (round(BOTTOM - wins * up) for wins in (so_far[name], so_far[name] - (name == result)))
            picture.fill(x, y - 1, 2, before - y + 3, COLOURS[name])
            picture.fill(x, y - 1, after - x + 2, 3, COLOURS[name])
    return picture


def _frame(picture: Picture, shoe: str, results: list[str], counts: Counter[str]) -> None:
    picture.write(LEFT, 12, f"SHOE {shoe}: {len(results)} ROUNDS", INK)
    x = LEFT
    for name, colour in COLOURS.items():
        words = f"{name} {counts[name]}"
        picture.write(x, 40, words, colour)
        x += LETTER_WIDTH * (len(words) + 3)
    picture.fill(LEFT, TOP, 1, BOTTOM - TOP, INK)
    picture.fill(LEFT, BOTTOM, RIGHT - LEFT, 1, INK)


def main(arguments: list[str]) -> None:
    """Read the arguments and draw."""
    if len(arguments) not in {2, 3}:
        raise SystemExit("usage: plot_shoe.py ROUNDS.csv PICTURE.png [SHOE]")
    shoe, results = results_of(Path(arguments[0]), *arguments[2:])
    draw(shoe, results).save(Path(arguments[1]))
    print(f"{arguments[1]}: shoe {shoe}, {len(results)} rounds")


if __name__ == "__main__":
    main(sys.argv[1:])
