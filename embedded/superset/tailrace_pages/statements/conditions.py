"""The columns that a statement compares, groups by and sorts by, from its fingerprint.

Only the outermost SELECT, UPDATE or DELETE is read; subqueries count as values of unknown content. The text
contains no types and no indexes, and an unqualified column of a join has no known table.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_TOKENS = re.compile(
    r"/\*.*?\*/|`(?P<quoted>(?:[^`]|``)+)`|(?P<word>[^\W\d][\w$]*)|(?P<sign><=>|<>|!=|<=|>=|:=|&&|\|\||\?\+?|\S)",
    re.DOTALL,
)
_CLAUSES = {"select", "update", "delete", "from", "set", "where", "group", "having", "order", "limit", "for"}
_AFTER_TABLES = {"on", "using", "use", "force", "ignore", "partition"}
_JOINS = {"join", "straight_join", "left", "right", "inner", "cross", "natural", "outer"}
_OPENERS = {"select", "update", "delete"}
_VALUES = {"null", "true", "false", "interval", "unknown", "current_date", "current_timestamp"} | {
    *("microsecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year")
}
"""Words of values that are no column."""
_EQUAL = {"=", "<=>"}
_RANGES = {"<", ">", "<=", ">="}
_MIRRORED = _EQUAL | _RANGES
UNNAMED = "?"
"""The alias of a table whose name the fingerprint replaced, such as `1d`, and that has no alias."""
MOST_NESTED = 100
"""Parentheses around a condition that are read. Each one costs a pass over the tokens, and a stack frame."""


class _NestedError(ValueError):
    """More parentheses than MOST_NESTED are around a condition."""


@dataclass(frozen=True)
class Token:
    """One token. `key` is what keywords and signs are compared by: in lower case, '' for a quoted name."""

    text: str
    key: str
    is_name: bool = False
    """Whether it is a word or a quoted name, which can name a column."""


@dataclass(frozen=True)
class Name:
    """A column with its qualifier, '' if it has none."""

    column: str
    qualifier: str = ""


@dataclass
class Conditions:
    """Columns in the order of the text. `points` are compared with a list; `joined` with a column of another
    table."""

    tables: dict[str, str] = field(default_factory=dict)
    """Alias to the table as it is written, without quotes; '' for a derived table and for an unknown name."""
    equal: list[Name] = field(default_factory=list)
    points: list[Name] = field(default_factory=list)
    ranges: list[Name] = field(default_factory=list)
    joined: list[Name] = field(default_factory=list)
    grouped: list[Name] | None = field(default_factory=list)
    """None if the statement groups by an expression."""
    ordered: list[Name] | None = field(default_factory=list)
    """None if the statement sorts by an expression, or in both directions."""
    is_read: bool = True
    """Whether the text is one SELECT, UPDATE or DELETE, with conditions that are not nested too deeply."""

    def of(self, names: Sequence[Name], alias: str) -> list[str]:
        """Returns the columns of one table, without duplicates; unqualified ones only if it is the only
        table."""
        is_only = len(self.tables) == 1
        own = (name.column for name in names if self._is_of(name, alias, is_only))
        return list(dict.fromkeys(own))

    def _is_of(self, name: Name, alias: str, is_only: bool) -> bool:
        return is_only if not name.qualifier else name.qualifier.lower() == alias.lower()

    def without_table(self) -> list[str]:
        """Returns the compared columns whose table the text does not name."""
        if len(self.tables) == 1:
            return []
        names = [*self.equal, *self.points, *self.ranges, *self.joined]
        return list(dict.fromkeys(name.column for name in names if not name.qualifier))


def conditions(fingerprint: str) -> Conditions:
    """Returns the columns of a fingerprint. `is_read` is false for other statements, for unions, and for
    conditions in more than MOST_NESTED parentheses."""
    clauses = _clauses(list(_tokens(fingerprint)))
    if clauses is None:
        return Conditions(is_read=False)
    try:
        return _of_clauses(clauses)
    except _NestedError:
        return Conditions(is_read=False)


def _of_clauses(clauses: dict[str, list[Token]]) -> Conditions:
    """Returns the columns of the outermost statement. Raises _NestedError."""
    found = Conditions()
    source = clauses.get("from") or clauses.get("update") or []
    aliases = _select_aliases(clauses.get("select", []))
    for condition in _tables(source, found):
        _compare(condition, found)
    _compare(clauses.get("where", []), found)
    found.grouped = _list(clauses.get("group", [])[1:], aliases)
    found.ordered = _list(clauses.get("order", [])[1:], aliases)
    return found


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKENS.finditer(text):
        if match["quoted"] is not None:
            yield Token(match["quoted"].replace("``", "`"), "", is_name=True)
        elif match["word"] is not None:
            yield Token(match["word"], match["word"].lower(), is_name=True)
        elif match["sign"] is not None:
            yield Token(match["sign"], match["sign"])


def _clauses(tokens: list[Token]) -> dict[str, list[Token]] | None:
    """Returns the tokens of each clause of the outermost statement; None for other statements."""
    if not tokens or tokens[0].key not in _OPENERS:
        return None
    found: dict[str, list[Token]] = {}
    current = found.setdefault(tokens[0].key, [])
    depth = 0
    for token in tokens[1:]:
        depth += (token.key == "(") - (token.key == ")")
        if depth == 0 and token.key in ("union", "except", "intersect"):
            return None
        if depth == 0 and token.key in _CLAUSES and token.key not in found:
            current = found.setdefault(token.key, [])
        else:
            current.append(token)
    return found


def _parts(tokens: Sequence[Token], separators: Sequence[str]) -> list[list[Token]]:
    """Splits tokens at separators outside of parentheses, except at the AND of a BETWEEN."""
    found: list[list[Token]] = [[]]
    depth, is_between = 0, False
    for token in tokens:
        depth += (token.key == "(") - (token.key == ")")
        if depth == 0 and token.key in separators:
            if is_between and token.key == "and":
                is_between = False
            else:
                found.append([])
                continue
        is_between = is_between or (depth == 0 and token.key == "between")
        found[-1].append(token)
    return [part for part in found if part]


def _tables(tokens: Sequence[Token], found: Conditions) -> list[list[Token]]:
    """Adds the tables of FROM, and returns the conditions of its joins."""
    joined = []
    for part in _parts(tokens, [",", *sorted(_JOINS)]):
        end = next((at for at, token in enumerate(part) if token.key in _AFTER_TABLES), None)
        _add_table([token for token in part[:end] if token.key != "as"], found)
        if end is not None and part[end].key == "on":
            joined.append(part[end + 1 :])
    return joined


def _add_table(tokens: Sequence[Token], found: Conditions) -> None:
    """Adds `schema.table alias`; a derived table is one with an empty name, and so is one whose name is no
    word: the fingerprint has `?` for an unquoted name of digits."""
    names = [token.text for token in tokens if token.is_name]
    if not tokens or (tokens[0].key == "(" and not names):
        return
    if tokens[0].key == "(":
        if any(token.key == "select" for token in tokens):
            found.tables[names[-1]] = ""
        return
    length = 3 if len(tokens) > 2 and tokens[1].key == "." else 1
    own = tokens[0:length:2]
    name = ".".join(token.text for token in own) if all(token.is_name for token in own) else ""
    if len(tokens) > length and tokens[length].is_name:
        alias = tokens[length].text
    else:
        alias = own[-1].text if name else UNNAMED
    found.tables[alias] = name


def _compare(tokens: Sequence[Token], found: Conditions, nested: int = 0) -> None:
    """Adds the columns of conditions that must all hold; alternatives and negations name none. Raises
    _NestedError."""
    if nested > MOST_NESTED:
        raise _NestedError
    for part in _parts(tokens, ["and", "&&"]):
        inner = _without_parentheses(part)
        if len(inner) < len(part):
            _compare(inner, found, nested + 1)
        elif len(_parts(part, ["or", "xor", "||"])) == 1:
            _compare_one(part, found)


def _compare_one(part: list[Token], found: Conditions) -> None:
    name, length = _name_at(part)
    rest = part[length:]
    if name is None:
        _compare_mirrored(part, found)
    elif rest and rest[0].key in _MIRRORED:
        _compare_sides(name, rest[0].key, rest[1:], found)
    elif rest and (kind := _kind_of(rest)) is not None:
        getattr(found, kind).append(name)


def _compare_sides(name: Name, operator: str, other: list[Token], found: Conditions) -> None:
    """Adds the column of `a = ?` and the columns of `a = b`."""
    column, length = _name_at(other)
    if column is not None and length == len(other):
        found.joined += [name, column]
    elif _is_value(other):
        (found.equal if operator in _EQUAL else found.ranges).append(name)


def _kind_of(rest: list[Token]) -> str | None:
    """Returns the list of Conditions for a column before `in (?)`, `between ? and ?` or `is null`."""
    operator, values = rest[0].key, [token for token in rest[1:] if token.key != "and"]
    if operator == "is":
        return "equal" if len(values) == 1 and values[0].key in ("null", "?") else None
    kinds = {"in": "points", "between": "ranges"}
    return kinds.get(operator) if _is_value(values) else None


def _compare_mirrored(part: list[Token], found: Conditions) -> None:
    """Adds the column of `? = a`."""
    for at, token in enumerate(part):
        if not token.is_name and token.key in _MIRRORED:
            name, length = _name_at(part[at + 1 :])
            if name is not None and at + 1 + length == len(part) and _is_value(part[:at]):
                (found.equal if token.key in _EQUAL else found.ranges).append(name)
            return


def _name_at(tokens: Sequence[Token]) -> tuple[Name | None, int]:
    """Returns the column at the beginning and its number of tokens; (None, 0) for anything else."""
    names, at = [], 0
    while at < len(tokens) and tokens[at].is_name:
        names.append(tokens[at].text)
        if at + 1 < len(tokens) and tokens[at + 1].key == ".":
            at += 2
        else:
            is_call = at + 1 < len(tokens) and tokens[at + 1].key == "(" and tokens[at].key
            is_keyword = len(names) == 1 and tokens[at].key in {*_VALUES, "not", "exists"}
            return (
                (None, 0)
                if is_call or is_keyword
                else (Name(names[-1], names[-2] if len(names) > 1 else ""), at + 1)
            )
    return None, 0


def _is_value(tokens: Sequence[Token]) -> bool:
    """Returns whether the tokens name no column: placeholders, numbers, functions of them."""
    for at, token in enumerate(tokens):
        is_call = at + 1 < len(tokens) and tokens[at + 1].key == "("
        if (token.is_name and token.key not in _VALUES and not is_call) or token.key == "select":
            return False
    return bool(tokens)


def _without_parentheses(part: list[Token]) -> list[Token]:
    """Returns what is between the parentheses around all of a condition, else the condition."""
    if not (part[0].key == "(" and part[-1].key == ")"):
        return part
    depth = 0
    for at, token in enumerate(part):
        depth += (token.key == "(") - (token.key == ")")
        if depth == 0 and at < len(part) - 1:
            return part
    return part[1:-1]


def _select_aliases(tokens: Sequence[Token]) -> dict[str, Name | None]:
    """Returns the aliases of the select list, with the column that they name or None for an expression."""
    found: dict[str, Name | None] = {}
    for part in _parts(tokens, [","]):
        if len(part) > 1 and part[-1].is_name and part[-2].key != ".":
            source = part[:-2] if part[-2].key == "as" else part[:-1]
            name, length = _name_at(source)
            found[part[-1].text.lower()] = name if name and length == len(source) else None
    return found


def _list(tokens: Sequence[Token], aliases: dict[str, Name | None]) -> list[Name] | None:
    """Returns the columns of GROUP BY or ORDER BY; None if one is an expression or the directions differ."""
    found, directions = [], set()
    for part in _parts(tokens, [","]):
        has_direction = part[-1].key in ("asc", "desc")
        directions.add(part[-1].key if has_direction else "asc")
        name, length = _name_at(part)
        if name is not None and not name.qualifier and name.column.lower() in aliases:
            name = aliases[name.column.lower()]
        if name is None or length != len(part) - has_direction:
            return None
        found.append(name)
    return found if len(directions) < 2 else None
