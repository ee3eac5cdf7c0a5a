"""The cable to the simulated shoe: a production Transport's shape, in memory, that can be pulled, and that errs."""

from drivers.errors import DeviceGoneError
from drivers.simulated.wire import GOOD_WIRE, FaultyWire


class Wire(FaultyWire):
    """A wire of the product that, while it is good, spends no time on what it would do in bad times."""

    def send(self, data, now):
        if self.faults is GOOD_WIRE and not self._damage and not self._swallow:
            if data:
                self._put(data, now)
        else:
            super().send(data, now)

    @property
    def busy(self):
        """Whether anything is on its way."""
        return bool(self._on_the_way) or self._held is not None


class Cable:
    """Both ends of one line. The shoe's end is always there; the host's end is open or not, and the cable in or out."""

    description = "the simulated cable"

    def __init__(self, time, twin, chance):
        self._time = time
        self.twin = twin
        self.to_host = Wire(GOOD_WIRE, chance, twin.frames_of)
        self.to_shoe = Wire(GOOD_WIRE, chance, twin.frames_of)
        self.plugged = False
        self.cuts = 0
        self.on_open = lambda: None  # a shoe that keeps nothing is listened to from now on
        self._on_data = None
        self._on_gone = None
        self._timer = None
        self._timer_at = None
        self._twin_due = None  # as it was when everything had moved

    # --- the host's end: a Transport --------------------------------------------------------------------------------

    async def open(self, on_data, on_gone):
        if not self.plugged:
            raise DeviceGoneError("the simulated cable is out")
        self._on_data, self._on_gone = on_data, on_gone
        if not self.twin.keeps:
            self.to_host.clear()  # what was on its way to nobody
            self.on_open()

    def write(self, data):
        if self.plugged:
            self.to_shoe.send(data, self._time.now)
            self._turn_soon()

    async def close(self):
        self._on_data = self._on_gone = None

    @property
    def taken(self):
        """Whether a host is at its end."""
        return self._on_data is not None

    def hang_up(self):
        """The host is no more: its end is closed by the kernel."""
        self._on_data = self._on_gone = None

    # --- the cable itself -------------------------------------------------------------------------------------------

    def plug(self):
        if not self.plugged:
            self.plugged = True
            self.twin.connection_made(self._time.now)
            self.turn()

    def pull(self):
        if not self.plugged:
            return
        self.plugged = False
        self.cuts += 1
        self.to_host.clear()
        self.to_shoe.clear()
        self.twin.connection_lost(self._time.now)
        gone, self._on_data, self._on_gone = self._on_gone, None, None
        if gone is not None:
            gone(DeviceGoneError("the simulated cable was pulled out"))
        self.turn()

    def err(self, faults):
        """Let the wire do wrong from now on."""
        self.to_host.faults = self.to_shoe.faults = faults

    # --- moving bytes -----------------------------------------------------------------------------------------------

    def turn(self):
        """Move everything that can move, then wait for what is due. Called after anything that changes the shoe."""
        now, twin, to_host, to_shoe = self._time.now, self.twin, self.to_host, self.to_shoe
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while to_shoe.busy and (data := to_shoe.arrived(now)):
            twin.receive_data(data, now)
        if self._twin_due is not None and self._twin_due <= now:
            twin.tick(now)
        data = twin.data_to_send()
        if self.plugged:
            to_host.send(data, now)
            while to_host.busy and (data := to_host.arrived(now)):
                if self._on_data is not None:
                    self._on_data(data)
        self._wait(now)

    def _turn_soon(self):
        if self._timer is None or self._timer_at > self._time.now:
            if self._timer is not None:
                self._timer.cancel()
            self._timer_at = self._time.now
            self._timer = self._time.call_soon(self.turn)

    def _wait(self, now):
        soonest = self._twin_due = self.twin.next_deadline()
        for wire in (self.to_host, self.to_shoe):
            if wire.busy:
                arrival = wire.next_arrival()
                soonest = arrival if soonest is None else min(soonest, arrival)
        if self._timer is not None:
            if self._timer_at <= now:
                return
            self._timer.cancel()
            self._timer = None
        if soonest is not None:
            self._timer_at = max(soonest, now + 0.0005)
            self._timer = self._time.call_at(self._timer_at, self.turn)
