"""Finds the stored fingerprints of a pasted statement by comparing their tokens.

A match means that the stored text can be the fingerprint of the statement. It is not proof: only the
fingerprinter (`tailrace fingerprint`), which needs a JVM, computes the query id.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tailrace_pages.statements.collapsing import collapsed
from tailrace_pages.statements.tokens import Kind, Token, tokens_of

STORED_CHARACTERS = 16_000
"""Fingerprints are cut at 16 KiB. A longer text is compared as far as it is stored."""
MOST_WORDS = 12
_DIGITS = re.compile(r"\d[\da-f]*", re.IGNORECASE)
_STARTS = {
    *(
        "select",
        "insert",
        "update",
        "delete",
        "replace",
        "with",
        "call",
        "set",
        "show",
        "create",
        "alter",
        "drop",
    ),
    *(
        "grant",
        "revoke",
        "truncate",
        "rename",
        "explain",
        "describe",
        "desc",
        "analyze",
        "load",
        "lock",
        "use",
        "do",
    ),
    *(
        "begin",
        "commit",
        "rollback",
        "start",
        "savepoint",
        "prepare",
        "execute",
        "flush",
        "kill",
        "values",
        "handler",
    ),
    *("table", "optimize", "check", "change", "reset", "purge", "clone", "administrator"),
}


@dataclass(frozen=True)
class Pattern:
    """A pasted statement, ready to be compared."""

    tokens: list[Token]

    def words(self) -> list[str]:
        """Returns words that each fingerprint of the statement contains, the longest first; at most
        MOST_WORDS."""
        texts = [token.text for token in self.tokens if token.kind in (Kind.WORD, Kind.NAME)]
        parts = {part for text in texts for part in re.split(r"[?\d][\da-fA-F]*", text) if len(part) > 1}
        return sorted(parts, key=lambda part: (-len(part), part))[:MOST_WORDS]

    def matches(self, fingerprint: str) -> bool:
        stored = collapsed(tokens_of(fingerprint))
        if len(fingerprint) >= STORED_CHARACTERS:
            stored = stored[:-2]
            return len(stored) <= len(self.tokens) and all(map(_equal, stored, self.tokens))
        return len(stored) == len(self.tokens) and all(map(_equal, stored, self.tokens))

    def quoted_differently(self, fingerprint: str) -> int:
        """Returns the number of names that have backticks on one side only."""
        stored = collapsed(tokens_of(fingerprint))
        return sum(
            (Kind.NAME in {a.kind, b.kind}) and a.kind != b.kind
            for a, b in zip(stored, self.tokens, strict=False)
        )


def is_statement(text: str) -> bool:
    """Returns whether it begins like a statement, and not like a table name or a few words of one."""
    tokens = tokens_of(text)
    return len(tokens) > 1 and tokens[0].kind is Kind.WORD and tokens[0].text in _STARTS


def pattern_of(statement: str) -> Pattern:
    return Pattern(collapsed(tokens_of(statement)))


def matching(pattern: Pattern, candidates: Iterable[dict]) -> list[dict]:
    """Returns the rows whose `query` matches, those with the same quotes first, else in their order."""
    found = [row for row in candidates if pattern.matches(row["query"])]
    return sorted(found, key=lambda row: pattern.quoted_differently(row["query"]))


def masked(name: str) -> str:
    """Returns a name as in the fingerprint of a statement that reads or writes rows: without its digits."""
    return _DIGITS.sub("?", name)


def _equal(stored: Token, pasted: Token) -> bool:
    if stored.kind in (Kind.WORD, Kind.NAME):
        return pasted.kind is not Kind.SYMBOL and _same_name(stored.text.lower(), pasted.text.lower())
    if stored.kind is Kind.SYMBOL:
        return pasted.kind is Kind.SYMBOL and stored.text == pasted.text
    return pasted.kind is stored.kind


def _same_name(stored: str, pasted: str) -> bool:
    return stored == pasted or stored == masked(pasted)
