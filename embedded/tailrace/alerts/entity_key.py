"""The entity of an alert as one text; schemas/contracts/entity_key.json has the rule."""

import re
import unicodedata
from collections.abc import Mapping

_QUOTED = frozenset('="\\')
_BLANKS = frozenset(("Zs", "Zl", "Zp"))
_NO_BREAK_SPACES = frozenset("\u00a0\u2007\u202f")
"""Java's Character.isWhitespace does not count them."""


def entity_key(entity: Mapping[str, str]) -> str:
    """`user=app host=10.0.0.9`. A name or value that contains a blank, `=`, a quote, a backslash or a control
    character, and an empty one, is quoted: no two entities have the same key."""
    return " ".join(f"{_escaped(name)}={_escaped(value)}" for name, value in entity.items())


_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([^ ="]+)')
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")
WORDS = {"src_ip": "client", "host": "client", "query_id": "query", "instance": "server"}
"""What pages call the fields of entities; other fields have their own names."""
PLACES = frozenset({"cluster", "instance"})


def entity_of(key: str) -> dict[str, str]:
    """Returns the entity of a key. Raises ValueError for a text that `entity_key` does not make."""
    tokens = [_unescaped(match) for match in _TOKEN.finditer(key)]
    entity = dict(zip(tokens[::2], tokens[1::2], strict=True))
    if entity_key(entity) != key:
        raise ValueError(f"{key!r} is no key of an entity")
    return entity


def in_words(entity: Mapping[str, str]) -> str:
    """`user app, client 10.0.0.9`, the user first. Without the cluster and server, which pages show beside
    it, unless the entity has nothing else."""
    named = {name: value for name, value in entity.items() if name not in PLACES} or entity
    ordered = sorted(named.items(), key=lambda each: each[0] != "user")
    return ", ".join(f"{WORDS.get(name, name)} {_shown(name, value)}" for name, value in ordered)


def _shown(name: str, value: str) -> str:
    """Query ids are upper case on all pages."""
    return value.upper() if name == "query_id" else value


def _unescaped(token: re.Match[str]) -> str:
    if token[2] is not None:
        return token[2]
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], token[1])


def _escaped(text: str) -> str:
    if text and not any(map(_is_special, text)):
        return text
    return '"' + "".join(map(_character, text)) + '"'


def _is_special(character: str) -> bool:
    category = unicodedata.category(character)
    is_blank = category in _BLANKS and character not in _NO_BREAK_SPACES
    return is_blank or category == "Cc" or character in _QUOTED


def _character(character: str) -> str:
    if unicodedata.category(character) == "Cc":
        return f"\\u{ord(character):04x}"
    return f"\\{character}" if character in '"\\' else character
