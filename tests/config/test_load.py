import os
import subprocess
import sys

import msgspec
import pytest

from shoe_controller.config import (
    Config,
    ConfigError,
    ConfigUnreadableError,
    Limit,
    Table,
    load,
    parse,
)
from shoe_controller.errors import UsageError


def test_three_keys_and_a_device_are_enough_and_the_rest_has_defaults(minimal):
    config = parse(minimal, "table.toml")
    assert config.table == Table(site="north", name="B12", game="six-star", decks=8)
    assert config.shoe.device == "/dev/ttyUSB0"
    assert config.policy.surplus == "next-round"
    assert config.panel.factory == "lgpio"
    assert config.web.host == "127.0.0.1"
    assert config.mqtt.brokers == ()
    assert not config.mqtt.wagers
    assert not config.metrics.other_interfaces


def test_every_kind_of_value_is_read(minimal):
    config = parse(
        minimal
        + """
protocol = "open"
[table.limits]
player = { min = "100", max = "10000" }
[policy]
burn = 8
[panel]
buzzer = "none"
lamps.tie = 7
[mqtt]
brokers = ["mqtts://one.example:8883", "mqtts://[::1]"]
resend.enabled = false
[web]
languages = ["en", "zh"]
""",
        "table.toml",
    )
    assert config.table.limits == {"player": Limit(min="100", max="10000")}
    assert config.policy.burn == 8
    assert (config.panel.buzzer, config.panel.lamps.tie, config.panel.lamps.player) == ("none", 7, 17)
    assert config.mqtt.brokers == ("mqtts://one.example:8883", "mqtts://[::1]")
    assert not config.mqtt.resend.enabled
    assert config.web.languages == ("en", "zh")


def test_a_configuration_cannot_be_changed(minimal):
    config = parse(minimal, "table.toml")
    with pytest.raises(AttributeError):
        config.table.decks = 6


def test_unknown_keys_are_refused_by_the_types_themselves_as_well():
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"table": {"site": "a", "name": "b", "game": "c", "chips": 1}}, Config)


def test_every_problem_is_told_in_the_order_of_the_file(problems):
    found = problems(
        """\
[table]
site = "north hall"
name = "B12"
game = "fortune_six"
decks = "8"

[polcy]
burn = 3

[policy]
rounding = "half-upp"
baud = 4800

[panel]
lamps = 3

[web]
port = 0
"""
    )
    assert [(problem.line, problem.key) for problem in found] == [
        (None, "shoe.device"),
        (2, "table.site"),
        (4, "table.game"),
        (5, "table.decks"),
        (7, "polcy"),
        (11, "policy.rounding"),
        (12, "policy.baud"),
        (15, "panel.lamps"),
        (18, "web.port"),
    ]


@pytest.mark.parametrize(
    "text, key, expected",
    [
        ("[polcy]\n", "polcy", ("is not a known section", "table, policy, shoe", 'did you mean "policy"?')),
        ("[serial-feed]\n", "serial-feed", ("is not a known section", "", 'did you mean "serial_feed"?')),
        (
            "[policy]\nsurpluss = 1",
            "policy.surpluss",
            ("is not a known key", "burn, surplus", 'did you mean "surplus"?'),
        ),
        ("[policy]\nBurn = 1", "policy.Burn", ("is not a known key", "", 'did you mean "burn"?')),
        ("[policy]\nbaud = 1", "policy.baud", ("is not a known key", "", "it belongs into [shoe] or [serial_feed]")),
        ("[log]\nplace_bets = 1", "log.place_bets", ("is not", "", "it belongs into [panel.buttons]")),
        ("[log]\nqwertz = 1", "log.qwertz", ("is not a known key", "level", "")),
        ("[policy]\nburn = 9", "policy.burn", ("9 is not allowed", '"decks" or a whole number from 1 to 8', "")),
        ("[policy]\nburn = '3'", "policy.burn", ('"3" is not allowed', "", "did you mean 3?")),
        (
            "[policy]\nsurplus = 'next_round'",
            "policy.surplus",
            ("", '"next-round" or "burn"', 'did you mean "next-round"?'),
        ),
        ("[policy]\nrounding = 'halfup'", "policy.rounding", ("", "", 'did you mean "half-up"?')),
        ("[policy]\nreveal = 'never'", "policy.reveal", ('"never" is not allowed', "", "")),
        ("[policy]\nrounds_after_cut = 1.5", "policy.rounds_after_cut", ("1.5 is not allowed", "a whole number", "")),
        ("[policy]\nrounding = 2024-01-01", "policy.rounding", ("2024-01-01 is not allowed", "", "")),
        ("[policy]\nrounding = {a = 1}", "policy.rounding", ("a table is not allowed", "", "")),
        ("[web]\nenabled = 'yes'", "web.enabled", ('"yes" is not allowed', "true or false", "did you mean true?")),
        ("[web]\nenabled = 'off'", "web.enabled", ('"off" is not allowed', "", "did you mean false?")),
        ("[web]\nhost = ''", "web.host", ('"" is not allowed', "text in quotes, not empty", "")),
        ("[web]\nlanguages = []", "web.languages", ("[] is not", "(1 to 2 of them)", "")),
        ("[web]\nlanguages = ['english']", "web.languages", ("", 'a language code such as "en"', "")),
        ("[table]\ntitle = 12", "table.title", ("12 is not", "text in quotes of at most 60", 'did you mean "12"?')),
        ("[table]\nlimits = 5", "table.limits", ("5 is not allowed", "a table", "")),
        (
            "[table]\nlimits.tie = 5",
            "table.limits.tie",
            ("is a table of keys, not one value", "", "write [table.limits.tie]"),
        ),
        ("[table.limits.tie]\nmin = '5'", "table.limits.tie.max", ("is missing", "dollars in quotes", "")),
        ("[panel]\nlamps = 3", "panel.lamps", ("is a table of keys", "", "write [panel.lamps] on a line of its own")),
        ("[panel]\ngate = 28", "panel.gate", ("28 is not", '"none" or a whole number from 0 to 27', "")),
        ("[shoe]\ndevice = 'ttyUSB0'", "shoe.device", ("", "a path such as /dev/serial/by-id/", "")),
        ("[shoe]\nbaud = 4801", "shoe.baud", ("4801 is not allowed", "1200, 2400, 4800", "")),
        (
            "[mqtt]\nbrokers = 'mqtt://a'",
            "mqtt.brokers",
            ("", "a list, each of it mqtt://", 'did you mean ["mqtt://a"]?'),
        ),
        ("[mqtt]\nbrokers = ['mqtt://u:p@a']", "mqtt.brokers", ("", "no user, no password", "")),
        ("[mqtt]\npassword_file = 'secret'", "mqtt.password_file", ("", "an absolute path", "")),
        ("[local]\nsocket = '/" + 110 * "x" + "'", "local.socket", ("", "at most 107 characters", "")),
    ],
)
def test_a_wrong_key_or_value_says_what_is_allowed_and_what_was_meant(problems, text, key, expected):
    message, allowed, suggestion = expected
    rest = '[table]\nsite = "north"\nname = "B12"\ngame = "six-star"\n[shoe]\nprotocol = "simulated"\n'
    for section in ("table", "shoe"):
        if text.startswith(f"[{section}]"):
            body = text.partition("\n")[2]
            text = ""
            rest = rest.replace(f"[{section}]\n", f"[{section}]\n{body}\n")
    found = [problem for problem in problems(text + "\n" + rest) if problem.key == key]
    assert len(found) == 1
    assert message in found[0].message
    assert allowed in found[0].allowed
    assert suggestion in found[0].suggestion
    assert (found[0].suggestion == "") is (suggestion == "")


def test_a_missing_table_section_is_one_sentence_and_the_rest_is_checked(problems):
    found = problems("[shoe]\nlisten_only = true\n")
    assert [(problem.key, problem.line) for problem in found] == [
        ("table", None),
        ("shoe.device", 1),
        ("shoe.listen_only", 2),
    ]
    assert str(found[0]) == "table.toml: table: is missing; write [table] on a line of its own and its keys below"


def test_a_missing_key_names_what_it_takes(problems):
    (found,) = problems('[table]\nsite = "a"\ngame = "six-star"\n[shoe]\nprotocol = "simulated"\n')
    assert str(found).startswith("table.toml:1: table.name: is missing and has no default; allowed: 1 to 32 letters")


@pytest.mark.parametrize(
    "text, line",
    [
        ("[table]\nsite = north\n", 2),
        ("a = 1\na = 2\n", 2),
        ("[table\n", 1),
        ('a = """\n\n', 3),
        ("[a]\nb = [\n1,\n", 4),
    ],
)
def test_what_is_not_toml_is_told_with_its_line(problems, text, line):
    (found,) = problems(text)
    assert found.line == line
    assert found.message.startswith("this is not TOML: ")
    assert "line" not in found.message


def test_one_problem_is_one_sentence_and_more_are_a_list(problems, minimal):
    with pytest.raises(ConfigError, match=r"^table.toml:9: log.level: ") as caught:
        parse(minimal + "[log]\nlevel = 'x'\n", "table.toml")
    assert caught.value.exit_code == 2
    with pytest.raises(ValueError, match=r"the configuration has 2 problems:\n  table.toml:9: ") as caught:
        parse(minimal + "[log]\nlevel = 'x'\n[logs]\n", "table.toml")
    assert isinstance(caught.value, UsageError)


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "does not exist"),
        (b"\xff\xfe", "is no UTF-8 text"),
        (b"#" * 70_000, "is larger than"),
        ("directory", "cannot be read: Is a directory"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_of_its_own(tmp_path, content, message):
    path = tmp_path / "table.toml"
    if content == "directory":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigUnreadableError, match=message) as caught:
        load(path)
    assert isinstance(caught.value, OSError)


def test_windows_line_ends_do_not_shift_lines(tmp_path, minimal):
    path = tmp_path / "table.toml"
    path.write_bytes((minimal + "\n[log]\nlevel = 'x'\n").replace("\n", "\r\n").encode())
    with pytest.raises(ConfigError, match=r":10: log\.level"):
        load(path)


def test_loading_needs_no_heavy_library():
    code = "import sys, shoe_controller.config; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PATH": os.environ["PATH"]}
    ).stdout.split()
    heavy = {"asyncio", "cryptography", "gpiozero", "lgpio", "paho", "serial", "usb", "rich", "starlette", "uvicorn"}
    assert heavy.isdisjoint(loaded)


@pytest.mark.parametrize(
    "text, message",
    [
        ("a = " + "[\n" * 30_000, ": has brackets within brackets without end"),
        ("[table]\na = " + "[" * 2_000, ":2: is longer than 1024 characters"),
        ("a." * 20_000 + "a = 1", ":1: is longer than 1024 characters"),
        ("a = " + "1" * 5_000, ":1: is longer than 1024 characters"),
    ],
    ids=["brackets", "on one line", "dots", "digits"],
)
def test_a_file_made_to_hurt_is_refused_with_a_sentence(problems, text, message):
    (problem,) = problems(text)
    assert str(problem) == f"table.toml{message}"


def test_a_message_shows_the_beginning_of_a_long_value(problems, minimal):
    (problem,) = problems(minimal + '[web]\nport = """' + ("9" * 1_000 + "\\\n") * 6 + '"""\n')
    assert f'"{"9" * 99}… is not allowed' in str(problem)
    assert len(str(problem)) < 300


def test_a_list_of_dates_is_shown_as_it_is_written(problems, minimal):
    (problem,) = problems(minimal + "[web]\nport = [1979-05-27]\n")
    assert '["1979-05-27"] is not allowed' in str(problem)


def test_a_key_is_shown_so_that_a_terminal_does_not_obey_it(problems, minimal):
    (problem,) = problems(minimal + '[web]\n"\\u001b[2J' + "x" * 900 + '" = 1\n')
    assert str(problem).isprintable()
    assert len(str(problem)) < 500


def test_of_thousands_of_problems_the_first_are_told(minimal):
    with pytest.raises(ConfigError) as caught:
        parse(minimal + "[web]\n" + "".join(f"key{number} = 1\n" for number in range(3_000)), "table.toml")
    assert len(caught.value.problems) == 3_000
    assert str(caught.value).splitlines()[-1] == "  … and 2950 more"
    assert len(str(caught.value).splitlines()) == 52
