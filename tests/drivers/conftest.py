"""Cables for the tests: ptys that can be unplugged, and waiting for a condition with a deadline."""

import asyncio
import os
import pty
import time
import tty

import pytest

DEADLINE = 20.0


class Cable:
    """A serial cable: `path` is the port on our side, `device_*` is the shoe's end."""

    def __init__(self):
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        os.close(slave)
        os.set_blocking(self.master, False)

    def device_send(self, data):
        os.write(self.master, data)

    def device_read(self):
        try:
            return os.read(self.master, 65536)
        except (BlockingIOError, OSError):
            # EIO: nobody has the port open.
            return b""

    def unplug(self):
        if self.master is not None:
            os.close(self.master)
            self.master = None


class Ears:
    """Callbacks of a transport that keep what they heard."""

    def __init__(self):
        self.data = b""
        self.gone = []

    def on_data(self, data):
        self.data += data

    def on_gone(self, error):
        self.gone.append(error)


@pytest.fixture
def cable():
    cable = Cable()
    yield cable
    cable.unplug()


@pytest.fixture
def new_cable():
    cables = []

    def make():
        cables.append(Cable())
        return cables[-1]

    yield make
    for cable in cables:
        cable.unplug()


@pytest.fixture
def ears():
    return Ears()


@pytest.fixture
def run():
    """Run a coroutine to its end, but not for ever."""

    def run(coroutine):
        async def bounded():
            async with asyncio.timeout(2 * DEADLINE):
                return await coroutine

        return asyncio.run(bounded())

    return run


@pytest.fixture
def until():
    """Wait in the loop until the condition holds."""

    async def until(condition, what="the condition"):
        end = time.monotonic() + DEADLINE
        while not (value := condition()):
            assert time.monotonic() < end, f"{what} did not come true within {DEADLINE} s"
            await asyncio.sleep(0.001)
        return value

    return until
