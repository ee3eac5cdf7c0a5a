import pytest

from shoe_controller.config import parse

TABLE = '[table]\nsite = "north"\nname = "B12"\n'
SIMULATED = '[shoe]\nprotocol = "simulated"\n'


@pytest.mark.parametrize(
    "text, line, key, sentence",
    [
        ('game = "six-stars"\n' + SIMULATED, 4, "table.game", '"six-stars" is not an approved game'),
        ('game = "six_star"\n' + SIMULATED, 4, "table.game", 'did you mean "six-star"?'),
        ('game = "poker"\n' + SIMULATED, 4, "table.game", "'shoe-controller games' lists them"),
        ('game = "six-star"\ndecks = 3\n' + SIMULATED, 5, "table.decks", "six-star is not played with 3 decks"),
        (
            'game = "six-star"\n[shoe]\ndevice = "/dev/ttyS1"\nprotocol = "angel-eye"\n',
            7,
            "shoe.protocol",
            "knows 52-card decks only",
        ),
        (
            'game = "no-commission"\nlimits.fortune_six = { min = "1", max = "2" }\n' + SIMULATED,
            5,
            "table.limits.fortune_six",
            "is no wager of no-commission",
        ),
        (
            'game = "no-commission"\nlimits.bankr = { min = "1", max = "2" }\n' + SIMULATED,
            5,
            "table.limits.bankr",
            'did you mean "banker"?',
        ),
        (
            'game = "no-commission"\nlimits.tie = { min = "10", max = "9.50" }\n' + SIMULATED,
            5,
            "table.limits.tie.min",
            "10 is more than max, 9.50",
        ),
        ('game = "six-star"\n[shoe]\n', 5, "shoe.device", "is missing"),
        (
            'game = "six-star"\n' + SIMULATED + "listen_only = true\n",
            7,
            "shoe.listen_only",
            'needs protocol "angel-eye"',
        ),
        (
            'game = "no-commission"\n[shoe]\ndevice = "/dev/a"\nprotocol = "angel-eye"\nrequire_auth = true\n',
            8,
            "shoe.require_auth",
            "cannot prove who it is",
        ),
        ('game = "six-star"\n' + SIMULATED + "require_auth = true\n", 7, "shoe.require_auth", "auth_key_file"),
        (
            'game = "six-star"\n' + SIMULATED + "[panel]\ngate = 5\n",
            8,
            "panel.buttons.place_bets",
            "pin 5 is wired twice: gate and buttons.place_bets",
        ),
        (
            'game = "six-star"\n' + SIMULATED + "[panel.lamps]\nplayer = 27\n",
            8,
            "panel.lamps.banker",
            "free pins: 0, 1, 2, 3, 7, 8, 9, 10, 11, 17",
        ),
        (
            'game = "six-star"\n[shoe]\ndevice = "/dev/serial0"\n[panel]\nbuzzer = 14\n',
            8,
            "panel.buzzer",
            "pin 14 belongs to the serial port /dev/serial0, which shoe.device uses",
        ),
        (
            'game = "six-star"\n' + SIMULATED + '[panel.buttons]\nkey = "none"\nvoid = "none"\n',
            8,
            "panel.buttons.key",
            "without a key switch anybody could press accept, acknowledge",
        ),
        (
            'game = "six-star"\n' + SIMULATED + '[mqtt]\nbrokers = ["mqtt://a:70000"]\n',
            8,
            "mqtt.brokers",
            "has no valid port",
        ),
        (
            'game = "six-star"\n' + SIMULATED + '[mqtt]\nbrokers = ["mqtt://a", "mqtt://a"]\n',
            8,
            "mqtt.brokers",
            "is named more than once",
        ),
        (
            'game = "six-star"\n' + SIMULATED + '[mqtt]\nbrokers = ["mqtt://a"]\nuser = "x"\n',
            9,
            "mqtt.user",
            "needs password_file as well",
        ),
        (
            'game = "six-star"\n' + SIMULATED + '[mqtt]\nbrokers = ["mqtts://a"]\nkey_file = "/k"\n',
            9,
            "mqtt.key_file",
            "needs cert_file as well",
        ),
        (
            'game = "six-star"\n' + SIMULATED + '[mqtt]\nbrokers = ["mqtt://a:1"]\nca_file = "/k"\n',
            9,
            "mqtt.ca_file",
            "write mqtts://a:1",
        ),
        ('game = "six-star"\n' + SIMULATED + "[mqtt]\nwagers = true\n", 8, "mqtt.wagers", "no effect without brokers"),
        (
            'game = "six-star"\n[shoe]\ndevice = "/dev/a"\n[serial_feed]\ndevice = "/dev/a"\n',
            8,
            "serial_feed.device",
            "/dev/a is the line of the shoe",
        ),
        (
            'game = "six-star"\n' + SIMULATED + '[web]\nlanguages = ["en", "en"]\n',
            8,
            "web.languages",
            "the same language is named twice",
        ),
        (
            'game = "six-star"\n' + SIMULATED + '[web]\nlanguages = ["xx"]\n',
            8,
            "web.languages",
            'the display has no texts in "xx"; allowed: "en", "zh"',
        ),
        (
            'game = "six-star"\n' + SIMULATED + "[web]\nenabled = false\n[metrics]\nother_interfaces = true\n",
            10,
            "metrics.other_interfaces",
            "has no effect unless",
        ),
    ],
)
def test_keys_that_do_not_go_together_are_refused(problems, text, line, key, sentence):
    (found,) = problems(TABLE + text)
    assert (found.line, found.key) == (line, key)
    assert sentence in str(found)


def test_supervisors_without_panel_buttons_use_the_local_socket():
    none = "".join(f'{name} = "none"\n' for name in ("key", "void", "accept", "acknowledge"))
    text = f'{TABLE}game = "six-star"\n{SIMULATED}[panel.buttons]\n{none}'
    assert parse(text, "table.toml").panel.buttons.key == "none"


def test_a_refused_value_is_not_reported_again_for_what_its_default_would_mean(problems):
    # decks falls back to 8 and game to nothing: neither may cause a second problem.
    found = problems(TABLE + 'game = 3\ndecks = "x"\nlimits.tye = { min = "1", max = "2" }\n' + SIMULATED)
    assert [problem.key for problem in found] == ["table.game", "table.decks"]


def test_three_functions_on_one_pin_are_one_problem(problems):
    text = f'{TABLE}game = "six-star"\n{SIMULATED}[panel]\ngate = 5\nbuzzer = 5\n'
    (found,) = problems(text)
    assert found.message == "pin 5 is wired twice: gate and buzzer and buttons.place_bets"
