"""A text as a query: recursive descent over the characters, one function per rule.

    query       = [any] [times] {"|" pipe}          times (`last:24h`) may stand between the conditions
    any         = all {"OR" all}
    all         = term {["AND"] term}
    term        = ("-" | "NOT") term | "(" any ")" | field ":" values | text
    values      = [operator] value {"," value} | value ".." value
    text        = "words in quotes" | word

`\\"` and `\\\\` are a quote and a backslash within quotes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tailrace.search import pipes, value_types
from tailrace.search.errors import SearchError, unknown
from tailrace.search.fields import BY_NAME, TIMES, Field
from tailrace.search.model import (
    EQUAL,
    ORDERS,
    RANGE,
    UNEQUAL,
    All,
    Any,
    Around,
    Between,
    Comparison,
    Condition,
    Last,
    Not,
    Pipe,
    SearchQuery,
    Text,
    Value,
)

LONGEST = 2000
"""Characters of a search."""
DEEPEST = 20
"""Parentheses and negations within each other."""
MOST_CONDITIONS = 50
MARGIN_SECONDS = 1800
"""Of `around:` before and after the alert's evidence."""
LONGEST_MARGIN = 7 * 86_400

_AS_SPACES = str.maketrans(dict.fromkeys("\t\n\r\x0b\x0c", " "))
"""A line break is a space, also within quotes."""
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_WORD = re.compile(r'[^\s()|"]+')
_VALUE = re.compile(r'[^\s()|",]+')
_KEYWORD = re.compile(r'(AND|OR|NOT)(?=[\s()"]|$)')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_TIME = re.compile(r'[^\s()|"]*')
_OPERATOR = re.compile("|".join((UNEQUAL, *ORDERS, EQUAL)))


def parse(text: str) -> SearchQuery:
    """Returns the query of a text. Raises SearchError, with the position and what was expected there."""
    _check_characters(text)
    return _Parser(text.translate(_AS_SPACES)).query()


def _check_characters(text: str) -> None:
    if len(text) > LONGEST:
        raise SearchError(
            f"a search has at most {LONGEST} characters, and this one has {len(text)}", LONGEST + 1
        )
    for at, sign in enumerate(text, 1):
        if not (sign.isprintable() or sign.isspace()) or sign in "\x1c\x1d\x1e\x1f\x85":
            raise SearchError(f"expected text, found U+{ord(sign):04X}, which cannot be shown", at)


@dataclass
class _Parser:
    text: str
    at: int = 0
    depth: int = 0
    conditions: int = 0
    times: dict[str, object] = field(default_factory=dict)
    """What the words of TIMES say, by word."""

    def query(self) -> SearchQuery:
        where = None if self._sees("|") or self._is_end() else self._any()
        pipe = self._pipe() if self._takes("|") else None
        if not self._is_end():
            raise self._expected(
                "the end, or `|` with a pipe" if pipe is None else "the end: a search has one pipe"
            )
        return self._with_times(where, pipe)

    def _with_times(self, where: Condition | None, pipe: Pipe | None) -> SearchQuery:
        since, until = self.times.get("from"), self.times.get("to")
        between = Between(since, until) if since or until else None
        last, around = self.times.get("last"), self.times.get("around")
        if around and (last or between):
            raise SearchError("`around:` sets the time range: remove `last:`, `from:` and `to:`")
        if last and since:
            raise SearchError("use `last:` or `from:`, not both")
        if since and until and since >= until:
            raise SearchError("`from:` is not before `to:`")
        return SearchQuery(where, last, between, around, pipe)

    def _any(self) -> Condition | None:
        begin, found = self.at, [self._all()]
        while self._takes_word("OR"):
            found.append(self._all())
        if len(found) > 1 and None in found:
            raise SearchError(
                "expected a condition on both sides of OR; a time such as `last:24h` is none", begin + 1
            )
        return found[0] if len(found) == 1 else Any(tuple(found))

    def _all(self) -> Condition | None:
        found = [self._term()]
        while (
            not self._is_end() and not self._sees("|") and not self._sees(")") and not self._sees_word("OR")
        ):
            self._takes_word("AND")
            found.append(self._term())
        found = [condition for condition in found if condition is not None]
        return All(tuple(found)) if len(found) > 1 else (found[0] if found else None)

    def _term(self) -> Condition | None:
        if self._takes("-") or self._takes_word("NOT"):
            return Not(self._nested(self._term))
        if self._takes("("):
            inner = self._nested(self._any)
            if not self._takes(")"):
                raise self._expected("`)`")
            return inner
        self._skip_space()
        found = _NAME.match(self.text, self.at)
        return self._field(found) if found else self._free_text()

    def _nested(self, rule: Callable[[], Condition | None]) -> Condition:
        self.depth += 1
        if self.depth > DEEPEST:
            raise SearchError(f"at most {DEEPEST} parentheses and negations within each other", self.at)
        begin = self.at
        found = rule()
        self.depth -= 1
        if found is None:
            raise SearchError("expected a condition; a time such as `last:24h` is none", begin + 1)
        return found

    def _field(self, found: re.Match) -> Condition | None:
        """Returns the comparison that begins with this name; None for a time, which is stored, at the end."""
        name, begin = found[1].lower(), self.at + 1
        if name not in BY_NAME and name not in TIMES:
            known = sorted({*BY_NAME, *TIMES})
            message = unknown("field", found[1], known)
            stop = "" if message.endswith("?") else "."
            raise SearchError(f"{message}{stop} Text with a colon needs quotes.", begin)
        self.at = found.end()
        if name in TIMES:
            return self._time(name, begin)
        return self._counted(self._comparison(BY_NAME[name], begin))

    def _time(self, name: str, begin: int) -> Condition | None:
        if self.depth:
            raise SearchError(f"`{name}:` cannot be within parentheses or negated", begin)
        if name in self.times:
            raise SearchError(f"`{name}:` is there twice", begin)
        at, text = self.at + 1, _TIME.match(self.text, self.at)[0]
        self.at += len(text)
        self.times[name] = _time_value(name, text, at)
        return self._term() if self._continues() else None

    def _continues(self) -> bool:
        """Whether a term follows, of the same list."""
        ends = self._is_end() or any(map(self._sees, "|)"))
        return not ends and not self._sees_word("OR") and not self._sees_word("AND")

    def _comparison(self, its: Field, begin: int) -> Comparison:
        found = _OPERATOR.match(self.text, self.at)
        operator = found[0] if found else EQUAL
        self.at = found.end() if found else self.at
        if operator in ORDERS and not its.type.is_ordered:
            raise SearchError(f"{its.name} is a {its.type.name}, which `{operator}` does not compare", begin)
        values = [self._value(its, operator)]
        while self.text.startswith(",", self.at):
            self.at += 1
            values.append(self._value(its, operator))
        if operator in ORDERS and len(values) > 1:
            raise SearchError(f"`{operator}` compares one value, found {len(values)}", begin)
        return self._ranged(Comparison(its.name, operator, tuple(values), begin), its)

    def _ranged(self, comparison: Comparison, its: Field) -> Comparison:
        """Returns a comparison whose value is `a..b` as a range, others as they are; checks the values."""
        first = comparison.values[0]
        ends = first.text.split("..")
        is_range = (
            its.type.is_ordered
            and comparison.operator == EQUAL
            and len(comparison.values) == 1
            and len(ends) == 2
        )
        values = tuple(map(Value, ends)) if is_range else comparison.values
        for value in values:
            if not value.is_pattern and value.text != "" and its.type.convert(value.text) is None:
                raise SearchError(self._not_a_value(its, value.text), comparison.position)
            if value.text == "" and not its.type.has_patterns:
                raise SearchError(f"expected {its.type.expected} after `{its.name}:`", comparison.position)
        if is_range:
            return Comparison(its.name, RANGE, values, comparison.position)
        return comparison

    def _not_a_value(self, its: Field, text: str) -> str:
        if its.values:
            also = (
                "; kinds of messages that *Errors* names `other` are values of `level`"
                if its.name == "kind"
                else ""
            )
            return unknown(f"value of {its.name}", text, [*its.values, *its.names]) + also
        return f"{its.name}:{text} is not {its.type.expected}"

    def _value(self, its: Field, operator: str) -> Value:
        if found := _QUOTED.match(self.text, self.at):
            self.at = found.end()
            return Value(_ESCAPE.sub(r"\1", found[1]))
        self._require_closed_quote()
        found = _VALUE.match(self.text, self.at)
        if found is None:
            raise self._expected(f"{its.type.expected} after `{its.name}:`")
        self.at = found.end()
        is_pattern = its.type.has_patterns and operator in (EQUAL, UNEQUAL) and "*" in found[0]
        return Value(found[0], is_pattern)

    def _free_text(self) -> Text:
        begin = self.at + 1
        if found := _QUOTED.match(self.text, self.at):
            text = _ESCAPE.sub(r"\1", found[1])
        else:
            self._require_closed_quote()
            found = _WORD.match(self.text, self.at)
            if found is None:
                raise self._expected("a field such as `user:etl`, or a text")
            text = found[0]
        self.at = found.end()
        if not text:
            raise SearchError("expected a text between the quotes", begin)
        return self._counted(Text(text, begin))

    def _counted(self, condition: Condition) -> Condition:
        self.conditions += 1
        if self.conditions > MOST_CONDITIONS:
            raise SearchError(f"at most {MOST_CONDITIONS} conditions", self.at)
        return condition

    def _pipe(self) -> Pipe:
        words = []
        while found := _WORD.match(self.text, self._skip_space()):
            words.append((found[0], self.at + 1))
            self.at = found.end()
        return pipes.parsed(words, self.at + 1)

    def _skip_space(self) -> int:
        self.at = _SPACE.match(self.text, self.at).end()
        return self.at

    def _is_end(self) -> bool:
        return self._skip_space() == len(self.text)

    def _sees(self, sign: str) -> bool:
        return self.text.startswith(sign, self._skip_space())

    def _takes(self, sign: str) -> bool:
        found = self._sees(sign)
        self.at += len(sign) if found else 0
        return found

    def _sees_word(self, word: str) -> bool:
        found = _KEYWORD.match(self.text, self._skip_space())
        return bool(found) and found[1] == word

    def _takes_word(self, word: str) -> bool:
        found = self._sees_word(word)
        self.at += len(word) if found else 0
        return found

    def _require_closed_quote(self) -> None:
        if self.text.startswith('"', self.at):
            raise SearchError("expected a closing quote", len(self.text) + 1)

    def _expected(self, what: str) -> SearchError:
        self._skip_space()
        found = f"`{self.text[self.at :][:20]}`" if self.at < len(self.text) else "the end"
        return SearchError(f"expected {what}, found {found}", self.at + 1)


def _time_value(name: str, text: str, at: int) -> object:
    if name == "last":
        return Last(_span(text, "a time such as 90m, 24h or 7d after `last:`", at))
    if name == "around":
        return _around(text, at)
    found = value_types.time(text)
    if found is None:
        raise SearchError(
            f"expected a day or a time such as 2026-11-24T14:00 after `{name}:`, found `{text}`", at
        )
    return found


def _around(text: str, at: int) -> Around:
    id_, tilde, margin = text.partition("~")
    alert = value_types.alert_id(id_)
    if alert is None:
        raise SearchError(f"expected the id of an alert after `around:`, found `{id_}`", at)
    seconds = _span(margin, "a margin such as 2h after `~`", at + len(id_) + 1) if tilde else MARGIN_SECONDS
    if seconds > LONGEST_MARGIN:
        raise SearchError("the margin of `around:` is at most 7d", at + len(id_) + 1)
    return Around(alert, seconds)


def _span(text: str, what: str, at: int) -> int:
    seconds = value_types.span(text)
    if seconds is None:
        raise SearchError(f"expected {what}, found `{text}`", at)
    return seconds
