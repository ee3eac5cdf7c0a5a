"""The table and its house policies: sections [table], [policy]."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shoe_controller.money import Rounding
from shoe_controller.session.inputs import EarlyCard, Surplus

TopicName = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$",
        description="1 to 32 letters, digits, '.', '_' or '-', beginning with a letter or digit",
    ),
]
Dollars = Annotated[
    str,
    Meta(pattern=r"^[0-9]{1,9}(\.[0-9]{2})?$", description='dollars in quotes, such as "100" or "12.50"'),
]
AbsolutePath = Annotated[str, Meta(pattern=r"^/", max_length=4096, description="an absolute path, beginning with '/'")]
FilePath = Annotated[str, Meta(pattern=r"^(/.+)?$", description="an absolute path, beginning with '/'")]
Reveal = Literal["as-drawn", "on-result"]
# The same values as the session's Burn, with the bounds that the house allows for a fixed number.
BurnPolicy = Literal["none", "first-card", "decks"] | Annotated[int, Meta(ge=1, le=8)]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The root of all sections: values are frozen, and a key that is not known is refused."""


class Limit(Section, frozen=True, kw_only=True):
    """The least and the most that may be staked on a wager, as the display shows it."""

    min: Dollars
    max: Dollars


class Table(Section, frozen=True, kw_only=True):
    """Which table this is and what is played at it."""

    site: TopicName
    name: TopicName
    title: Annotated[str, Meta(max_length=60)] = ""
    game: str
    decks: Annotated[int, Meta(ge=1, le=16)] = 8
    limits: dict[str, Limit] = {}


class Policy(Section, frozen=True, kw_only=True):
    """What the house decides where the rules of the game leave it a choice."""

    burn: BurnPolicy = "none"
    surplus: Surplus = "next-round"
    early_card: EarlyCard = "decision"
    rounds_after_cut: Annotated[int, Meta(ge=0, le=10)] = 1
    reveal: Reveal = "as-drawn"
    betting_countdown: Annotated[int, Meta(ge=0, le=600)] = 0
    rounding: Rounding = "half-up"
