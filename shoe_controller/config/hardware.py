"""The hardware of the table: sections [shoe], [panel]."""

from typing import Annotated, Literal

from msgspec import Meta

from shoe_controller.config.table import AbsolutePath, FilePath, Section

ShoeProtocol = Literal["open", "angel-eye", "simulated"]
Framing = Literal["8N1", "8E1", "8O1", "8N2", "7E1", "7O1", "7N2"]
StartByte = Literal["included", "excluded"]
ShoeDevice = Annotated[
    str,
    Meta(
        pattern=r"^(/.+|usb(-raw)?:[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}(:.+)?|(socket|rfc2217)://[^/?]+:[0-9]{1,5}([/?].*)?)?$",
        description="a path such as /dev/serial/by-id/..., usb:VID:PID[:SERIAL], usb-raw:VID:PID[:SERIAL],"
        " socket://HOST:PORT or rfc2217://HOST:PORT",
    ),
]
# Angel Eye frames with code `R` are read in two ways in the field; the house knows which its shoe means.
DisputedCard = Literal["next-round", "re-deal"]
Level = Literal["low", "high"]
Baud = Literal[0, 1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600]
# Header pins of a Pi by their BCM number.
Pin = Literal["none"] | Annotated[int, Meta(ge=0, le=27)]


class Shoe(Section, frozen=True, kw_only=True):
    """The card shoe and the line that it is on. A baud rate of 0 means the protocol's own."""

    protocol: ShoeProtocol = "open"
    device: ShoeDevice = ""
    baud: Baud = 0
    framing: Framing = "8N1"
    auth_key_file: FilePath = ""
    require_auth: bool = False
    listen_only: bool = False
    bcc_operations: StartByte = "included"
    bcc_events: StartByte = "excluded"
    disputed_card: DisputedCard = "next-round"
    deck_set: Annotated[str, Meta(max_length=64)] = ""
    decks_directory: AbsolutePath = "/var/lib/shoe-controller/decks"


class Buttons(Section, frozen=True, kw_only=True):
    """Pins of the dealer's buttons and of the supervisor's key switch and buttons."""

    place_bets: Pin = 5
    no_more_bets: Pin = 6
    result: Pin = 13
    key: Pin = 19
    void: Pin = 26
    accept: Pin = 16
    acknowledge: Pin = 20


class Lamps(Section, frozen=True, kw_only=True):
    """Pins of the lamps."""

    player: Pin = 17
    banker: Pin = 27
    tie: Pin = 22
    next_player: Pin = 23
    next_banker: Pin = 24
    betting: Pin = 25
    alarm: Pin = 12
    fault: Pin = 18


class Panel(Section, frozen=True, kw_only=True):
    """The dealer's panel: buttons, lamps, gate and buzzer on GPIO."""

    factory: Literal["lgpio", "mock", "none"] = "lgpio"
    buttons: Buttons = Buttons()
    lamps: Lamps = Lamps()
    gate: Pin = 21
    buzzer: Pin = 4
    button_pressed: Level = "low"
    lamp_lit: Level = "high"
    gate_open: Level = "high"
    debounce_ms: Annotated[int, Meta(ge=1, le=500)] = 20
