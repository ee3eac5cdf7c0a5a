"""Wire: one direction of the line to a simulated shoe, which may lose, flip, double, swap, delay and split.

Bytes go in with a time and come out with a time. Without faults everything arrives at once and in order.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

# A frame that is held back to be overtaken is let go after this long when nothing follows.
OVERTAKEN_WITHIN = 0.05
# Time between the pieces of split data: more than a read takes, less than any time-out.
PIECE_GAP = 0.001
LONGEST_PIECE = 7


@dataclass(frozen=True, slots=True)
class WireFaults:
    """What the wire does wrong. Shares are of bytes (lose, flip) or of frames; `late` is in seconds, at most."""

    lose: float = 0.0
    flip: float = 0.0
    drop: float = 0.0
    repeat: float = 0.0
    reorder: float = 0.0
    late: float = 0.0
    split: bool = False


GOOD_WIRE = WireFaults()


class FaultyWire:
    """One direction. `frames_of` takes data apart for the faults that happen to whole frames."""

    def __init__(self, faults: WireFaults, chance: Random, frames_of: Callable[[bytes], list[bytes]]) -> None:
        self.faults = faults
        self._chance = chance
        self._frames_of = frames_of
        self._on_the_way: deque[tuple[float, bytes]] = deque()
        self._held: tuple[float, bytes] | None = None
        self._damage = 0
        self._swallow = 0

    def damage_next(self, frames: int) -> None:
        """Flip one bit in each of the next so many frames, whatever the faults are."""
        self._damage = frames

    def swallow_next(self, frames: int) -> None:
        """Lose each of the next so many frames."""
        self._swallow = frames

    def send(self, data: bytes, now: float) -> None:
        """Put bytes in."""
        if not data:
            return
        if self.faults == GOOD_WIRE and not self._damage and not self._swallow:
            self._put(data, now)
            return
        for frame in self._frames_of(data):
            self._send_frame(frame, now)

    def arrived(self, now: float) -> bytes:
        """Give what has arrived by now. Split data comes one piece a call."""
        if self._held is not None and now >= self._held[0]:
            self._let_go(now)
        data = bytearray()
        while self._on_the_way and self._on_the_way[0][0] <= now:
            data += self._on_the_way.popleft()[1]
            if self.faults.split:
                break
        return bytes(data)

    def next_arrival(self) -> float | None:
        """Tell when something arrives."""
        times = [self._on_the_way[0][0]] if self._on_the_way else []
        if self._held is not None:
            times.append(self._held[0])
        return min(times, default=None)

    def clear(self) -> None:
        """Lose what is on the way: the cable was pulled."""
        self._on_the_way.clear()
        self._held = None

    def _send_frame(self, frame: bytes, now: float) -> None:
        if self._swallow:
            self._swallow -= 1
            return
        if self._happens(self.faults.drop):
            return
        if self._damage:
            self._damage -= 1
            frame = self._flip_bit(frame, self._chance.randrange(len(frame)))
        frame = self._mangled(frame)
        if self._held is not None:
            self._put(frame, now)
            self._let_go(now)
        elif self._happens(self.faults.reorder):
            self._held = (now + OVERTAKEN_WITHIN, frame)
        else:
            self._put(frame, now)
        if self._happens(self.faults.repeat):
            self._put(frame, now)

    def _mangled(self, frame: bytes) -> bytes:
        """Lose and flip single bytes."""
        if self.faults.lose:
            frame = bytes(byte for byte in frame if not self._happens(self.faults.lose))
        if self.faults.flip:
            for at in range(len(frame)):
                if self._happens(self.faults.flip):
                    frame = self._flip_bit(frame, at)
        return frame

    def _flip_bit(self, frame: bytes, at: int) -> bytes:
        return frame[:at] + bytes((frame[at] ^ 1 << self._chance.randrange(8),)) + frame[at + 1 :]

    def _let_go(self, now: float) -> None:
        assert self._held is not None
        frame = self._held[1]
        self._held = None
        self._put(frame, now)

    def _put(self, data: bytes, now: float) -> None:
        if self.faults.late:
            now += self._chance.uniform(0, self.faults.late)
        if self._on_the_way:
            # However late, bytes of one line do not overtake each other.
            now = max(now, self._on_the_way[-1][0])
        if not self.faults.split:
            self._on_the_way.append((now, data))
            return
        while data:
            size = self._chance.randint(1, LONGEST_PIECE)
            self._on_the_way.append((now, data[:size]))
            data = data[size:]
            now += PIECE_GAP

    def _happens(self, share: float) -> bool:
        return bool(share) and self._chance.random() < share
