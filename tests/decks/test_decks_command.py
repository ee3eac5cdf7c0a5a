import json
import subprocess
import sys

import pytest

from shoe_controller.cards import ELEMENTS
from shoe_controller.decks import DeckBook
from tests.decks.sets import cards_of


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "decks"


@pytest.fixture
def register(cli, folder):
    def register(name, *words, game="no-commission", decks=4):
        return cli("decks", "register", name, "--game", game, "--decks", decks, "--directory", folder, *words)

    return register


def test_a_csv_file_is_registered_listed_shown_and_retired(cli, register, folder, write_csv):
    cards = cards_of(decks=4)
    code, out, err = register("red", "--csv", write_csv(cards))
    assert (code, err) == (0, "")
    assert out.startswith("The set red is registered.\n  cards       208: 4 decks of 52, for no-commission\n")
    code, out, _ = cli("decks", "list", "--directory", folder)
    assert code == 0
    assert [line.split()[:5] for line in out.splitlines()][1] == ["red", "no-commission", "4", "x", "52"]
    code, out, _ = cli("decks", "show", "red", "--cards", "--directory", folder)
    assert out.splitlines()[-209:][0] == "uid,code"
    assert sorted(out.splitlines()[-208:]) == sorted(f"{uid.hex().upper()},{face}" for uid, face in cards)
    code, out, _ = cli("decks", "retire", "red", "--directory", folder)
    assert code == 0
    assert "its cards are foreign" in out
    assert "retired " in cli("decks", "list", "--directory", folder)[1]
    assert "  retired     20" in cli("decks", "show", "red", "--directory", folder)[1]
    assert DeckBook.load(folder).code(cards[0][0]) is None


def test_programs_read_json(cli, register, folder, write_csv):
    cards = cards_of(ELEMENTS, 4)
    _, out, _ = register("fire", "--csv", write_csv(cards), "--format", "json", game="six-star")
    answer = json.loads(out)
    wanted = {"name": "fire", "game": "six-star", "deck": 65, "decks": 4, "cards": 260, "ids": 260, "optical": None}
    assert answer.items() >= wanted.items()
    assert (answer["source"], answer["retired"]) == ("csv", None)
    assert answer["sha256"] == DeckBook.load(folder).get("fire").sha256
    listed = json.loads(cli("decks", "list", "--directory", folder, "--format", "json")[1])
    assert listed == {"sets": [answer], "problems": []}
    shown = json.loads(cli("decks", "show", "fire", "--cards", "--directory", folder, "--format", "json")[1])
    assert shown == answer | {"cards_by_id": {uid.hex().upper(): face for uid, face in sorted(cards)}}
    retired = json.loads(cli("decks", "retire", "fire", "--directory", folder, "--format", "json")[1])
    assert retired["retired"]


def test_an_optical_set_is_registered_by_its_number(cli, register, folder):
    code, out, _ = register("blue", "--optical", 4711)
    assert code == 0
    assert "  ids         none\n  optical     set number 4711\n" in out
    assert DeckBook.load(folder).accepts_optical(4711)


def test_an_incomplete_set_is_the_answer_no(register, folder, write_csv):
    code, out, err = register("red", "--csv", write_csv(cards_of(decks=4)[1:]))
    assert (code, out) == (1, "")
    assert "the set red is not registered, it is not complete:" in err
    assert "is there 3 times instead of 4 times" in err
    assert DeckBook.load(folder).sets == ()


@pytest.mark.parametrize(
    "name, words, options, sentence",
    [
        ("red", ["--csv", "none.csv"], {}, "none.csv: cannot be read"),
        ("red", ["--csv", "x"], {"game": "whist"}, "there is no game 'whist'"),
        ("red", ["--csv", "x"], {"decks": 2}, "is played with 4 to 10 decks, not 2"),
        ("a/b", ["--csv", "x"], {}, "cannot be the name of a deck set"),
        ("red", [], {}, "one of the arguments --csv --device --optical is required"),
        ("red", ["--csv", "x", "--optical", "1"], {}, "not allowed with argument"),
        ("red", ["--optical", "0"], {}, "the number of a set is from 1 to 4294967295"),
        ("red", ["--device"], {}, "no device is configured"),
        ("red", ["--device", "COM1"], {}, "the device 'COM1' is not understood"),
        ("red", ["--device", "/dev/none"], {}, "there is no serial port /dev/none"),
        ("red", ["--device", "/dev/none", "--suits", "xyz"], {}, "the order of the suits, 'xyz'"),
        ("red", ["--device", "/dev/none", "--key-file", "/none"], {}, "/none"),
        ("red", ["--optical", "1", "--config", "/none"], {}, "/none: does not exist"),
    ],
)
def test_wrong_use_is_a_sentence_and_exit_code_2(register, folder, name, words, options, sentence):
    code, out, err = register(name, *words, **options)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err
    assert DeckBook.load(folder).sets == ()


def test_the_configuration_names_the_folder_and_the_shoe(cli, tmp_path, write_csv):
    config = tmp_path / "table.toml"
    text = '[table]\nsite = "s"\nname = "t"\ngame = "no-commission"\n[shoe]\nprotocol = "angel-eye"\n'
    config.write_text(text + f'device = "/dev/none"\ndecks_directory = "{tmp_path}/configured"\n')
    words = ("decks", "register", "red", "--game", "no-commission", "--decks", 4, "--config", config)
    code, _, err = cli(*words, "--device")
    assert code == 2
    assert 'a shoe of protocol "angel-eye" tells no ids' in err
    assert cli(*words, "--csv", write_csv(cards_of(decks=4)))[0] == 0
    assert (tmp_path / "configured" / "red.json").exists()
    code, out, _ = cli("decks", "list", "--config", config)
    assert "red" in out


def test_a_damaged_set_makes_the_list_say_no(cli, register, folder, write_csv):
    register("red", "--csv", write_csv(cards_of(decks=4)))
    (folder / "red.json").write_text("{}")
    code, out, err = cli("decks", "list", "--directory", folder)
    assert code == 1
    assert "No deck set is registered" in out
    assert "red.json is damaged" in err
    code, out, _ = cli("decks", "list", "--directory", folder, "--format", "json")
    assert code == 1
    assert len(json.loads(out)["problems"]) == 1


def test_names_that_nobody_registered_are_not_shown_or_retired(cli, folder):
    for action in ("show", "retire"):
        code, _, err = cli("decks", action, "red", "--directory", folder)
        assert code == 2
        assert "there is no deck set red" in err


def simulate(*words):
    program = "import sys; from shoe_controller.cli import main; sys.exit(main())"
    command = ["simulate", "--decks", "4", "--auto", "0.0005", *words]
    return subprocess.Popen(
        [sys.executable, "-c", program, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("reader, optical, ids", [("hybrid", 77, 208), ("optical", 77, 0)], ids=["hybrid", "optical"])
def test_a_whole_set_is_read_through_a_shoe(register, folder, tmp_path, reader, optical, ids):
    csv = tmp_path / "register.csv"
    with simulate("--reader", reader, "--deck-set", str(optical), "--register", str(csv)) as shoe:
        try:
            code, out, err = register("red", "--device", shoe.stdout.readline().strip(), "--format", "json")
        finally:
            shoe.terminate()
            shoe.communicate(timeout=30)
    assert code == 0, err
    assert f"{reader} shoe SIM-1 is connected" in err
    answer = json.loads(out)
    assert (answer["source"], answer["ids"], answer["optical"]) == ("shoe", ids, optical)
    stored = DeckBook.load(folder).get("red")
    if ids:
        wanted = dict(line.split(",") for line in csv.read_text().splitlines()[1:])
        assert stored.cards == wanted


def test_the_cards_of_another_game_are_not_registered(register, folder):
    with simulate("--reader", "hybrid", "--game", "six-star") as shoe:
        try:
            code, _, err = register("red", "--device", shoe.stdout.readline().strip())
        finally:
            shoe.terminate()
            shoe.communicate(timeout=30)
    assert code == 1
    assert "is no card of a 52-card deck" in err
    assert DeckBook.load(folder).sets == ()
