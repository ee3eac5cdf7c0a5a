import pytest

from shoe_controller.decks import RegisterError
from shoe_controller.decks.csv_register import MAX_BYTES, read_register

CARDS = [(bytes.fromhex("04a1b2c3"), "Th"), (bytes.fromhex("04a1b2c3d4e5f6070809"), "Sf")]


@pytest.fixture
def register(tmp_path):
    def register(content):
        path = tmp_path / "set.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return register


@pytest.mark.parametrize(
    "content",
    [
        "04A1B2C3,Th\n04A1B2C3D4E5F6070809,Sf\n",
        "uid,code\n04A1B2C3,Th\n04A1B2C3D4E5F6070809,Sf",
        "\ufeffID;Card\r\n04:a1:b2:c3;Th\r\n04-a1-b2-c3-d4-e5-f6-07-08-09;Sf\r\n",
        '# from the maker\n\n"04 A1 B2 C3"\tTh\n\t\n# two\n04a1b2c3d4e5f6070809\t Sf \n',
    ],
)
def test_registers_are_read_however_they_were_exported(register, content):
    assert read_register(register(content)) == CARDS


@pytest.mark.parametrize(
    "content, sentence",
    [
        ("uid,code\n04A1B2C3,th", ":2: 'th' is no card code"),
        ("04A1B2C3,10h", ":1: '10h' is no card code"),
        ('"' + "04A1B2C3,Th\n" * 20_000, "is no CSV text: field larger than field limit"),
        ("04A1B2C3," + "T" * 200_000, "is no CSV text: field larger than field limit"),
        ("04" * 50 + ",Th", f":1: '{'04' * 20}…' has 50 bytes"),
        ("04A1B2,Th", ":1: '04A1B2' has 3 bytes: an id has 4 to 10"),
        ("04A1B2C3\n", "but this one has 1"),
        ("04A1B2C3,Th,8", "but this one has 3"),
        ("04A1B2C3,Th\nuid,code\n", ":2: 'uid' is no id"),
        ("\n".join(["wrong,Th"] * 14), ": … and 4 more lines"),
        ("uid,code\n", "there is no card in this file"),
        ("", "there is no card in this file"),
        (b"\xff\xfe\x00", "is no UTF-8 text"),
        (b"#" * (MAX_BYTES + 1), "this is no register"),
    ],
)
def test_a_line_that_is_not_understood_is_named(register, content, sentence):
    path = register(content)
    with pytest.raises(RegisterError) as refused:
        read_register(path)
    assert str(refused.value).startswith(f"{path}:")
    assert sentence in str(refused.value)
    assert refused.value.begins_with_file


def test_a_file_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(RegisterError, match="cannot be read: No such file"):
        read_register(tmp_path / "none.csv")
