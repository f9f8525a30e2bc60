"""Suppressions that are or may be active, as pages list them: while one is, new alerts are hidden."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tailrace.alerts.entity_key import in_words
from tailrace.rules import catalog
from tailrace_pages import formats

if TYPE_CHECKING:
    from tailrace_pages.store import Store

Row = Mapping[str, Any]

QUERY = "alerts_silences"
STATES = ("in force", "unconfirmed")
"""As tailrace.alerts.suppressions.ACTIVE, whose module needs librdkafka."""


def read(store: "Store") -> list[dict[str, Any]]:
    """Returns the active suppressions, ordered by their end. Raises UnavailableError."""
    rules = catalog.load()
    found = [row for row in store.rows(QUERY) if row["state"] in STATES]
    titles = {row["rule"]: rules[row["rule"]].title for row in found if row["rule"] in rules}
    return [{**row, "what": what(row, titles.get(row["rule"], ""))} for row in found]


def ids(store: "Store") -> set[str]:
    """Returns the ids of the active suppressions that the viewer's account sees. Raises UnavailableError."""
    return {row["id"] for row in store.rows(QUERY) if row["state"] in STATES}


def what(row: Row, title: str) -> str:
    """Returns what a suppression covers, in words; `title` is that of its rule, if it is known."""
    rule = f"the rule {title or row['rule']}" if row["rule"] else "every rule"
    entity = formats.visible(in_words(row["entity"])) if row["entity"] else "every entity"
    return f"{rule} for {entity}"


def of_rule(rows: Iterable[Row], rule: str) -> list[Row]:
    """Returns those that name the rule, then those of every rule, which hide alerts of it too."""
    return [row for name in (rule, "") for row in rows if row["rule"] == name]


def of_alert(rows: Iterable[Row], alert: Row) -> list[Row]:
    """Returns those that cover new alerts of the same rule and entity."""
    return [
        row
        for row in rows
        if row["rule"] in ("", alert["rule_id"]) and _folded(row["entity"]) <= _folded(alert["entity"])
    ]


def _folded(entity: Mapping[str, str]) -> set[tuple[str, str]]:
    """Compares without case, as the detect job does (Suppression.covers)."""
    return {(name, value.casefold()) for name, value in entity.items()}
