"""The golden vectors: read from the data files that ship with the protocol, and turned into messages."""

import json
from pathlib import Path

import firmware_protocol
from firmware_protocol import events as happened
from firmware_protocol.codes import BeatFlag, DeviceKind, HelloFlag, LampMode, QueryFlag, Status, Verdict
from firmware_protocol.commands import Answer, Gate, Identify, Lamp, Reboot, SelfTest, SetTime, UnknownCommand
from firmware_protocol.delivery import Ack, Beat, Event, Replay
from firmware_protocol.greeting import ForeignHello, Hello, Identity, Query, Welcome

FOLDER = Path(firmware_protocol.__file__).parent / "vectors"


def load(name):
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


MESSAGES = load("messages") if (FOLDER / "messages.json").exists() else []
IDS = [vector["name"] for vector in MESSAGES]


def wire(vector):
    return bytes.fromhex(vector["wire"])


def body(vector):
    return bytes.fromhex(vector["body"])


def message(vector):
    """Give the message that a vector describes in words."""
    fields = dict(vector["fields"])
    kind = vector["message"]
    if kind in HAPPENINGS:
        place = fields.pop("session"), fields.pop("number")
        return Event(*place, HAPPENINGS[kind](fields))
    return OTHERS[kind](fields)


def _card(fields):
    fields = dict(fields)
    uid = fields.pop("uid", None)
    return happened.Card(uid=bytes.fromhex(uid) if uid else None, **fields)


def _returned(fields):
    card = fields.get("card")
    return happened.CardReturned(_card(card) if card else None)


def _foreign(fields):
    uid = fields.get("uid")
    return happened.CardForeign(bytes.fromhex(uid) if uid else None)


def _fault(fault):
    return lambda fields: happened.FaultChanged(fault, **fields)


HAPPENINGS = {
    "card-drawn": lambda fields: happened.CardDrawn(_card(fields["card"])),
    "cards-together": lambda fields: happened.CardsTogether(
        tuple(_card(card) for card in fields["cards"]), fields["order_known"]
    ),
    "card-returned": _returned,
    "unreadable": lambda fields: happened.CardUnreadable(**fields),
    "cut-card": lambda _: happened.CutCardSeen(),
    "empty": lambda _: happened.ShoeEmptied(),
    "lid": lambda fields: happened.LidMoved(**fields),
    "jam": _fault(happened.DeviceFault.JAM),
    "sensor-fault": _fault(happened.DeviceFault.SENSOR),
    "tamper": _fault(happened.DeviceFault.TAMPER),
    "overflow": _fault(happened.DeviceFault.OVERFLOW),
    "self-test-done": lambda fields: happened.SelfTestDone(**fields),
    "started": lambda _: happened.DeviceStarted(),
    "foreign": _foreign,
    "not-understood": lambda fields: happened.NotUnderstood(**fields),
}


def _hello(fields):
    return Hello(
        Identity(
            DeviceKind[fields["kind"].upper()],
            fields["serial_number"],
            fields["firmware_version"],
            bytes.fromhex(fields["firmware_sha256"]),
            fields["capabilities"],
            fields["buffer_cards"],
        ),
        fields["session"],
        fields["first"],
        fields["next"],
        HelloFlag(fields["flags"]),
        bytes.fromhex(fields["host_nonce"]),
        bytes.fromhex(fields["device_nonce"]),
        minor=fields["minor"],
    )


def _welcome(fields):
    return Welcome(
        Verdict[fields["verdict"].upper().replace("-", "_")],
        bytes.fromhex(fields["host_nonce"]),
        bytes.fromhex(fields["device_nonce"]),
        fields["session"],
        fields["resume"],
    )


def _beat(fields):
    return Beat(**{**fields, "flags": BeatFlag(fields["flags"])})


OTHERS = {
    "hello": _hello,
    "foreign-hello": lambda fields: ForeignHello(**fields),
    "heartbeat": _beat,
    "answer": lambda fields: Answer(fields["command_id"], Status[fields["status"].upper().replace("-", "_")]),
    "query": lambda fields: Query(bytes.fromhex(fields["nonce"]), QueryFlag(fields["flags"])),
    "welcome": _welcome,
    "ack": lambda fields: Ack(**fields),
    "replay": lambda fields: Replay(**fields),
    "gate": lambda fields: Gate(**fields),
    "lamp": lambda fields: Lamp(**{**fields, "mode": LampMode[fields["mode"].upper().replace("-", "_")]}),
    "set-time": lambda fields: SetTime(**fields),
    "self-test": lambda fields: SelfTest(**fields),
    "identify": lambda fields: Identify(**fields),
    "reboot": lambda fields: Reboot(**fields),
    "unknown-command": lambda fields: UnknownCommand(
        fields["kind"], fields["command_id"], bytes.fromhex(fields["data"])
    ),
}
