"""The wagers inlet: wager requests from an electronic layout or terminal, each booked once however often it is sent.

The journal is the memory of ids: the answer to a wager is a fact that carries the request's id. What is answered, and
by which clause, is decided by the session in journal order; here is only checked that the request is one.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from drivers.aside import aside
from shoe_controller.errors import ControllerError
from shoe_controller.journal.entry import FactRecord, FactSource
from shoe_controller.journal.errors import JournalError
from shoe_controller.messages import EventEncoder, WagerError, WagerRequest
from shoe_controller.money import parse_amount
from shoe_controller.outputs.lookback import backwards
from shoe_controller.outside_json import NOT_UNDERSTOOD, why
from shoe_controller.session.inputs import PlaceWager, WithdrawWager

LOGGER = logging.getLogger(__name__)
# Ids are remembered this far back in the journal, and so many of them.
MAX_REMEMBERED = 50_000
# Requests handed over and not yet answered by a fact. The session answers in milliseconds.
MAX_PENDING = 1000
_CHUNK = 256

Submit = Callable[[PlaceWager | WithdrawWager], None]
_DECODER = msgspec.json.Decoder(WagerRequest)


class _WithId(msgspec.Struct):
    id: str = ""


class WagersInlet:
    """Checks wager requests, recognises repeated ones, and hands the others to the session."""

    def __init__(
        self, source: FactSource, encoder: EventEncoder, submit: Submit, answer: Callable[[bytes], None]
    ) -> None:
        self._source = source
        self._encoder = encoder
        self._submit = submit
        self._answer = answer
        self._answered: OrderedDict[str, int] = OrderedDict()  # id -> seq of the fact that answered it
        self._pending: set[str] = set()
        self._seen = source.last_seq

    async def load(self) -> None:
        """Read the ids of the recent past from the journal, in a thread."""
        newest = self._seen

        def read() -> list[FactRecord]:
            return [record for record in backwards(self._source) if record.type == "wager" and record.seq <= newest]

        for record in reversed(await aside(read)):
            self._remember(record)

    def look(self) -> None:
        """Note the answers that were committed since the last look."""
        while records := self._source.facts(self._seen, _CHUNK):
            for record in records:
                if record.type == "wager":
                    self._remember(record)
            self._seen = records[-1].seq

    def _remember(self, record: FactRecord) -> None:
        wager_id = msgspec.json.decode(record.fact, type=_WithId).id
        if wager_id:
            # The first answer stands; a fact of the same id later would be a mistake of the session's.
            self._answered.setdefault(wager_id, record.seq)
            self._pending.discard(wager_id)
            if len(self._answered) > MAX_REMEMBERED:
                self._answered.popitem(last=False)

    def take(self, payload: bytes, *, retained: bool) -> None:
        """Take a request from the network."""
        try:
            request = _DECODER.decode(payload)
            if retained:
                raise msgspec.ValidationError("a wager may not be sent as a retained message: it would come back")
            wager = _as_input(request)
        except (*NOT_UNDERSTOOD, ValueError) as error:
            self._complain(_id_of(payload), why(error))
            return
        try:
            self.look()
            seq = self._answered.get(request.id, 0)
            booked = self._source.facts(seq - 1, 1) if seq else []
        except JournalError as error:
            # Without the journal it cannot be known whether this one was booked already.
            self._complain(request.id, f"{error}; send it again later")
            return
        if booked:
            self._answer(self._encoder.encode(booked[0]))
        elif request.id in self._pending:
            LOGGER.debug("wager %s came again before it was answered", request.id)
        elif len(self._pending) >= MAX_PENDING:
            self._complain(request.id, "too many wagers wait to be booked: send it again a little later")
        else:
            self._hand_over(request.id, wager)

    def _hand_over(self, wager_id: str, wager: PlaceWager | WithdrawWager) -> None:
        self._pending.add(wager_id)
        try:
            self._submit(wager)
        except ControllerError as error:
            self._pending.discard(wager_id)
            self._complain(wager_id, str(error))

    def _complain(self, wager_id: str, error: str) -> None:
        self._answer(msgspec.json.encode(WagerError(id=wager_id, error=error)))


def _as_input(request: WagerRequest) -> PlaceWager | WithdrawWager:
    amount = None if request.amount is None else parse_amount(request.amount)
    if request.action == "withdraw":
        return WithdrawWager(who=request.who, wager=request.wager, amount=amount, id=request.id)
    if amount is None:
        raise ValueError("a wager that is placed needs an `amount`")
    return PlaceWager(who=request.who, wager=request.wager, amount=amount, id=request.id)


def _id_of(payload: bytes) -> str:
    """Return the id of a request that is wrong otherwise, so that its sender recognises the answer."""
    try:
        return msgspec.json.decode(payload, type=_WithId).id[:64]
    except NOT_UNDERSTOOD:
        return ""
