"""What the controller is doing now, as `shoe-controller status` shows it."""

from typing import Literal

import msgspec

from shoe_controller.messages import FeedHealth
from shoe_controller.session.view import TableView
from shoe_controller.vitals import Vitals

Condition = Literal["starting", "running", "fault", "stopping"]


class ShoeStatus(msgspec.Struct, frozen=True):
    """The connection to the shoe. Ages are in seconds, None: never."""

    device: str
    connected: bool
    frame_age_s: float | None
    connects: int
    trouble: str | None


class Status(msgspec.Struct, frozen=True):
    """Everything at one moment. `problem` is a sentence while `condition` is fault."""

    condition: Condition
    site: str
    table: str
    version: str
    boot: str
    pid: int
    uptime_s: int
    config_hash: str
    problem: str = ""
    panel_problem: str = ""
    seq: int = 0
    view: TableView | None = None
    shoe: ShoeStatus | None = None
    feeds: tuple[FeedHealth, ...] = ()
    vitals: Vitals | None = None
    display: str = ""
    wall_clock_synced: bool = False
