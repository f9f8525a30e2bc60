"""The entity of an alert as one text; schemas/contracts/entity_key.json has the rule."""

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
