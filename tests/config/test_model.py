import msgspec
import pytest

from shoe_controller.config import Config, Journal, Table, changed_keys, parse


def table(**changes):
    return Config(table=Table(**({"site": "north", "name": "B12", "game": "six-star"} | changes)))


def test_comments_and_order_do_not_change_the_hash(minimal):
    shuffled = (
        '# the table\n[shoe]\ndevice="/dev/ttyUSB0"\n[table]\ngame="six-star"\nname="B12"\nsite="north"\ndecks=8\n'
    )
    assert parse(minimal, "a").hash == parse(shuffled, "b").hash
    assert len(parse(minimal, "a").hash) == 64


@pytest.mark.parametrize("change", [{"decks": 6}, {"title": "Table 12"}, {"game": "fortune-six"}])
def test_every_value_changes_the_hash(change):
    assert table().hash != table(**change).hash


def test_changed_keys_are_named_with_their_section(minimal):
    old = parse(minimal, "a")
    new = parse(minimal + 'baud = 9600\n[table.limits.tie]\nmin = "1"\nmax = "2"\n[panel.lamps]\ntie = 2\n', "b")
    assert changed_keys(old, new) == ("panel.lamps.tie", "shoe.baud", "table.limits.tie.max", "table.limits.tie.min")
    assert changed_keys(new, old) == changed_keys(old, new)
    assert changed_keys(old, old) == ()


def test_changed_keys_work_against_what_an_older_program_kept():
    kept = msgspec.json.decode(msgspec.json.encode(table().flat() | {"gone.key": "1"}), type=dict[str, str])
    assert changed_keys(kept, table(decks=6)) == ("gone.key", "table.decks")


@pytest.mark.parametrize(
    "section, policy",
    [
        (Journal(), 64_000_000),
        (Journal(archive_megabytes=1), 1_000_000),
        (Journal(archive="shoe"), "shoe"),
        (Journal(archive="never"), "never"),
    ],
)
def test_the_archive_policy_is_bytes_or_a_word(section, policy):
    assert section.archive_policy == policy
