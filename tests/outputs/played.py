"""A table that a session plays at: scripts and other happenings go in, real facts and a real view come out."""

from pathlib import Path

from shoe_controller.journal.codec import encode_fact, encode_input
from shoe_controller.journal.entry import NewEntry
from shoe_controller.script import parse_line
from shoe_controller.session import inputs as i
from shoe_controller.session.session import Session
from shoe_controller.session.view import TableView
from tests.outputs.table import Table, now

SCRIPTS = sorted((Path(__file__).parents[2] / "examples" / "scripts").glob("*.table"))
FIRST_SHOE = """
shoe six-star decks=8 id=morning burn=first-card
card 2f
card 9w
card Sa
"""
# What happens to a controller beside the play.
AROUND = (
    i.Start(version="1.0", config_hash="ab" * 32),
    i.ChangeConfig(config_hash="cd" * 32, changed=("display.reveal",)),
    i.ClockStep(synced=True, step_ms=1500),
    i.NoteDevice(event="connected", serial_number="S-1", firmware="2.1"),
    i.RaiseFault(fault="shoe", detail="the cable is out"),
    i.ClearFault(fault="shoe"),
    i.AnnounceResult(),  # refused: there is no shoe
)
AFTER = (i.Acknowledge(by="local:pit"), i.CutCard())


class PlayedTable(Table):
    """A table with a session."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.session = Session()

    def happen(self, happened: i.AnyInput, source: str = "shoe", raw: bytes = b"") -> None:
        facts = tuple(encode_fact(fact) for fact in self.session.handle(happened))
        kind = str(happened.__struct_config__.tag)
        entry = NewEntry(stamp=now(), source=source, kind=kind, body=encode_input(happened), facts=facts, raw=raw)
        self.journal.append([entry])

    def script(self, text: str) -> None:
        for line in text.splitlines():
            happened = parse_line(line)
            if happened is not None:
                self.happen(happened, raw=b"\x05\x01" if isinstance(happened, i.DrawCard) else b"")

    def play_everything(self) -> None:
        """Let each kind of fact happen at least once."""
        for happened in AROUND:
            self.happen(happened, source="controller")
        self.script(FIRST_SHOE)
        for path in SCRIPTS:
            self.script(path.read_text())
        for happened in AFTER:
            self.happen(happened, source="panel")
        self.script(FIRST_SHOE)

    def snapshot(self) -> tuple[int, TableView]:
        return self.source.last_seq, self.session.view()
