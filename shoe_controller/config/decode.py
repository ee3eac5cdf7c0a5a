"""From TOML values to sections, with every problem gathered instead of the first alone."""

import difflib
import types
import typing
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from shoe_controller.config.model import Config
from shoe_controller.config.table import Section

Path = tuple[str | int, ...]
# Fits every required key, so that checks across keys can go on where a required key is missing.
PLACEHOLDER = "0"
# Of a value that is refused, so that a message stays a line.
MAX_SHOWN = 100


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A problem before its line is known. `also` names further keys that take part in it."""

    path: Path
    message: str
    allowed: str = ""
    suggestion: str = ""
    also: tuple[Path, ...] = ()


def decode(values: dict[str, Any]) -> tuple[Config, list[Finding]]:
    """Return the configuration and what is wrong with it.

    If there are findings, the configuration has defaults in their place and serves only to check further.
    """
    findings: list[Finding] = []
    sound = _section(values, Config, (), findings)
    return msgspec.convert(sound, Config), findings


def _section(values: dict[str, Any], section: type[Section], path: Path, findings: list[Finding]) -> dict[str, Any]:
    """Return the sound part of a table of the file."""
    sound: dict[str, Any] = {}
    fields = {field.name: field for field in msgspec.structs.fields(section)}
    findings.extend(_unknown(key, fields, path) for key in values if key not in fields)
    for name, field in fields.items():
        if name in values:
            value = _value(values[name], field.type, (*path, name), findings)
            if value is not msgspec.UNSET:
                sound[name] = value
                continue
        elif field.required:
            findings.append(_missing(name, field.type, path))
        if field.required:
            sound[name] = _section({}, field.type, (*path, name), []) if _is_section(field.type) else PLACEHOLDER
    return sound


def _value(value: Any, kind: Any, path: Path, findings: list[Finding]) -> Any:
    """Return the sound part of a value, or UNSET."""
    if _is_section(kind):
        if isinstance(value, dict):
            return _section(value, kind, path, findings)
        findings.append(Finding(path=path, message="is a table of keys, not one value", suggestion=_as_table(path)))
        return msgspec.UNSET
    if typing.get_origin(kind) is dict and isinstance(value, dict):
        inner = typing.get_args(kind)[1]
        members = {key: _value(member, inner, (*path, key), findings) for key, member in value.items()}
        return {key: member for key, member in members.items() if member is not msgspec.UNSET}
    try:
        msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError:
        findings.append(
            Finding(
                path=path,
                message=f"{_shown(value)} is not allowed",
                allowed=allowed(kind),
                suggestion=_suggest_value(value, kind),
            )
        )
        return msgspec.UNSET
    return value


def _unknown(key: str, fields: dict[str, Any], path: Path) -> Finding:
    what = "section" if not path else "key"
    suggestion = ""
    homes = [home for home in _homes(key, Config, ()) if home != path]
    if close := difflib.get_close_matches(key.replace("-", "_").lower(), fields, n=1):
        suggestion = f'did you mean "{close[0]}"?'
    elif homes:
        suggestion = f"it belongs into {_either(['[' + '.'.join(map(str, home)) + ']' for home in homes])}"
    known = ", ".join(fields)
    return Finding(path=(*path, key), message=f"is not a known {what}", allowed=known, suggestion=suggestion)


def _missing(name: str, kind: Any, path: Path) -> Finding:
    if _is_section(kind):
        return Finding(path=(*path, name), message="is missing", suggestion=_as_table((*path, name)))
    return Finding(path=(*path, name), message="is missing and has no default", allowed=allowed(kind))


def _homes(key: str, section: type[Section], path: Path) -> Iterator[Path]:
    for field in msgspec.structs.fields(section):
        if field.name == key and path:
            yield path
        if _is_section(field.type):
            yield from _homes(key, field.type, (*path, field.name))


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


def _as_table(path: Path) -> str:
    return f"write [{'.'.join(map(str, path))}] on a line of its own and its keys below"


def _shown(value: Any) -> str:
    """Return a value as it may be written in TOML."""
    if isinstance(value, (str, bool, int, float, list)):
        text = msgspec.json.encode(value, enc_hook=str).decode()
        return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
    return "a table" if isinstance(value, dict) else str(value)


def allowed(kind: Any) -> str:
    """Say in words which values a key takes."""
    origin = typing.get_origin(kind)
    if origin is Literal:
        return _either([_shown(value) for value in typing.get_args(kind)])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(allowed(part) for part in typing.get_args(kind))
    if origin is tuple:
        return f"a list, each of it {allowed(typing.get_args(kind)[0])}"
    if origin is dict:
        return "a table"
    if origin is Annotated:
        base, meta = typing.get_args(kind)
        if meta.description:
            return str(meta.description)
        return allowed(base) + _bounds(meta)
    return {bool: "true or false", int: "a whole number", str: "text in quotes"}[kind]


def _bounds(meta: msgspec.Meta) -> str:
    if meta.ge is not None and meta.le is not None:
        return f" from {meta.ge} to {meta.le}"
    if meta.min_length is not None and meta.max_length is not None:
        return f" ({meta.min_length} to {meta.max_length} of them)"
    return f" of at most {meta.max_length} characters" if meta.max_length is not None else ", not empty"


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _suggest_value(value: Any, kind: Any) -> str:
    """Guess what was meant: the same without or with quotes, or a word that is nearly the same."""
    for attempt in _rewritten(value):
        try:
            msgspec.convert(attempt, kind, strict=True)
        except msgspec.ValidationError:
            continue
        return f"did you mean {_shown(attempt)}?"
    words = [word for word in _words(kind) if isinstance(word, str)]
    if isinstance(value, str) and (close := difflib.get_close_matches(value.lower(), words, n=1)):
        return f"did you mean {_shown(close[0])}?"
    return ""


def _rewritten(value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        if value.strip().isdecimal() and len(value) <= MAX_SHOWN:
            yield int(value)
        if (word := value.strip().lower()) in {"true", "yes", "on", "false", "no", "off"}:
            yield word in {"true", "yes", "on"}
        yield value.strip().lower().replace("_", "-").replace(" ", "-")
        yield [value]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)


def _words(kind: Any) -> tuple[Any, ...]:
    origin = typing.get_origin(kind)
    if origin is Literal:
        return typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return tuple(word for part in typing.get_args(kind) for word in _words(part))
    return ()
