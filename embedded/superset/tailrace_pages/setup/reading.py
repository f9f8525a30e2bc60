"""Reads what the page needs. Developers may not read accounts, audit logs and rules: this stays unknown."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from tailrace_pages.setup import findings
from tailrace_pages.setup.servers import Found, by_instance
from tailrace_pages.time_range import SQL_TIME

if TYPE_CHECKING:
    from tailrace_pages.store import Store

DEVELOPERS = "tailrace"
"""The connection of developers (viewer.AUDIENCES)."""


def found(store: "Store", now: datetime, instance: str, sees_all: bool) -> Found:
    """Returns the rows of one server, or of all for an empty text."""
    of = {"instance": instance}
    at = {"now": f"{now:{SQL_TIME}}", **of}
    snapshots = by_instance(store.rows("page_setup_snapshots", **at))
    events = store.rows("page_setup_events", **at)
    if sees_all:
        events += store.rows("page_setup_audit_events", **at)
        rules = {row["instance"]: row for row in store.rows("page_setup_rule_counts", **of)}
        settings = by_instance(store.rows("page_setup_settings", **of))
        states = {
            name: findings.state_of(findings.product(snapshots.get(name, [])), rows)
            for name, rows in settings.items()
        }
    else:
        rules = {}
        states = {
            row["instance"]: findings.slow_state_of(
                findings.product(snapshots.get(row["instance"], [])), row["settings"]
            )
            for row in store.rows("page_setup_slow_settings", **at)
        }
    return Found(
        logs=by_instance(store.rows("page_setup_logs", **at)),
        listed=by_instance(store.rows("page_setup_listed", **at)),
        events={(row["instance"], row["source"]): row["last_event"] for row in events},
        snapshots=snapshots,
        states=states,
        rules=rules,
        sees_all=sees_all,
    )


def traces(store: "Store", now: datetime) -> dict[str, Any]:
    """Returns the number of spans, their services and the time of the last one."""
    return store.row("page_setup_traces", now=f"{now:{SQL_TIME}}")


def pull_costs(store: "Store", now: datetime, instance: str = "") -> list[dict[str, Any]]:
    """Returns what the pulled logs of one server, or of all for an empty text, cost in 24 hours."""
    return store.rows("page_setup_pull_costs", now=f"{now:{SQL_TIME}}", instance=instance)


def rules(store: "Store", instance: str) -> list[dict[str, Any]]:
    """Returns all active rules with whether they can fire on a server."""
    return store.rows("page_setup_rules", instance=instance)
