"""Alerts, and the actions of people on them: the code and the audit trail are those of `tailrace alerts`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from tailrace.alerts import triage
from tailrace.alerts.triage import Action, AlertError
from tailrace.api.access import Caller, scoped
from tailrace.api.parameters import Listed, Page, Text, page_of, sql_time
from tailrace.api.problems import Problem, not_found

router = APIRouter(tags=["alerts"])
READ, WRITE = "alerts:read", "alerts:write"
START = {"before": "1970-01-01 00:00:00", "before_id": ""}
ANYBODY = ""

AlertId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="The id, 32 hexadecimal digits")]


class AlertFilters(Listed):
    """Filters of alerts; the time range is that of `detected_at`."""

    state: Literal["active", "open", "acknowledged", "closed", "suppressed", "any"] = Field(
        "any", description="`active`: open or acknowledged"
    )
    level: Literal["", "informational", "low", "medium", "high", "critical"] = Field(
        "", description="Only this severity"
    )
    rule: Text = Field("", description="Id of the rule, or a part of its title in any case")
    field: Text = Field("", description="A field of the alert's entity or of the alert, such as user")
    value: Text = Field("", description="The value of `field`, in any case")
    assignee: Text = Field(ANYBODY, description="A name; `nobody` for alerts without an assignee")
    verdict: Literal["", "true positive", "false positive", "benign"] = Field(
        "", description="Of closed alerts"
    )

    @model_validator(mode="after")
    def _has_both(self) -> Self:
        if bool(self.field) != bool(self.value):
            raise ValueError("`field` and `value` need each other")
        return self

    def parameters(self) -> dict[str, Any]:
        names = ("state", "level", "rule", "field", "value", "cluster", "instance", "verdict")
        by = {
            "by_assignee": "yes" if self.assignee else "",
            "assignee": "" if self.assignee == "nobody" else self.assignee,
        }
        return {**{name: getattr(self, name) for name in names}, **by}


class AlertSummary(BaseModel):
    """An alert in a list."""

    id: str
    detected_at: datetime = Field(description="When it was raised; it does not change")
    event_time: datetime = Field(description="Time of the last evidence")
    window_from: datetime = Field(description="Time of the first evidence")
    updated_at: datetime
    rule_id: str
    rule_title: str
    rule_file: str
    level: str
    tags: list[str]
    cluster: str
    instance: str
    entity: dict[str, str]
    alert_count: int = Field(description="How often the rule matched for this entity")
    silenced: bool
    late: bool
    state: Literal["open", "acknowledged", "closed"]
    verdict: str
    assignee: str
    user: str
    src_ip: str
    database: str
    program: str


class AlertAction(BaseModel):
    """What somebody did with an alert."""

    at: datetime
    actor: str
    action: str
    assignee: str
    reason: str
    verdict: str
    account: str


class Alert(AlertSummary):
    """An alert with everything that is stored about it."""

    metric: int = Field(description="The count of the rule within its window")
    statements: list[str] = Field(description="Masked statements of the evidence, at most 5")
    facts: dict[str, str]
    next_steps: list[str]
    false_positives: list[str]
    event_ids: list[str]
    actions: list[AlertAction] = Field(description="Oldest first")


class AlertState(BaseModel):
    """The state of an alert after an action."""

    id: str
    state: Literal["open", "acknowledged", "closed"]
    verdict: str
    assignee: str


class WantedAction(BaseModel):
    """An action on an alert. The owner of the token is its actor."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["ack", "assign", "comment", "close", "reopen"]
    reason: str = Field(min_length=1, max_length=2000, pattern=r"\S")
    assignee: Text = Field("", description="Only of assign")
    verdict: Literal["", "true positive", "false positive", "benign"] = Field(
        "", description="Only of close. An alert that was closed without one can be closed again with one"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if bool(self.assignee.strip()) != (self.action == "assign"):
            raise ValueError("`assignee` belongs to assign, and assign needs it")
        if self.verdict and self.action != "close":
            raise ValueError("`verdict` belongs to close")
        return self


@router.get("/alerts", operation_id="list_alerts", response_model=Page[AlertSummary])
def list_alerts(caller: Annotated[Caller, scoped(READ)], given: Annotated[AlertFilters, Query()]):
    """Lists alerts by the time at which they were detected, the newest first."""
    rows = caller.rows()

    def read(place: Mapping[str, Any]) -> list[dict[str, Any]]:
        return rows("api_alerts", **given.parameters(), **place)

    return page_of(caller, "list_alerts", given, _place, START, read)


def _place(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"before": sql_time(row["detected_at"]), "before_id": triage.uuid_of(row["id"])}


@router.get("/alerts/{alert_id}", operation_id="read_alert", response_model=Alert)
def read_alert(caller: Annotated[Caller, scoped(READ)], alert_id: AlertId):
    """Returns one alert with its actions."""
    return _alert(caller, alert_id)


@router.post("/alerts/{alert_id}/actions", operation_id="act_on_alert", response_model=AlertState)
def act_on_alert(caller: Annotated[Caller, scoped(WRITE)], alert_id: AlertId, wanted: WantedAction):
    """Acknowledges, assigns, comments, closes or reopens an alert; returns its state. Actions are never
    deleted."""
    _alert(caller, alert_id)  # the role's own account must see it
    action = Action(
        wanted.action, caller.owner, wanted.reason.strip(), wanted.assignee.strip(), wanted.verdict
    )
    try:
        triage.record_action(caller.services.accounts.analyst(), [alert_id], action)
    except AlertError as error:
        reason = str(error).split(";")[0].split(": tailrace ")[0]
        raise Problem(409, "conflict", "The state of the alert does not allow this", f"{reason}.") from None
    return _alert(caller, alert_id)


def _alert(caller: Caller, alert_id: str) -> dict[str, Any]:
    """Returns an alert that the role sees. Raises Problem."""
    rows = caller.rows()
    found = rows("page_alert", id=triage.uuid_of(alert_id))
    if not found:
        raise not_found(f"alert {alert_id}")
    actions = rows(triage.ACTIONS, id=triage.uuid_of(alert_id))
    caller.counted(found)
    return {**found[0], "actions": actions}
