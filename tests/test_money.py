"""Money: whole cents, odds in lowest terms, and part cents by a named policy."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoe_controller.money import Odds, dollars, parse_amount, parse_odds, winnings


@pytest.mark.parametrize(
    "text,cents", [("10", 1000), ("10.5", 1050), ("10.50", 1050), ("0.01", 1), ("999999999999.99", 99_999_999_999_999)]
)
def test_an_amount_is_read_to_the_cent(text, cents):
    assert parse_amount(text) == cents


@pytest.mark.parametrize(
    "text", ["", "ten", "-1", "+1", "1.005", "1,000", "1e3", ".5", "5.", " 5", "٣", "1234567890123", "0x10", "nan"]
)
def test_what_is_no_amount_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match=r"an amount must look like 10 or 10\.50"):
        parse_amount(text)


@pytest.mark.parametrize("text", ["0", "0.00", "000"])
def test_nothing_is_no_amount(text):
    with pytest.raises(ValueError, match="more than zero"):
        parse_amount(text)


@given(st.integers(1, 10**14 - 1))
def test_an_amount_written_and_read_is_the_same(cents):
    assert parse_amount(dollars(cents)) == cents


@pytest.mark.parametrize("text,odds", [("12:1", (12, 1)), ("12:10", (6, 5)), ("1:2", (1, 2)), ("5000:1", (5000, 1))])
def test_odds_are_in_lowest_terms(text, odds):
    assert parse_odds(text) == odds
    assert str(parse_odds(text)) == f"{odds[0]}:{odds[1]}"


@pytest.mark.parametrize("text", ["", "8", "8:0", "0:1", "8-1", "1.2:1", "8:1 ", "-8:1", "٨:1"])
def test_what_is_no_odds_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="odds must look like 8:1 or 6:5"):
        parse_odds(text)


@pytest.mark.parametrize(
    "stake,odds,half_up,half_even,down,up",
    [
        (1000, (1, 1), 1000, 1000, 1000, 1000),
        (1001, (1, 2), 501, 500, 500, 501),  # 500.5
        (1003, (1, 2), 502, 502, 501, 502),  # 501.5
        (1001, (6, 5), 1201, 1201, 1201, 1202),  # 1201.2
        (1003, (6, 5), 1204, 1204, 1203, 1204),  # 1203.6
        (1, (5000, 1), 5000, 5000, 5000, 5000),
    ],
)
def test_a_part_of_a_cent_goes_by_the_named_policy(stake, odds, half_up, half_even, down, up):
    found = [winnings(stake, Odds(*odds), policy) for policy in ("half-up", "half-even", "down", "up")]
    assert found == [half_up, half_even, down, up]


@given(
    st.integers(1, 10**12),
    st.builds(Odds, st.integers(1, 5000), st.integers(1, 20)),
    st.sampled_from(["half-up", "half-even", "down", "up"]),
)
def test_rounding_is_never_off_by_a_cent_or_more(stake, odds, policy):
    exact = Fraction(stake * odds.pays, odds.per)
    found = winnings(stake, odds, policy)
    assert abs(found - exact) < 1
    if policy == "down":
        assert found <= exact
    elif policy == "up":
        assert found >= exact
    else:
        assert abs(found - exact) <= Fraction(1, 2)
