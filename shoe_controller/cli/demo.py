"""Play a table on this machine; no hardware and no broker is needed.

A simulated shoe on a real pseudo-terminal, a simulated dealer and supervisor who press the buttons of a panel on mock
pins, a real journal and the display page.

With --rounds it ends by itself, tells what was played and proves the journal; else Ctrl-C ends it.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from shoe_controller.errors import UsageError

if TYPE_CHECKING:
    from shoe_controller.config import Config

EXAMPLES = """\
  shoe-controller demo
  shoe-controller demo --game six-star --faults
  shoe-controller demo --rounds 20 --speed 10 --keep /tmp/table"""

CARD_SECONDS = 1.2
# Bytes of a folder's path to which the name of a socket can be added: the kernel takes 107 in all.
DEEPEST = 90
# Often enough that a person who watches for some minutes sees most of them.
USUAL_FAULTS = "together=0.04,together-unknown=0.02,pushback=0.04,unreadable=0.06,foreign=0.03,surplus=0.08,jam=0.02"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--game", default="no-commission", help="which game (default: %(default)s; see 'games')")
    parser.add_argument("--decks", type=int, default=8, metavar="N", help="decks in the shoe (default: %(default)s)")
    parser.add_argument("--rounds", type=_positive, metavar="N", help="end after so many rounds, with a summary")
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="X", help="times faster than a real table")
    parser.add_argument(
        "--faults",
        nargs="?",
        const=USUAL_FAULTS,
        default="",
        metavar="LIST",
        help="have things go wrong, as in unreadable=0.05,surplus; without LIST a mixture",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="the same number gives the same cards")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep journal and key there; else they are deleted")
    parser.add_argument("--port", type=int, metavar="N", help="port of the display page (default: 8080 if it is free)")
    parser.add_argument("--language", action="append", metavar="CODE", help="en or zh; twice for both at once")
    parser.add_argument("--log", action="store_true", help="show the log as well")


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0.1 <= speed <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0.1 to 1000")
    return speed


def run(args: argparse.Namespace) -> int:
    """Play the demonstration."""
    import asyncio  # noqa: PLC0415 - other commands need none of this
    import logging  # noqa: PLC0415
    import tempfile  # noqa: PLC0415
    from contextlib import ExitStack  # noqa: PLC0415

    from shoe_controller import logs  # noqa: PLC0415
    from shoe_controller.demo.settings import demo_config, free_port  # noqa: PLC0415
    from shoe_controller.rules.games import find  # noqa: PLC0415

    rules = find(args.game)
    if not rules.min_decks <= args.decks <= rules.max_decks:
        raise UsageError(f"{rules.title} is played with {rules.min_decks} to {rules.max_decks} decks, not {args.decks}")
    logs.setup("info" if args.log else "error")
    if not args.log:
        logging.getLogger("shoe_controller.table").setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        folder = args.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shoe-demo-")))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"the folder {folder} cannot be made: {error.strerror}") from error
        folder = sockets = folder.resolve()
        if len(bytes(folder)) > DEEPEST:
            sockets = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shoe-demo-")))
        config = demo_config(
            folder, args.game, args.decks, args.port or free_port(), tuple(args.language or ("en",)), sockets=sockets
        )
        return asyncio.run(_play(args, config))


async def _play(args: argparse.Namespace, config: "Config") -> int:
    import asyncio  # noqa: PLC0415
    import secrets  # noqa: PLC0415
    import signal  # noqa: PLC0415

    from drivers.simulated.errors import SimulatedShoeError  # noqa: PLC0415
    from drivers.simulated.faults import parse_faults  # noqa: PLC0415
    from shoe_controller.app.controller import Controller  # noqa: PLC0415
    from shoe_controller.app.simulated_shoe import SimulationOrder  # noqa: PLC0415
    from shoe_controller.demo.people import People  # noqa: PLC0415
    from shoe_controller.demo.screen import Screen, open_screen  # noqa: PLC0415
    from shoe_controller.demo.tally import Tally  # noqa: PLC0415
    from shoe_controller.service.table import Committed  # noqa: PLC0415

    try:
        faults = parse_faults(args.faults)
    except SimulatedShoeError as error:
        raise UsageError(str(error)) from error
    seed = secrets.randbelow(1_000_000) if args.seed is None else args.seed
    order = SimulationOrder(seed=seed, auto=CARD_SECONDS / args.speed, faults=faults)
    tally = Tally()
    screen: Screen | None = None

    def committed(batch: Committed) -> None:
        facts = [fact for caused in batch.facts for fact in caused]
        tally.take(facts)
        people.look_up()
        if screen is not None:
            screen.show(batch.view, facts)

    controller = Controller(config, simulation=order, on_commit=committed)
    people = People(controller, rounds=args.rounds, speed=args.speed)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, controller.stop)
    print(f"Table of {config.table.game} with {config.table.decks} decks, seed {seed}.")
    print(f"Display: http://127.0.0.1:{config.web.port}/   Journal: {config.journal.directory}   Ctrl-C ends.")
    screen = open_screen(controller)
    playing = asyncio.create_task(people.play(), name="people")
    playing.add_done_callback(lambda _task: controller.stop())
    try:
        code = await controller.run()
    finally:
        screen.close()
        playing.cancel()
    if not playing.cancelled() and playing.done() and playing.exception() is not None:
        raise playing.exception() or AssertionError
    _summary(config, tally.lines())
    return code


def _summary(config: "Config", lines: list[str]) -> None:
    from shoe_controller.journal.verification import verify  # noqa: PLC0415
    from shoe_controller.journal.volumes import files_of  # noqa: PLC0415

    for line in lines:
        print(line)
    report = verify(files_of([Path(config.journal.directory)]), jobs=1)
    sound = "sound" if report.ok else f"NOT sound: {report.problems[0]}"
    print(f"Journal: {report.entries} entries; hash chain, signatures and replay are {sound}.")
