"""One SELECT for a request, with parameters.

A list reads the latest `limit` events of each table, and takes the latest of all. `statement_texts` reads the
texts of their statements. Pipes count in each table, and add the counts up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tailrace.search import conditions
from tailrace.search.conditions import FALSE, SPAN, TRUE, Parameters
from tailrace.search.errors import SearchError
from tailrace.search.fields import BY_NAME
from tailrace.search.model import Pipe, Timeline, Top
from tailrace.search.paging import Cursor
from tailrace.search.request import Alert, Request
from tailrace.search.sources import FINGERPRINTS, Source
from tailrace.search.value_types import COUNT, QUERY, Parameter

SQL_TIME = "%Y-%m-%d %H:%M:%S.%f"

COLUMNS: Mapping[str, tuple[str, str]] = {
    "log": ("String", ""),
    "kind": ("String", ""),
    "cluster": ("String", ""),
    "instance": ("String", ""),
    "user": ("String", ""),
    "client": ("String", ""),
    "program": ("String", ""),
    "database": ("String", ""),
    "command": ("String", ""),
    "verb": ("String", ""),
    "level": ("String", ""),
    "code": ("String", ""),
    "trace": ("String", ""),
    "session": ("UInt64", "0"),
    "status": ("Nullable(Int64)", "NULL"),
    "duration": ("Nullable(Float64)", "NULL"),
    "rows_sent": ("Nullable(UInt64)", "NULL"),
    "rows_examined": ("Nullable(UInt64)", "NULL"),
    "table": ("Array(String)", "[]"),
}
"""Fields that a list shows: the type, and the value where a table lacks the field."""


@dataclass(frozen=True)
class Statement:
    """A SELECT with parameters `{name:Type}` of ClickHouse, and their values."""

    sql: str
    parameters: Mapping[str, Parameter]


def compiled(
    request: Request,
    limit: int = 50,
    before: Cursor | None = None,
    span: tuple[datetime, datetime] | None = None,
) -> Statement:
    """Returns the SELECT of a request; `span` is a part of its time range. Raises SearchError.

    `limit` and `before` are those of a list, the columns of which are `micros`, `id`, `query`, `text` (empty
    for a statement) and COLUMNS. Those of a pipe are described at `running.aggregated`.
    """
    if request.query.around and not request.alert:
        raise SearchError("the alert of `around:` was not read")
    since, until = span or request.span
    given = {"since": f"{since.astimezone(UTC):{SQL_TIME}}", "until": f"{until.astimezone(UTC):{SQL_TIME}}"}
    parameters = Parameters(dict(given))
    parts = _parts(request, parameters)
    if request.query.pipe is None:
        return Statement(_list(parts, limit, before, parameters), parameters.values)
    return Statement(_piped(request.query.pipe, parts), parameters.values)


@dataclass(frozen=True)
class _Part:
    """A table that can have matching events."""

    source: Source
    where: str

    @property
    def from_(self) -> str:
        final = " FINAL" if self.source.is_final else ""
        return f"FROM tailrace.{self.source.table} AS e{final} WHERE {self.where}"


def _parts(request: Request, parameters: Parameters) -> list[_Part]:
    found = []
    splits = conditions.has_text(request.query.where)
    for source in (part for whole in request.sources for part in (whole.by_text if splits else [whole])):
        wanted = conditions.sql_of(request.query.where, source, parameters)
        near = _near(request.alert, source, parameters) if request.alert else TRUE
        condition = conditions.all_of([source.where or TRUE, wanted, near])
        if condition != FALSE:
            found.append(_Part(source, conditions.all_of([SPAN.format(time=source.time), condition])))
    return found or [_Part(request.sources[0], FALSE)]


def searched_logs(request: Request) -> set[str]:
    """Returns the logs, of fields.LOGS, in which the request can find events."""
    parts = _parts(request, Parameters())
    return set().union(*(part.source.columns["log"].values or () for part in parts if part.where != FALSE))


def _near(alert: Alert, source: Source, parameters: Parameters) -> str:
    """The events of the alert's entity on its server, and those that it names as evidence."""
    its = {name: getattr(alert, name) for name in ("cluster", "instance", "user", "client")}
    same = [
        f"{source.columns[name].sql} = {parameters.add(value, 'String')}"
        for name, value in its.items()
        if value
    ]
    evidence = [parameters.add(id_, "UUID") for id_ in alert.evidence]
    named = f"{source.id} IN ({', '.join(evidence)})" if evidence else FALSE
    return conditions.any_of([conditions.all_of(same), named])


def _list(parts: Sequence[_Part], limit: int, before: Cursor | None, parameters: Parameters) -> str:
    most = parameters.add(limit, COUNT.clickhouse)
    tables = " UNION ALL ".join(f"({_events(part, before, most, parameters)})" for part in parts)
    shown = ", ".join(f"field_{name} AS {_shown(name)}" for name in COLUMNS)
    return (
        "SELECT micros, toString(event) AS id, "
        "if(query_number IS NULL, '', leftPad(hex(assumeNotNull(query_number)), 16, '0')) AS query, "
        f"own_text AS text, {shown} FROM ({tables}) ORDER BY micros DESC, event DESC LIMIT {most}"
    )


def _shown(name: str) -> str:
    return "tables" if name == "table" else name


def statement_texts(queries: Iterable[str]) -> Statement:
    """Returns the SELECT of the masked statements of query ids: `query` and `text`."""
    parameters = Parameters()
    given = [parameters.add(int(query, 16), QUERY.clickhouse) for query in queries]
    return Statement(
        # Rule sets that give the same id give the same text.
        "SELECT leftPad(hex(query_id), 16, '0') AS query, any(fingerprint) AS text "
        f"FROM tailrace.{FINGERPRINTS} WHERE query_id IN ({', '.join(given)}) GROUP BY query",
        parameters.values,
    )


def _events(part: _Part, before: Cursor | None, most: str, parameters: Parameters) -> str:
    source = part.source
    columns = [
        f"toUnixTimestamp64Micro({source.time}) AS micros",
        f"{source.id} AS event",
        f"{_query_number(source)} AS query_number",
        f"toString({source.text}) AS own_text",
        *(f"{_value(source, name)} AS field_{name}" for name in COLUMNS),
    ]
    condition = conditions.all_of([part.where, _older(source, before, parameters) if before else TRUE])
    order = f"ORDER BY {source.time} DESC, {source.id} DESC LIMIT {most}"
    final = " FINAL" if source.is_final else ""
    return f"SELECT {', '.join(columns)} FROM tailrace.{source.table} AS e{final} WHERE {condition} {order}"


def _query_number(source: Source) -> str:
    return f"toNullable({source.query})" if source.query else "CAST(NULL, 'Nullable(UInt64)')"


def _older(source: Source, before: Cursor, parameters: Parameters) -> str:
    time = parameters.add(f"{before.time:{SQL_TIME}}", "DateTime64(6, 'UTC')")
    id_ = parameters.add(before.id, "UUID")
    return f"({source.time} < {time} OR {source.time} = {time} AND {source.id} < {id_})"


def _value(source: Source, name: str) -> str:
    column, (type_, missing) = source.columns.get(name), COLUMNS[name]
    if column is None:
        return f"CAST({missing or _quoted('')}, {_quoted(type_)})"
    sql = _quoted(column.sql) if column.is_constant else column.sql
    return f"CAST({sql}, {_quoted(type_)})"


def _quoted(text: str) -> str:
    return f"'{text}'"


def _piped(pipe: Pipe, parts: Sequence[_Part]) -> str:
    if isinstance(pipe, Timeline):
        return _added(f"intDiv(toUnixTimestamp(toDateTime({{}})), {pipe.seconds}) * {pipe.seconds}", parts)
    if isinstance(pipe, Top):
        return _top(pipe, parts)
    tables = " UNION ALL ".join(
        f"SELECT {_value(part.source, 'log')} AS name, count() AS number {part.from_} GROUP BY name"
        for part in parts
    )
    return f"SELECT name AS log, sum(number) AS events FROM ({tables}) GROUP BY log ORDER BY events DESC, log"


def _added(bar: str, parts: Sequence[_Part]) -> str:
    tables = " UNION ALL ".join(
        f"SELECT {bar.format(part.source.time)} AS start, count() AS number {part.from_} GROUP BY start"
        for part in parts
    )
    return f"SELECT start AS second, sum(number) AS events FROM ({tables}) GROUP BY second ORDER BY second"


def _top(pipe: Top, parts: Sequence[_Part]) -> str:
    """The most frequent values, then one row for the events whose value is unknown."""
    tables = " UNION ALL ".join(
        f"SELECT {_group(part.source, pipe.field)} AS its, count() AS number {part.from_} GROUP BY its"
        for part in parts
    )
    return (
        f"SELECT its AS value, sum(number) AS events FROM ({tables}) GROUP BY value "
        f"ORDER BY value IS NULL, events DESC, value LIMIT {pipe.count} BY value IS NULL"
    )


def _group(source: Source, name: str) -> str:
    """The value of a field as a text, NULL if it is unknown; one row for each of several values."""
    column = source.columns.get(name)
    if column is None:
        return "CAST(NULL, 'Nullable(String)')"
    if column.is_constant:
        return f"toNullable({_quoted(column.sql)})"
    if column.is_array:
        values = f"arrayMap(each -> toNullable(toString(each)), {column.sql})"
        return f"arrayJoin(if(empty({column.sql}), [CAST(NULL, 'Nullable(String)')], {values}))"
    text = (
        f"leftPad(hex({column.sql}), 16, '0')" if BY_NAME[name].type is QUERY else f"toString({column.sql})"
    )
    return f"if({column.known or TRUE}, toNullable({text}), NULL)"
