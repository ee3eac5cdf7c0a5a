"""What docs/integrators.md shows works: its examples run against a real broker, its messages are as the schemas say."""

import asyncio
import json
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from shoe_controller import messages
from shoe_controller.messages import EventEncoder
from shoe_controller.outputs.angel_eye_words import ERRORS
from shoe_controller.outputs.jsonl_lines import from_line
from shoe_controller.outputs.settings import ResendSettings
from shoe_controller.schemas import CHANNELS, FOLDER, file_name
from tests.broker import Collector, Mosquitto, program, wait_for
from tests.outputs.feeding import feeding, quick, until
from tests.outputs.played import PlayedTable

PAGE = (Path(__file__).parents[2] / "docs" / "integrators.md").read_text()
CHANNEL = "resend/request|resend/[a-z<>]+|wagers/in|wagers/out|[a-z]+"


def examples(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@contextmanager
def reading(command, **options):
    """Run a consumer and yield the lines that it prints."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        try:
            reader = threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")))
            reader.start()
            yield lines
        finally:
            process.kill()
            reader.join()


@pytest.fixture
def broker(tmp_path):
    """A broker that tells its log who has subscribed."""
    broker = Mosquitto(tmp_path / "broker", "log_type all").start()
    yield broker
    broker.stop()


@pytest.fixture
def table(tmp_path):
    table = PlayedTable(tmp_path / "journal")
    yield table
    table.close()


def test_the_python_example_prints_each_event_once_in_order_and_asks_for_what_it_missed(table, broker, tmp_path):
    (example,) = examples("python")
    script = tmp_path / "example.py"
    script.write_text(example)
    encoder = EventEncoder("macau", "b7")

    def publish(pit, first, last):
        for record in table.source.facts(first - 1, last - first + 1):
            pit.publish("shoe/v1/macau/b7/events", encoder.encode(record))

    async def scenario(pit, lines):
        # Some arrive, some are lost, one is repeated; then the table itself is there and answers.
        await asyncio.to_thread(publish, pit, 1, 10)
        await asyncio.to_thread(publish, pit, 9, 9)
        await until(lambda: len(lines) == 10, f"ten events, not {lines}")
        table.source.move_cursor("mqtt", 40)
        async with feeding(table, quick(broker.url, resend=ResendSettings(requests_per_minute=600))):
            await until(lambda: len(lines) >= table.source.last_seq, "all events")
        return lines

    table.play_everything()
    with Collector(broker.port) as pit, reading([sys.executable, script, "127.0.0.1", str(broker.port)]) as lines:
        wait_for(lambda: "Sending SUBACK to pit" in broker.log, "the example listens")
        asyncio.run(scenario(pit, lines))
    told = [line.split(" ", 3) for line in lines]
    assert [int(seq) for _, seq, _, _ in told] == list(range(1, table.source.last_seq + 1))
    assert {place for place, *_ in told} == {"shoe/v1/macau/b7"}


def terminal(line, broker):
    """An example for the terminal, spoken to the test's broker."""
    assert "broker.example" in line
    return ["bash", "-c", "exec " + line.replace("-h broker.example", f"-h 127.0.0.1 -p {broker.port}")]


@pytest.fixture
def shell():
    program("mosquitto_sub", "mosquitto-clients")
    return {name: [line for line in examples("sh") if name in line] for name in ("events", "state", "resend")}


def test_the_terminal_examples_show_events_and_state(table, broker, shell):
    async def scenario(lines):
        async with feeding(table, quick(broker.url)) as feed:
            await until(lambda: len(lines) >= table.source.last_seq, "all events")
            await until(lambda: feed.health().connected, "connected")
            shown = await asyncio.to_thread(
                subprocess.run, terminal(shell["state"][0], broker), capture_output=True, timeout=20, check=True
            )
        return json.loads(shown.stdout)

    table.play_everything()
    with reading(terminal(shell["events"][0], broker)) as lines:
        wait_for(lambda: "Sending SUBACK to pit-archive" in broker.log, "mosquitto_sub listens")
        state = asyncio.run(scenario(lines))
    assert [json.loads(line.split(" ", 1)[1])["seq"] for line in lines] == list(range(1, table.source.last_seq + 1))
    assert all(line.startswith("shoe/v1/macau/b7/events {") for line in lines)
    assert state["view"]["shoe"]["id"] == "morning"


def test_the_terminal_examples_ask_again(table, broker, shell):
    async def scenario(lines):
        async with feeding(table, quick(broker.url)) as feed:
            await until(lambda: feed.health().connected and feed.health().lag == 0, "the broker has everything")
            await asyncio.to_thread(subprocess.run, terminal(ask, broker), timeout=20, check=True)
            await until(lambda: len(lines) == 101, "100 events and the end")

    listen, ask = shell["resend"]
    table.play_everything()
    with reading(terminal(listen, broker)) as lines:
        wait_for(lambda: "Sending SUBACK to " in broker.log, "mosquitto_sub listens")
        asyncio.run(scenario(lines))
    assert json.loads(lines[-1])["sent"] == 100


def test_the_javascript_example_names_topics_that_exist():
    (example,) = examples("javascript")
    named = re.findall(r'"shoe/v1/macau/\+/([a-z/]+)"', example)
    assert named
    assert set(named) <= set(CHANNELS)


def test_every_topic_is_in_the_table_of_topics():
    rows = re.findall(rf"^\| `({CHANNEL})` \| (yes|no|–) \|", PAGE, re.MULTILINE)
    named = {name.removesuffix("/<consumer>"): retained for name, retained in rows}
    assert set(named) == set(CHANNELS)
    assert {name for name, retained in named.items() if retained == "yes"} == {messages.STATUS, messages.STATE}
    assert {name for name, retained in named.items() if retained == "–"} == {
        messages.RESEND_REQUEST,
        messages.WAGERS_IN,
    }


def test_every_type_of_event_is_in_the_table_of_types():
    table = PAGE.partition("| type | when |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()[1:] if row)))
    assert named == {name.removeprefix("event.") for name in CHANNELS[messages.EVENTS]}


def test_every_field_of_the_envelope_is_in_its_table():
    table = PAGE.partition("| field | meaning |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines()[1:] if row)))
    assert named == {"type", *messages.Envelope.__struct_fields__}


def test_the_messages_shown_are_as_the_schemas_say():
    shown = [json.loads(text) for text in examples("json")]
    assert len(shown) == 5
    for message in shown:
        channel = (
            messages.RESEND
            if message.get("type") == "resend_end"
            else messages.RESEND_REQUEST
            if "consumer" in message
            else messages.WAGERS_IN
        )
        Draft202012Validator(json.loads((FOLDER / f"{file_name(channel)}.json").read_bytes())).validate(message)


def test_the_line_shown_has_the_right_checksum():
    (line,) = examples("text")
    assert msgspec.json.decode(from_line(line.encode()))["seq"] == 1


def test_the_limits_shown_are_the_defaults():
    limits = ResendSettings()
    assert f"at most {limits.max_messages:,} messages" in PAGE
    assert f"answers {limits.requests_per_minute} requests a minute" in PAGE


def test_the_error_codes_shown_are_those_sent():
    row = next(line for line in PAGE.splitlines() if line.startswith("| `irregularity` with effect"))
    assert {int(code) for code in re.findall(r"\b(\d) ", row)} == set(ERRORS.values())
