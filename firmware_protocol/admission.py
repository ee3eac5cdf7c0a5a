"""Admission of a device: the host's verdict on a hello, as a function of what is recorded and of the keys."""

from dataclasses import dataclass

from firmware_protocol.codes import MAJOR, MINOR, HelloFlag, Verdict
from firmware_protocol.events import EventsMissing
from firmware_protocol.greeting import ForeignHello, Hello


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one session has come: the last event handed out, and the last that is on disk."""

    received: int
    committed: int


@dataclass(frozen=True, slots=True)
class Admission:
    """The verdict, where to go on from, and what a person must be told."""

    verdict: Verdict
    resume: int = 1
    progress: Progress | None = None
    refusal: str = ""
    missing: EventsMissing | None = None


@dataclass(frozen=True, slots=True)
class Keys:
    """What host and device showed of their keys in this greeting."""

    host_has: bool
    host_requires: bool
    sealed: bool  # the hello carried a seal
    proved: bool  # and it was that of our key


def refuse_version(hello: ForeignHello) -> Admission:
    """Refuse another major version, and say what to do."""
    advice = "update this controller" if hello.major > MAJOR else "update the firmware of the shoe"
    return Admission(
        Verdict.OTHER_VERSION,
        refusal=f"the shoe speaks version {hello.major}.{hello.minor} of the protocol and this controller "
        f"version {MAJOR}.{MINOR}: {advice}",
    )


def judge(hello: Hello, keys: Keys, progress: Progress | None) -> Admission:
    """Judge a hello of our own major version. `progress` is what we know of its session, if anything."""
    refused = _judge_keys(hello, keys)
    if refused is not None:
        return refused
    if progress is None:  # a session that we have never seen: all that the device keeps is new
        start = Progress(hello.first - 1, hello.first - 1)
        return Admission(Verdict.ACCEPTED, hello.first, start)
    if HelloFlag.FRESH in hello.flags and progress.received:
        # No host ever welcomed this session, yet we recorded events of it: two devices chose the same number.
        return Admission(Verdict.SESSION_TAKEN, hello.first)
    if hello.next <= progress.received:
        # It gives numbers again that are taken. What it keeps is, as far as anyone can tell, what we have.
        return Admission(
            Verdict.SESSION_TAKEN,
            progress.received + 1,
            missing=EventsMissing(
                hello.session,
                hello.first,
                hello.next,
                f"the shoe {hello.identity.serial_number} has gone back to event {hello.next} of session "
                f"{hello.session}, of which {progress.received} are recorded: its memory is not to be trusted. It was "
                "told to begin a new session. Compare the last cards on the table with the record",
            ),
        )
    missing = None
    if hello.first > progress.received + 1:
        missing = EventsMissing(
            hello.session,
            progress.received + 1,
            hello.first - 1,
            f"the shoe {hello.identity.serial_number} no longer has the events {progress.received + 1} to "
            f"{hello.first - 1} of session {hello.session}, and they are not in our record: another host has "
            "taken them, or our record was put back from an older copy",
        )
        progress = Progress(hello.first - 1, hello.first - 1)
    return Admission(Verdict.ACCEPTED, max(progress.committed + 1, hello.first), progress, missing=missing)


def _judge_keys(hello: Hello, keys: Keys) -> Admission | None:
    serial_number = hello.identity.serial_number
    if keys.host_has and not keys.proved and (keys.sealed or HelloFlag.HAS_KEY in hello.flags):
        return Admission(
            Verdict.WRONG_KEY,
            refusal=f"the shoe {serial_number} did not prove that it has the key of this table: give it the key, "
            "or find out where this shoe comes from",
        )
    if keys.host_requires and not keys.proved:
        return Admission(
            Verdict.KEY_REQUIRED,
            refusal=f"the shoe {serial_number} has no key and this table requires an authenticated link: give it "
            "the key of this table",
        )
    if HelloFlag.REQUIRES_KEY in hello.flags and not keys.host_has:
        return Admission(
            Verdict.KEY_REQUIRED,
            refusal=f"the shoe {serial_number} demands an authenticated link and this table has no key: set the "
            "key that the shoe was given",
        )
    return None
