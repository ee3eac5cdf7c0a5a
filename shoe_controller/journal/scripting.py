"""Table scripts out of a journal: the recorded inputs, one line each, that `replay` plays again."""

from collections.abc import Iterable, Iterator

from shoe_controller.journal.codec import decode_input
from shoe_controller.journal.entry import Entry
from shoe_controller.script import to_line


def script_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the script line of each entry that has one; a journal also records what a script has no words for."""
    for entry in entries:
        line = to_line(decode_input(entry.body))
        if line is not None:
            yield f"{line}\n"
