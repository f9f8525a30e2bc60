"""Splits statements and fingerprints into tokens, to compare and format them.

This is no second fingerprinter: it computes no ids, and its result is never stored. docs/FINGERPRINT.md
has the rules of fingerprints, docs/WORK-PAGES-queries.md the differences that remain.
"""

import enum
import re
from collections.abc import Iterator
from typing import NamedTuple

MOST_CHARACTERS = 65_536
"""Longer statements are cut: fingerprints are stored up to 16 KiB."""


class Kind(enum.Enum):
    """What a token is. `?+`, a list of literals, is a LIST; a name in backticks is a NAME."""

    LITERAL = enum.auto()
    LIST = enum.auto()
    WORD = enum.auto()
    NAME = enum.auto()
    SYMBOL = enum.auto()


class Token(NamedTuple):
    kind: Kind
    text: str
    """The word in lower case, a name as written, the contents of a quoted literal, `?` for other literals."""
    is_apart: bool
    """Whether white space or a comment precedes it."""

    def is_word(self, *words: str) -> bool:
        return self.kind is Kind.WORD and self.text in words

    def is_symbol(self, text: str) -> bool:
        return self.kind is Kind.SYMBOL and self.text == text


_PATTERN = re.compile(
    r"""
    (?P<repeat> /\*repeat\ union(?:\ all)?\*/ )
    | (?P<space> \s+ | /\*!9{5}.*?(?:\*/|\Z) | /\*[mM]?![?\d]* | \*/ | /\*.*?(?:\*/|\Z)
        | --(?=\s|\Z)[^\n]* | \#[^\n]* )
    | (?P<quoted> (?:_\w+\s*+)?[nNxXbB]?(?: '(?:[^'\\]|\\.|'')*+'? | "(?:[^"\\]|\\.|"")*+"? ) )
    | (?P<dollars> \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ )
    | `(?P<name> (?:[^`]|``)*+ )`?
    | (?P<list> \?\+(?=\s*\)) )
    | (?P<number> [+-]?(?: 0[xX][\da-fA-F]++ | 0[bB][01]++
        | (?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)? )(?![\w$?]) )
    | (?P<bound> \?(?![\w$]) | %\(\w+\)s | %s\b | :[A-Za-z_]\w* | \$\d+ )
    | (?P<word> [\w$?]+ )
    | (?P<symbol> ->> | <=> | -> | := | <> | != | <= | >= | \|\| | && | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS = {"null", "true", "false"}


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Returns the text in pieces, each with its group of _PATTERN: `word`, `symbol`, `space`, …"""
    return ((match.lastgroup or "", match[0]) for match in _PATTERN.finditer(text[:MOST_CHARACTERS]))


def tokens_of(text: str) -> list[Token]:
    """Returns the tokens of a statement or fingerprint without its comments. Reads version comments as
    code."""
    found: list[Token] = []
    is_apart = True
    for match in _PATTERN.finditer(text[:MOST_CHARACTERS]):
        if match.lastgroup == "space":
            is_apart = True
            continue
        if _continues_word(match, found, is_apart):
            found[-1] = found[-1]._replace(text=found[-1].text + "?")
        else:
            found.append(_token(match, is_apart))
        is_apart = False
    return found


def _continues_word(match: re.Match, found: list[Token], is_apart: bool) -> bool:
    """Returns whether it is the signed number of `k+1`, whose fingerprint is `k?`."""
    is_signed = match["number"] and match["number"][0] in "+-"
    return bool(is_signed and not is_apart and found and found[-1].kind is Kind.WORD)


def _token(match: re.Match, is_apart: bool) -> Token:
    group = match.lastgroup
    if group == "quoted":
        return Token(Kind.LITERAL, _contents(match["quoted"]), is_apart)
    if group == "name":
        return Token(Kind.NAME, match["name"].replace("``", "`"), is_apart)
    if group == "list":
        return Token(Kind.LIST, "?+", is_apart)
    if group in ("symbol", "repeat"):
        return Token(Kind.SYMBOL, match[group], is_apart)
    if group == "word" and (word := match["word"].lower()) not in _CONSTANTS:
        return Token(Kind.WORD, word, is_apart)
    return Token(Kind.LITERAL, "?", is_apart)


def _contents(quoted: str) -> str:
    """Returns the text between the quotes: quoted accounts and character sets are names in fingerprints."""
    start = min(place for place in (quoted.find("'"), quoted.find('"')) if place >= 0)
    quote = quoted[start]
    return quoted[start + 1 :].removesuffix(quote).replace(quote * 2, quote)
