"""Line numbers of TOML keys, for error messages.

`tomllib` does not tell where a key stood. This reads the same text, which `tomllib` has accepted already, only as
far as needed to know on which line each key begins: a key inside an inline table has the line of its outer key.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator

Path = tuple[str | int, ...]

_KEY_PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*""")
# What may stand in a value and hide brackets, quotes or line ends; multi-line strings first.
_TOKEN = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|[\[\]{}\n]''', re.DOTALL
)


def key_lines(text: str) -> dict[Path, int]:
    """Return the line of each key and table of a valid TOML text; array-of-tables members count from 0."""
    lines: dict[Path, int] = {}
    members: Counter[Path] = Counter()
    table: Path = ()
    for line, statement in _statements(text.replace("\r\n", "\n")):
        if statement.startswith("[["):
            name = _resolve(_key(statement[2:]), members)
            table = (*name, members[name])
            members[name] += 1
            lines.setdefault(name, line)
        elif statement.startswith("["):
            table = _resolve(_key(statement[1:]), members)
        else:
            key = _key(statement)
            for depth in range(1, len(key)):
                lines.setdefault((*table, *key[:depth]), line)
            lines.setdefault((*table, *key), line)
            continue
        lines.setdefault(table, line)
    return lines


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """Return the line of a key, or of the innermost table around it; None if none of them is in the file."""
    for depth in range(len(path), 0, -1):
        if line := lines.get(path[:depth]):
            return line
    return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each table header and each key with its value, as one text with the line on which it begins."""
    position = 0
    while position < len(text):
        end = _end_of_statement(text, position)
        statement = text[position:end].strip()
        if statement and not statement.startswith("#"):
            yield text.count("\n", 0, position) + 1, statement
        position = end + 1


def _end_of_statement(text: str, start: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(text, start):
        match token.group():
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case "\n" if depth <= 0:
                return token.start()
    return len(text)


def _key(statement: str) -> tuple[str, ...]:
    parts: list[str] = []
    position = 0
    while found := _KEY_PART.match(statement, position):
        part = found.group(1)
        parts.append(str(tomllib.loads(f"k = {part}")["k"]) if part[0] in "\"'" else part)
        position = found.end()
        if statement[position : position + 1] != ".":
            break
        position += 1
    return tuple(parts)


def _resolve(name: tuple[str, ...], members: Counter[Path]) -> Path:
    """Put the number of the newest member behind each array of tables on the way to `name`."""
    path: Path = ()
    for index, part in enumerate(name):
        path = (*path, part)
        if index < len(name) - 1 and path in members:
            path = (*path, members[path] - 1)
    return path
