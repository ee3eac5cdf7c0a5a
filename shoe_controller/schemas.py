"""JSON Schemas of all messages, made from the types: `python -m shoe_controller.schemas` writes docs/schemas/.

One file a channel (`status.json`, `wagers-out.json`, …) and one a type of event (`events/card.json`, …). An event is
a fact with the envelope around it, in one flat object. Objects allow fields that are not named: fields are added.
"""

import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import msgspec

from shoe_controller import messages
from shoe_controller.messages import (
    ALSO_ON,
    ANSWERS_TO_WAGERS,
    Envelope,
    Health,
    ResendEnd,
    ResendRequest,
    State,
    Status,
    WagerError,
    WagerRequest,
)
from shoe_controller.session.facts import AnyFact, Fact

Schema = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "docs" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Who one message of a name is: `event.card` for facts, the channel or the tag for the others.
_OTHERS: dict[str, type[msgspec.Struct]] = {
    "status": Status,
    "state": State,
    "health": Health,
    "resend_request": ResendRequest,
    "resend_end": ResendEnd,
    "wager_request": WagerRequest,
    "wager_error": WagerError,
}
_FACTS: dict[str, type[Fact]] = {str(fact.__struct_config__.tag): fact for fact in get_args(AnyFact)}


def _events(types: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"event.{name}" for name in types)


def _also_on(channel: str) -> tuple[str, ...]:
    return _events(name for name in _FACTS if ALSO_ON.get(name) == channel)


# Channel -> the messages that come on it.
CHANNELS: dict[str, tuple[str, ...]] = {
    messages.STATUS: ("status",),
    messages.STATE: ("state",),
    messages.EVENTS: _events(_FACTS),
    messages.ROUNDS: _also_on(messages.ROUNDS),
    messages.IRREGULARITIES: _also_on(messages.IRREGULARITIES),
    messages.HEALTH: ("health",),
    messages.RESEND_REQUEST: ("resend_request",),
    messages.RESEND: (*_events(_FACTS), "resend_end"),
    messages.WAGERS_IN: ("wager_request",),
    messages.WAGERS_OUT: (*_events(name for name in _FACTS if name in ANSWERS_TO_WAGERS), "wager_error"),
}


def message_schemas(where: str = "#/$defs/") -> tuple[dict[str, Schema], dict[str, Schema]]:
    """Return the schema of each message by name, and those that they refer to at `where`."""
    bodies: dict[str, Schema] = {}
    shared: dict[str, Schema] = {}
    for name, kind in _OTHERS.items():
        bodies[name], others = _body(kind, where)
        shared |= others
    envelope, _ = _body(Envelope, where)
    for name, fact in _FACTS.items():
        body, others = _body(fact, where)
        shared |= others
        # A clock event has a `synced` of its own, which means more than the envelope's.
        more = {key: schema for key, schema in envelope["properties"].items() if key not in body["properties"]}
        bodies[f"event.{name}"] = body | {
            "title": name,
            "properties": body["properties"] | more,
            "required": body["required"] + [key for key in envelope["required"] if key in more],
        }
    return bodies, shared


def _body(kind: type[msgspec.Struct], where: str) -> tuple[Schema, dict[str, Schema]]:
    """Return the schema of a type itself, and those of the types inside it."""
    _, components = msgspec.json.schema_components([kind], ref_template=where + "{name}")
    for schema in components.values():
        if "description" in schema:
            schema["description"] = _for_readers(schema["description"])
    return components.pop(kind.__name__), components


def _for_readers(docstring: str) -> str:
    """Return a docstring as text for people who read JSON: paragraphs without line breaks, and null for None."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(re.sub(r"\bNone\b", "null", text.replace("\n", " ")) for text in paragraphs)


def documents() -> dict[str, bytes]:
    """Return the files: path below the folder -> contents."""
    from shoe_controller.asyncapi import asyncapi  # noqa: PLC0415  (it is made of what is defined here)

    bodies, shared = message_schemas()
    files: dict[str, Schema] = {"asyncapi.json": asyncapi()}
    for channel, names in CHANNELS.items():
        if len(names) == 1:
            schema = _closed(bodies[names[0]], shared)
        else:
            defs = {name: bodies[name] for name in names}
            schema = _closed({"title": channel, "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names]}, shared, defs)
        files[f"{file_name(channel)}.json"] = _identified(file_name(channel), schema)
    for name in _FACTS:
        files[f"events/{name}.json"] = _identified(f"events:{name}", _closed(bodies[f"event.{name}"], shared))
    return {path: msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n" for path, schema in files.items()}


def file_name(channel: str) -> str:
    """Return the name of a channel's file, without its ending."""
    return channel.replace("/", "-")


def _identified(name: str, schema: Schema) -> Schema:
    return {"$schema": DIALECT, "$id": f"urn:shoe:v1:{name}"} | schema


def _closed(schema: Schema, shared: dict[str, Schema], defs: dict[str, Schema] | None = None) -> Schema:
    """Return a schema with all that it refers to, so that each file stands alone."""
    defs = dict(defs or {})
    text = msgspec.json.encode([schema, defs]).decode()
    while missing := [name for name in shared if name not in defs and f'"#/$defs/{name}"' in text]:
        defs |= {name: shared[name] for name in missing}
        text = msgspec.json.encode([schema, defs]).decode()
    return schema | ({"$defs": defs} if defs else {})


def write(folder: Path) -> int:
    """Write the files, remove those that are no longer made, and return how many there are."""
    made = documents()
    for old in folder.rglob("*.json"):
        if str(old.relative_to(folder)) not in made:
            old.unlink()
    for path, contents in made.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(contents)
    return len(made)


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    print(f"{write(place)} files in {place}")
