import asyncio
import threading
from types import SimpleNamespace

import pytest

from drivers.aside import aside, post


def test_the_result_and_the_error_come_back(run):
    def fail():
        raise KeyError("x")

    async def scenario():
        assert await aside(lambda: 7) == 7
        with pytest.raises(KeyError):
            await aside(fail)

    run(scenario())


@pytest.mark.parametrize("fails", [False, True])
def test_a_result_that_nobody_waits_for_is_undone(run, until, fails):
    go_on, undone = threading.Event(), []

    def slow():
        assert go_on.wait(20)
        if fails:
            raise KeyError("x")
        return 7

    async def scenario():
        task = asyncio.create_task(aside(slow, undo=undone.append))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        await until(lambda: not any(thread.name == "aside" for thread in threading.enumerate()))
        await asyncio.sleep(0)  # what the thread has left for the loop
        if not fails:
            await until(lambda: undone == [7])

    run(scenario())
    assert undone == ([] if fails else [7])


def test_a_result_that_came_in_the_moment_of_the_cancel_is_undone(run, until):
    undone = []

    async def scenario():
        task = asyncio.create_task(aside(lambda: 7, undo=undone.append))
        await asyncio.sleep(0)
        for thread in threading.enumerate():
            if thread.name == "aside":
                thread.join()  # now the result waits in the loop, and right behind it comes the cancel
        asyncio.get_running_loop().call_soon(task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: undone == [7])

    run(scenario())


def test_the_end_of_the_loop_is_not_an_error_for_a_thread(until):
    go_on, undone = threading.Event(), []

    def slow():
        assert go_on.wait(20)
        return 7

    async def scenario():
        task = asyncio.create_task(aside(slow, undo=undone.append))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    go_on.set()
    asyncio.run(until(lambda: undone == [7]))


def test_a_result_that_needs_no_undoing_is_dropped(run, until):
    go_on = threading.Event()

    async def scenario():
        task = asyncio.create_task(aside(lambda: go_on.wait(20)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        await until(lambda: not any(thread.name == "aside" for thread in threading.enumerate()))
        await asyncio.sleep(0)

    run(scenario())


def test_another_error_of_a_loop_that_runs_is_not_hidden():
    def refuse(*_):
        raise RuntimeError("not from this thread")

    with pytest.raises(RuntimeError, match="not from this thread"):
        post(SimpleNamespace(call_soon_threadsafe=refuse, is_closed=lambda: False), print)


def test_posting_to_an_ended_loop_says_so():
    loop = asyncio.new_event_loop()
    loop.close()
    assert post(loop, print) is False
