"""Statements and their plans: the heaviest ones, one by its query id, and the difference of two plans."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from tailrace.api.access import Caller, scoped
from tailrace.api.parameters import QUERY_ID, Servers
from tailrace.api.problems import not_found
from tailrace.clickhouse.query_files import of_range
from tailrace.reading import plan_trees, statements
from tailrace.reading.logging_settings import Logging
from tailrace.reading.rows import Rows
from tailrace.reading.statements import shown_id
from tailrace.reading.time_range import TimeRange

router = APIRouter(tags=["queries"])
SCOPE = "queries:read"
LONGEST = timedelta(days=400)
PLAN_HASH = "^[0-9A-Fa-f]{1,64}$"

QueryId = Annotated[str, Path(pattern=QUERY_ID, description="The query id, 16 hexadecimal digits")]


class HeaviestFilters(Servers):
    limit: int = Field(25, ge=1, le=100, description="Maximum number of statements")


class StatementTotals(BaseModel):
    """A statement with its numbers in the time range. Executions below the logging threshold are not
    counted."""

    query_id: str
    statement: str = Field(description="The masked text")
    total_seconds: float
    share: float | None = Field(description="Of the total time of all statements; null without entries")
    executions: float
    p95: float | None = Field(description="Seconds; null without entries")
    p95_before: float | None = Field(description="In the equally long time before the range")
    last_seen: datetime | None = Field(
        description="The last execution in the time range; up to an hour early if the range is longer than "
        "two days"
    )


class HeaviestStatements(BaseModel):
    items: list[StatementTotals] = Field(description="The one with the most total time first")
    since: datetime = Field(serialization_alias="from")
    until: datetime = Field(serialization_alias="to")


class Measures(BaseModel):
    """Executions and latency in one period or of one server; times in seconds."""

    executions: float
    total_seconds: float
    p50: float
    p95: float
    p99: float
    lock_seconds: float
    examined: float = Field(description="Rows")
    sent: float = Field(description="Rows")


class StatementDetails(BaseModel):
    """One statement in a time range."""

    query_id: str
    other_query_ids: list[str] = Field(description="Of the same statement under other fingerprint rules")
    statement: str = Field(description="The masked text")
    verb: str
    reads: list[str]
    writes: list[str]
    first_seen: datetime
    last_seen: datetime
    now: Measures | None = Field(
        description="In the time range; null if the slow logs have no entry of the statement"
    )
    before: Measures | None = Field(description="In the equally long time before; null without entries")
    is_comparable: bool = Field(
        description="Whether every slow log was read before the range, with the same settings as in it. If "
        "not, a "
        "change against `before` is unknown"
    )
    data_limits: str = Field(description="Which executions the slow logs contain; empty without a server")
    servers: dict[str, Measures]
    since: datetime = Field(serialization_alias="from")
    until: datetime = Field(serialization_alias="to")


class Plan(BaseModel):
    """A plan of a statement on one server."""

    plan_hash: str
    server: str
    source: str = Field(description="Where the plan comes from")
    first_seen: datetime
    last_seen: datetime
    cost: float | None = Field(description="As the server estimates it; null if it does not")
    outline: str = Field(description="One step per line, indented by its depth")
    advice: list[str]


class PlanChange(BaseModel):
    """A change of the plan of a statement, and whether it became slower."""

    changed: datetime
    server: str
    old_plan: str
    new_plan: str
    verdict: str
    reason: str
    ratio: float | None
    median_before: float | None
    median_after: float | None


class Plans(BaseModel):
    items: list[Plan] = Field(description="The one last seen first, at most 40")
    changes: list[PlanChange] = Field(description="The newest first, at most 50")
    since: datetime = Field(serialization_alias="from")
    until: datetime = Field(serialization_alias="to")


class Step(BaseModel):
    """A step of a plan."""

    depth: int
    text: str
    cost: str = Field(description="Why the step is expensive; empty if it is not")
    change: Literal["same", "added", "removed"]


class PlanDifference(BaseModel):
    old_plan: str
    new_plan: str
    steps: list[Step]


class Compared(Servers):
    old: str = Field(pattern=PLAN_HASH, description="`plan_hash` of the older plan")
    new: str = Field(pattern=PLAN_HASH, description="`plan_hash` of the newer plan")


@router.get("/queries", operation_id="list_heaviest_queries", response_model=HeaviestStatements)
def list_heaviest(caller: Annotated[Caller, scoped(SCOPE)], given: Annotated[HeaviestFilters, Query()]):
    """Lists the statements with the most total time in the slow logs."""
    span = given.span(caller.services.now(), LONGEST)
    found = statements.heaviest(caller.rows(), span, given.servers(), given.limit)
    items = [{**row, "query_id": shown_id(row["id"]), "statement": row["query"]} for row in found]
    return {"items": caller.counted(items), "since": span.since, "until": span.until}


@router.get("/queries/{query_id}", operation_id="read_query", response_model=StatementDetails)
def read_query(
    caller: Annotated[Caller, scoped(SCOPE)], query_id: QueryId, given: Annotated[Servers, Query()]
):
    """Returns one statement: its tables, and its executions and latency."""
    span, rows = given.span(caller.services.now(), LONGEST), caller.rows()
    row = _statement(rows, query_id)
    caller.counted([row])
    return {**_about(row), **_numbers(rows, row, span, given), "since": span.since, "until": span.until}


@router.get("/queries/{query_id}/plans", operation_id="list_plans", response_model=Plans)
def list_plans(
    caller: Annotated[Caller, scoped(SCOPE)], query_id: QueryId, given: Annotated[Servers, Query()]
):
    """Lists the plans of a statement that were in use in the time range, and their changes."""
    span, rows = given.span(caller.services.now(), LONGEST), caller.rows()
    asked = _asked(_statement(rows, query_id), span, given)
    plans = caller.counted(rows("page_query_plans", **asked))
    changes = rows("page_query_plan_changes", **asked)
    return {"items": plans, "changes": changes, "since": span.since, "until": span.until}


@router.get(
    "/queries/{query_id}/plans/difference", operation_id="compare_plans", response_model=PlanDifference
)
def compare_plans(
    caller: Annotated[Caller, scoped(SCOPE)], query_id: QueryId, given: Annotated[Compared, Query()]
):
    """Returns the steps of two plans of a statement, with their differences."""
    span, rows = given.span(caller.services.now(), LONGEST), caller.rows()
    found = rows("page_query_plans", **_asked(_statement(rows, query_id), span, given))
    outlines = {row["plan_hash"].lower(): row["outline"] for row in found}
    old, new = given.old.lower(), given.new.lower()
    for plan_hash in (old, new):
        if plan_hash not in outlines:
            raise not_found(f"plan {plan_hash} of this statement in this time range")
    steps = plan_trees.difference(outlines[old], outlines[new])
    caller.counted(steps)
    return {"old_plan": old, "new_plan": new, "steps": [vars(step) for step in steps]}


def _statement(rows: Rows, query_id: str) -> dict[str, Any]:
    found = rows("page_query_statement", query_id=int(query_id, 16))
    if not found:
        raise not_found(f"statement {query_id}")
    return found[0]


def _about(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: row[name] for name in ("verb", "reads", "writes", "first_seen", "last_seen")}
    others = [shown_id(each) for each in row["others"]]
    return {
        "query_id": shown_id(row["id"]),
        "other_query_ids": others,
        "statement": row["query"],
        **kept,
    }


def _asked(row: Mapping[str, Any], span: TimeRange, given: Servers) -> dict[str, Any]:
    return {"query_ids": [row["id"], *row["others"]], **span.parameters(), **given.servers()}


def _numbers(rows: Rows, row: Mapping[str, Any], span: TimeRange, given: Servers) -> dict[str, Any]:
    width = max(60, span.seconds)
    found = rows(of_range("page_query_overview", span.seconds), **_asked(row, span, given), width=width)
    periods = {each["name"]: each for each in found if each["kind"] == "period"}
    servers = {each["name"]: each for each in found if each["kind"] == "server"}
    logging = _logging(rows, sorted(servers), span)
    changed = logging.changed_since(span.before().since)
    return {
        "now": periods.get("now"),
        "before": periods.get("before"),
        "is_comparable": logging.are_read() and not changed,
        "data_limits": logging.limits(),
        "servers": servers,
    }


def _logging(rows: Rows, servers: list[str], span: TimeRange) -> Logging:
    if not servers:
        return Logging([], [])
    oldest, to = span.before().parameters()["from"], span.parameters()["to"]
    found = rows("page_query_logging", servers=servers, oldest=oldest, to=to)
    parsed = [{**row, "changes": list(map(datetime.fromisoformat, row["changes"]))} for row in found]
    return Logging(servers, parsed)
