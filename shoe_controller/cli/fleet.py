"""Let many simulated tables play against a broker and measure what arrives.

Each table has a real session, journal and feed, and a simulated dealer in place of the hardware. A consumer on this
machine takes all events, checks `seq` and asks for what is missing. Told are events and messages a second, the delay
from the happening at a table to the consumer, losses, repetitions, and what a table needs of processor and memory.
The tables appear at the broker under a site of their own and are taken off it at the end. The exit code is 1 if
events were lost.
"""

import argparse
import asyncio
import sys

from shoe_controller.errors import UsageError

EXAMPLES = """  shoe-controller fleet --tables 20 --rounds 10 --rate 0
  shoe-controller fleet --tables 300 --seconds 120 --broker mqtts://broker.example --ca-file ca.pem --user fleet \\
      --password-file fleet.pw --format json
  shoe-controller fleet --tables 100 --seconds 60 --rate 1 --watch "$(pidof mosquitto)\""""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `fleet`."""
    parser.add_argument("--tables", type=int, required=True, metavar="N", help="how many tables")
    parser.add_argument(
        "--broker", action="append", metavar="URL", help="mqtt://HOST[:PORT] or mqtts://…; again for each further one"
    )
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--rounds", type=int, metavar="N", help="rounds of each table")
    length.add_argument("--seconds", type=float, metavar="S", help="how long they play")
    parser.add_argument(
        "--rate", type=float, default=1.0, metavar="R", help="rounds a minute at each table; 0: as fast as they go"
    )
    parser.add_argument("--wagers", type=int, default=8, metavar="N", help="wagers a round (default: %(default)s)")
    parser.add_argument("--processes", type=int, metavar="N", help="processes for the tables (default: as suits)")
    parser.add_argument("--site", default="fleet", help="site of the tables (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="one number decides the play")
    parser.add_argument("--directory", default="", metavar="DIR", help="where journals are kept meanwhile")
    parser.add_argument("--watch", type=int, metavar="PID", help="also tell what this process uses: the broker")
    parser.add_argument("--patience", type=float, default=30.0, metavar="S", help="seconds to wait for the broker")
    parser.add_argument("--user", default="", help="user name")
    parser.add_argument("--password-file", default="", metavar="FILE", help="file with the password, mode 0600")
    parser.add_argument("--ca-file", default="", metavar="FILE", help="authorities that the broker may be signed by")
    parser.add_argument("--cert-file", default="", metavar="FILE", help="our certificate")
    parser.add_argument("--key-file", default="", metavar="FILE", help="its key, mode 0600")
    parser.add_argument("--format", choices=("text", "json"), help="default: text on a terminal, else json")


def run(args: argparse.Namespace) -> int:
    """Run the fleet; 1 if events were lost."""
    import msgspec  # noqa: PLC0415 - other commands do not need it

    from shoe_controller.fleet.figures import as_text  # noqa: PLC0415
    from shoe_controller.fleet.order import FleetOrder  # noqa: PLC0415
    from shoe_controller.fleet.run import processes_for, run_fleet  # noqa: PLC0415
    from shoe_controller.fleet.watched import Watched  # noqa: PLC0415
    from shoe_controller.outputs.settings import Access, parse_broker  # noqa: PLC0415

    _check(args)
    brokers = tuple(args.broker or ("mqtt://127.0.0.1",))
    for url in brokers:
        parse_broker(url)
    order = FleetOrder(
        brokers=brokers,
        tables=args.tables,
        site=args.site,
        rounds=args.rounds,
        seconds=args.seconds,
        rate=args.rate,
        wagers=args.wagers,
        seed=args.seed,
        directory=args.directory,
        access=Access(args.user, args.password_file, args.ca_file, args.cert_file, args.key_file),
        patience=args.patience,
    )
    watched = Watched(args.watch) if args.watch else None
    found = asyncio.run(run_fleet(order, args.processes or processes_for(args.tables), watched))
    if (args.format or ("text" if sys.stdout.isatty() else "json")) == "json":
        print(msgspec.json.encode(found).decode())
    else:
        print(as_text(found))
    return 1 if found.lost else 0


def _check(args: argparse.Namespace) -> None:
    import re  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    for name, least in (("tables", 1), ("rounds", 1), ("seconds", 0.1), ("rate", 0), ("wagers", 0), ("processes", 1)):
        value = getattr(args, name)
        if value is not None and value < least:
            raise UsageError(f"--{name} must be {least} or more, not {value}")
    if args.tables > 9999:
        raise UsageError("more than 9999 tables on one machine are not simulated: run it on several, with --site each")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", args.site):
        raise UsageError(f"--site {args.site!r} is no site: letters, digits and . _ - only")
    if args.directory and not Path(args.directory).is_dir():
        raise UsageError(f"--directory {args.directory}: there is no such folder")
