"""Settings of the feeds; the program fills them from its configuration."""

from typing import Literal
from urllib.parse import urlsplit

import msgspec

from shoe_controller.outputs.errors import FeedSettingsError

Version = Literal["auto", "3.1.1", "5"]
SerialFormat = Literal["angel-eye", "jsonl"]
Resume = Literal["cursor", "current-round"]
_PORTS = {"mqtt": 1883, "mqtts": 8883}


class Broker(msgspec.Struct, frozen=True):
    """Where a broker is."""

    host: str
    port: int
    tls: bool

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'mqtts' if self.tls else 'mqtt'}://{host}:{self.port}"


def parse_broker(url: str) -> Broker:
    """Understand `mqtt://HOST[:PORT]` and, with TLS, `mqtts://HOST[:PORT]`."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise FeedSettingsError(f"the broker {url!r} is not understood: {error}") from error
    if parts.scheme not in _PORTS or not parts.hostname or port == 0:
        raise FeedSettingsError(
            f"the broker {url!r} is not understood: write mqtt://HOST[:PORT] or mqtts://HOST[:PORT]"
        )
    if parts.username is not None or parts.path.strip("/") or parts.query or parts.fragment:
        raise FeedSettingsError(
            f"the broker {url!r} may hold a host and a port only: user and password have settings of their own"
        )
    return Broker(parts.hostname, port or _PORTS[parts.scheme], parts.scheme == "mqtts")


class Access(msgspec.Struct, frozen=True):
    """How we show who we are, and how a broker shows it to us."""

    user: str = ""
    password_file: str = ""
    ca_file: str = ""  # empty: the certificates that the machine trusts
    cert_file: str = ""
    key_file: str = ""


class ResendSettings(msgspec.Struct, frozen=True):
    """What consumers may ask for again."""

    enabled: bool = True
    max_messages: int = 1000
    requests_per_minute: int = 30


class MqttSettings(msgspec.Struct, frozen=True):
    """The feed to casino systems."""

    brokers: tuple[str, ...]
    version: Version = "auto"
    client_id: str = ""  # empty: made of site and table
    access: Access = Access()
    keepalive: int = 30
    resend: ResendSettings = ResendSettings()
    wagers: bool = False
    # Messages on their way at once. 64 of 400 bytes fill a LAN; what a broker of MQTT 5 allows goes before.
    window: int = 64
    connect_timeout: float = 5.0
    ack_timeout: float = 10.0
    health_interval: float = 30.0
    backoff: tuple[float, float] = (0.5, 30.0)


class SerialFeedSettings(msgspec.Struct, frozen=True):
    """The feed to a scoreboard or bridge on a serial line. A baud rate of 0 means the format's own."""

    device: str
    format: SerialFormat = "angel-eye"
    resume: Resume = "current-round"
    baud: int = 0
    framing: str = "8N1"
    flow: Literal["none", "rtscts", "xonxoff"] = "none"
    stall: float = 10.0  # a receiver that takes nothing for so long is gone
    backoff: tuple[float, float] = (0.5, 10.0)
