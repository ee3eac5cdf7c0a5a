"""Bytes made to hurt: samples that are right, and what becomes of them when somebody means harm."""

LONGEST = 200_000
# What readers tend to trip over: ends of lines and of texts, signs that are half, sly, or obeyed by a terminal.
NASTY = [
    *(bytes([number]) for number in (0, 9, 10, 13, 27, 34, 35, 39, 44, 61, 91, 92, 93, 123, 125, 127, 128, 155, 255)),
    b"\r\n",
    b"\xed\xa0\x80",  # half a surrogate pair
    b"\xc0\xaf",  # a slash in two bytes, where one is right
    b"\xf4\x90\x80\x80",  # beyond Unicode
    *(sign.encode() for sign in ("\ufeff", "\u202e", "\u2028", "\x85", "\u00b2", "\u0663", "\U0001f0cf", "\u0130")),
    b"\\ud800",
    b"\\u0000",
]
NUMBERS = [b"0", b"-1", b"1e999", b"nan", b"9" * 20, b"9" * 5_000, b"0x10", b"1_000", b"2147483648", b"1.5", b"-0"]


def hurt(random, samples, words):
    """Give a sample that something has happened to, or plain noise; `words` are such as the reader knows."""
    if random.randrange(12) == 0:
        return random.randbytes(random.choice((0, 1, 7, 60, 300, 5_000)))
    data = random.choice(samples)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        data = random.choice(_EDITS)(random, data, samples, words)
    return data[:LONGEST]


def _place(random, data):
    return random.randrange(len(data) + 1)


def _insert(random, data, what):
    at = _place(random, data)
    return data[:at] + what + data[at:]


def _flip(random, data, _samples, _words):
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def _cut(random, data, _samples, _words):
    at = _place(random, data)
    return data[:at] + data[at + random.choice((1, 2, 10, 100)) :]


def _end(random, data, _samples, _words):
    return data[: _place(random, data)]


def _repeat(random, data, _samples, _words):
    at = _place(random, data)
    part = data[at : at + random.choice((1, 2, 10, 50))]
    return data[:at] + part * random.choice((2, 3, 50, 2_000)) + data[at:]


def _run(random, data, _samples, _words):
    return _insert(random, data, random.choice(NASTY) * random.choice((2, 70, 5_000, 50_000)))


def _nest(random, data, _samples, _words):
    opening = random.choice((b"[", b"{", b'{"a":', b"{a=", b"[[", b'"', b"a."))
    return _insert(random, data, opening * random.choice((3, 200, 20_000)))


def _splice(random, data, samples, _words):
    other = random.choice(samples)
    return data[: _place(random, data)] + other[_place(random, other) :]


def _word(random, data, _samples, words):
    return _insert(random, data, random.choice((b"", b" ", b"\n", b"=")) + random.choice(words) + b" ")


def _swap(random, data, _samples, words):
    """Put another word in the place of one: what is well-formed goes deeper."""
    parts = data.split(b" ")
    parts[random.randrange(len(parts))] = random.choice([*words, *NUMBERS])
    return b" ".join(parts)


def _lines(random, data, _samples, _words):
    lines = data.splitlines(keepends=True)
    random.shuffle(lines)
    return b"".join(lines)


def _sign(random, data, _samples, _words):
    return _insert(random, data, random.choice(NASTY))


def _number(random, data, _samples, _words):
    return _insert(random, data, random.choice(NUMBERS))


_EDITS = (_flip, _cut, _end, _repeat, _run, _nest, _splice, _word, _word, _swap, _swap, _lines, _sign, _number)
