import contextlib
import json
import os
import tempfile
import threading
from pathlib import Path

import msgspec
import pytest

from shoe_controller.decks import DeckBook, DeckFileError, DeckFolderError, SetNameError
from shoe_controller.decks.folder import add, check_free, read, read_all, retire
from tests.decks.sets import cards_of, set_of

NOBODY = 65534


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "lib" / "decks"


def test_a_set_comes_back_as_it_was_stored(folder):
    red, blue = set_of("red", decks=8), set_of("blue", seed=2, optical=7)
    add(folder, red)
    add(folder, blue)
    assert read_all(folder) == ([blue, red], [])
    assert sorted(path.name for path in folder.iterdir()) == ["blue.json", "red.json"]


def test_ids_are_for_the_controller_alone(folder):
    add(folder, set_of("red"))
    assert (folder / "red.json").stat().st_mode & 0o777 == 0o640
    assert folder.stat().st_mode & 0o007 == 0


def test_what_root_registers_belongs_to_the_owner_of_the_folder(tmp_path):
    owner, group = (NOBODY, NOBODY) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(tmp_path, owner, group)
    add(tmp_path / "decks", set_of("red"))
    for made in (tmp_path / "decks", tmp_path / "decks" / "red.json"):
        assert (made.stat().st_uid, made.stat().st_gid) == (owner, group)


def test_a_name_is_used_once(folder):
    add(folder, set_of("red"))
    for again in ("red", "RED"):
        with pytest.raises(SetNameError, match="the deck set red is registered already"):
            add(folder, set_of(again, seed=2))
        with pytest.raises(SetNameError, match="registered already"):
            check_free(folder, again)
    retire(folder, "red", "2026-05-01T10:00:00Z")
    with pytest.raises(SetNameError, match="retired on 2026-05-01"):
        add(folder, set_of("red", seed=2))


def test_an_id_belongs_to_one_set_in_use(folder):
    cards = cards_of()
    add(folder, set_of("red", cards=cards))
    other = cards_of(seed=2)
    same_face = next(at for at, (_, code) in enumerate(other) if code == cards[0][1])
    other[same_face] = cards[0]
    with pytest.raises(SetNameError, match=f"1 of these ids belong to the set red, {cards[0][0].hex().upper()}"):
        add(folder, set_of("blue", cards=other))
    retire(folder, "red", "2026-05-01T10:00:00Z")
    add(folder, set_of("blue", cards=other))
    book = DeckBook.load(folder)
    assert book.set_of(cards[0][0]).name == "blue"
    assert book.code(cards[0][0]) == cards[0][1]
    assert book.code(cards[1][0]) is None


def test_an_optical_number_belongs_to_one_set_in_use(folder):
    add(folder, set_of("red", cards=[], optical=7))
    with pytest.raises(SetNameError, match="the optical number 7 belongs to the set red"):
        add(folder, set_of("blue", cards=[], optical=7))


def test_a_set_is_retired_once_and_keeps_its_hash(folder):
    add(folder, set_of("red"))
    retired = retire(folder, "red", "2026-05-01T10:00:00Z")
    assert read(folder / "red.json") == retired
    assert retired.sha256 == set_of("red").sha256
    with pytest.raises(SetNameError, match="was retired already, on 2026-05-01"):
        retire(folder, "red", "2026-06-01T10:00:00Z")
    with pytest.raises(SetNameError, match="there is no deck set blue"):
        retire(folder, "blue", "2026-06-01T10:00:00Z")


def swap_two_faces(file):
    cards = file["set"]["cards"]
    first, second = list(cards)[:2]
    cards[first], cards[second] = cards[second], cards[first]


def take_one_out(file):
    file["set"]["cards"].popitem()
    file["sha256"] = msgspec.convert(file["set"], type(set_of("red"))).sha256


def spoil_id(file):
    cards = file["set"]["cards"]
    cards["no id"] = cards.pop(next(iter(cards)))
    file["sha256"] = msgspec.convert(file["set"], type(set_of("red"))).sha256


def other_deck(file):
    file["set"]["deck"] = 53
    file["sha256"] = msgspec.convert(file["set"], type(set_of("red"))).sha256


def no_cards_at_all(file):
    file["set"]["cards"] = {}
    file["sha256"] = msgspec.convert(file["set"], type(set_of("red"))).sha256


@pytest.mark.parametrize(
    "spoil", [swap_two_faces, take_one_out, spoil_id, other_deck, no_cards_at_all], ids=lambda each: each.__name__
)
def test_a_changed_file_is_not_used(folder, spoil):
    add(folder, set_of("red"))
    path = folder / "red.json"
    file = json.loads(path.read_text())
    spoil(file)
    path.write_text(json.dumps(file))
    with pytest.raises(DeckFileError, match="is not what was registered"):
        read(path)


@pytest.mark.parametrize(
    "content, sentence",
    [
        (b"", "is damaged"),
        (b"\xff\xff", "is damaged"),
        (b"{}", "is damaged"),
        (None, "Is a directory"),
        ("format", "has format 2, and this program knows 1"),
    ],
)
def test_a_damaged_file_is_a_problem_and_its_cards_are_foreign_and_nothing_else_suffers(folder, content, sentence):
    red, blue = set_of("red"), set_of("blue", seed=2)
    add(folder, red)
    add(folder, blue)
    path = folder / "red.json"
    if content is None:
        path.unlink()
        path.mkdir()
    else:
        new = path.read_bytes().replace(b'"format": 1', b'"format": 2') if content == "format" else content
        path.write_bytes(new)
    book = DeckBook.load(folder)
    assert len(book.problems) == 1
    assert sentence in book.problems[0]
    assert book.sets == (blue,)
    assert all(book.code(bytes.fromhex(uid)) is None for uid in red.cards)
    with pytest.raises(SetNameError, match=r"there is no deck set red.*red\.json"):
        book.get("red")
    with pytest.raises(DeckFileError, match="nothing is registered while a set is damaged"):
        add(folder, set_of("green", seed=3))


def test_a_file_under_another_name_is_not_taken_for_it(folder):
    add(folder, set_of("red"))
    (folder / "red.json").rename(folder / "blue.json")
    assert read_all(folder)[0] == []


def test_no_folder_is_no_sets_and_a_file_in_its_place_is_a_sentence(tmp_path):
    assert read_all(tmp_path / "none") == ([], [])
    (tmp_path / "file").write_text("")
    with pytest.raises(DeckFolderError, match="cannot be used: Not a directory"):
        read_all(tmp_path / "file")
    with pytest.raises(DeckFolderError, match="cannot be used"):
        add(tmp_path / "file" / "decks", set_of("red"))


@contextlib.contextmanager
def as_nobody():
    """Root may write anywhere; anybody else is who they are."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_without_permission_it_is_said_before_416_cards_are_read(mode):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "decks"
        folder.mkdir()
        Path(place).chmod(0o755)
        folder.chmod(mode)
        sentence = "cannot be used: Permission denied: run this as the controller's user"
        with as_nobody(), pytest.raises(DeckFolderError, match=sentence):
            check_free(folder, "red")
        folder.chmod(0o755)


def test_a_crash_while_writing_leaves_the_sets_as_they_were(folder):
    add(folder, set_of("red"))
    (folder / ".blue.part").write_bytes(b'{"half')
    assert read_all(folder) == ([set_of("red")], [])
    add(folder, set_of("blue", seed=2))
    assert sorted(path.name for path in folder.iterdir()) == ["blue.json", "red.json"]


def test_two_at_the_same_time_cannot_register_the_same_cards(folder):
    folder.mkdir(parents=True)
    refused = []

    def register(name):
        try:
            add(folder, set_of(name))
        except SetNameError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=register, args=(f"set-{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_all(folder)[0]) == 1
    assert len(refused) == 7
