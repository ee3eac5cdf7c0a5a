"""docs/configuration.md, the sample configuration and the types say the same."""

import re
from pathlib import Path

import msgspec
import pytest

from shoe_controller.config import Config, load, parse
from shoe_controller.config.decode import allowed
from shoe_controller.config.table import Section

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "configuration.md").read_text()
SAMPLE = PROJECT / "systemd" / "shoe-controller.toml"
ROW = re.compile(r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def sections(section=Config, path=""):
    """Yield every table of the file with its type; a table whose names are free is shown once, in capitals."""
    if path:
        yield path, section
    for field in msgspec.structs.fields(section):
        inner = f"{path}.{field.name}".lstrip(".")
        if is_section(field.type):
            yield from sections(field.type, inner)
        elif field.name == "limits":
            yield from sections(field.type.__args__[1], f"{inner}.WAGER")


def is_section(kind):
    return isinstance(kind, type) and issubclass(kind, Section)


def default(field):
    if field.required:
        return "required"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    return "none" if value == {} else f"`{msgspec.json.encode(value).decode()}`"


@pytest.mark.parametrize("name, section", list(sections()), ids=[name for name, _ in sections()])
def test_every_key_stands_on_the_page_with_its_default_and_what_is_allowed(name, section):
    _, _, rest = PAGE.partition(f"\n### [{name}]\n")
    body = rest.partition("\n### ")[0]
    told = [(key, value, words) for key, value, words, _meaning in ROW.findall(body)]
    assert told == [
        (field.name, default(field), allowed(field.type))
        for field in msgspec.structs.fields(section)
        if not is_section(field.type)
    ]


def test_the_page_has_no_section_that_there_is_not():
    assert re.findall(r"^### \[(.+)\]$", PAGE, re.MULTILINE) == [name for name, _ in sections()]


@pytest.mark.parametrize("example", EXAMPLES, ids=[text.partition("\n")[0] for text in EXAMPLES])
def test_every_example_of_the_page_is_accepted(example, minimal):
    table, _, shoe = minimal.partition("[shoe]")
    text = "" if "[table]" in example else table
    text += example if "[shoe]" in example else f"{example}\n[shoe]{shoe}"
    assert parse(text, "docs/configuration.md").table.site == "north"


def test_the_sample_configuration_can_be_used_as_it_is():
    assert load(SAMPLE).table.game == "no-commission"


def test_every_key_stands_in_the_sample_with_its_default():
    shown = re.sub(r"^#(?=[a-z_.]+ = )", "", SAMPLE.read_text(), flags=re.MULTILINE)
    shown = re.sub(r"^limits\.player.*\n", "", shown, flags=re.MULTILINE)
    in_force, all_shown = load(SAMPLE), parse(shown, "sample")
    assert all_shown == in_force
    written = set(re.findall(r"^#?([a-z_.]+) = ", SAMPLE.read_text(), re.MULTILINE))
    for name, section in sections():
        for field in msgspec.structs.fields(section):
            if not is_section(field.type) and "WAGER" not in name:
                names = {field.name, f"{name.rpartition('.')[2]}.{field.name}", f"{field.name}.player"}
                assert written & names, f"{name}.{field.name} is not in the sample"


def test_problems_as_the_page_shows_them(tmp_path, problems, minimal):
    (shown,) = re.findall(r"^    (table\.toml:9: .*)$", PAGE, re.MULTILINE)
    (problem,) = problems(minimal + "[log]\nlevl = 1\n")
    assert str(problem) == shown
