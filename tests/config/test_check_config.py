import json

import pytest

from shoe_controller.cli import main


@pytest.fixture
def file(tmp_path, minimal):
    path = tmp_path / "table.toml"
    path.write_text(minimal)
    return path


def test_a_good_file_is_ok_and_shows_its_hash(file, capsys):
    assert main(["check-config", str(file)]) == 0
    out = capsys.readouterr().out
    assert f"{file}: ok. Table north/B12 plays six-star with 8 decks." in out
    assert "configuration hash: " in out


def test_a_bad_file_lists_its_problems_and_fails(file, capsys):
    file.write_text(file.read_text() + "[log]\nlevl = 1\n[logs]\n")
    assert main(["check-config", str(file)]) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first == f'{file}:9: log.levl: is not a known key; allowed: level; did you mean "level"?'
    assert second.startswith(f"{file}:10: logs: is not a known section")
    assert last == f"{file}: 2 problems; the configuration cannot be used"


def test_programs_read_the_same_as_json(file, capsys):
    assert main(["check-config", "--format", "json", str(file)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["problems"]) == (True, [])
    file.write_text("[table]\n")
    assert main(["check-config", "--format", "json", str(file)]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert not answer["ok"]
    assert [(problem["key"], problem["line"]) for problem in answer["problems"]] == [
        ("shoe.device", None),
        ("table.game", 1),
        ("table.name", 1),
        ("table.site", 1),
    ]


def test_a_file_that_cannot_be_read_is_wrong_use(tmp_path, capsys):
    assert main(["check-config", str(tmp_path / "gone.toml")]) == 2
    assert "gone.toml: does not exist" in capsys.readouterr().err
