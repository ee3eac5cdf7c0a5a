"""The manual page: every command and option, and nothing that roff takes for a request of its own."""

import os
import re
import subprocess

import pytest

from shoe_controller import __version__
from shoe_controller.cli import main
from shoe_controller.cli.manual_page import _text
from shoe_controller.cli.outline import every_command, outline
from tests.broker import program


@pytest.fixture
def page(capsys):
    assert main(["manual"]) == 0
    return capsys.readouterr().out


def rendered(page):
    groff = program("groff", "groff-base")
    done = subprocess.run(
        [groff, "-man", "-Tutf8", "-ww", "-P-cbou", "-rLL=110n"],
        input=page,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env=os.environ | {"GROFF_NO_SGR": "1"},
    )
    assert done.stderr == "", "groff has warnings"
    return done.stdout


def test_the_page_renders_without_a_warning_and_has_every_command_and_option(page):
    # Lines are broken at dashes, too.
    text = re.sub(r"[\s‐-]+", "", rendered(page))
    for command in every_command(outline()):
        for words in (" ".join(command.path), *(flag for option in command.options for flag in option.flags)):
            assert re.sub(r"[\s-]+", "", words) in text, words
        for line in command.examples.splitlines():
            assert re.sub(r"[\s-]+", "", line) in text


def test_the_sections_are_those_that_people_look_for(page):
    assert re.findall(r"^\.SH (.+)$", page, re.MULTILINE) == [
        "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS", "FILES",
    ]  # fmt: skip
    assert page.startswith(f'.TH SHOE-CONTROLLER 1 "" "shoe-controller {__version__}"')


def test_what_must_be_given_stands_without_brackets(page):
    text = " ".join(rendered(page).split())
    assert "shoe-controller decks register --game GAME --decks N [--csv FILE]" in text
    assert "shoe-controller odds [--decks N] [--format text|json] GAME" in text
    assert "shoe-controller games [--format text|json] [GAME]" in text


@pytest.mark.parametrize(
    "text, escaped",
    [
        (".so /etc/passwd", "\\&.so /etc/passwd"),
        ("'br", "\\&'br"),
        ("a\\b", "a\\eb"),
        ("--all", "\\-\\-all"),
        ("1–3 …", "1\\[u2013]3 \\[u2026]"),
    ],
)
def test_no_text_is_taken_for_a_request(text, escaped):
    assert _text(text) == escaped
