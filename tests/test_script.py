"""The table script: each line read and written, and a sentence for each line that is not understood."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoe_controller.cards import ALL_CODES
from shoe_controller.rules.games import load_all
from shoe_controller.script import ScriptError, parse_line, to_line
from shoe_controller.session import inputs as i

codes = st.sampled_from(sorted(ALL_CODES))
uids = st.text("0123456789abcdef", min_size=1, max_size=64)
words = st.text(st.characters(exclude_categories=["Z", "C"], exclude_characters="#"), min_size=1, max_size=64)
amounts = st.integers(1, 10**14 - 1)
togethers = st.lists(codes, min_size=2, max_size=6).flatmap(
    lambda cards: st.builds(
        i.DrawTogether,
        st.just(tuple(cards)),
        st.booleans(),
        st.just(()) | st.tuples(*[st.just("") | uids for _ in cards]).filter(any),
    )
)
shoes = st.builds(
    i.LoadShoe,
    game=st.sampled_from(sorted(load_all())),
    decks=st.integers(4, 10),
    id=st.just("") | words,
    burn=st.sampled_from(["none", "first-card", "decks"]) | st.integers(1, 8),
    surplus=st.sampled_from(["next-round", "burn"]),
    rounds_after_cut=st.integers(0, 999_999),
    early_card=st.sampled_from(["decision", "first-card", "void"]),
    rounding=st.sampled_from(["half-up", "half-even", "down", "up"]),
    deck_set=st.just("") | words,
)
written = st.one_of(
    shoes,
    st.sampled_from(
        [
            i.PlaceBets(),
            i.NoMoreBets(),
            i.AnnounceResult(),
            i.CutCard(),
            i.ShoeEmpty(),
            i.DrawUnreadable(),
            i.Acknowledge(),
        ]
    ),
    st.builds(i.DrawCard, codes, st.just("") | uids, st.sampled_from(["", "player1", "banker3"])),
    togethers,
    st.builds(i.DrawForeign, st.just("") | uids),
    st.builds(i.ReturnCard, st.just("") | codes, st.just("") | uids),
    st.builds(i.Void, st.lists(words, max_size=4).map(" ".join)),
    st.builds(i.Reconstruct, st.lists(codes, max_size=6).map(tuple)),
    st.builds(i.PlaceWager, words, words, amounts, st.just("") | words),
    st.builds(i.WithdrawWager, words, words, st.none() | amounts, st.just("") | words),
    st.builds(i.RaiseFault, words),
    st.builds(i.ClearFault, words),
    st.builds(i.DeviceSaysResult, st.sampled_from(["player", "banker", "tie", ""]), st.booleans(), st.booleans()),
)


@given(written)
def test_a_line_written_and_read_says_the_same(happened):
    assert parse_line(to_line(happened)) == happened


@given(written)
def test_a_line_is_one_line_and_a_comment_or_space_changes_nothing(happened):
    line = to_line(happened)
    assert line.splitlines() == [line]
    assert parse_line(f"  {line.replace(' ', '   ')}\t# what happened\r\n") == happened


anything = st.text(max_size=80)


@given(
    st.one_of(
        st.builds(i.PlaceWager, anything, anything, amounts, anything),
        st.builds(i.WithdrawWager, anything, anything, st.none() | amounts, anything),
        st.builds(i.Void, anything),
        st.builds(i.RaiseFault, anything),
        st.builds(i.ClearFault, anything),
        st.builds(i.LoadShoe, st.just("six-star"), st.just(8), anything, deck_set=anything),
    )
)
def test_names_from_outside_cannot_break_a_script(happened):
    line = to_line(happened)
    assert type(parse_line(line)) is type(happened)
    assert to_line(parse_line(line)) == line


@given(st.text())
def test_any_text_is_understood_or_refused_with_a_sentence(text):
    sentence = None
    try:
        parse_line(text)
    except ScriptError as error:
        sentence = str(error)
    assert sentence is None or sentence.splitlines() == [sentence]


@pytest.mark.parametrize("line", ["", "   ", "# only a comment", "\t#bets\n", "\r\n"])
def test_a_line_may_say_nothing(line):
    assert parse_line(line) is None


@pytest.mark.parametrize(
    "line,happened",
    [
        ("shoe six-star decks=8", i.LoadShoe("six-star", 8)),
        (
            "shoe six-star decks=10 id=evening-3 burn=first-card surplus=burn rounds_after_cut=2",
            i.LoadShoe("six-star", 10, "evening-3", "first-card", "burn", 2),
        ),
        (
            "shoe no-commission burn=8 decks=4 early=void rounding=down set=red",
            i.LoadShoe("no-commission", 4, "", 8, "next-round", 1, "void", "down", "red"),
        ),
        ("bets", i.PlaceBets()),
        ("close # no more bets", i.NoMoreBets()),
        ("result", i.AnnounceResult()),
        ("cut", i.CutCard()),
        ("empty", i.ShoeEmpty()),
        ("void", i.Void()),
        ("void  the dealer   fell ill", i.Void("the dealer fell ill")),
        ("card 4d", i.DrawCard("4d")),
        ("card Sf uid=E0A1", i.DrawCard("Sf", "e0a1")),
        ("card Sf uid=7", i.DrawCard("Sf", "7")),
        ("card 4d target=banker2", i.DrawCard("4d", "", "banker2")),
        ("together 4d 5d", i.DrawTogether(("4d", "5d"))),
        ("together 4d 5d Kc order=known", i.DrawTogether(("4d", "5d", "Kc"), order_known=True)),
        ("together 4d 5d order=unknown uids=A1,", i.DrawTogether(("4d", "5d"), uids=("a1", ""))),
        ("foreign", i.DrawForeign()),
        ("foreign 0badCAFE", i.DrawForeign("0badcafe")),
        ("unreadable", i.DrawUnreadable()),
        ("returned 4d", i.ReturnCard("4d")),
        ("returned", i.ReturnCard()),
        ("reconstruct", i.Reconstruct()),
        ("reconstruct 4d 5d", i.Reconstruct(("4d", "5d"))),
        ("ack", i.Acknowledge()),
        ("wager ann player 10.5", i.PlaceWager("ann", "player", 1050)),
        ("wager ann player 10 id=w1", i.PlaceWager("ann", "player", 1000, "w1")),
        ("withdraw ann player", i.WithdrawWager("ann", "player")),
        ("withdraw ann player 2", i.WithdrawWager("ann", "player", 200)),
        ("withdraw ann player id=w2", i.WithdrawWager("ann", "player", None, "w2")),
        ("withdraw a=b id=tie", i.WithdrawWager("a=b", "id=tie")),
        ("fault jam", i.RaiseFault("jam")),
        ("fault-cleared jam", i.ClearFault("jam")),
        ("device-result tie", i.DeviceSaysResult("tie")),
        ("device-result forced pairs=both", i.DeviceSaysResult("", player_pair=True, banker_pair=True)),
    ],
)
def test_each_line_says_what_it_says(line, happened):
    assert parse_line(line) == happened


SHOE_OPTIONS = "decks, id, burn, surplus, rounds_after_cut, early, rounding, set"
GAMES = "fortune-six, no-commission, sands-elements, sands-super, six-star"


@pytest.mark.parametrize(
    "line,sentence",
    [
        ("deal 4d", "'deal' is not a thing that happens at a table"),
        ("Bets", "'Bets' is not a thing that happens at a table"),
        ("x" * 100, f"'{'x' * 64}…' is not a thing that happens at a table"),
        ("\x1b[2J", "'\\x1b[2J' is not a thing that happens at a table"),
        ("shoe", "shoe: it takes one game, as in: shoe no-commission decks=8"),
        ("shoe six-star no-commission decks=8", "shoe: it takes one game, as in: shoe no-commission decks=8"),
        ("shoe poker decks=8", f"there is no game 'poker'; the games are {GAMES}"),
        ("shoe six-star", "shoe: decks= is missing"),
        ("shoe six-star decks=eight", "shoe: decks= must be a number, not 'eight'"),
        ("shoe six-star decks=-8", "shoe: decks= must be a number, not '-8'"),
        ("shoe six-star decks=3", "shoe: 6 Star No Commission Baccarat is played with 4 to 10 decks, not 3"),
        ("shoe six-star decks=11", "shoe: 6 Star No Commission Baccarat is played with 4 to 10 decks, not 11"),
        ("shoe six-star decks=8 decks=8", "shoe: the option decks= is there twice"),
        (
            "shoe six-star decks=8 colour=red",
            f"shoe: there is no option 'colour'; there are {SHOE_OPTIONS}",
        ),
        ("shoe six-star decks=8 burn=9", "shoe: burn= must be none or first-card or decks or 1-8, not '9'"),
        ("shoe six-star decks=8 burn=0", "shoe: burn= must be none or first-card or decks or 1-8, not '0'"),
        ("shoe six-star decks=8 burn=1-8", "shoe: burn= must be none or first-card or decks or 1-8, not '1-8'"),
        ("shoe six-star decks=8 surplus=keep", "shoe: surplus= must be next-round or burn, not 'keep'"),
        ("shoe six-star decks=8 rounds_after_cut=x", "shoe: rounds_after_cut= must be a number, not 'x'"),
        ("shoe six-star decks=8 early=x", "shoe: early= must be decision or first-card or void, not 'x'"),
        ("shoe six-star decks=8 rounding=x", "shoe: rounding= must be half-up or half-even or down or up, not 'x'"),
        ("bets now", "bets: nothing may follow it, not 'now'"),
        ("close 1", "close: nothing may follow it, not '1'"),
        ("unreadable 4d", "unreadable: nothing may follow it, not '4d'"),
        ("card", "card: it takes one card, as in: card 4d"),
        ("card 4d 5d", "card: it takes one card, as in: card 4d"),
        ("card 10h", "card: '10h' is no card; a card is a rank and a suit, as in Th, 4d or Sf"),
        ("card 4d uid=xyz", "card: 'xyz' is no id; an id is 1 to 64 hexadecimal digits"),
        ("card 4d uid=", "card: '' is no id; an id is 1 to 64 hexadecimal digits"),
        ("card 4d id=01", "card: there is no option 'id'; there are uid, target"),
        ("together 4d", "together: it takes two or more cards"),
        ("together 4d 5d order=maybe", "together: order= must be known or unknown, not 'maybe'"),
        ("together 4d 5x", "together: '5x' is no card; a card is a rank and a suit, as in Th, 4d or Sf"),
        ("together 4d 5d uids=a1", "together: uids= must have an id for each card"),
        ("foreign a1 a2", "foreign: it takes one id at most"),
        ("foreign 4d5x", "foreign: '4d5x' is no id; an id is 1 to 64 hexadecimal digits"),
        ("returned 4d 5d", "returned: it takes one card, as in: returned 4d"),
        ("reconstruct 4", "reconstruct: '4' is no card; a card is a rank and a suit, as in Th, 4d or Sf"),
        ("wager ann player", "wager: it is written: wager WHO WAGER AMOUNT [id=TEXT]"),
        ("wager ann player 10 20", "wager: it is written: wager WHO WAGER AMOUNT [id=TEXT]"),
        ("wager ann player ten", "wager: an amount must look like 10 or 10.50, not 'ten'"),
        ("wager ann player 0", "wager: an amount must be more than zero"),
        (f"wager {'a' * 65} player 1", "wager: a name is at most 64 characters long"),
        ("withdraw ann", "withdraw: it is written: withdraw WHO WAGER [AMOUNT] [id=TEXT]"),
        ("withdraw ann player 1.999", "withdraw: an amount must look like 10 or 10.50, not '1.999'"),
        ("fault", "fault: it takes one fault, as in: fault jam"),
        ("fault-cleared a b", "fault-cleared: it takes one fault, as in: fault jam"),
        ("device-result", "device-result: it takes one result: player, banker, tie or forced"),
        ("device-result draw", "device-result: result= must be player or banker or tie or forced, not 'draw'"),
        ("device-result tie pairs=x", "device-result: pairs= must be none or player or banker or both, not 'x'"),
    ],
)
def test_a_line_that_is_not_understood_is_told_in_a_sentence(line, sentence):
    with pytest.raises(ScriptError) as caught:
        parse_line(line)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "happened",
    [i.NoteDevice("hello"), i.Start("1.0"), i.ChangeConfig("x"), i.ClockStep(synced=True)],
    ids=lambda happened: type(happened).__name__,
)
def test_what_is_no_part_of_play_has_no_line(happened):
    assert to_line(happened) is None
