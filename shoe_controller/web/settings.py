"""What the configuration says about the display, as one small value."""

import msgspec

from shoe_controller.config.model import Config
from shoe_controller.config.outputs import Web
from shoe_controller.config.table import Reveal
from shoe_controller.roads.grid import Tail
from shoe_controller.web.assets import check_languages


class ShownLimit(msgspec.Struct, frozen=True):
    """Table limits of one wager, in dollars as the configuration has them."""

    wager: str
    min: str
    max: str


class ShownTable(msgspec.Struct, frozen=True):
    """Which table this is and how it is shown. `title` is free text of the house."""

    site: str = ""
    name: str = ""
    title: str = ""
    limits: tuple[ShownLimit, ...] = ()
    languages: tuple[str, ...] = ("en",)
    theme: str = "dark"
    reveal: Reveal = "as-drawn"


class DisplaySettings(msgspec.Struct, frozen=True):
    """Everything that the display takes from the configuration. `countdown` is in seconds, 0: none is shown."""

    table: ShownTable = ShownTable()
    countdown: int = 0
    tail: Tail = "redrop"
    host: str = "127.0.0.1"
    port: int = 8080
    allowed_hosts: tuple[str, ...] = ()
    max_clients: int = 16


def display_settings(config: Config) -> DisplaySettings:
    """Return the display's part of the configuration; raise LanguageError for a language that has no texts."""
    web: Web = config.web
    check_languages(web.languages)
    return DisplaySettings(
        table=ShownTable(
            site=config.table.site,
            name=config.table.name,
            title=config.table.title,
            limits=tuple(ShownLimit(wager, limit.min, limit.max) for wager, limit in config.table.limits.items()),
            languages=web.languages,
            theme=web.theme,
            reveal=config.policy.reveal,
        ),
        countdown=config.policy.betting_countdown,
        tail=web.tail,
        host=web.host,
        port=web.port,
        allowed_hosts=web.allowed_hosts,
        max_clients=web.max_clients,
    )
