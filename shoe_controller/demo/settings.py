"""The configuration of a demonstration: everything in one folder, a simulated shoe, a panel on mock pins."""

import socket
from pathlib import Path

from shoe_controller.config import Config, Journal, Limit, Local, Metrics, Panel, Policy, Shoe, Table, Web

USUAL_PORT = 8080


def demo_config(
    folder: Path, game: str, decks: int, port: int, languages: tuple[str, ...], *, sockets: Path | None = None
) -> Config:
    """Return the configuration of a demonstration that keeps everything in `folder`, its socket perhaps elsewhere."""
    return Config(
        table=Table(
            site="demo",
            name="table-1",
            title="Demonstration",
            game=game,
            decks=decks,
            limits={
                "player": Limit(min="100", max="50000"),
                "banker": Limit(min="100", max="50000"),
                "tie": Limit(min="50", max="5000"),
            },
        ),
        policy=Policy(betting_countdown=0),
        shoe=Shoe(protocol="simulated"),
        panel=Panel(factory="mock"),
        journal=Journal(directory=str(folder / "journal"), signing_key_file=str(folder / "signing.key")),
        local=Local(socket=str((sockets or folder) / "control.sock"), group="root"),
        web=Web(port=port, languages=languages),
        metrics=Metrics(),
    )


def free_port() -> int:
    """Return the usual port of the display if it is free, else another one."""
    for wanted in (USUAL_PORT, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    return USUAL_PORT
