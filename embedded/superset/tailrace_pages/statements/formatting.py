"""Formats a fingerprint: a line per clause, join and condition. Only white space changes.

Texts that are no SELECT, INSERT, REPLACE, UPDATE, DELETE or WITH stay as they are.
"""

import re
from dataclasses import dataclass, field

WIDTH = 100
"""Characters after which a list is wrapped at its next comma."""
_PIECES = re.compile(
    r"(?P<space>\s+)|(?P<word>[\w$?]+)|`(?:[^`]|``)*+`?|/\*repeat[\w ]+\*/|/\*[mM]?!\??|\*/"
    r"|->>|<=>|->|:=|<>|!=|<=|>=|\|\||&&|.",
    re.DOTALL,
)
"""The parts of a fingerprint, which contains no literals."""
_FORMATTED = {"select", "insert", "replace", "update", "delete", "with"}
_CLAUSES = {
    "select",
    "from",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "union",
    "values",
    "set",
    "window",
}
_JOINS = {"join", "left", "right", "inner", "cross", "natural", "straight_join"}
_CONDITIONS = {"and", "or"}
_FUNCTIONS = {"left", "right", "values", "set"}
"""Words that are functions or types if a parenthesis follows in the middle of an expression."""


def formatted(fingerprint: str) -> str:
    """Returns the text in lines, or unchanged if it is of another kind."""
    start = re.match(r"\s*\(?\s*(\w+)", fingerprint)
    if not start or start[1].lower() not in _FORMATTED:
        return fingerprint
    lines = _Lines()
    for piece in _PIECES.finditer(fingerprint):
        lines.add(piece.lastgroup or "", piece[0])
    return lines.text()


@dataclass
class _Lines:
    """Lines that grow. `_levels` has for each open parenthesis the indentation of its subquery, 0 if it
    has none."""

    _done: list[str] = field(default_factory=list)
    _line: str = ""
    _levels: list[int] = field(default_factory=list)
    _previous: str = ""
    _has_space: bool = False
    _is_between: bool = False

    def add(self, group: str, text: str) -> None:
        if group == "space":
            self._has_space = True
            return
        word = text.lower() if group == "word" else text
        self._break_before(word)
        self._line += (" " if self._has_space and self._line.strip() else "") + text
        self._has_space, self._previous = False, word
        if word == "," and len(self._line) > WIDTH:
            self._break(1)

    def text(self) -> str:
        return "\n".join([*self._done, self._line]).strip()

    def _break_before(self, word: str) -> None:
        if word == "(":
            self._levels.append(0)
        elif word == ")":
            self._close()
        elif word in ("select", "with") and self._previous == "(":
            self._levels[-1] = self._indentation() + 1
            self._break(0)
        elif self._is_open():
            self._break_at_keyword(word)
        self._is_between = word == "between" or (self._is_between and word != "and")

    def _close(self) -> None:
        if self._levels and (inside := self._levels.pop()):
            self._break_to(inside - 1)

    def _is_open(self) -> bool:
        """Returns whether the place is not within the parentheses of an expression or list."""
        return not self._levels or self._levels[-1] > 0

    def _break_at_keyword(self, word: str) -> None:
        is_start = not self._line.strip()
        if is_start or (
            word in _FUNCTIONS and self._previous in (",", "=", "(", "select", "on", "and", "or")
        ):
            return
        is_clause = word in _CLAUSES and self._previous not in ("for", "character", "delete", "ignore")
        is_join = word in _JOINS and self._previous not in _JOINS and self._previous not in ("outer", "for")
        if is_clause or is_join:
            self._break(0)
        elif word in _CONDITIONS and not self._is_between:
            self._break(1)

    def _indentation(self) -> int:
        return (len(self._line) - len(self._line.lstrip(" "))) // 2

    def _break(self, more: int) -> None:
        self._break_to(next((level for level in reversed(self._levels) if level), 0) + more)

    def _break_to(self, indentation: int) -> None:
        if self._line.strip():
            self._done.append(self._line.rstrip())
        self._line = "  " * indentation
        self._has_space = False
