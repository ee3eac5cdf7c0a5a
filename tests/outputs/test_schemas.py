"""The published schemas are current, and real messages, new and old, are as they say."""

import asyncio
import functools
import json
import re
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from shoe_controller import messages
from shoe_controller.messages import Envelope, topic
from shoe_controller.schemas import CHANNELS, FOLDER, documents, file_name, message_schemas, write
from shoe_controller.session import facts
from tests.broker import Collector
from tests.outputs.feeding import feeding, quick, until
from tests.outputs.played import PlayedTable

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))
PLACE = ("macau", "b7")
REQUESTS = (
    {"consumer": "pit", "id": "1", "first": 1, "last": 5},
    {"consumer": "pit", "shoe": "evening-2", "round": 1},
    {"consumer": "pit", "first": 9, "last": 1},
)
WAGERS = (
    {"id": "t3-1", "action": "place", "who": "seat-3", "wager": "player", "amount": "10.00"},
    {"id": "t3-2", "action": "withdraw", "who": "seat-3", "wager": "player"},
)


@functools.cache
def validator(path):
    schema = json.loads((FOLDER / path).read_bytes())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def channel_of(name):
    channel = name.removeprefix(topic(*PLACE, ""))
    return messages.RESEND if channel == "resend/pit" else channel


def types(channel):
    return {name.removeprefix("event.") for name in CHANNELS[channel]}


@pytest.fixture
def table(tmp_path):
    table = PlayedTable(tmp_path / "journal")
    yield table
    table.close()


@pytest.fixture
def heard(table, broker):
    """Everything that goes over a real broker when everything happens at a table: (topic, payload)."""

    def book(wager):
        table.happen(wager, source="wagers")
        feeds[0].wake()

    feeds = []

    async def scenario():
        async with feeding(table, quick(broker.url, wagers=True), submit=book) as feed:
            feeds.append(feed)
            await until(lambda: len(pit.seqs()) == table.source.last_seq, "all events")
            for channel, sent in ((messages.RESEND_REQUEST, REQUESTS), (messages.WAGERS_IN, WAGERS)):
                for message in sent:
                    await asyncio.to_thread(pit.publish, topic(*PLACE, channel), msgspec.json.encode(message))
            await asyncio.to_thread(pit.publish, topic(*PLACE, messages.WAGERS_IN), b'{"id":"t3-3"}')
            ends = lambda: [end for end in pit.on("resend/pit") if end["type"] == "resend_end"]  # noqa: E731
            await until(lambda: len(ends()) == len(REQUESTS), "the answers to requests")
            await until(lambda: any(answer["type"] == "wager_error" for answer in pit.on("wagers/out")), "an error")
        await until(lambda: not pit.on("status")[-1]["online"], "the good-bye")

    table.play_everything()
    with Collector(broker.port) as pit:
        asyncio.run(scenario())
    return [(name, payload) for name, payload, _ in pit.messages if payload != b'{"id":"t3-3"}']


def test_the_committed_schemas_are_those_that_the_types_give():
    committed = {str(path.relative_to(FOLDER)): path.read_bytes() for path in FOLDER.rglob("*.json")}
    assert committed == documents(), "run `make schemas` and commit what changed"


def test_writing_removes_what_is_no_longer_made(tmp_path):
    (tmp_path / "old.json").write_text("{}")
    assert write(tmp_path) == len(documents())
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json")} == set(documents())


def test_every_message_of_a_real_table_is_as_its_schema_says(heard):
    by_channel = {channel: validator(f"{file_name(channel)}.json") for channel in CHANNELS}
    by_type = {path.stem: validator(f"events/{path.name}") for path in (FOLDER / "events").iterdir()}
    seen = {channel: set() for channel in CHANNELS}
    for name, payload in heard:
        message = json.loads(payload)
        channel = channel_of(name)
        by_channel[channel].validate(message)
        seen[channel].add(message.get("type"))
        if channel == messages.EVENTS:
            by_type[message["type"]].validate(message)
    # Nothing was left unsaid: all types of events, and all channels.
    assert seen[messages.EVENTS] == types(messages.EVENTS)
    for channel in (messages.ROUNDS, messages.IRREGULARITIES, messages.WAGERS_OUT):
        assert seen[channel] == types(channel), channel
    assert all(seen.values())


def test_no_object_names_a_key_twice(heard):
    def once(pairs):
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)

    for _, payload in heard:
        json.loads(payload, object_pairs_hook=once)


@pytest.mark.parametrize(
    "path, message",
    [
        ("events.json", {"type": "betting", "shoe": "S1", "round": 1}),  # no envelope
        ("events/card.json", {"type": "betting"}),
        ("wagers-in.json", WAGERS[0] | {"amount": 10}),
        ("wagers-in.json", WAGERS[0] | {"tip": "1.00"}),
        ("resend-request.json", {"consumer": "a/b"}),
        ("status.json", {"online": True}),
    ],
)
def test_what_is_no_message_of_ours_is_told_apart(path, message):
    assert not validator(path).is_valid(message)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_messages_of_old_are_as_the_new_schema_says(path):
    """Fields are added, never changed: add files (CHANNEL.VERSION.json), never edit one."""
    channel = path.stem.partition(".")[0]
    golden = validator(f"{channel}.json")
    for message in json.loads(path.read_bytes()):
        golden.validate(message)


def test_there_is_an_old_message_of_every_kind():
    kept = {
        (path.stem.partition(".")[0], message.get("type"))
        for path in GOLDEN
        for message in json.loads(path.read_bytes())
    }
    for channel in CHANNELS:
        expected = types(channel) if channel != messages.RESEND else {"resend_end", "round"}
        missing = {name for name in expected if (file_name(channel), name) not in kept} if len(expected) > 1 else set()
        assert not missing, f"{channel}: capture one and add it to tests/outputs/golden"
        assert any(name == file_name(channel) for name, _ in kept), channel


def test_messages_with_fields_that_are_newer_than_the_schema_still_pass():
    for path in GOLDEN:
        channel = path.stem.partition(".")[0]
        if channel not in {"resend-request", "wagers-in"}:  # what we read, we read strictly
            for message in json.loads(path.read_bytes()):
                validator(f"{channel}.json").validate(message | {"added_in_version_9": 1})


def test_an_envelope_hides_no_field_of_a_fact():
    envelope = set(Envelope.__struct_fields__)
    for fact in msgspec.inspect.type_info(facts.AnyFact).types:
        hidden = envelope & set(fact.cls.__struct_fields__)
        assert hidden == ({"synced"} if fact.cls is facts.ClockStepped else set())


# AsyncAPI 3: which members each object may have, as far as our document uses them; * must be there.
ASYNCAPI = {
    "": "asyncapi* info* defaultContentType servers channels operations components",
    "info": "title* version* description license",
    "servers/x": "host* protocol* variables bindings description",
    "channels/x": "address messages description parameters",
    "operations/x": "action* channel* summary messages bindings",
    "components": "schemas messages parameters",
    "components/messages/x": "name title summary payload",
    "components/parameters/x": "description enum default examples location",
}


def objects(document, path):
    found = [document]
    for step in filter(None, path.split("/")):
        found = [value for one in found for value in (one.values() if step == "x" else [one[step]])]
    return found


@pytest.fixture(scope="module")
def asyncapi():
    return json.loads((FOLDER / "asyncapi.json").read_bytes())


@pytest.mark.parametrize("path, members", ASYNCAPI.items())
def test_the_asyncapi_document_has_the_members_that_the_standard_names(asyncapi, path, members):
    allowed = {member.strip("*") for member in members.split()}
    required = {member.strip("*") for member in members.split() if member.endswith("*")}
    for one in objects(asyncapi, path):
        assert required <= set(one) <= allowed


def test_the_asyncapi_document_holds_together(asyncapi):
    assert asyncapi["asyncapi"].startswith("3.")
    text = json.dumps(asyncapi)
    for reference in set(re.findall(r'"\$ref": "([^"]*)"', text)):
        place = asyncapi
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
    for name, operation in asyncapi["operations"].items():
        assert operation["action"] in {"send", "receive"}
        assert operation["channel"]["$ref"] == f"#/channels/{name}"
    for channel in asyncapi["channels"].values():
        assert set(re.findall(r"{(\w+)}", channel["address"])) == set(channel["parameters"])
    received = {name for name, operation in asyncapi["operations"].items() if operation["action"] == "receive"}
    assert received == {"resend-request", "wagers-in"}
    for collection in ("channels", "operations"):
        assert set(asyncapi[collection]) == {file_name(channel) for channel in CHANNELS}
    for collection in ("schemas", "messages", "parameters"):
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in asyncapi["components"][collection])


def test_the_asyncapi_document_has_the_schemas_of_the_files(asyncapi):
    bodies, shared = message_schemas("#/components/schemas/")
    assert asyncapi["components"]["schemas"] == json.loads(msgspec.json.encode(bodies | shared))
    for schema in asyncapi["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
