"""The host's link to an Angel Eye II-EX, without I/O and without a clock.

    bytes -> FrameReader -> Copies -> happenings with (session, number)
    operations -> Requests -> bytes

The wire has no session, no acknowledgement and only one byte of sequence. The session is chosen by the host, numbers
are given by this link, and `acknowledge` does nothing: what the shoe said while nobody listened is gone. What can be
done without acknowledgement is done: an event arrives once if one of its three copies does.

Silence is not a fault: a shoe between rounds says nothing. The link is up while the transport is, until the shoe leaves
an operation unanswered.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from firmware_protocol.angel_eye_copies import Believed, Copies, Disputed
from firmware_protocol.angel_eye_frames import (
    Accepted,
    Drop,
    FrameReader,
    Received,
    Rejected,
    StartByte,
    Unsolicited,
)
from firmware_protocol.angel_eye_happenings import OVERDRAW, OverdrawnMeaning, Teller, tell_disputed
from firmware_protocol.angel_eye_messages import ErrorChanged
from firmware_protocol.angel_eye_operations import Operation
from firmware_protocol.angel_eye_refusals import NakCode
from firmware_protocol.angel_eye_requests import Requests
from firmware_protocol.events import CardDrawn, HabitSeen, Happening, LinkDown, LinkEvent, LinkUp, ShoeEvent

# No byte for this long: a frame that was begun will not end. Serial device servers hold bytes back for up to some
# hundred milliseconds.
SILENCE = 1.0


@dataclass(frozen=True, slots=True)
class AngelEyeSettings:
    """How this shoe speaks, where Angel Eyes differ, and what the host may do."""

    session: int
    listen_only: bool = False
    bcc_operations: StartByte = StartByte.INCLUDE
    bcc_unsolicited: StartByte = StartByte.EXCLUDE
    overdrawn_card: OverdrawnMeaning = OverdrawnMeaning.NEXT_ROUND


class AngelEyeHostLink:
    """One shoe, from the host's side.

    `first_number` continues the numbering of a session after a restart. `already_handled` are the raw frames of the
    last events before it: a copy of them that is still on its way is recognised.
    """

    def __init__(
        self, settings: AngelEyeSettings, *, first_number: int = 1, already_handled: Iterable[bytes] = ()
    ) -> None:
        self._settings = settings
        self._number = first_number
        self._already_handled = tuple(already_handled)
        self._reader = FrameReader(settings.bcc_unsolicited)
        self._copies = Copies()
        self._teller = Teller(settings.overdrawn_card)
        self._requests = Requests(settings.bcc_operations)
        self._events: list[LinkEvent] = []
        self._habits: set[HabitSeen] = set()
        self._check_fits = False
        self._connected = False
        self._up = False
        self._now = 0.0
        self._last_heard = 0.0

    @property
    def counters(self) -> Counter[str]:
        """What was dropped and why, since the link was made."""
        counts: Counter[str] = Counter({reason.value: n for reason, n in self._reader.dropped.items()})
        counts["repeated"] = self._copies.repeated
        counts["outvoted"] = self._copies.outvoted
        counts["stray-answer"] = self._requests.stray_answers
        return counts

    def connection_made(self, now: float) -> None:
        """Begin: the transport is there."""
        self._now = self._last_heard = now
        self._connected = True
        self._habits.clear()
        self._check_fits = False
        self._teller.line_opened()
        reader = FrameReader(self._settings.bcc_unsolicited)
        for frame in self._already_handled:
            for received in reader.feed(frame):
                if isinstance(received, Unsolicited):
                    self._copies.already_handled(received, now)
        self._already_handled = ()
        self._set_up()

    def connection_lost(self, now: float) -> None:
        """Answer what is under way: the transport is gone."""
        self._now = now
        self._connected = False
        self._reader.line_silent()
        self._copies.no_more()
        self._requests.give_up("The line to the shoe is gone.")
        self._hand_out(now)
        self._set_down("The line to the shoe is gone.")

    def receive_data(self, data: bytes, now: float) -> None:
        """Take bytes in, however they were cut."""
        # Bytes come before deadlines: when the host was late to listen, the shoe was not late to speak.
        self._now = self._last_heard = now
        unfit = self._reader.dropped[Drop.OTHER_CHECK]
        for received in self._reader.feed(data):
            self._received(received, now)
        if self._reader.dropped[Drop.OTHER_CHECK] > unfit and not self._check_fits:
            self._habit("bcc_unsolicited", self._settings.bcc_unsolicited.other)
        self._hand_out(now)

    def tick(self, now: float) -> None:
        """Do what is due by now."""
        self._now = now
        if self._reader.waiting and now >= self._last_heard + SILENCE:
            self._reader.line_silent()
        self._requests.tick(now)
        self._hand_out(now)

    def next_deadline(self) -> float | None:
        """Tell when `tick` is wanted next."""
        wanted = [self._copies.deadline(), self._requests.deadline(self._now)]
        if self._reader.waiting:
            wanted.append(self._last_heard + SILENCE)
        return min((at for at in wanted if at is not None), default=None)

    def events(self) -> list[LinkEvent]:
        """Hand out what happened since the last call."""
        self._collect_answers()
        events, self._events = self._events, []
        return events

    def data_to_send(self) -> bytes:
        """Hand out what is to be written; nothing, ever, when only listening."""
        if self._settings.listen_only:
            return b""
        data = bytes(self._requests.to_send)
        self._requests.to_send.clear()
        return data

    def acknowledge(self, session: int, number: int) -> None:
        """Do nothing: the shoe keeps no events and knows no acknowledgement."""

    def lock(self) -> int:
        """Lock the shoe; the answer comes as CommandAnswered with the number given here."""
        return self._ask(Operation.LOCK)

    def unlock(self) -> int:
        """Unlock the shoe."""
        return self._ask(Operation.UNLOCK)

    def gate(self, is_open: bool) -> int:
        """Let cards out or not: unlock or lock."""
        return self.unlock() if is_open else self.lock()

    def clear_error(self) -> int:
        """Clear any error but an overdraw."""
        return self._ask(Operation.CLEAR_ERROR)

    def clear_overdraw(self, *, keep: bool) -> int:
        """Clear an overdraw: keep the surplus card for the next round, or discard it (burn) and use the next."""
        return self._ask(Operation.KEEP_OVERDRAWN if keep else Operation.DISCARD_OVERDRAWN)

    def confirm_game(self) -> int:
        """Confirm the game process."""
        return self._ask(Operation.CONFIRM_GAME)

    def _ask(self, operation: Operation) -> int:
        if self._settings.listen_only:
            return self._requests.refuse("This link only listens (listen_only): nothing is ever sent to the shoe.")
        if not self._connected:
            return self._requests.refuse("The shoe is not connected.")
        return self._requests.ask(operation)

    def _received(self, received: Received, now: float) -> None:
        self._set_up()
        if isinstance(received, Unsolicited):
            self._check_fits = True
            self._habit("bcc_unsolicited", self._settings.bcc_unsolicited)
            self._copies.heard(received, now)
        elif self._settings.listen_only:
            return  # an answer to the host beside us
        elif isinstance(received, Accepted):
            self._habit("bcc_operations", self._settings.bcc_operations)
            self._requests.accepted(now)
        elif isinstance(received, Rejected):
            if received.reason is NakCode.CHECK:
                self._habit("bcc_operations", f"not {self._settings.bcc_operations}")
            self._requests.rejected(received.reason, now)
        else:
            self._requests.stray_answers += 1

    def _hand_out(self, now: float) -> None:
        for believed in self._copies.believed(now):
            self._tell(believed)
        self._collect_answers()
        if self._requests.unanswered:
            self._requests.unanswered = False
            self._set_down("The shoe does not answer operations: check that it is on and connected.")

    def _tell(self, believed: Believed) -> None:
        if isinstance(believed, Disputed):
            raw = b"".join(frame.raw for frame in believed.frames)
            self._happened(tell_disputed(tuple(frame.message for frame in believed.frames)), raw)
            return
        message = believed.message
        if isinstance(message, ErrorChanged) and not message.active:
            self._requests.error_cancelled(overdraw=message.code == OVERDRAW)
        for happening in self._teller.tell(message):
            self._happened(happening, believed.raw)
            if isinstance(happening, CardDrawn) and happening.overdrawn:
                self._habit("overdrawn_card", "told before" if happening.told_before else "not told before")

    def _happened(self, happening: Happening, raw: bytes) -> None:
        self._events.append(ShoeEvent(self._settings.session, self._number, happening, raw))
        self._number += 1

    def _collect_answers(self) -> None:
        self._events += self._requests.answers
        self._requests.answers.clear()

    def _habit(self, habit: str, seen: str) -> None:
        notice = HabitSeen(habit, str(seen))
        if notice not in self._habits:
            self._habits.add(notice)
            self._events.append(notice)

    def _set_up(self) -> None:
        if not self._up and self._connected:
            self._up = True
            self._events.append(LinkUp("angel-eye", "", "", None, 0, self._settings.session, authenticated=False))

    def _set_down(self, reason: str) -> None:
        if self._up:
            self._up = False
            self._events.append(LinkDown(reason))
