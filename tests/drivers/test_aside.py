import asyncio
import threading

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
        before = threading.active_count()
        if fails:
            await until(lambda: threading.active_count() < before or threading.active_count() == 1)
        else:
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


def test_posting_to_an_ended_loop_says_so():
    loop = asyncio.new_event_loop()
    loop.close()
    assert post(loop, print) is False
