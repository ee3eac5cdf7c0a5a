"""The brokers: whether each can be reached and lets us in."""

import asyncio
import secrets
from collections.abc import Iterator

from shoe_controller.config import Config
from shoe_controller.doctor.findings import Finding, fail, ok, split, warn


def check_brokers(config: Config) -> Iterator[Finding]:
    """Check every broker with a connection of its own, which leaves the daemon's alone."""
    if not config.mqtt.brokers:
        yield ok("broker", "none is configured")
        return
    answers = [(url, asyncio.run(_try(config, url))) for url in config.mqtt.brokers]
    # The feed needs one of them; the others are for the day when that one is away.
    judge = warn if any(not error for _, error in answers) else fail
    for url, error in answers:
        yield judge("broker", *split(error)) if error else ok("broker", f"{url} lets us in")


async def _try(config: Config, url: str) -> str:
    """Return an empty text if the broker let us in, else why not."""
    from shoe_controller.outputs.errors import FeedError, OtherVersionError  # noqa: PLC0415 - only if there is a broker
    from shoe_controller.outputs.mqtt_connection import MqttConnection  # noqa: PLC0415
    from shoe_controller.outputs.settings import Access, MqttSettings, parse_broker  # noqa: PLC0415

    mqtt = config.mqtt
    access = Access(mqtt.user, mqtt.password_file, mqtt.ca_file, mqtt.cert_file, mqtt.key_file)
    settings = MqttSettings(brokers=(url,), version=mqtt.version, access=access, keepalive=mqtt.keepalive)
    # A name of its own: with the daemon's the broker would throw the daemon out.
    name = f"doctor-{secrets.token_hex(6)}"
    text = ""
    for version in ("5", "3.1.1") if mqtt.version == "auto" else (mqtt.version,):
        try:
            connection = MqttConnection(
                parse_broker(url),
                settings,
                version=version,
                client_id=name,
                on_message=lambda _topic, _payload, _retained: None,
                will=None,
            )
            await connection.open()
            await connection.close(within=1.0)
        except OtherVersionError as error:
            text = str(error)
            continue
        except FeedError as error:
            return str(error)
        return ""
    return text
