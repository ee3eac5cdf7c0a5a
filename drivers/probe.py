"""Asking who is on a line: the open protocol's query is sent, and whoever answers with a hello has told what it is.

No welcome follows, so no link begins: the device keeps its events and goes on announcing itself.
"""

import asyncio
import secrets
from dataclasses import dataclass

from drivers.errors import DeviceGoneError
from drivers.transport import Transport
from firmware_protocol.admission import refuse_version
from firmware_protocol.auth import SEAL_BYTES
from firmware_protocol.codes import MAJOR, SEALED, Capability, HelloFlag, Kind
from firmware_protocol.frames import Decoder, encode_frame
from firmware_protocol.greeting import NONCE_BYTES, ForeignHello, Hello, Query
from firmware_protocol.messages import read_from_device
from firmware_protocol.timing import ANNOUNCE, QUERY_RETRY

# A device without a link also announces itself: this is time for three queries and one announcement.
WAIT = ANNOUNCE + QUERY_RETRY
# A connect to a device server that is switched off would last longer than anybody watches a list.
OPEN_WITHIN = 3.0


@dataclass(frozen=True, slots=True)
class FoundShoe:
    """What a device said of itself in its hello."""

    kind: str
    serial_number: str
    firmware_version: str
    firmware_sha256: str
    protocol_version: str
    capabilities: tuple[str, ...]
    buffer_cards: int
    has_key: bool
    requires_key: bool


@dataclass(frozen=True, slots=True)
class Probe:
    """What came of asking: a shoe, or the sentence why there is none. `asked`: the line was open for the whole time."""

    shoe: FoundShoe | None
    trouble: str | None = None
    asked: bool = True


async def ask(transport: Transport, *, wait: float = WAIT) -> Probe:
    """Open the line, ask for a hello until one comes or the time is over, and close the line again."""
    name = transport.description
    ears = _Ears()
    opened = False
    try:
        async with asyncio.timeout(OPEN_WITHIN):
            await transport.open(ears.on_data, ears.on_gone)
        opened = True
        query = encode_frame(Query(secrets.token_bytes(NONCE_BYTES)).to_bytes())
        async with asyncio.timeout(wait):
            while not ears.answer.done():
                transport.write(query)
                await asyncio.wait({ears.answer}, timeout=QUERY_RETRY)
        answer = ears.answer.result()
    except DeviceGoneError as error:
        return Probe(None, str(error), asked=False)
    except TimeoutError:
        if not opened:
            return Probe(None, f"{name} could not be opened within {OPEN_WITHIN:g} s", asked=False)
        return Probe(None, _silence(name, ears, wait))
    finally:
        await transport.close()
    if isinstance(answer, ForeignHello):
        return Probe(None, refuse_version(answer).refusal)
    return Probe(_found(answer))


class _Ears:
    """Listens for a hello, whoever it is meant for: an announcement tells as much."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[Hello | ForeignHello] = asyncio.get_running_loop().create_future()
        self.heard = 0
        self._decoder = Decoder()

    def on_data(self, data: bytes) -> None:
        self.heard += len(data)
        for frame in self._decoder.feed(data):
            message = read_from_device(_unsealed(frame.body))
            if isinstance(message, Hello | ForeignHello) and not self.answer.done():
                self.answer.set_result(message)

    def on_gone(self, error: DeviceGoneError) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


def _unsealed(body: bytes) -> bytes:
    """Take the seal off a hello, unchecked: here it is only read, nothing is believed because of it."""
    return bytes((Kind.HELLO,)) + body[1:-SEAL_BYTES] if body[0] == Kind.HELLO | SEALED else body


def _silence(name: str, ears: _Ears, wait: float) -> str:
    if ears.heard:
        return (
            f"{ears.heard} bytes came from {name}, but no hello of the open protocol:"
            " another device, an Angel Eye, or another speed"
        )
    return f"nothing answered on {name} within {wait:g} s"


def _found(hello: Hello) -> FoundShoe:
    identity = hello.identity
    return FoundShoe(
        kind=identity.kind.name.lower(),
        serial_number=identity.serial_number,
        firmware_version=identity.firmware_version,
        firmware_sha256=identity.firmware_sha256.hex(),
        protocol_version=f"{MAJOR}.{hello.minor}",
        capabilities=tuple(one.name.lower() for one in Capability if identity.capabilities & one and one.name),
        buffer_cards=identity.buffer_cards,
        has_key=HelloFlag.HAS_KEY in hello.flags,
        requires_key=HelloFlag.REQUIRES_KEY in hello.flags,
    )
