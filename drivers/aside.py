"""Calls that may block for seconds (connect, close of a serial port), kept off the event loop.

A daemon thread of its own, not the loop's executor: at exit the executor is joined, and a connect to a dead
serial server would hold up the end of the program for its whole time-out.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def aside(call: Callable[[], T], *, undo: Callable[[T], None] | None = None) -> T:
    """Run `call` in a thread and return its result.

    If we are cancelled meanwhile, `undo` gets the result that nobody waits for any more, in a thread as well: a
    port that opened too late must not stay open and locked.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def discard(result: T) -> None:
        if undo is not None:
            start_thread("discard", undo, result)

    def succeed(result: T) -> None:
        if done.cancelled():
            discard(result)
        else:
            done.set_result(result)

    def fail(error: Exception) -> None:
        if not done.cancelled():
            done.set_exception(error)

    def work() -> None:
        try:
            result = call()
        except Exception as error:  # noqa: BLE001  (it is raised again in the task that waits)
            post(loop, fail, error)
        else:
            if not post(loop, succeed, result):
                discard(result)

    start_thread("aside", work)
    try:
        return await done
    except asyncio.CancelledError:
        if not done.cancelled() and done.exception() is None:
            discard(done.result())
        raise


def start_thread(name: str, call: Callable[..., None], *args: object) -> threading.Thread:
    """Start a thread that does not keep the program alive."""
    thread = threading.Thread(target=call, args=args, name=name, daemon=True)
    thread.start()
    return thread


def post(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *args: object) -> bool:
    """Call in the loop, from any thread. False: the loop has ended and needs no calls any more."""
    try:
        loop.call_soon_threadsafe(call, *args)
    except RuntimeError:
        if not loop.is_closed():
            raise
        return False
    return True
