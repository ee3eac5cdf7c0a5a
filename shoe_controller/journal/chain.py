r"""The hash chain: which bytes of an entry are hashed and signed. docs/auditors.md says the same.

contents = prev ‖ boot ‖ header ‖ body ‖ facts ‖ raw
header   = "seq,count,mono_ns,wall_ns,synced,device,kind,source,len(body),len(facts),len(raw)\n" in ASCII decimals,
           device being "session:number" or "-"
hash     = SHA-256(contents)
link     = hash of an entry without signature, SHA-256(hash ‖ signature) of one with; it is the next entry's prev

prev and boot have fixed lengths, the header ends at its line feed and gives the lengths of what follows, so no two
different entries have the same contents. Because a signature is part of the link, it can neither be changed nor
taken away without breaking the chain, and a good later signature vouches for all earlier ones.
"""

from hashlib import sha256

DIGEST_SIZE = 32


def contents(
    prev: bytes,
    boot: bytes,
    seq: int,
    count: int,
    mono_ns: int,
    wall_ns: int,
    synced: int,
    session: int | None,
    number: int | None,
    kind: bytes,
    source: bytes,
    body: bytes,
    facts: bytes,
    raw: bytes,
) -> bytes:
    """Return the exact bytes of an entry that are hashed."""
    # fmt: off
    return b"%b%b%d,%d,%d,%d,%d,%b,%b,%b,%d,%d,%d\n%b%b%b" % (
        prev, boot, seq, count, mono_ns, wall_ns, synced,
        b"-" if session is None and number is None else b"%d:%d" % (_or_less(session), _or_less(number)),
        kind, source, len(body), len(facts), len(raw), body, facts, raw,
    )
    # fmt: on


def _or_less(number: int | None) -> int:
    """Return the number, or one that no device can send: half an event must not hash like a whole one."""
    return -1 if number is None else number


def digest(data: bytes) -> bytes:
    """Return the SHA-256 of the data."""
    return sha256(data).digest()


def link(entry_hash: bytes, signature: bytes | None) -> bytes:
    """Return what the next entry carries as `prev`."""
    return sha256(entry_hash + signature).digest() if signature else entry_hash


def origin(chain: str, table: str, after: str = "-") -> str:
    """Return the text that a chain begins with.

    `after` is "-" for the first chain of a table, else "chain seq link" of the head of the chain that it follows.
    """
    return f"shoe-controller journal 1\nchain {chain}\ntable {table}\nafter {after}\n"


def genesis(origin_text: str) -> bytes:
    """Return the `prev` of the first entry of a chain."""
    return sha256(origin_text.encode()).digest()


def entry_statement(chain: str, seq: int, entry_hash: bytes) -> bytes:
    """Return the text that is signed at an entry."""
    return f"shoe-controller entry 1\n{chain}\n{seq}\n{entry_hash.hex()}\n".encode()


def seal_statement(chain: str, next_seq: int, head: bytes) -> bytes:
    """Return the text that is signed when a file of the journal is finished and the chain goes on in the next."""
    return f"shoe-controller seal 1\n{chain}\n{next_seq}\n{head.hex()}\n".encode()
