"""Suppressions by an audience that access.yaml restricts: only of what it sees.

ClickHouse hides the other suppressions from it (tailrace.clickhouse.row_policies). Superset does not read
access.yaml: the row-level security rules that `tailrace dashboards apply` makes from it name the columns.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from tailrace.alerts.triage import AlertError

COLUMNS = frozenset({"cluster", "instance", "database"})
REFUSED = (
    "Your role sees only a part of the servers (access.yaml), but this suppression would also hide alerts of "
    "others. The entity must name the {} of the alert. An administrator can use tailrace alerts suppress. "
    "Nothing was changed."
)

_COLUMN = re.compile(r"\b(cluster|instance|database) IN \(")


def columns_of(audience: str) -> frozenset[str]:
    """Returns the columns by which an audience, a value of AUDIENCES, is restricted; none: it sees all."""
    from superset import db, security_manager
    from superset.connectors.sqla.models import RowLevelSecurityFilter

    from tailrace_pages.viewer import AUDIENCES

    role = next(name for name, its in AUDIENCES.items() if its == audience)
    found = (
        db.session.query(RowLevelSecurityFilter.clause)
        .filter(RowLevelSecurityFilter.roles.any(security_manager.role_model.name == role))
        .filter(RowLevelSecurityFilter.name.startswith(f"{role}, by "))
    )
    return named_in(clause for (clause,) in found)


def named_in(clauses: Iterable[str]) -> frozenset[str]:
    """Returns the restricted columns of rules; all of COLUMNS if there are rules that name none."""
    texts = list(clauses)
    found = frozenset(column for text in texts for column in _COLUMN.findall(text))
    return found or (COLUMNS if texts else frozenset())


def permitted(alert: Mapping[str, Any], scopes: Iterable[str], restricted: Collection[str]) -> list[str]:
    """Returns the scopes (handling.SCOPES) in which the viewer may suppress an alert."""
    if not restricted:
        return list(scopes)
    its = alert.get("entity", {})
    names_servers = all(name in its and its[name] == alert[name] for name in restricted)
    return [scope for scope in scopes if scope != "rule" and names_servers]


def require_within(alert: Mapping[str, Any], scope: str, restricted: Collection[str]) -> None:
    """Raises AlertError if a suppression of a scope (handling.SCOPES) may hide alerts of hidden servers.

    Values are compared exactly, as the row policy does: who suppresses must see the suppression afterwards.
    """
    if not permitted(alert, [scope], restricted):
        raise AlertError(REFUSED.format(" and the ".join(sorted(restricted))))
