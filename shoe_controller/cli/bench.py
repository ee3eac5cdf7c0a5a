"""Measure this machine: rules, disk, start, memory and CPU of the daemon at rest and while dealing.

A folder is made below DIRECTORY, which should be on the disk that the journal is on, and taken away again. Stop the
table's own controller first: two on one machine measure each other. Exit code 1 if a limit for a table's machine is
not kept.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoe_controller.measuring.measured import Measured

EXAMPLES = """\
  shoe-controller bench --directory /var/lib/shoe-controller
  shoe-controller bench --quick --format json > pi-4.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--directory", type=Path, default=Path(), metavar="DIRECTORY", help="where to write (default: the present one)"
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the time, and rougher figures")
    parser.add_argument("--no-daemon", action="store_true", help="leave out what needs the daemon")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")


def run(args: argparse.Namespace) -> int:
    """Measure and tell; return 1 if a limit is not kept."""
    found = []
    for figure in _figures(args.directory, part=10 if args.quick else 1, daemon=not args.no_daemon):
        found.append(figure)
        if args.format == "text":
            print(_line(figure), flush=True)
    if args.format == "json":
        import msgspec  # noqa: PLC0415

        print(msgspec.json.encode({"machine": _machine(), "figures": found}).decode())
    return 0 if all(figure.fine for figure in found) else 1


def _figures(directory: Path, *, part: int, daemon: bool) -> "Iterator[Measured]":
    from shoe_controller.measuring.disk import measure_disk  # noqa: PLC0415 - only for this command
    from shoe_controller.measuring.play import measure_play  # noqa: PLC0415

    yield from measure_play(10_000 // part)
    yield from measure_disk(directory, 1000 // part, 20_000 // part)
    if daemon:
        from shoe_controller.measuring.daemon import measure_daemon, measure_dealing, measure_start  # noqa: PLC0415

        yield from measure_start(5)
        yield from measure_daemon(directory, times=3 if part == 1 else 1, idle_seconds=20.0 / part)
        yield from measure_dealing(directory, 30.0 / part)


def _machine() -> dict[str, object]:
    import os  # noqa: PLC0415
    import platform  # noqa: PLC0415

    from shoe_controller import __version__  # noqa: PLC0415

    model = Path("/proc/device-tree/model")  # a Pi says there what it is
    return {
        "model": model.read_text(errors="replace").rstrip("\0") if model.exists() else platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.release(),
        "python": platform.python_version(),
        "version": __version__,
    }


def _line(figure: "Measured") -> str:
    shown = f"{figure.value:,.0f}" if figure.value >= 100 else f"{figure.value:.3g}"
    limit = ""
    if figure.most is not None:
        limit = f"   {'fine' if figure.fine else 'TOO MUCH'}, at most {figure.most:g} {figure.unit}"
    return f"{figure.name:<46} {shown:>12} {figure.unit}{limit}"
