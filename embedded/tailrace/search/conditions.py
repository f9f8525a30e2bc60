"""A condition as SQL over one table. Values are parameters, never a part of the text.

An expression is 0 or 1 and never NULL, so that NOT finds exactly the other events. The constants FALSE and
TRUE are folded: a table in which nothing can match is not read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tailrace.search.fields import BY_NAME
from tailrace.search.model import (
    EQUAL,
    RANGE,
    UNEQUAL,
    All,
    Comparison,
    Condition,
    Not,
    Text,
    Value,
)
from tailrace.search.model import (
    Any as AnyOf,
)
from tailrace.search.sources import DATA_ACCESS, FINGERPRINTS, TABLES, Column, Source
from tailrace.search.value_types import NAME, Parameter, ValueType

FALSE, TRUE = "0", "1"
NAMES_OF_TABLES = "arrayMap(name -> splitByChar('.', name)[-1], {})"
"""The names without their databases."""
SPAN = "{time} >= {{since:DateTime64(6, 'UTC')}} AND {time} < {{until:DateTime64(6, 'UTC')}}"
_LIKE = str.maketrans({"%": r"\%", "_": r"\_", "\\": r"\\"})


@dataclass
class Parameters:
    """The values of a statement, by the names of its parameters."""

    values: dict[str, Parameter] = field(default_factory=dict)
    _names: dict[tuple[str, Parameter], str] = field(default_factory=dict)

    def add(self, value: Parameter, clickhouse_type: str) -> str:
        """Returns the placeholder of the value. Equal values share one parameter."""
        name = self._names.setdefault((clickhouse_type, value), f"p{len(self._names)}")
        self.values[name] = value
        return f"{{{name}:{clickhouse_type}}}"


def sql_of(condition: Condition | None, source: Source, parameters: Parameters) -> str:
    """Returns the condition for the events of a table."""
    match condition:
        case None:
            return TRUE
        case Text(text):
            return _text(text, source, parameters)
        case Comparison():
            return _comparison(condition, source, parameters)
        case Not(inner):
            return negated(sql_of(inner, source, parameters))
        case All(parts):
            return all_of([sql_of(each, source, parameters) for each in parts])
        case AnyOf(parts):
            return any_of([sql_of(each, source, parameters) for each in parts])


def negated(sql: str) -> str:
    return {FALSE: TRUE, TRUE: FALSE}.get(sql) or f"NOT ({sql})"


def all_of(parts: Sequence[str]) -> str:
    if FALSE in parts:
        return FALSE
    return _joined(" AND ", [part for part in parts if part != TRUE]) or TRUE


def any_of(parts: Sequence[str]) -> str:
    if TRUE in parts:
        return TRUE
    return _joined(" OR ", [part for part in parts if part != FALSE]) or FALSE


def _joined(operator: str, parts: Sequence[str]) -> str:
    return f"({operator.join(parts)})" if len(parts) > 1 else "".join(parts)


def like(text: str) -> str:
    """Returns the pattern of LIKE for texts that contain this one."""
    return f"%{text.translate(_LIKE)}%"


def _text(text: str, source: Source, parameters: Parameters) -> str:
    pattern = f"lowerUTF8({parameters.add(like(text), 'String')})"
    if not source.query:
        return f"lowerUTF8({source.text}) LIKE {pattern}"
    ids = f"SELECT query_id FROM tailrace.{FINGERPRINTS} WHERE lowerUTF8(fingerprint) LIKE {pattern}"
    return f"{source.query} GLOBAL IN ({ids})"


def has_text(condition: Condition | None) -> bool:
    """Returns whether a condition compares texts."""
    match condition:
        case Text():
            return True
        case Not(inner):
            return has_text(inner)
        case All(parts) | AnyOf(parts):
            return any(map(has_text, parts))
        case _:
            return False


def _comparison(comparison: Comparison, source: Source, parameters: Parameters) -> str:
    column, its = source.columns.get(comparison.field), BY_NAME[comparison.field].type
    if column is None:
        return FALSE
    if column.of_table:
        return _by_event(comparison, column, source, parameters)
    if column.is_constant:
        is_one = column.sql in {its.convert(value.text) for value in comparison.values}
        return TRUE if is_one == (comparison.operator == EQUAL) else FALSE
    return _compared(comparison, column, its, parameters)


def _compared(comparison: Comparison, column: Column, its: ValueType, parameters: Parameters) -> str:
    known = column.known or TRUE
    if comparison.operator == EQUAL:
        found = any_of(_equal(comparison.values, column, its, parameters))
        return all_of([found, known]) if column.is_nullable else found
    if comparison.operator == UNEQUAL:
        return all_of([negated(any_of(_equal(comparison.values, column, its, parameters))), known])
    given = [parameters.add(its.convert(value.text), its.clickhouse) for value in comparison.values]
    if comparison.operator == RANGE:
        return all_of([f"{column.sql} >= {given[0]}", f"{column.sql} <= {given[1]}", known])
    return all_of([f"{column.sql} {comparison.operator} {given[0]}", known])


def _equal(values: Sequence[Value], column: Column, its: ValueType, parameters: Parameters) -> list[str]:
    """Returns conditions of which one holds if the column has one of the values."""
    patterns = [value for value in values if value.is_pattern]
    exact = [value for value in values if not value.is_pattern and _occurs(value, column, its)]
    if column.also is not None and (others := [each for each in values if each not in exact]):
        mine = _equal(exact, replace(column, also=None), its, parameters) if exact else []
        return [*mine, *_equal(others, column.also, its, parameters)]
    if column.is_array:
        return [_in_array(value, column, parameters) for value in [*patterns, *exact]]
    if column.wider is not None:
        patterns, exact = _spelled(patterns, column.wider), _spelled(exact, column.wider)
    found = [f"{column.sql} LIKE {parameters.add(_pattern(value, its), 'String')}" for value in patterns]
    given = [parameters.add(its.convert(value.text), its.clickhouse) for value in exact]
    if len(given) == 1:
        return [*found, f"{column.sql} = {given[0]}"]
    return [*found, f"{column.sql} IN ({', '.join(given)})"] if given else [*found, FALSE]


def _spelled(values: Sequence[Value], wider: Mapping[str, tuple[str, ...]]) -> list[Value]:
    """Returns the values of names in any spelling: `Replication_Error` is `replication error`."""
    names = [(value, value.text.lower()) for value in values]
    return [
        replace(value, text=each)
        for value, name in names
        for each in wider.get(name, (name.replace("_", " "),))
    ]


def _occurs(value: Value, column: Column, its: ValueType) -> bool:
    return column.values is None or its.convert(value.text) in column.values


def _in_array(value: Value, column: Column, parameters: Parameters) -> str:
    if value.text == "":
        return f"empty({column.sql})"
    if value.is_pattern:
        pattern = parameters.add(_pattern(value, NAME), "String")
        condition = _of_names(f"each LIKE {pattern}", value, column, pattern)
        return f"arrayExists(each -> {condition}, {column.sql})"
    is_its = f"has({column.sql}, {parameters.add(value.text, 'String')})"
    return _among_tables(value.text, column, is_its, parameters) if column.has_qualified_names else is_its


def _among_tables(name: str, column: Column, is_its: str, parameters: Parameters) -> str:
    """A comparison with a table, with or without its database. The index has the names without databases of
    all tables of an event, so each comparison asks for that first."""
    last = parameters.add(name.rpartition(".")[2], "String")
    is_named = f"has({NAMES_OF_TABLES.format(TABLES)}, {last})"
    if "." in name:
        return all_of([is_named, is_its])
    if column.sql == TABLES:
        return is_named
    return all_of([is_named, f"has({NAMES_OF_TABLES.format(column.sql)}, {last})"])


def _of_names(condition: str, value: Value, column: Column, pattern: str) -> str:
    if not column.has_qualified_names or "." in value.text:
        return condition
    return f"splitByChar('.', each)[-1] LIKE {pattern}"


def _pattern(value: Value, its: ValueType) -> str:
    text = str(its.convert(value.text)) if its.clickhouse == "String" else value.text
    return text.translate(_LIKE).replace("*", "%")


def _by_event(comparison: Comparison, column: Column, source: Source, parameters: Parameters) -> str:
    """A comparison with the rows of another table about the event."""
    its = Column(f"d.{column.sql}", f"notEmpty(d.{column.sql})", is_array=True)
    condition = _compared(comparison, its, NAME, parameters)
    span = SPAN.format(time="d.event_time")
    rows = f"tailrace.{DATA_ACCESS} AS d FINAL WHERE {span} AND {condition}"
    return f"{source.id} GLOBAL IN (SELECT d.event_id FROM {rows})"
