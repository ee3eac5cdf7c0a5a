"""What a check found: the verdict, the sentence, and how to mend it."""

from typing import Literal

import msgspec

Verdict = Literal["ok", "warn", "fail"]


class Finding(msgspec.Struct, frozen=True):
    """One line of the doctor. Whatever is not ok says how to mend it."""

    check: str
    verdict: Verdict
    what: str
    mend: tuple[str, ...] = ()


def ok(check: str, what: str) -> Finding:
    """Return that something is as it should be."""
    return Finding(check, "ok", what)


def warn(check: str, what: str, *mend: str) -> Finding:
    """Return that the table can play, but something should be looked after."""
    return Finding(check, "warn", what, mend)


def fail(check: str, what: str, *mend: str) -> Finding:
    """Return that the table cannot play, or would lose something, as it is."""
    return Finding(check, "fail", what, mend)


def split(sentence: str) -> tuple[str, str]:
    """Part a sentence of an error, "what happened: what to do", into the two."""
    what, _, mend = sentence.rpartition(": ")
    return (what, mend) if what else (sentence, "")
