"""What leaves the table: sections [journal], [local], [web], [mqtt], [serial_feed], [metrics], [log]."""

from typing import Annotated, Literal

from msgspec import Meta

from shoe_controller.config.hardware import Baud, Framing
from shoe_controller.config.table import AbsolutePath, FilePath, Section

Language = Annotated[
    str, Meta(pattern=r"^[a-z]{2}(-[A-Za-z]{2,4})?$", description='a language code such as "en" or "zh"')
]
BrokerUrl = Annotated[
    str,
    Meta(
        pattern=r"^mqtts?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?/?$",
        description="mqtt://HOST[:PORT], or mqtts://HOST[:PORT] with TLS; no user, no password, no path",
    ),
]
FeedDevice = Annotated[
    str,
    Meta(
        pattern=r"^(/.+|usb:[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}(:.+)?|(socket|rfc2217)://[^/?]+:[0-9]{1,5}([/?].*)?)?$",
        description="a path such as /dev/serial/by-id/..., usb:VID:PID[:SERIAL], socket://HOST:PORT"
        " or rfc2217://HOST:PORT",
    ),
]
# A Unix socket's address holds 108 bytes with its final zero.
SocketPath = Annotated[
    str, Meta(pattern=r"^/", max_length=107, description="an absolute path of at most 107 characters")
]
Port = Annotated[int, Meta(ge=1, le=65535)]


class Journal(Section, frozen=True, kw_only=True):
    """Where the journal is kept and when it is archived."""

    directory: AbsolutePath = "/var/lib/shoe-controller/journal"
    signing_key_file: AbsolutePath = "/var/lib/shoe-controller/signing.key"
    archive: Literal["size", "shoe", "never"] = "size"
    archive_megabytes: Annotated[int, Meta(ge=1, le=100_000)] = 64
    min_free_megabytes: Annotated[int, Meta(ge=16, le=100_000)] = 256

    @property
    def archive_policy(self) -> Literal["never", "shoe"] | int:
        """The policy as the journal takes it: a size in bytes, or a word."""
        return self.archive_megabytes * 1_000_000 if self.archive == "size" else self.archive


class Local(Section, frozen=True, kw_only=True):
    """The Unix socket for a supervisor's commands on this machine."""

    socket: SocketPath = "/run/shoe-controller/control.sock"
    group: Annotated[
        str, Meta(pattern=r"^[a-z_][a-z0-9_-]{0,31}$", description="the name of a group of this machine")
    ] = "shoe-supervisors"


class Web(Section, frozen=True, kw_only=True):
    """The display page."""

    enabled: bool = True
    host: Annotated[str, Meta(min_length=1)] = "127.0.0.1"
    port: Port = 8080
    allowed_hosts: tuple[str, ...] = ()
    max_clients: Annotated[int, Meta(ge=1, le=1000)] = 16
    languages: Annotated[tuple[Language, ...], Meta(min_length=1, max_length=2)] = ("en",)
    theme: Literal["dark", "light"] = "dark"
    tail: Literal["redrop", "stay"] = "redrop"


class Resend(Section, frozen=True, kw_only=True):
    """How consumers may ask for messages again."""

    enabled: bool = True
    max_messages: Annotated[int, Meta(ge=1, le=100_000)] = 1000
    requests_per_minute: Annotated[int, Meta(ge=1, le=6000)] = 30


class Mqtt(Section, frozen=True, kw_only=True):
    """The feed to casino systems; no brokers: no feed. The first broker that answers is used."""

    brokers: tuple[BrokerUrl, ...] = ()
    version: Literal["auto", "3.1.1", "5"] = "auto"
    client_id: Annotated[str, Meta(max_length=64)] = ""
    user: str = ""
    password_file: FilePath = ""
    ca_file: FilePath = ""
    cert_file: FilePath = ""
    key_file: FilePath = ""
    keepalive: Annotated[int, Meta(ge=5, le=3600)] = 30
    resend: Resend = Resend()
    wagers: bool = False


class SerialFeed(Section, frozen=True, kw_only=True):
    """The serial line to scoreboards; no device: no feed. A baud rate of 0 means the format's own."""

    device: FeedDevice = ""
    format: Literal["angel-eye", "jsonl"] = "angel-eye"
    resume: Literal["cursor", "current-round"] = "current-round"
    baud: Baud = 0
    framing: Framing = "8N1"
    flow: Literal["none", "rtscts", "xonxoff"] = "none"


class Metrics(Section, frozen=True, kw_only=True):
    """Prometheus metrics at /metrics of the display's port, for this machine alone unless it is allowed."""

    enabled: bool = True
    other_interfaces: bool = False


class Log(Section, frozen=True, kw_only=True):
    """How much is said to the system's log."""

    level: Literal["debug", "info", "warning", "error"] = "info"
