"""The game files: every number of the five documents, and clear words for a file that is wrong."""

import pytest

from shoe_controller.rules import games
from shoe_controller.rules.games import GameFileError, find, load, load_all, parse

BASE = {"player": ["1:1"], "banker": ["1:2", "1:1"], "tie": ["8:1"]}
PAIRS = {"player_pair": ["11:1"], "banker_pair": ["11:1"]}
FORTUNE = {"fortune_six": ["12:1", "20:1"]}
PRECIOUS = ["30:1", "15:1", "12:1", "9:1"]

PAY_TABLES = {
    "no-commission": BASE | PAIRS,
    "fortune-six": BASE | PAIRS | FORTUNE,
    "sands-elements": BASE | PAIRS | FORTUNE,
    "six-star": {
        "player": ["6:5", "1:1"],
        "banker": ["1:2", "6:5", "1:1"],
        "tie": ["8:1"],
        **PAIRS,
        **FORTUNE,
        "element_bonus": ["50:1", "500:1", "5000:1"],
    },
    "sands-super": BASE
    | {"player_precious_pair": PRECIOUS, "banker_precious_pair": PRECIOUS}
    | {wager: ["2:1"] for wager in ("player_red", "player_black", "banker_red", "banker_black")}
    | {"sands_six": ["6:1"]}
    | {f"player_wins_on_{n}": [f"{o}:1"] for n, o in enumerate((150, 80, 50, 50, 30, 11, 8, 6, 5), 1)}
    | {f"banker_wins_on_{n}": [f"{o}:1"] for n, o in enumerate((150, 80, 50, 25, 15, 11, 8, 6, 5), 1)}
    | {f"tie_wins_on_{n}": [f"{o}:1"] for n, o in enumerate((100, 150, 150, 150, 100, 80, 35, 35, 50, 50))},
}
DOCUMENTS = {
    "no-commission": ("No Commission Baccarat", "6", "2017-02-17", 52),
    "fortune-six": ("Fortune Six No Commission Baccarat", "4", "2017-02-17", 52),
    "sands-elements": ("Sands Elements No Commission Baccarat", "2", "2017-05-05", 65),
    "six-star": ("6 Star No Commission Baccarat", "", "2017-03-17", 65),
    "sands-super": ("Sands Super Baccarat", "", "2017-07-28", 52),
}


def test_there_are_the_five_approved_games():
    assert set(load_all()) == set(PAY_TABLES)


@pytest.mark.parametrize("game", PAY_TABLES)
def test_the_pay_table_is_that_of_the_document(game):
    spec = load_all()[game].spec
    assert {wager.id: [line.odds for line in wager.pays] for wager in spec.wagers} == PAY_TABLES[game]


@pytest.mark.parametrize("game", DOCUMENTS)
def test_title_version_date_and_deck_are_those_of_the_document(game):
    rules = load_all()[game]
    spec = rules.spec
    assert (spec.title, spec.version, str(spec.effective), spec.deck) == DOCUMENTS[game]
    assert (rules.min_decks, rules.max_decks) == (4, 10)
    assert rules.pushed_on_tie == ("player", "banker")


def test_the_tie_bonus_is_fixed_money():
    (bonus,) = load_all()["six-star"].spec.bonuses
    assert [(prize.when, prize.dollars) for prize in bonus.prizes] == [
        ("tie_with_flaming_nines", 3000),
        ("tie_with_six_stars", 30000),
    ]


GOOD = """
id = "toy"
title = "Toy"
version = "1"
effective = 2020-01-01
deck = 52
decks = [4, 10]
[[wagers]]
id = "player"
name = "Player"
clause = "1"
pays = [{ when = "player_wins", odds = "1:1", text = "x", clause = "4" }]
[[wagers]]
id = "banker"
name = "Banker"
clause = "1"
pays = [{ when = "banker_wins", odds = "1:1", text = "x", clause = "4" }]
[[wagers]]
id = "tie"
name = "Tie"
clause = "1"
pays = [{ when = "tie", odds = "8:1", text = "x", clause = "4" }]
"""


def test_comments_and_spaces_do_not_change_the_hash_but_odds_do():
    plain = parse(GOOD, "toy.toml")
    assert parse("# a comment\n" + GOOD, "toy.toml").hash == plain.hash
    assert parse(GOOD.replace("8:1", "9:1"), "toy.toml").hash != plain.hash


@pytest.mark.parametrize(
    "change,complaint",
    [
        (("8:1", "eight"), "odds must look like 8:1"),
        (('"tie", odds', '"tai", odds'), "there is no condition 'tai'"),
        (('"tie", odds', '"tie(6)", odds'), "there is no condition 'tie(6)'"),
        (('"tie", odds', '"tie_on", odds'), "there is no condition 'tie_on'"),
        (("deck = 52", "deck = 53"), "$.deck"),
        (("deck = 52", "deck = 52\ncolour = 1"), "colour"),
        (('id = "tie"', 'id = "banker"'), "the wager 'banker' is there twice"),
        (('id = "tie"', 'id = "draw"'), "the wager 'tie' is missing"),
        (("[4, 10]", "[10, 4]"), "the smallest and the largest"),
        (("[4, 10]", "[0, 10]"), "the smallest and the largest"),
        (("2020-01-01", "2020-13-01"), ""),
        (("[4, 10]", "[4"), ""),
        (("[4, 10]", "[\n" * 30_000), "it is nested too deeply"),
        (("deck = 52", "deck" + ".a" * 1_000 + " = 52"), ":6: is longer than 1024 characters"),
        (('"1"\neff', f'"1"\n{"x" * 900} = 1\neff'), "…"),
    ],
)
def test_a_mistake_in_a_game_file_is_told_with_its_file(change, complaint):
    with pytest.raises(GameFileError) as caught:
        parse(GOOD.replace(*change), "toy.toml")
    assert str(caught.value).startswith("toy.toml:")
    assert complaint in str(caught.value)


@pytest.mark.parametrize("low,high", [(1, 1), (1, 2), (8, 8)])
def test_a_game_may_be_played_with_one_deck_and_with_one_number_of_decks(low, high):
    rules = parse(GOOD.replace("[4, 10]", f"[{low}, {high}]"), "toy.toml")
    assert (rules.min_decks, rules.max_decks) == (low, high)


def test_two_game_files_must_not_have_the_same_id(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    for name in ("one.toml", "two.toml"):
        (tmp_path / "data" / name).write_text(GOOD)
    monkeypatch.setattr(games.resources, "files", lambda _package: tmp_path)
    with pytest.raises(GameFileError, match="two game files have the same id"):
        load_all.__wrapped__()


def test_a_bonus_must_go_with_a_wager_of_the_game():
    bonus = '[[bonuses]]\nid="b"\nname="B"\nwith="nope"\nclause="1"\n'
    prizes = 'prizes = [{ when = "tie", dollars = 5, text = "x", clause = "4" }]\n'
    with pytest.raises(GameFileError, match="which is no wager of this game"):
        parse(GOOD + bonus + prizes, "toy.toml")


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    with pytest.raises(GameFileError, match="cannot be read") as caught:
        load(tmp_path / "nowhere.toml")
    assert caught.value.begins_with_file


def test_an_unknown_game_names_the_games_there_are():
    with pytest.raises(ValueError, match="the games are fortune-six, no-commission"):
        find("poker")
