"""The files of the page: read once, kept in memory, known by one hash.

Nothing outside these two folders can be asked for: a request names a key of this dictionary, never a path.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib import resources

import msgspec

from shoe_controller.web.errors import LanguageError

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
}


class Asset(msgspec.Struct, frozen=True):
    """One file of the page as it is sent."""

    body: bytes
    media_type: str
    etag: str


@cache
def assets() -> dict[str, Asset]:
    """Return every file of the page by its address, such as `/static/page.js`; the page itself is `/`."""
    found: dict[str, Asset] = {}
    for folder in ("static", "texts"):
        for file in sorted(resources.files(__package__).joinpath(folder).iterdir(), key=lambda file: file.name):
            suffix = file.name.rpartition(".")[2]
            if suffix in TYPES:
                body = file.read_bytes()
                address = "/" if file.name == "index.html" else f"/{folder}/{file.name}"
                found[address] = Asset(body, TYPES[suffix], f'"{hashlib.sha256(body).hexdigest()[:24]}"')
    return found


@cache
def page_hash() -> str:
    """Return the hash of all files of the page: an open page loads itself anew when it changes."""
    whole = hashlib.sha256()
    for address, asset in sorted(assets().items()):
        whole.update(f"{address}\0{asset.etag}\0".encode())
    return whole.hexdigest()[:16]


def languages() -> tuple[str, ...]:
    """Return the languages that have a text file."""
    prefix, suffix = "/texts/", ".json"
    return tuple(name.removeprefix(prefix).removesuffix(suffix) for name in assets() if name.startswith(prefix))


def check_languages(wanted: Iterable[str]) -> None:
    """Raise LanguageError for a language without a text file."""
    for language in wanted:
        if language not in languages():
            there = ", ".join(languages())
            raise LanguageError(f"the display has no texts for the language {language!r}; it has {there}")
