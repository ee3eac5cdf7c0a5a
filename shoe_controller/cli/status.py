"""Tell what the controller is doing now: table, round, shoe, feeds, machine.

Exit code 0: it runs and the table has no fault; 1: it does not run, or something is at fault.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from shoe_controller.cli import supervisor

if TYPE_CHECKING:
    from shoe_controller.app.status import Status

EXAMPLES = """\
  shoe-controller status
  shoe-controller status --format json | jq .view.phase"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    supervisor.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Ask and tell."""
    import msgspec  # noqa: PLC0415

    from shoe_controller.app.status import Status  # noqa: PLC0415
    from shoe_controller.service.control_client import ask  # noqa: PLC0415

    told = ask(supervisor.socket_path(args), command="status")["status"]
    status = msgspec.convert(told, Status)
    if args.format == "json":
        sys.stdout.write(msgspec.json.encode(status).decode() + "\n")
    else:
        for name, text in _lines(status):
            print(f"{name:<10} {text}")
    healthy = status.condition == "running" and not (status.view and status.view.faults)
    return 0 if healthy else 1


def _lines(status: "Status") -> list[tuple[str, str]]:
    lines = [("table", f"{status.site}/{status.table}"), ("condition", _condition(status))]
    if status.view is not None:
        lines += _play(status)
    if status.shoe is not None:
        lines.append(("shoe", _shoe(status)))
    if status.panel_problem:
        lines.append(("panel", status.panel_problem))
    for feed in status.feeds:
        state = "connected" if feed.connected else f"not connected ({feed.detail})"
        lines.append((feed.name, f"{state}, {feed.lag} facts behind"))
    if status.display:
        lines.append(("display", status.display))
    lines.append(("clock", "synchronised" if status.wall_clock_synced else "not synchronised"))
    if status.vitals is not None and status.vitals.disk_free_mb is not None:
        lines.append(("disk", f"{status.vitals.disk_free_mb} MB free"))
    lines.append(("program", f"version {status.version}, process {status.pid}, boot {status.boot}"))
    return lines


def _condition(status: "Status") -> str:
    minutes, seconds = divmod(status.uptime_s, 60)
    text = f"{status.condition} for {minutes // 60} h {minutes % 60:02d} min {seconds:02d} s"
    return f"{text}: {status.problem}" if status.problem else text


def _play(status: "Status") -> list[tuple[str, str]]:
    from shoe_controller.words import KIND_WORDS, cards  # noqa: PLC0415

    view = status.view
    assert view is not None
    lines = [("phase", view.phase + (f" ({', '.join(view.faults)})" if view.faults else ""))]
    if view.shoe is not None:
        lines.append(("game", f"{view.shoe.title}, shoe {view.shoe.id}, {view.shoe.decks} decks"))
    if view.round is not None:
        shown = view.round
        hands = f"Player {cards(shown.player)}   Banker {cards(shown.banker)}"
        lines.append(("round", f"{shown.round}, {shown.winner or shown.status}   {hands}"))
    if view.next is not None:
        lines.append(("next card", view.next))
    lines += [("decision", f"{KIND_WORDS[one.kind]}: {one.waits_for}") for one in view.open_irregularities]
    if view.alarm:
        lines.append(("alarm", "not acknowledged yet"))
    lines.append(("facts", str(status.seq)))
    return lines


def _shoe(status: "Status") -> str:
    shoe = status.shoe
    assert shoe is not None
    if not shoe.connected:
        return f"{shoe.device}: not connected ({shoe.trouble or 'no answer yet'})"
    age = "" if shoe.frame_age_s is None else f", heard {shoe.frame_age_s} s ago"
    return f"{shoe.device}: connected{age}"
