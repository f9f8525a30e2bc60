"""Events of all kinds: entries of slow logs, records of audit logs, messages of error logs, accesses to
data classes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from tailrace.api.access import Caller, scoped
from tailrace.api.parameters import QUERY_ID, Listed, Page, Text, page_of, sql_time, with_statements

router = APIRouter(tags=["events"])
SCOPE = "events:read"
START = {"before": "1970-01-01 00:00:00", "before_id": ""}
IN_LOG = {"before_log": "", "before_generation": 0, "before_offset": 0}
OF_TABLE = {"before_instance": ""}

Names = list[str]
Masked = Annotated[
    str | None, Field(description="The masked statement; null if it has none or its text is unknown")
]
QueryId = Annotated[str | None, Field(description="16 hexadecimal digits; null without a statement")]


class EventFilters(Listed):
    """Filters of all kinds of events. An empty text does not restrict."""

    user: Text = Field("", description="Only this user")
    client: Text = Field("", description="Only this client: its address, in any form, or its host name")
    database: Text = Field("", description="Only this database")

    def parameters(self) -> dict[str, Any]:
        names = type(self).model_fields.keys() - {"since", "until", "limit", "cursor", "query_id"}
        return {name: getattr(self, name) for name in names}


class OfStatement(EventFilters):
    """Filters of events with a statement."""

    query_id: str = Field("", pattern=f"{QUERY_ID}|^$", description="Only this query id")
    table: Text = Field("", description="Only events that read or write this table, as `database.table`")
    verb: Text = Field("", description="Only this verb, such as SELECT")

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "query_id": int(self.query_id or "0", 16)}


class StatementFilters(OfStatement):
    min_seconds: float = Field(
        0, ge=0, le=1e9, description="Only statements that took at least so long, in seconds"
    )


class AuditFilters(OfStatement):
    event_class: Text = Field("", description="Only this class: connection, query, table, admin …")
    program: Text = Field("", description="Only this program of the client")
    failed: bool = Field(False, description="Only refused logins and failed statements")

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "failed": "yes" if self.failed else ""}


class ErrorFilters(EventFilters):
    level: Text = Field("", description="Only this level, such as ERROR")
    kind: Text = Field("", description="Only this message type, such as access_denied")


class AccessFilters(EventFilters):
    data_class: Text = Field("", description="Only accesses to this data class")
    outcome: Text = Field("", description="`success` or `failure`")

    def parameters(self) -> dict[str, Any]:
        given = super().parameters()
        return {**given, "class": given.pop("data_class")}


class Event(BaseModel):
    """What every event has."""

    id: str = Field(description="event_id: the same for repetitions of a record")
    event_time: datetime
    cluster: str
    instance: str
    source: str
    user: str
    host: str = Field(description="Host name of the client; empty if it is unknown")
    ip: str = Field(description="Address of the client, in one form for all logs; empty if it is unknown")
    database: str


class LogEvent(Event):
    """An event with its place in a log."""

    log: str
    generation: int
    entry_offset: int
    flags: Names


class StatementEvent(LogEvent):
    """An entry of a slow log."""

    connection_id: int
    query_id: QueryId
    statement: Masked
    verb: str
    query_time: float = Field(description="Seconds")
    lock_time: float = Field(description="Seconds")
    rows_sent: int
    rows_examined: int
    rows_affected: int | None
    bytes_sent: int | None
    error_code: int | None
    weight: float = Field(description="Executions that this entry represents, if the server logs a sample")
    plan_hash: str
    tables_read: Names
    tables_written: Names
    tags: dict[str, str]


class AuditEvent(LogEvent):
    """A record of an audit log or a general log."""

    connection_id: int
    event_class: str
    command: str
    event_name: str
    status: int = Field(description="Error code; 0 if it succeeded")
    priv_user: str
    proxy_user: str
    os_user: str
    program: str
    object: str
    query_id: QueryId
    statement: Masked
    verb: str
    tables_read: Names
    tables_written: Names


class ErrorEvent(LogEvent):
    """A message of an error log."""

    level: str
    subsystem: str
    code: str
    kind: str
    message: str
    thread_id: int


class AccessEvent(Event):
    """An access to classified data."""

    connection_id: int
    program: str
    tables: Names
    data_class: Names
    data_class_read: Names
    data_class_written: Names
    verb: str
    query_id: QueryId
    statement: Masked
    rows_sent: int | None
    outcome: str


@router.get("/events/statements", operation_id="list_statement_events", response_model=Page[StatementEvent])
def list_statements(caller: Annotated[Caller, scoped(SCOPE)], given: Annotated[StatementFilters, Query()]):
    """Lists entries of slow logs, the newest first. Executions below the logging threshold are not in the
    logs."""
    return _page(caller, "list_statement_events", "api_events_statements", given, has_statements=True)


@router.get("/events/audit", operation_id="list_audit_events", response_model=Page[AuditEvent])
def list_audit(caller: Annotated[Caller, scoped(SCOPE)], given: Annotated[AuditFilters, Query()]):
    """Lists records of audit and general logs, the newest first."""
    return _page(caller, "list_audit_events", "api_events_audit", given, has_statements=True)


@router.get("/events/errors", operation_id="list_error_events", response_model=Page[ErrorEvent])
def list_errors(caller: Annotated[Caller, scoped(SCOPE)], given: Annotated[ErrorFilters, Query()]):
    """Lists messages of error logs, the newest first."""
    return _page(caller, "list_error_events", "api_events_errors", given, has_statements=False)


@router.get("/events/access", operation_id="list_access_events", response_model=Page[AccessEvent])
def list_access(caller: Annotated[Caller, scoped(SCOPE)], given: Annotated[AccessFilters, Query()]):
    """Lists accesses to data classes, the newest first."""
    return _page(
        caller, "list_access_events", "api_events_access", given, has_statements=True, is_in_log=False
    )


def _page(
    caller: Caller,
    operation: str,
    query: str,
    given: EventFilters,
    has_statements: bool,
    is_in_log: bool = True,
) -> dict[str, Any]:
    rows = caller.rows()

    def read(place: Mapping[str, Any]) -> list[dict[str, Any]]:
        return rows(query, **given.parameters(), **place)

    start = {**START, **(IN_LOG if is_in_log else OF_TABLE)}
    page = page_of(caller, operation, given, _place_in_log if is_in_log else _place_in_table, start, read)
    return {**page, "items": with_statements(rows, page["items"])} if has_statements else page


def _place(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"before": sql_time(row["event_time"]), "before_id": row["id"]}


def _place_in_log(row: Mapping[str, Any]) -> dict[str, Any]:
    its = {"before_log": row["log"], "before_generation": row["generation"]}
    return {**_place(row), **its, "before_offset": row["entry_offset"]}


def _place_in_table(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**_place(row), "before_instance": row["instance"]}
