"""A process that appends entries and says so after each commit; the tests kill it or fill its disk."""

import sys
from pathlib import Path

from shoe_controller.journal.entry import NewEntry, Stamp
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.signing import SigningKey
from shoe_controller.journal.store import Journal


def main(folder: Path, batch_size: int, until: int) -> int:
    key = SigningKey.open_or_create(folder.parent / "table.pem")
    try:
        with Journal.open(folder, signer=key, archive_policy="shoe") as journal:
            number = (journal.last_event(1) or 0) + 1
            while number <= until:
                batch = [_entry(n) for n in range(number, number + batch_size)]
                journal.append(batch)
                journal.move_cursor("display", journal.last_seq)
                journal.tidy()
                number += batch_size
                print(number - 1, flush=True)
    except JournalError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 3
    return 0


def _entry(number: int) -> NewEntry:
    shoe = number % 50 == 0
    return NewEntry(
        stamp=Stamp(boot="00" * 16, mono_ns=number, wall_ns=number, synced=False),
        source="shoe",
        kind="shoe" if shoe else "card",
        body=b'{"type":"card","code":"4d"}',
        facts=(b'{"type":"shoe_loaded"}' if shoe else b'{"type":"card"}', b'{"type":"x","pad":"%b"}' % (b"." * 200)),
        device=(1, number),
        raw=b"frame",
        signed=number % 8 == 0,
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
