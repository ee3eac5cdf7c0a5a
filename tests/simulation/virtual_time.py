"""Virtual time: an event loop in which nobody ever waits, and the clocks that go with it.

When nothing is ready, the time jumps to the next timer. There are no sockets and no threads: what production code
hands to a thread is done in the loop, after as long as the world says that it takes.
"""

import asyncio
import contextlib
import heapq
from asyncio import events
from collections import deque

START = 1_000.0  # seconds on the monotonic clock when a world begins
EPOCH_NS = 1_767_225_600_000_000_000  # 2026-01-01, the wall clock at second 0


class WorldTime:
    """The one time of a world, and everything that is to happen in it, in order."""

    def __init__(self):
        self.now = START
        self._ready = deque()
        self._timers = []
        self._count = 0  # timers of the same moment are called in the order in which they were set
        self.wall_offset_ns = EPOCH_NS
        self.synced = True

    def mono_ns(self):
        return int(self.now * 1e9)

    def wall_ns(self):
        return self.wall_offset_ns + int(self.now * 1e9)

    def call_at(self, when, callback, *args):
        return self.put_timer(Call(callback, args), when)

    def call_later(self, delay, callback, *args):
        return self.put_timer(Call(callback, args), self.now + delay)

    def call_soon(self, callback, *args):
        call = Call(callback, args)
        self._ready.append(call)
        return call

    def put_ready(self, call):
        self._ready.append(call)

    def take_ready(self, loop):
        """Take out what one loop has ready."""
        everything = list(self._ready)
        self._ready.clear()  # in place: a turn may be under way
        self._ready.extend(call for call in everything if call.loop is not loop)
        return [call for call in everything if call.loop is loop]

    def put_timer(self, call, when):
        self._count += 1
        heapq.heappush(self._timers, (when, self._count, call))
        return call

    def turns(self, count):
        """Do so many turns: there is not something to look at after each of them."""
        turn = self.turn
        for _ in range(count):
            turn()

    def turn(self):
        """Do what is ready; if nothing is, jump to the next timer. False: nothing is left to do."""
        ready, timers = self._ready, self._timers
        if not ready:
            while timers and timers[0][2].off:
                heapq.heappop(timers)
            if not timers:
                return False
            self.now = max(self.now, timers[0][0])
        now = self.now
        while timers and timers[0][0] <= now:
            ready.append(heapq.heappop(timers)[2])
        for _ in range(len(ready)):
            if not ready:
                break  # a loop that ended took its own out
            call = ready.popleft()
            if call.off:
                continue
            loop = call.loop
            if loop is None:
                call.callback(*call.args)
            elif not loop.dead:
                call.run()
        return True


class Call:
    """Something that is to be called: what asyncio has Handle and TimerHandle for, without contexts and debugging."""

    __slots__ = ("args", "callback", "loop", "off", "time")

    def __init__(self, callback, args, loop=None, time=None):
        self.callback = callback
        self.args = args
        self.loop = loop  # None: the world's own, which may raise
        self.time = time
        self.off = False

    def cancel(self):
        self.off = True
        self.callback = self.args = None

    def cancelled(self):
        return self.off

    def when(self):
        return self.time

    def run(self):
        """Call it in its loop."""
        try:
            self.callback(*self.args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - as every event loop does
            self.loop.call_exception_handler({"exception": error, "handle": self})


class VirtualLoop(asyncio.AbstractEventLoop):
    """As much of an event loop as the controller uses without sockets; it lives as long as one controller."""

    def __init__(self, world):
        self._world = world
        self.dead = False
        self._last = deque()  # what is still called after the end, so that tasks can be put away
        self._handler = None
        self.defects = []  # what would have been a traceback in the log
        self.aside_seconds = lambda: (0.0, 0.0)  # before and after a call in a thread

    def time(self):
        return self._world.now

    def call_soon(self, callback, *args, context=None):
        call = Call(callback, args, self)
        if self.dead:
            self._last.append(call)
        else:
            self._world.put_ready(call)
        return call

    call_soon_threadsafe = call_soon

    def call_later(self, delay, callback, *args, context=None):
        when = self._world.now + max(0.0, delay)
        call = Call(callback, args, self, when)
        return call if self.dead else self._world.put_timer(call, when)

    def call_at(self, when, callback, *args, context=None):
        call = Call(callback, args, self, when)
        return call if self.dead else self._world.put_timer(call, when)

    def create_future(self):
        return asyncio.Future(loop=self)

    def create_task(self, coro, *, name=None, context=None):
        return asyncio.Task(coro, loop=self, name=name, context=context)

    def run_in_executor(self, executor, func, *args):
        future = self.create_future()
        before, after = self.aside_seconds()

        def work():
            try:
                result = func(*args)
            except Exception as error:  # noqa: BLE001 - it is raised where the future is awaited
                self.call_later(after, _settle, future, None, error)
            else:
                self.call_later(after, _settle, future, result, None)

        self.call_later(before, work)
        return future

    def get_debug(self):
        return False

    def is_running(self):
        return True

    def is_closed(self):
        return False

    def set_exception_handler(self, handler):
        self._handler = handler

    def call_exception_handler(self, context):
        self.defects.append(context)
        if self._handler is not None:
            self._handler(self, context)

    def default_exception_handler(self, context):
        pass  # it is among the defects

    def end(self, tasks):
        """Nothing that was to be called is called any more; the tasks are put away."""
        self.dead = True
        self._last.extend(self._world.take_ready(self))  # a task that was about to go on must go on to be ended
        for task in tasks:
            task.cancel()
        while self._last:
            call = self._last.popleft()
            if not call.off:
                with contextlib.suppress(SystemExit):  # the cut itself, which tasks hand on to each other
                    call.run()

    @contextlib.contextmanager
    def running(self):
        before = events._get_running_loop()
        events._set_running_loop(self)
        try:
            yield
        finally:
            events._set_running_loop(before)


def _settle(future, result, error):
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


class VirtualTime:
    """Stands where production modules have the module `time`."""

    def __init__(self, world):
        self._world = world

    def perf_counter(self):
        return self._world.now

    monotonic = perf_counter

    def time_ns(self):
        return self._world.wall_ns()
