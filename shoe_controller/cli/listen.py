"""Print what a table sends to a broker: each event once and in order.

It checks `seq` for gaps and asks the table for what is missing, as a pit system should. Events are printed as they
are (one JSON object a line) or in words. It ends after --count events, after --seconds, or with Ctrl-C; the exit code
is 1 if events are missing.
"""

import argparse
import asyncio
import sys

EXAMPLES = """  shoe-controller listen mqtt://broker.example --site macau --table b7
  shoe-controller listen mqtts://broker.example --site macau --table + --format json --user pit --password-file pit.pw
  shoe-controller listen mqtt://broker.example --site macau --table b7 --from 1 --count 1000"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `listen`."""
    parser.add_argument("broker", metavar="URL", help="mqtt://HOST[:PORT], or mqtts://HOST[:PORT] with TLS")
    parser.add_argument("--site", default="+", help="site of the table (default: all)")
    parser.add_argument("--table", default="+", help="name of the table (default: all)")
    parser.add_argument("--format", choices=("json", "text"), help="default: text on a terminal, else json")
    parser.add_argument("--no-resend", action="store_true", help="do not ask for what is missing")
    parser.add_argument("--from", dest="first", type=int, metavar="SEQ", help="begin with this event, however old")
    parser.add_argument("--count", type=int, metavar="N", help="end after N events")
    parser.add_argument("--seconds", type=float, metavar="S", help="end after S seconds")
    parser.add_argument("--consumer", default="", metavar="NAME", help="our name at the broker (default: made up)")
    parser.add_argument("--mqtt", choices=("auto", "3.1.1", "5"), default="auto", help="version of MQTT")
    parser.add_argument("--user", default="", help="user name")
    parser.add_argument("--password-file", default="", metavar="FILE", help="file with the password, mode 0600")
    parser.add_argument("--ca-file", default="", metavar="FILE", help="authorities that the broker may be signed by")
    parser.add_argument("--cert-file", default="", metavar="FILE", help="our certificate")
    parser.add_argument("--key-file", default="", metavar="FILE", help="its key, mode 0600")


def run(args: argparse.Namespace) -> int:
    """Listen; 1 if events are missing at the end."""
    return asyncio.run(_listen(args))


async def _listen(args: argparse.Namespace) -> int:
    import logging  # noqa: PLC0415
    from contextlib import suppress  # noqa: PLC0415

    from shoe_controller.outputs.listener import Listener  # noqa: PLC0415
    from shoe_controller.outputs.settings import Access, MqttSettings, parse_broker  # noqa: PLC0415

    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    parse_broker(args.broker)
    access = Access(args.user, args.password_file, args.ca_file, args.cert_file, args.key_file)
    settings = MqttSettings(brokers=(args.broker,), version=args.mqtt, access=access)
    printer = _Printer(args.format or ("text" if sys.stdout.isatty() else "json"), args.count)
    listener = Listener(
        settings,
        args.site,
        args.table,
        on_event=printer.event,
        on_notice=printer.notice,
        consumer=args.consumer,
        resend=not args.no_resend,
        first=args.first,
    )
    task = asyncio.get_running_loop().create_task(listener.run())
    try:
        await asyncio.wait({task, printer.done}, timeout=args.seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        lost = listener.lost
        said = ", ".join(f"{place} {first}-{last}" for place, first, last in lost) or "none"
        print(
            f"{printer.events} events, {listener.repeated} repeated, {listener.requests} requests, missing: {said}",
            file=sys.stderr,
        )
    return 1 if lost else 0


class _Printer:
    def __init__(self, form: str, count: int | None) -> None:
        self._form = form
        self._count = count
        self.events = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def event(self, place: str, seq: int, message: bytes) -> None:
        if self.done.done():
            return
        self.events += 1
        if self._form == "json":
            print(message.decode(errors="replace"), flush=True)
        else:
            print(f"{place} {seq:>6}  {_in_words(message)}", flush=True)
        if self.events == self._count:
            self.done.set_result(None)

    def notice(self, place: str, channel: str, message: bytes) -> None:
        if self._form == "text" and channel == "status":
            import msgspec  # noqa: PLC0415

            from shoe_controller.messages import Status  # noqa: PLC0415
            from shoe_controller.outside_json import NOT_UNDERSTOOD  # noqa: PLC0415

            try:
                status = msgspec.json.decode(message, type=Status)
            except NOT_UNDERSTOOD:
                return  # no word of a table's
            print(f"{place}         {'online' if status.online else 'offline'} (version {status.version})", flush=True)


def _in_words(message: bytes) -> str:
    import msgspec  # noqa: PLC0415

    from shoe_controller.outside_json import NOT_UNDERSTOOD  # noqa: PLC0415
    from shoe_controller.session.facts import AnyFact  # noqa: PLC0415
    from shoe_controller.words import plain, tell  # noqa: PLC0415

    try:
        return tell(msgspec.json.decode(message, type=AnyFact))
    except NOT_UNDERSTOOD:
        return plain(message.decode(errors="replace"))  # a newer table may say things that we have no words for
