"""Hypothesis strategies for everything that can happen at a table."""

from hypothesis import strategies as st

from shoe_controller.cards import ALL_CODES, DECKS
from shoe_controller.rules.games import load_all
from shoe_controller.session import inputs as i

GAMES = sorted(load_all())
WAGERS = sorted({wager for rules in load_all().values() for wager in rules.wagers} | {"tie_bonus", "lucky_six"})

codes = st.sampled_from(sorted(ALL_CODES))
few_uids = st.sampled_from(["", "", "", "01", "02", "03", "0a1b2c3d"])
people = st.sampled_from(["ann", "bob"])
amounts = st.integers(1, 100_000)
faults = st.sampled_from(["jam", "lid-open", "events-missing"])


def shoes(games=tuple(GAMES)):
    return st.builds(
        i.LoadShoe,
        game=st.sampled_from(games),
        decks=st.integers(4, 10),
        id=st.sampled_from(["", "evening"]),
        burn=st.one_of(st.sampled_from(["none", "none", "first-card", "decks"]), st.integers(1, 8)),
        surplus=st.sampled_from(["next-round", "burn"]),
        rounds_after_cut=st.integers(0, 3),
        early_card=st.sampled_from(["decision", "first-card", "void"]),
        rounding=st.sampled_from(["half-up", "half-even", "down", "up"]),
    )


wrong_shoes = st.sampled_from(
    [
        i.LoadShoe("poker", 8),
        i.LoadShoe("six-star", 3),
        i.LoadShoe("six-star", 11),
        i.LoadShoe("six-star", 8, burn=9),
        i.LoadShoe("six-star", 8, rounds_after_cut=-1),
    ]
)


def cards_of(game):
    """Codes of a game's deck, and now and then one of another deck."""
    own = st.sampled_from(DECKS[load_all()[game].spec.deck].faces if game else sorted(ALL_CODES))
    return st.one_of(own, own, own, own, own, own, own, codes)


def draws(game):
    card = cards_of(game)
    several = st.lists(card, min_size=2, max_size=5).map(tuple)
    return st.one_of(
        st.builds(i.DrawCard, card, few_uids),
        st.builds(i.DrawCard, card, st.just(""), st.sampled_from(["player1", "banker1", "player2", "banker3"])),
        st.builds(i.DrawTogether, several, st.booleans()),
        several.flatmap(
            lambda cards: st.builds(
                i.DrawTogether, st.just(cards), st.booleans(), st.tuples(*[few_uids for _ in cards])
            )
        ),
        st.builds(i.DrawForeign, few_uids),
        st.just(i.DrawUnreadable()),
        st.builds(i.ReturnCard, card, few_uids),
        st.just(i.ReturnCard()),
    )


wagers = st.one_of(
    st.builds(i.PlaceWager, people, st.sampled_from(WAGERS), amounts, st.sampled_from(["", "", "w1", "w2"])),
    st.builds(i.WithdrawWager, people, st.sampled_from(WAGERS), st.none() | amounts, st.sampled_from(["", "w2", "w3"])),
)
device_results = st.builds(
    i.DeviceSaysResult, st.sampled_from(["player", "banker", "tie", ""]), st.booleans(), st.booleans()
)
notes = st.one_of(
    st.builds(i.RaiseFault, faults),
    st.builds(i.ClearFault, faults),
    st.just(i.NoteDevice("hello", "A1", "1.0")),
    st.just(i.Start("1.0", "abc")),
    st.just(i.ChangeConfig("abd", ("table.id",))),
    st.just(i.ClockStep(synced=True, step_ms=3)),
    st.just(i.Acknowledge()),
)
