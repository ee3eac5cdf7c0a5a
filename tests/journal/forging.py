"""What somebody does to a journal who knows SQLite, and more: who can also compute hashes, or even has the key."""

import sqlite3

from shoe_controller.journal import chain, volumes
from shoe_controller.journal.rows import COLUMNS, INSERT

NAMES = COLUMNS.split(", ")


def tamper(path, *statements):
    """Change a volume without its triggers, which are put back."""
    with Opened(path) as file:
        for statement in statements:
            file.execute(statement)


class Opened:
    """A volume without triggers; they are put back when it is closed."""

    def __init__(self, path):
        self.file = sqlite3.connect(path, isolation_level=None)

    def __enter__(self):
        self.triggers = self.file.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        self.file.execute("BEGIN")
        for name, _ in self.triggers:
            self.file.execute(f"DROP TRIGGER {name}")
        return self.file

    def __exit__(self, *_):
        for _, sql in self.triggers:
            self.file.execute(sql)
        self.file.execute("COMMIT")
        self.file.close()


def rows(path):
    """Return the entries of a volume as dictionaries."""
    file = sqlite3.connect(path)
    found = [dict(zip(NAMES, row, strict=True)) for row in file.execute(f"SELECT {COLUMNS} FROM entries ORDER BY seq")]
    file.close()
    return found


def replace_rows(path, changed):
    """Put these entries in the place of all that are there."""
    with Opened(path) as file:
        file.execute("DELETE FROM entries")
        file.executemany(INSERT, [tuple(row[name] for name in NAMES) for row in changed])


def rechain(path, changed, key=None):
    """Give entries the seqs, links and hashes that they need to look sound, and signatures if one has the key."""
    volume = volumes.look_at(path)
    seq, link = volume.first_seq, volume.prev
    for row in changed:
        row["seq"], row["prev"] = seq, link
        # fmt: off
        row["hash"] = chain.digest(chain.contents(
            link, row["boot"], seq, row["count"], row["mono_ns"], row["wall_ns"], row["synced"], row["dev_session"],
            row["dev_event"], row["kind"].encode(), row["source"].encode(), row["body"].encode(),
            row["facts"].encode(), row["raw"],
        ))
        # fmt: on
        if key and row["signature"]:
            row["signature"] = key.sign(chain.entry_statement(volume.chain, seq, row["hash"]))
        link = chain.link(row["hash"], row["signature"])
        seq += row["count"]
    replace_rows(path, changed)
