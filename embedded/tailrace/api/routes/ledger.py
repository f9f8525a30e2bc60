"""The balance of the ledger, and the minutes that the logs cover."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from tailrace.api.access import Caller, scoped
from tailrace.api.parameters import Text, Time, bad_range
from tailrace.ledger import balance

router = APIRouter(tags=["ledger"])
SCOPE = "ledger:read"
LONGEST = timedelta(days=2)
"""Of the coverage: each minute of each log is one row of its query."""


class LogAccount(BaseModel):
    """The account of one log file; numbers are bytes, unless they count entries, events or lines."""

    instance: str
    source: str
    log: str
    generation: int
    cluster: str
    path: str
    census_at: datetime | None
    size: int
    frontier: int
    accounted: int
    pending: int
    behind: int
    entries: int
    entry_bytes: int
    events: int
    event_bytes: int
    dead_letters: int
    dead_letter_bytes: int
    framing_bytes: int
    gap_bytes: int
    duplicates: int
    duplicate_bytes: int
    aged: bool


class Ledger(BaseModel):
    """The ledger, as `tailrace ledger --output json` writes it."""

    at: datetime
    balances: bool = Field(description="Whether every byte that was read has exactly one category")
    complete: bool = Field(
        description="Whether it balances, and no log is missing, behind or unknown. Logs of sources.yaml of "
        "which no "
        "line has arrived are not known here"
    )
    behind_bytes: int
    files: list[LogAccount]
    unread: list[dict[str, Any]] = Field(description="Files without a received byte")
    gaps: list[dict[str, Any]] = Field(description="Missing byte ranges")
    imbalances: list[dict[str, Any]]
    unknown: list[dict[str, Any]] = Field(description="Logs without a census: their contents are unknown")


class CoverageInterval(BaseModel):
    """Consecutive minutes of one log in one state."""

    instance: str
    source: str
    log: str
    state: Literal["covered", "behind", "missing", "unknown"]
    first: datetime = Field(description="The first minute")
    minutes: int
    grown_bytes: int
    behind_bytes: int
    missing_bytes: int


class Coverage(BaseModel):
    items: list[CoverageInterval]
    since: datetime = Field(serialization_alias="from")
    until: datetime = Field(serialization_alias="to")


class OfServer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    instance: Text = Field("", description="Only this server")


class CoverageFilters(OfServer):
    since: Time | None = Field(None, alias="from", description="By default an hour before `to`")
    until: Time | None = Field(None, alias="to", description="By default now; whole minutes count")


@router.get("/books", response_model=Ledger, include_in_schema=False)  # the old path; 0.3.0 removes it
@router.get("/ledger", operation_id="read_ledger", response_model=Ledger)
def read_ledger(caller: Annotated[Caller, scoped(SCOPE)], given: Annotated[OfServer, Query()]):
    """Returns the ledger of each log file: every byte as event, dead letter, framing, gap or pending."""
    found = balance.read(caller.services.accounts.of_role(caller.role), given.instance).to_json()
    caller.counted(found["files"])
    return found


@router.get("/coverage", operation_id="read_coverage", response_model=Coverage)
def read_coverage(caller: Annotated[Caller, scoped(SCOPE)], given: Annotated[CoverageFilters, Query()]):
    """Returns the minutes of each log by state. A minute without a census is unknown, not covered."""
    until = given.until or caller.services.now()
    since = given.since or until - timedelta(hours=1)
    if not timedelta() < until - since <= LONGEST:
        raise bad_range(f"The range must be positive, and not longer than {LONGEST.days} days.")
    clickhouse = caller.services.accounts.of_role(caller.role)
    found = balance.coverage(clickhouse, since, until, given.instance)
    caller.counted(found)
    return {"items": [vars(interval) for interval in found], "since": since, "until": until}
