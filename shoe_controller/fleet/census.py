"""The census: a consumer that takes the events of all tables of a fleet and notes how long each was on its way."""

import time
from array import array

import msgspec

from shoe_controller.outputs.listener import Listener
from shoe_controller.outputs.settings import MqttSettings


class _Stamped(msgspec.Struct):
    mono_ns: int = 0


_DECODER = msgspec.json.Decoder(_Stamped)


class Census:
    """Counts events once each and in order, as a pit system would; the tables must be on this machine.

    The way of an event begins before it is written to the table's disk and ends here: the monotonic clock is the
    same for all processes of a machine.
    """

    def __init__(self, settings: MqttSettings, site: str) -> None:
        self.events = 0
        self.notices = 0
        self._delays = array("d")  # milliseconds
        self.listener = Listener(
            settings, site, "+", on_event=self._event, on_notice=self._notice, consumer=f"census-{site}", first=1
        )

    @property
    def messages(self) -> int:
        """All that came: events, those that came again, and status, state and health."""
        return self.events + self.notices + self.listener.repeated

    def delay(self, share: float) -> float:
        """Return the milliseconds within which this share of the events came."""
        if not self._delays:
            return 0.0
        ordered = sorted(self._delays)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def _event(self, _place: str, _seq: int, message: bytes) -> None:
        self._delays.append((time.monotonic_ns() - _DECODER.decode(message).mono_ns) / 1e6)
        self.events += 1

    def _notice(self, _place: str, _channel: str, _message: bytes) -> None:
        self.notices += 1
