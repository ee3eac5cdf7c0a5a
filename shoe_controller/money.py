"""Money in whole cents and odds as two whole numbers: nothing here is ever a float."""

import re
from math import gcd
from typing import Literal, NamedTuple

Rounding = Literal["half-up", "half-even", "down", "up"]

_AMOUNT = re.compile(r"(\d{1,12})(?:\.(\d{1,2}))?", re.ASCII)


class Odds(NamedTuple):
    """What a winning stake earns: `pays` for each `per` staked, in lowest terms."""

    pays: int
    per: int

    def __str__(self) -> str:
        return f"{self.pays}:{self.per}"


def parse_odds(text: str) -> Odds:
    """Return `12:1` or `6:5` as odds in lowest terms, or raise ValueError."""
    match = re.fullmatch(r"([1-9]\d*):([1-9]\d*)", text, re.ASCII)
    if not match:
        raise ValueError(f"odds must look like 8:1 or 6:5, not {text!r}")
    pays, per = int(match[1]), int(match[2])
    divisor = gcd(pays, per)
    return Odds(pays // divisor, per // divisor)


def parse_amount(text: str) -> int:
    """Return an amount in dollars (`10`, `10.5`, `10.50`) as cents, or raise ValueError."""
    match = _AMOUNT.fullmatch(text)
    if not match:
        raise ValueError(f"an amount must look like 10 or 10.50, not {text!r}")
    cents = int(match[1]) * 100 + int((match[2] or "").ljust(2, "0"))
    if cents == 0:
        raise ValueError("an amount must be more than zero")
    return cents


def dollars(cents: int) -> str:
    """Return cents as dollars with two decimals."""
    return f"{cents // 100}.{cents % 100:02d}"


def winnings(stake: int, odds: Odds, rounding: Rounding) -> int:
    """Return what a winning stake earns in cents; a part of a cent is rounded by the named policy."""
    whole, part = divmod(stake * odds.pays, odds.per)
    if part == 0 or rounding == "down":
        return whole
    if rounding == "up":
        return whole + 1
    twice = 2 * part
    if twice != odds.per:
        return whole + (twice > odds.per)
    return whole + 1 if rounding == "half-up" else whole + whole % 2
