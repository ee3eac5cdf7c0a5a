"""What must hold between keys: pins, devices, decks, limits, brokers and their files."""

import difflib
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from importlib import resources
from urllib.parse import urlsplit

import msgspec

from shoe_controller.config.decode import Finding, Path
from shoe_controller.config.model import Config
from shoe_controller.rules.games import load_all

# The header's own serial port; its device names are these on the various models.
UART_PINS = {14, 15}
UART_DEVICES = {"/dev/serial0", "/dev/serial1", "/dev/ttyAMA0", "/dev/ttyS0"}
# The display's texts, one file a language.
TEXTS = resources.files("shoe_controller").joinpath("web", "texts")
SUPERVISOR_BUTTONS = ("void", "accept", "acknowledge")


def check(config: Config) -> Iterator[Finding]:
    """Yield every relation between keys that does not hold."""
    yield from _game(config)
    yield from _shoe(config)
    yield from _pins(config)
    yield from _mqtt(config)
    yield from _serial_feed(config)
    yield from _web(config)


def _game(config: Config) -> Iterator[Finding]:
    games = load_all()
    table = config.table
    for wager, limit in table.limits.items():
        if Decimal(limit.min) > Decimal(limit.max):
            where: Path = ("table", "limits", wager)
            yield Finding(
                path=(*where, "min"), message=f"{limit.min} is more than max, {limit.max}", also=((*where, "max"),)
            )
    path: Path = ("table", "game")
    rules = games.get(table.game)
    if rules is None:
        close = difflib.get_close_matches(table.game.lower().replace("_", "-").replace(" ", "-"), games, n=1)
        yield Finding(
            path=path,
            message=f'"{table.game}" is not an approved game',
            allowed=", ".join(f'"{game}"' for game in games),
            suggestion=f'did you mean "{close[0]}"?' if close else "'shoe-controller games' lists them",
        )
        return
    if not rules.min_decks <= table.decks <= rules.max_decks:
        yield Finding(
            path=("table", "decks"),
            message=f"{rules.id} is not played with {table.decks} decks",
            allowed=f"{rules.min_decks} to {rules.max_decks}",
            also=(path,),
        )
    if config.shoe.protocol == "angel-eye" and rules.deck.size != 52:
        yield Finding(
            path=("shoe", "protocol"),
            message=f"an angel-eye shoe knows 52-card decks only; {rules.id} is played with {rules.deck.size} cards",
            suggestion='use a shoe of protocol "open"',
            also=(path,),
        )
    for wager in table.limits.keys() - rules.wagers.keys():
        close = difflib.get_close_matches(wager, rules.wagers, n=1)
        yield Finding(
            path=("table", "limits", wager),
            message=f"is no wager of {rules.id}",
            allowed=", ".join(rules.wagers),
            suggestion=f'did you mean "{close[0]}"?' if close else "",
            also=(path,),
        )


def _shoe(config: Config) -> Iterator[Finding]:
    shoe = config.shoe
    protocol: Path = ("shoe", "protocol")
    if shoe.protocol != "simulated" and not shoe.device:
        yield Finding(
            path=("shoe", "device"),
            message=f'is missing: a shoe of protocol "{shoe.protocol}" is on some line',
            suggestion="'shoe-controller devices' lists what is plugged in",
            also=(protocol,),
        )
    if shoe.listen_only and shoe.protocol != "angel-eye":
        yield Finding(
            path=("shoe", "listen_only"),
            message=f'needs protocol "angel-eye": a shoe of protocol "{shoe.protocol}" waits for our acknowledgement',
            also=(protocol,),
        )
    if shoe.require_auth and shoe.protocol == "angel-eye":
        yield Finding(
            path=("shoe", "require_auth"), message="an angel-eye shoe cannot prove who it is", also=(protocol,)
        )
    elif shoe.require_auth and not shoe.auth_key_file:
        yield Finding(
            path=("shoe", "require_auth"),
            message="needs the table's key",
            suggestion="name its file in auth_key_file",
            also=(("shoe", "auth_key_file"),),
        )


def _pins(config: Config) -> Iterator[Finding]:
    panel = config.panel
    places: dict[Path, int | str] = {("panel", "gate"): panel.gate, ("panel", "buzzer"): panel.buzzer}
    for group, section in (("buttons", panel.buttons), ("lamps", panel.lamps)):
        places |= {("panel", group, name): pin for name, pin in msgspec.structs.asdict(section).items()}
    users: defaultdict[int | str, list[Path]] = defaultdict(list)
    for path, pin in places.items():
        users[pin].append(path)
    taken = {pin for pin in users if pin != "none"}
    free = ", ".join(str(pin) for pin in range(28) if pin not in taken | UART_PINS)
    for pin, paths in users.items():
        if pin != "none" and len(paths) > 1:
            names = " and ".join(".".join(map(str, path[1:])) for path in paths)
            yield Finding(
                path=paths[-1],
                message=f"pin {pin} is wired twice: {names}",
                suggestion=f"free pins: {free}" if free else "",
                also=tuple(paths[:-1]),
            )
    for key, device in (
        (("shoe", "device"), config.shoe.device),
        (("serial_feed", "device"), config.serial_feed.device),
    ):
        for pin in sorted(UART_PINS & taken if device in UART_DEVICES else ()):
            yield Finding(
                path=users[pin][0],
                message=f"pin {pin} belongs to the serial port {device}, which {'.'.join(key)} uses",
                suggestion=f"free pins: {free}",
                also=(key,),
            )
    if panel.buttons.key == "none":
        wired = [name for name in SUPERVISOR_BUTTONS if getattr(panel.buttons, name) != "none"]
        if wired:
            yield Finding(
                path=("panel", "buttons", "key"),
                message=f"without a key switch anybody could press {', '.join(wired)}",
                suggestion=f'wire the key switch, or set {", ".join(wired)} to "none" as well',
                also=tuple(("panel", "buttons", name) for name in wired),
            )


def _mqtt(config: Config) -> Iterator[Finding]:
    mqtt = config.mqtt
    brokers: Path = ("mqtt", "brokers")
    for broker in mqtt.brokers:
        port = urlsplit(broker).netloc.rpartition(":")[2]
        if port.isdecimal() and not 0 < int(port) < 65_536:
            yield Finding(path=brokers, message=f'"{broker}" has no valid port', allowed="1 to 65535")
        if mqtt.brokers.count(broker) > 1:
            yield Finding(path=brokers, message=f'"{broker}" is named more than once')
            break
    for one, other in (
        ("user", "password_file"),
        ("password_file", "user"),
        ("cert_file", "key_file"),
        ("key_file", "cert_file"),
    ):
        if getattr(mqtt, one) and not getattr(mqtt, other):
            yield Finding(path=("mqtt", one), message=f"needs {other} as well", also=(("mqtt", other),))
    plain = [broker for broker in mqtt.brokers if broker.startswith("mqtt:")]
    for name in ("ca_file", "cert_file"):
        if getattr(mqtt, name) and plain:
            yield Finding(
                path=("mqtt", name),
                message=f"has no effect on {', '.join(plain)}, which is without TLS",
                suggestion=f"write {', '.join('mqtts' + broker[4:] for broker in plain)}",
                also=(brokers,),
            )
    if not mqtt.brokers:
        for name in ("user", "password_file", "ca_file", "cert_file", "key_file", "wagers"):
            if getattr(mqtt, name):
                yield Finding(path=("mqtt", name), message="has no effect without brokers", also=(brokers,))


def _serial_feed(config: Config) -> Iterator[Finding]:
    device = config.serial_feed.device
    if device and device == config.shoe.device:
        yield Finding(
            path=("serial_feed", "device"),
            message=f"{device} is the line of the shoe",
            suggestion="the feed needs a serial port of its own",
            also=(("shoe", "device"),),
        )


def _web(config: Config) -> Iterator[Finding]:
    languages = config.web.languages
    if len(set(languages)) < len(languages):
        yield Finding(path=("web", "languages"), message="the same language is named twice")
    known = sorted(file.name.removesuffix(".json") for file in TEXTS.iterdir() if file.name.endswith(".json"))
    for language in languages:
        if language not in known:
            yield Finding(
                path=("web", "languages"),
                message=f'the display has no texts in "{language}"',
                allowed=", ".join(f'"{name}"' for name in known),
            )
    if config.metrics.other_interfaces and not (config.metrics.enabled and config.web.enabled):
        yield Finding(
            path=("metrics", "other_interfaces"),
            message="has no effect unless metrics.enabled and web.enabled are true",
            also=(("metrics", "enabled"), ("web", "enabled")),
        )
