"""The AsyncAPI 3 document of the feed: channels, who sends what, and the messages' schemas, in one file."""

from typing import Any

import msgspec

from shoe_controller import messages
from shoe_controller.messages import ROOT
from shoe_controller.schemas import CHANNELS, file_name, message_schemas

Document = dict[str, Any]

VERSION = "1.0.0"
_ABOUT = """\
What a baccarat table says to other systems over MQTT, and the two things that it can be told. Every fact of the table
comes on `events`, numbered without gaps by `seq`; a message that comes twice has the same `seq` and the same bytes.
All messages are sent with QoS 1. Fields, and types of events, are added in later versions and never changed: ignore
what you do not know.
"""


class _Channel(msgspec.Struct, frozen=True):
    """What the document says of a channel beside its messages."""

    description: str
    to_table: bool = False
    retained: bool = False


_CHANNELS = {
    messages.STATUS: _Channel("Whether the table is connected; also its last will.", retained=True),
    messages.STATE: _Channel("The table as it stands, for those who join in the middle of a round.", retained=True),
    messages.EVENTS: _Channel("Every fact, in order, numbered without gaps."),
    messages.ROUNDS: _Channel("The events `round` again, for those who need results only."),
    messages.IRREGULARITIES: _Channel("The events of irregularities, decisions and acknowledgements again."),
    messages.HEALTH: _Channel("The condition of the controller, at regular intervals."),
    messages.RESEND_REQUEST: _Channel("Asks for events again; answered on `resend/{consumer}`.", to_table=True),
    messages.RESEND: _Channel("The original messages again, to the byte, and then a `resend_end`."),
    messages.WAGERS_IN: _Channel("Wagers from a layout or terminal, where the house allows them.", to_table=True),
    messages.WAGERS_OUT: _Channel("Answers to wagers, and settlements."),
}
_PARAMETERS = {
    "site": {"description": "The casino or property, as configured at the table."},
    "table": {"description": "The table, as configured."},
    "consumer": {"description": "The consumer that asked, by the name it gave in its request."},
}


def asyncapi() -> Document:
    """Return the document."""
    bodies, shared = message_schemas("#/components/schemas/")
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Shoe controller feed",
            "version": VERSION,
            "description": _ABOUT,
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": _servers(),
        "channels": {file_name(channel): _channel(channel) for channel in CHANNELS},
        "operations": {file_name(channel): _operation(channel) for channel in CHANNELS},
        "components": {
            "parameters": _PARAMETERS,
            "messages": {
                name: {
                    "name": name,
                    "title": body["title"],
                    "summary": body.get("description", "").split("\n")[0],
                    "payload": {"$ref": f"#/components/schemas/{name}"},
                }
                for name, body in bodies.items()
            },
            "schemas": bodies | shared,
        },
    }


def _servers() -> Document:
    will = {"lastWill": {"topic": f"{ROOT}/{{site}}/{{table}}/{messages.STATUS}", "qos": 1, "retain": True}}
    bindings = {"mqtt": will | {"cleanSession": True, "keepAlive": 30, "bindingVersion": "0.2.0"}}
    variables = {"host": {"description": "The house's broker."}}
    return {
        "plain": {"host": "{host}:1883", "protocol": "mqtt", "variables": variables, "bindings": bindings},
        "tls": {"host": "{host}:8883", "protocol": "secure-mqtt", "variables": variables, "bindings": bindings},
    }


def _channel(channel: str) -> Document:
    address = f"{ROOT}/{{site}}/{{table}}/{channel}"
    names = ["site", "table"]
    if channel == messages.RESEND:
        address += "/{consumer}"
        names.append("consumer")
    return {
        "address": address,
        "description": _CHANNELS[channel].description,
        "parameters": {name: {"$ref": f"#/components/parameters/{name}"} for name in names},
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in CHANNELS[channel]},
    }


def _operation(channel: str) -> Document:
    about = _CHANNELS[channel]
    return {
        # The document describes the table: what others send, the table receives.
        "action": "receive" if about.to_table else "send",
        "channel": {"$ref": f"#/channels/{file_name(channel)}"},
        "summary": about.description,
        "messages": [{"$ref": f"#/channels/{file_name(channel)}/messages/{name}"} for name in CHANNELS[channel]],
        "bindings": {"mqtt": {"qos": 1, "retain": about.retained, "bindingVersion": "0.2.0"}},
    }
