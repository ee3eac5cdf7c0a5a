import io
import logging
import os
import pty

import pytest

from shoe_controller import logs


@pytest.fixture(autouse=True)
def restored_logging():
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def journal(tmp_path):
    """A stream that looks to the program like the one systemd connected."""
    with (tmp_path / "journal").open("w+") as stream:
        status = os.fstat(stream.fileno())
        yield stream, {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}


def written(stream):
    stream.flush()
    stream.seek(0)
    return stream.read()


@pytest.mark.parametrize(
    "level, priority",
    [
        (logging.DEBUG, 7),
        (logging.INFO, 6),
        (logging.WARNING, 4),
        (logging.ERROR, 3),
        (logging.CRITICAL, 2),
    ],
)
def test_journald_gets_the_priority_of_each_record(journal, level, priority):
    stream, environment = journal
    logs.setup("debug", stream, environment)
    logging.getLogger("shoe").log(level, "the lid is open")
    assert written(stream) == f"<{priority}>shoe: the lid is open\n"


def test_every_line_of_a_traceback_carries_the_priority(journal):
    stream, environment = journal
    logs.setup("info", stream, environment)
    try:
        raise ValueError("a defect")  # noqa: TRY301
    except ValueError:
        logging.getLogger("shoe").exception("a defect was found")
    lines = written(stream).splitlines()
    assert lines[0] == "<3>shoe: a defect was found"
    assert all(line.startswith("<3>") for line in lines)
    assert lines[-1] == "<3>ValueError: a defect"


def test_an_inherited_journal_stream_is_not_ours(tmp_path):
    stream = io.StringIO()
    logs.setup("info", stream, {"JOURNAL_STREAM": "8:1234"})
    logging.getLogger("shoe").info("hello")
    assert stream.getvalue()[8:] == " INFO     hello\n"


def test_fields_follow_the_sentence_and_are_quoted_where_needed():
    stream = io.StringIO()
    logs.setup("info", stream, {})
    logging.getLogger("shoe").info(
        "card dealt", extra=logs.fields(card="Th", round=3, title='Table "B" 12', note="two\nlines", empty="")
    )
    assert stream.getvalue().endswith(
        r'card dealt card=Th round=3 title="Table \"B\" 12" note="two\nlines" empty=""' + "\n"
    )


@pytest.mark.parametrize("environment, coloured", [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_shows_warnings_in_colour_unless_asked_not_to(environment, coloured):
    far, near = pty.openpty()
    with os.fdopen(near, "w") as terminal, os.fdopen(far, "rb", buffering=0) as screen:
        logs.setup("info", terminal, environment)
        logging.getLogger("shoe").warning("the shoe is gone")
        logging.getLogger("shoe").info("the shoe is back")
        terminal.flush()
        shown = b""
        while shown.count(b"\n") < 2:
            shown += screen.read(1000)
    first, second = shown.splitlines()
    assert first.startswith(b"\x1b[33m") is coloured
    assert b"the shoe is gone" in first
    assert b"\x1b" not in second


def test_setting_up_twice_writes_each_record_once():
    first, second = io.StringIO(), io.StringIO()
    logs.setup("info", first, {})
    logs.setup("warning", second, {})
    logging.getLogger("shoe").warning("once")
    logging.getLogger("shoe").info("not at all")
    assert first.getvalue() == ""
    assert second.getvalue().count("once") == 1
    assert "not at all" not in second.getvalue()


def test_libraries_are_quiet_unless_debugging():
    stream = io.StringIO()
    logs.setup("info", stream, {})
    logging.getLogger("uvicorn.error").info("GET /")
    assert stream.getvalue() == ""
    logs.setup("debug", stream, {})
    logging.getLogger("uvicorn.error").info("GET /")
    assert "GET /" in stream.getvalue()


def test_standard_error_is_the_default(capsys):
    logs.setup()
    logging.getLogger("shoe").info("hello")
    assert "hello" in capsys.readouterr().err
