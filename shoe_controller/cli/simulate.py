"""Put a simulated shoe on a pseudo-terminal and print its device path.

The first line of the output is the path; open it as you would open the serial port of a real shoe. Then follow lines
about what happens. Commands are read from standard input, one a line: 'help' lists them, 'quit' ends. The end of the
input does not end the shoe; Ctrl-C does. The same seed gives the same shoe, the same ids and the same faults.
"""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from shoe_controller.errors import UsageError

if TYPE_CHECKING:
    from drivers.simulated.order import ShoeOrder
    from drivers.simulated.pty_shoe import SimulatedShoe

EXAMPLES = """\
  shoe-controller simulate --auto 1
  shoe-controller simulate --protocol angel-eye --auto 2 --faults unreadable=0.05,surplus
  shoe-controller simulate --game six-star --seed 7 --register set.csv --link /tmp/shoe --faults wire
  printf 'deal force\\ntogether unknown\\n' | shoe-controller simulate"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--protocol", choices=("open", "angel-eye"), default="open", help="what the shoe speaks")
    parser.add_argument("--game", default="no-commission", help="the game whose deck is used (default: %(default)s)")
    parser.add_argument("--decks", type=int, default=8, metavar="N", help="decks in the shoe (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="one number decides all (default %(default)s)")
    parser.add_argument("--cut", type=int, default=16, metavar="N", help="cards behind the cut card; 0: no cut card")
    parser.add_argument("--auto", type=float, metavar="SECONDS", help="draw a card this often while the gate is open")
    parser.add_argument("--faults", default="", metavar="LIST", help="what goes wrong, as in unreadable=0.05,lose")
    parser.add_argument("--link", type=Path, metavar="PATH", help="a symbolic link to keep pointing at the device")
    parser.add_argument("--register", type=Path, metavar="CSV", help="write the register of the set: id and card")
    shoe = parser.add_argument_group("open protocol")
    shoe.add_argument("--reader", choices=("rfid", "optical", "hybrid"), default="rfid", help="how cards are read")
    shoe.add_argument("--deck-set", type=int, default=1, metavar="N", help="number of the set in optical codes")
    shoe.add_argument("--key-file", type=Path, metavar="PATH", help="the table key, for an authenticated link")
    shoe.add_argument("--require-auth", action="store_true", help="refuse a host without the key")
    shoe.add_argument("--memory", type=int, metavar="BYTES", help="event memory; a small one is soon full")
    eye = parser.add_argument_group("Angel Eye")
    eye.add_argument("--bcc-operations", choices=("included", "excluded"), default="included", help="the start byte")
    eye.add_argument("--bcc-events", choices=("included", "excluded"), default="excluded", help="the start byte")
    eye.add_argument("--locked", action="store_true", help="begin locked")


def run(args: argparse.Namespace) -> int:
    """Run the shoe until it is told to end."""
    from drivers.simulated.errors import SimulatedShoeError  # noqa: PLC0415 - other commands need no drivers
    from firmware_protocol.errors import FirmwareProtocolError  # noqa: PLC0415

    try:
        return asyncio.run(_run(args))
    except (SimulatedShoeError, FirmwareProtocolError) as error:
        raise UsageError(str(error)) from error


async def _run(args: argparse.Namespace) -> int:
    from drivers.simulated.faults import parse_faults  # noqa: PLC0415
    from drivers.simulated.order import build_twin  # noqa: PLC0415
    from drivers.simulated.pty_shoe import SimulatedShoe  # noqa: PLC0415
    from drivers.simulated.stock import register_csv  # noqa: PLC0415

    twin = build_twin(_order(args))
    if args.register is not None:
        try:
            args.register.write_text(register_csv(twin.body.set), encoding="ascii")
        except OSError as error:
            raise UsageError(f"the register {args.register} cannot be written: {error.strerror}") from error
    ended = asyncio.Event()
    say = _Voice(ended)
    faults = parse_faults(args.faults)
    shoe = SimulatedShoe(twin, faults=faults, seed=args.seed, auto=args.auto, link=args.link, on_line=say)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with shoe:
        say(shoe.path)
        say(f"{shoe.twin.protocol} shoe with {twin.body.cards_left} cards, seed {args.seed}; 'help' lists commands")
        hands = _Hands(shoe, say, ended)
        hands.listen(loop)
        try:
            await ended.wait()
        finally:
            hands.stop(loop)
    return 0


def _order(args: argparse.Namespace) -> "ShoeOrder":
    from drivers.simulated.angel_eye_device import AngelEyeOptions  # noqa: PLC0415
    from drivers.simulated.open_device import OpenOptions  # noqa: PLC0415
    from drivers.simulated.order import ShoeOrder  # noqa: PLC0415
    from firmware_protocol.angel_eye_frames import StartByte  # noqa: PLC0415
    from firmware_protocol.codes import DeviceKind  # noqa: PLC0415
    from firmware_protocol.device_memory import CAPACITY, FEEDING_ROOM  # noqa: PLC0415
    from shoe_controller.config.secret_files import read_secret  # noqa: PLC0415
    from shoe_controller.rules.games import find  # noqa: PLC0415

    if args.memory is not None and not FEEDING_ROOM < args.memory <= CAPACITY:
        raise UsageError(f"--memory {args.memory}: say more than {FEEDING_ROOM} and at most {CAPACITY} bytes")
    if args.require_auth and args.key_file is None:
        raise UsageError("--require-auth needs the key: name its file with --key-file")
    if not 0 <= args.deck_set < 1 << 32:
        raise UsageError(f"--deck-set {args.deck_set}: say a number from 0 to {(1 << 32) - 1}")
    return ShoeOrder(
        protocol=args.protocol,
        deck=find(args.game).deck.size,
        decks=args.decks,
        seed=args.seed,
        cut_card=args.cut,
        open_options=OpenOptions(
            kind=DeviceKind[args.reader.upper()],
            serial_number=f"SIM-{args.seed}"[:32],
            deck_set=args.deck_set,
            key=None if args.key_file is None else read_secret(args.key_file),
            require_auth=args.require_auth,
            memory=CAPACITY if args.memory is None else args.memory,
        ),
        angel_eye_options=AngelEyeOptions(
            bcc_operations=StartByte(args.bcc_operations),
            bcc_unsolicited=StartByte(args.bcc_events),
            locked=args.locked,
        ),
    )


class _Voice:
    """Prints lines at once; when nobody reads them any more, the shoe ends."""

    def __init__(self, ended: asyncio.Event) -> None:
        self._ended = ended

    def __call__(self, line: str) -> None:
        try:
            print(line, flush=True)
        except BrokenPipeError:
            # What is still buffered must not be tried again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._ended.set()


class _Hands:
    """Reads commands from standard input without waiting for them. Answers begin with 'ok:' or 'error:'."""

    def __init__(self, shoe: "SimulatedShoe", say: _Voice, ended: asyncio.Event) -> None:
        self._shoe = shoe
        self._say = say
        self._ended = ended
        self._input = -1
        self._begun = b""

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin."""
        if sys.stdin is None:
            return
        self._input = sys.stdin.fileno()
        try:
            loop.add_reader(self._input, self._readable, loop)
        except PermissionError:
            # A file cannot be watched, but it can be read without waiting. It holds all commands already.
            self._input = -1
            for line in sys.stdin.buffer:
                self._do(line)

    def stop(self, loop: asyncio.AbstractEventLoop) -> None:
        """End."""
        if self._input >= 0:
            loop.remove_reader(self._input)
            self._input = -1

    def _readable(self, loop: asyncio.AbstractEventLoop) -> None:
        data = os.read(self._input, 65536)
        *lines, self._begun = (self._begun + data).split(b"\n")
        if not data:
            lines, self._begun = [self._begun], b""
            self.stop(loop)
        for line in lines:
            self._do(line)

    def _do(self, written: bytes) -> None:
        from drivers.simulated.errors import SimulatedShoeError  # noqa: PLC0415

        line = written.decode("utf-8", "replace").strip()
        if not line or line.startswith("#") or self._ended.is_set():
            return
        if line == "quit":
            self._ended.set()
            return
        try:
            answer = self._shoe.do(line)
        except SimulatedShoeError as error:
            self._say(f"error: {error}")
        else:
            self._say(f"ok: {answer}" if "\n" not in answer else f"ok:\n{answer}")
