"""Pty shoe: a simulated shoe on a real pseudo-terminal, run by the event loop.

The pty is the cable. Like a cable it does not tell the shoe whether anybody listens, and like a cable without
handshake it loses what the other end does not take. `unplug` and `plug` pull it and put it back; each time the device
path may be another one, which is what the symbolic link `link` is for.
"""

import asyncio
import contextlib
import os
import pty
import tty
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from drivers.simulated.actions import Action, Actions, Twin, no_words, number, run_line
from drivers.simulated.auto_deal import AutoDealer
from drivers.simulated.errors import CannotDoError, OrderError
from drivers.simulated.faults import Faults
from drivers.simulated.order import chance
from drivers.simulated.wire import FaultyWire

READ_AT_ONCE = 4096
# Never called more often than this, whatever the deadlines say.
SHORTEST_WAIT = 0.0005


class SimulatedShoe:
    """A twin on a pty. Use it as an asynchronous context manager, or `start` and `stop` it in a running loop.

    `auto`: seconds for each card that it draws by itself while the gate is open; None: it deals on command only.
    `on_line` gets a line of text about everything that happens.
    """

    def __init__(
        self,
        twin: Twin,
        *,
        faults: Faults | None = None,
        seed: int = 1,
        auto: float | None = None,
        link: Path | None = None,
        on_line: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self.twin = twin
        faults = faults or Faults()
        self._to_host = FaultyWire(faults.wire, chance(seed, "wire to host"), twin.frames_of)
        # What a host sends is not taken apart: faults of whole frames happen to what is written at once.
        self._to_shoe = FaultyWire(faults.wire, chance(seed, "wire to shoe"), lambda data: [data])
        self._noise = chance(seed, "noise")
        self._link = link
        self._on_line = on_line
        self._auto = None if auto is None else AutoDealer(twin, auto, faults, chance(seed, "dealer"), on_line)
        self._ends: tuple[int, int] | None = None  # master and slave
        self._path: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._running = False
        self.actions: Actions = {**twin.actions, **self._cable_actions()}

    @property
    def path(self) -> str:
        """The device path of the cable's other end; raises CannotDoError while it is unplugged."""
        if self._path is None:
            raise CannotDoError("The cable is unplugged: there is no device path.")
        return self._path

    @property
    def device(self) -> str:
        """What to put into a configuration: the symbolic link if there is one, else the path."""
        return str(self._link) if self._link is not None else self.path

    async def start(self) -> None:
        """Plug the cable in and begin."""
        self._running = True
        self.plug()

    async def stop(self) -> None:
        """Pull the cable out and end."""
        self._running = False
        self.unplug()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def plug(self) -> None:
        """Put the cable in."""
        if self._ends is not None:
            raise CannotDoError("The cable is plugged in already.")
        master, slave = pty.openpty()
        tty.setraw(slave)
        os.set_blocking(master, False)
        # The slave stays open here: without anybody on the other end, reading the master would fail for ever.
        self._ends = (master, slave)
        self._path = os.ttyname(slave)
        if self._link is not None:
            try:
                _point(self._link, self._path)
            except OSError as error:
                self.unplug()
                raise OrderError(f"The link {self._link} cannot be made: {error.strerror}.") from error
        asyncio.get_running_loop().add_reader(master, self._readable)
        self.twin.connection_made(self._now())
        self._turn()

    def unplug(self) -> None:
        """Pull the cable out: what is on the way is lost. Harmless when it is out."""
        if self._ends is None:
            return
        asyncio.get_running_loop().remove_reader(self._ends[0])
        for end in self._ends:
            os.close(end)
        if self._link is not None and self._link.is_symlink() and str(self._link.readlink()) == self._path:
            self._link.unlink()
        self._ends = self._path = None
        self._to_host.clear()
        self._to_shoe.clear()
        self.twin.connection_lost(self._now())
        self._turn()

    def do(self, line: str) -> str:
        """Do what a line of text says and give the answer, or raise SimulatedShoeError with a sentence."""
        answer = run_line(self.actions, line, self._now())
        self._turn()
        return answer

    # --- the cable ----------------------------------------------------------------------------------------------

    def _cable_actions(self) -> Actions:
        return {
            "unplug": Action("", "pull the cable out", self._unplug_action),
            "plug": Action("", "put the cable in again; the device path may change", self._plug_action),
            "damage": Action("[N]", "flip a bit in each of the next N frames to the host", self._damage_action),
            "swallow": Action("[N]", "lose the next N frames to the host", self._swallow_action),
            "noise": Action("[N]", "send N random bytes to the host", self._noise_action),
            "status": Action("", "tell how the shoe is", self._status_action),
        }

    def _unplug_action(self, words: list[str], now: float) -> str:
        del now
        no_words(words)
        self.unplug()
        return "cable pulled out"

    def _plug_action(self, words: list[str], now: float) -> str:
        del now
        no_words(words)
        self.plug()
        return f"cable plugged in: {self.path}"

    def _damage_action(self, words: list[str], now: float) -> str:
        del now
        frames = number(words, default=1, least=1, most=1000)
        self._to_host.damage_next(frames)
        return f"the next {frames} frames will be damaged"

    def _swallow_action(self, words: list[str], now: float) -> str:
        del now
        frames = number(words, default=1, least=1, most=1000)
        self._to_host.swallow_next(frames)
        return f"the next {frames} frames will be lost"

    def _noise_action(self, words: list[str], now: float) -> str:
        count = number(words, default=16, least=1, most=100_000)
        self._to_host.send(self._noise.randbytes(count), now)
        return f"{count} bytes of noise sent"

    def _status_action(self, words: list[str], now: float) -> str:
        del now
        no_words(words)
        body = self.twin.body
        return (
            f"{self.twin.protocol} shoe on {self._path or 'no cable'}: gate {'open' if body.gate_open else 'shut'}, "
            f"{body.cards_left} cards inside, {len(body.out)} out{', in trouble' if self.twin.troubled else ''}"
        )

    # --- the loop -----------------------------------------------------------------------------------------------

    def _readable(self) -> None:
        assert self._ends is not None
        with contextlib.suppress(BlockingIOError):
            self._to_shoe.send(os.read(self._ends[0], READ_AT_ONCE), self._now())
        self._turn()

    def _turn(self) -> None:
        """Move everything that can move, then sleep until something is due."""
        now = self._now()
        while data := self._to_shoe.arrived(now):
            self.twin.receive_data(data, now)
        self.twin.tick(now)
        if self._auto is not None:
            self._auto.tick(now)
        self._to_host.send(self.twin.data_to_send(), now)
        while data := self._to_host.arrived(now):
            self._write(data)
        for line in self.twin.body.story():
            self._on_line(line)
        self._schedule(now)

    def _write(self, data: bytes) -> None:
        if self._ends is None:
            return
        # Nobody reads and the line is full: what does not fit is lost, as on a line without handshake.
        with contextlib.suppress(BlockingIOError):
            os.write(self._ends[0], data)

    def _schedule(self, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._running:
            return
        # A shoe without its cable goes on: cards can be drawn, and a device with a memory keeps them.
        deadlines = [self.twin.next_deadline(), self._to_host.next_arrival(), self._to_shoe.next_arrival()]
        if self._auto is not None:
            deadlines.append(self._auto.next_deadline())
        soonest = min((at for at in deadlines if at is not None), default=None)
        if soonest is not None:
            wait = max(soonest - now, SHORTEST_WAIT)
            self._timer = asyncio.get_running_loop().call_later(wait, self._turn)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _point(link: Path, target: str) -> None:
    """Make a symbolic link point to the target, in one step even if it exists; never replace anything else."""
    if link.exists() and not link.is_symlink():
        raise FileExistsError(17, "there is something else of that name")
    beside = link.with_name(f".{link.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    beside.symlink_to(target)
    beside.replace(link)
