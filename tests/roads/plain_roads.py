"""Roads a second time, plainly and slowly: painted from scratch on a sheet of squares, as a person would.

The derived roads are taken here from the picture (is there a cell to the left, is there one above it), not from
streak lengths, so that the two implementations share no formula.
"""


def streaks_of(text):
    streaks = []
    for letter in text:
        if letter == "T":
            continue
        if streaks and streaks[-1][0] == letter:
            streaks[-1] += letter
        else:
            streaks.append(letter)
    return streaks


def painted(lengths, tail):
    """Return the cells of each streak, painted on a sheet."""
    sheet = [[False] * (sum(lengths) + len(lengths) + 2) for _ in range(6)]
    drawn = []
    first_column = -1
    for length in lengths:
        column = min(c for c in range(first_column + 1, len(sheet[0])) if not sheet[0][c])
        first_column = column
        row = 0
        path = [(column, row)]
        sheet[row][column] = True
        bent = False
        for _ in range(length - 1):
            room_below = row < 5 and not sheet[row + 1][column]
            if room_below and (tail == "redrop" or not bent):
                row += 1
            else:
                bent = True
                column += 1
                assert not sheet[row][column], "two streaks cross"
            sheet[row][column] = True
            path.append((column, row))
        drawn.append(path)
    return drawn


def derived(lengths, step):
    """Colours of a derived road, from the straight big road as a picture: one column a streak."""
    picture = {(column, row) for column, length in enumerate(lengths) for row in range(length)}
    colours = ""
    for column, length in enumerate(lengths):
        for row in range(length):
            if row == 0:
                if (column - 1 - step, 0) not in picture:
                    continue
                left, far = (sum(c == at for c, _ in picture) for at in (column - 1, column - 1 - step))
                colours += "r" if left == far else "b"
            elif (column - step, 0) in picture:
                here = (column - step, row) in picture
                above = (column - step, row - 1) in picture
                colours += "r" if here or not above else "b"
    return colours


def runs(colours):
    lengths = []
    for position, colour in enumerate(colours):
        if position and colours[position - 1] == colour:
            lengths[-1] += 1
        else:
            lengths.append(1)
    return lengths


def cells(lengths, tail):
    return [cell for path in painted(lengths, tail) for cell in path]


def big_road(text, tail):
    """Big road as (col, row, winner, ties)."""
    streaks = streaks_of(text)
    if not streaks:
        return [(0, 0, "T", len(text))] if text else []
    ties = [0] * sum(map(len, streaks))
    placed = 0
    for letter in text:
        if letter == "T":
            ties[max(placed - 1, 0)] += 1
        else:
            placed += 1
    places = cells([len(streak) for streak in streaks], tail)
    letters = "".join(streaks)
    return [(col, row, letters[i], ties[i]) for i, (col, row) in enumerate(places)]
