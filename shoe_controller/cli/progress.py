"""A progress bar on standard error, where that is a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

Report = Callable[[int, int], None]
"""Called with what is done and what there is in all."""


@contextmanager
def progress_bar(words: str, stream: TextIO) -> Iterator[Report | None]:
    """Show a bar while something long is done; nothing, and None to report to, where no person is looking."""
    if not stream.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - slow, and only for terminals
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task(words, total=None)

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield report
