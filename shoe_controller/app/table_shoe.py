"""The shoe of the table: its link and its connection, what it tells as inputs, and what it is told to do."""

import logging
import secrets
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from random import SystemRandom

from drivers.reconnect import ShoeConnection, ShoeHealth
from drivers.shoe_device import connect_shoe
from drivers.transport import Transport
from firmware_protocol import events as e
from firmware_protocol.angel_eye_frames import StartByte
from firmware_protocol.angel_eye_happenings import OverdrawnMeaning
from firmware_protocol.angel_eye_link import AngelEyeHostLink, AngelEyeSettings
from firmware_protocol.host_link import HostLink
from shoe_controller.config import Shoe, read_secret
from shoe_controller.journal.store import Journal
from shoe_controller.machine.states import BURNING, DEALING, DECISION
from shoe_controller.metrics import Metrics
from shoe_controller.service.arrivals import SHOE_FAULT, Faces, from_link, from_shoe
from shoe_controller.service.table import Arrived, Consider
from shoe_controller.session import inputs as i
from shoe_controller.session.facts import AnyFact, Resolved
from shoe_controller.session.holding import MISSING_FAULT
from shoe_controller.session.view import TableView

logger = logging.getLogger(__name__)

SOURCE = "shoe"
LID = "lid"
# Faults that the device itself tells; another device, or one that was reset, does not have them.
DEVICE_FAULTS = frozenset({LID, *map(str, e.DeviceFault)})
OVERDRAW = str(e.DeviceFault.OVERDRAW)
# While cards are due, one that nobody heard of would make a wrong round.
CARDS_DUE = frozenset({BURNING, DECISION, *DEALING})
_COMPARE = "Compare the cards on the table with the record, and acknowledge"


def make_link(shoe: Shoe, journal: Journal, frames: Iterable[bytes]) -> HostLink | AngelEyeHostLink:
    """Return the host's end of the configured protocol, with its memory taken from the journal."""
    if shoe.protocol == "angel-eye":
        settings = AngelEyeSettings(
            session=_fresh_session(journal),
            listen_only=shoe.listen_only,
            bcc_operations=StartByte(shoe.bcc_operations),
            bcc_unsolicited=StartByte(shoe.bcc_events),
            overdrawn_card=OverdrawnMeaning(shoe.disputed_card),
        )
        return AngelEyeHostLink(settings, already_handled=frames)
    key = read_secret(Path(shoe.auth_key_file)) if shoe.auth_key_file else None
    return HostLink(
        nonce=lambda: secrets.token_bytes(16),
        recorded=journal.last_event,
        key=key,
        require_auth=shoe.require_auth,
    )


def _fresh_session(journal: Journal) -> int:
    """Return a session for a shoe that knows none: one that the journal has never seen."""
    while journal.last_event(session := secrets.randbelow(2**32 - 1) + 1) is not None:
        pass  # once in four thousand million
    return session


class TableShoe:
    """One shoe in the event loop.

    `recorded` is the last event on disk of a session, `submit` takes inputs, `consider` what depends on the table once
    those are on disk, `told` is called after the last one for now, `view` is the table as it is known to stand.
    """

    def __init__(
        self,
        shoe: Shoe,
        transport: Transport,
        link: HostLink | AngelEyeHostLink,
        faces: Callable[[], Faces],
        *,
        recorded: Callable[[int], int | None],
        submit: Callable[[Arrived], None],
        consider: Callable[[Consider], None],
        told: Callable[[], None],
        view: Callable[[], TableView],
        metrics: Metrics,
    ) -> None:
        self._shoe = shoe
        self._link = link
        self._load_faces = faces
        self._faces = faces()
        self._recorded = recorded
        self._submit = submit
        self._consider = consider
        self._view = view
        self._metrics = metrics
        self._connection: ShoeConnection = connect_shoe(
            transport,
            "angel-eye" if shoe.protocol == "angel-eye" else "open",
            link,
            self._on_event,
            chance=SystemRandom(),
            on_told=told,
        )
        self._gate: bool | None = None  # what the shoe was told last; None: it must be told anew
        self._serial_number: str | None = None
        self._at_fault = SHOE_FAULT in view().faults
        self._refusal = ""
        self._beats_astray = 0  # heartbeats in a row that found the gate otherwise than it should be
        self._leaving = False

    async def run(self) -> None:
        """Keep the shoe connected until cancelled."""
        if not self._at_fault:
            self._tell(i.RaiseFault(fault=SHOE_FAULT, detail="the shoe is not connected yet"))
            self._at_fault = True
        self._metrics.connection(SOURCE, up=False)
        await self._connection.run()

    def leave(self) -> None:
        """Let go of the shoe in good order: that the line ends now is no fault."""
        self.gate(False)
        self._leaving = True

    def health(self) -> ShoeHealth:
        """Tell how the connection is."""
        return self._connection.health()

    def acknowledge(self, session: int, number: int) -> None:
        """Tell the shoe that its event is on disk."""
        self._connection.acknowledge(session, number)

    def gate(self, is_open: bool) -> None:
        """Have the shoe's own gate opened or shut."""
        if is_open != self._gate and not self._at_fault and not self._shoe.listen_only:
            self._gate = is_open
            self._connection.gate(is_open)

    def committed(self, facts: Iterable[AnyFact]) -> None:
        """Do what facts demand of the shoe: a new shoe has its decks, a resolved error is cleared."""
        for fact in facts:
            kind = fact.__struct_config__.tag
            if kind == "shoe_loaded":
                self._faces = self._load_faces()
            elif kind in ("resolved", "acknowledged"):
                self._clear_errors(fact)

    def _clear_errors(self, fact: AnyFact) -> None:
        """Clear the errors that an Angel Eye stands in; the surplus card goes where the house policy has it go."""
        if not isinstance(self._link, AngelEyeHostLink) or self._shoe.listen_only:
            return
        link, view = self._link, self._view()
        if OVERDRAW in view.faults and isinstance(fact, Resolved) and not view.open_irregularities:
            # A card that waits for the next round is kept; one of a void round, or burned, is discarded.
            keep = fact.how == "reconstruct" and bool(view.carried)
            self._connection.command(lambda: link.clear_overdraw(keep=keep))
        elif any(fault in DEVICE_FAULTS and fault not in (OVERDRAW, LID) for fault in view.faults):
            self._connection.command(link.clear_error)

    def _tell(self, happened: i.AnyInput) -> None:
        self._submit(_from_shoe(happened))

    def _on_event(self, event: e.LinkEvent) -> None:
        if self._leaving:
            return  # what is not acknowledged comes again at the next start
        if isinstance(event, e.ShoeEvent):
            if isinstance(event.happening, e.DeviceStarted):
                self._consider(_without_device_faults)
            if isinstance(event.happening, e.FaultChanged):
                self._gate = None  # a shoe shuts its gate by itself in a fault, and leaves it shut
            happened = from_shoe(event.happening, self._faces)
            self._submit(Arrived(happened, SOURCE, (event.session, event.number), event.raw))
        elif isinstance(event, e.Heartbeat):
            self._on_heartbeat(event)
        elif isinstance(event, e.CommandAnswered):
            if not event.ok:
                logger.warning("shoe: a command was not carried out: %s", event.reason)
        else:
            self._on_link(event)

    def _on_link(self, notice: e.LinkNotice) -> None:
        if isinstance(notice, e.LinkRefused):
            if notice.reason == self._refusal:
                return
            self._refusal = notice.reason
        if isinstance(notice, e.LinkUp):
            self._link_up(notice)
            return
        for happened in from_link(notice):
            if not (isinstance(happened, i.RaiseFault) and happened.fault == SHOE_FAULT and self._at_fault):
                self._tell(happened)
        if isinstance(notice, e.LinkDown | e.LinkRefused):
            self._at_fault = True
            self._gate = None
            self._metrics.connection(SOURCE, up=False)

    def _link_up(self, up: e.LinkUp) -> None:
        self._metrics.connection(SOURCE, up=True)
        if self._connection.health().connects > 1:
            self._metrics.reconnected(SOURCE)
        self._refusal = ""
        keeps_nothing = isinstance(self._link, AngelEyeHostLink)
        another = self._serial_number not in (None, up.serial_number)

        def connected(view: TableView) -> Iterable[Arrived]:
            yield from map(_from_shoe, from_link(up))
            # What such a shoe stands in may have ended while nobody listened; what has not, it says again.
            if keeps_nothing or another:
                yield from _without_device_faults(view)
            if view.state in CARDS_DUE and (keeps_nothing or self._recorded(up.session) is None):
                yield _from_shoe(i.RaiseFault(fault=MISSING_FAULT, detail=_unheard(keeps_nothing=keeps_nothing)))

        self._consider(connected)
        self._serial_number = up.serial_number
        if self._at_fault:
            self._at_fault = False
            self._tell(i.ClearFault(fault=SHOE_FAULT))
        if isinstance(self._link, HostLink):
            link = self._link
            self._connection.command(lambda: link.set_time(time.time_ns() // 1000))
        self._gate = None
        self.gate(self._view().gate_open)

    def _on_heartbeat(self, beat: e.Heartbeat) -> None:
        self._metrics.reading(
            reads=beat.reads,
            retries=beat.retries,
            misses=beat.misses,
            crc_errors=beat.crc_errors,
            buffered=beat.buffered,
        )
        # One beat may have been on its way while the gate moved; two in a row say that it did not, or moved by itself.
        wanted = self._view().gate_open
        self._beats_astray = self._beats_astray + 1 if beat.gate_open not in (None, wanted) else 0
        if self._beats_astray < 2 or self._shoe.listen_only:
            return
        if self._beats_astray == 2:
            logger.warning("shoe: its gate is not %s as it should be: it is told again", "open" if wanted else "shut")
        self._connection.gate(wanted)


def _from_shoe(happened: i.AnyInput) -> Arrived:
    return Arrived(happened, SOURCE)


def _without_device_faults(view: TableView) -> Iterable[Arrived]:
    return [_from_shoe(i.ClearFault(fault=fault)) for fault in view.faults if fault in DEVICE_FAULTS]


def _unheard(*, keeps_nothing: bool) -> str:
    """Say why a card may have been drawn that nobody heard of."""
    if keeps_nothing:
        return f"the shoe keeps nothing for us, and was not connected while cards were due. {_COMPARE}"
    return f"the shoe has lost its memory while cards were due, with what it had not told yet. {_COMPARE}"
