"""The kinds of entities, the five numbers of each, and its side tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tailrace.erasure.pseudonyms import KINDS as SUBJECTS
from tailrace.erasure.pseudonyms import is_pseudonym

KINDS = {"user": "User", "client": "Client", "table": "Table", "class": "Data class"}
"""Kinds with an own page below /tailrace/entities/."""
SESSION = "session"


@dataclass(frozen=True)
class Measure:
    """A headline number and a part of the chart."""

    key: str
    """The column of page_entity_timeline, or ALERTS."""
    title: str
    logs: frozenset[str]
    """The logs that contain all of it, by the columns `has_…` of page_entity_logs; empty: no log is needed.
    Without one of them, a count of 0 is unknown, and any other count is the least."""
    what: str
    """Definition, for the page's explanation."""


ALERTS = "alerts"
_LOGINS, _STATEMENTS = frozenset({"audit", "general"}), frozenset({"audit", "general", "slow"})
_REFUSED, _FAILED = _LOGINS | {"error"}, frozenset({"audit", "slow_errors"})

_ALERTS = Measure(
    ALERTS, "Alerts", frozenset(), "alerts about it, and alerts that name one of its records as evidence"
)
OF_ACTORS = (
    Measure("logins", "Logins", _LOGINS, "accepted logins, of audit and general logs"),
    Measure("refused", "Refused logins", _REFUSED, "refused logins, of audit, general and error logs"),
    Measure("statements", "Statements", _STATEMENTS, "statements, of audit, general and slow query logs"),
    Measure(
        "errors",
        "Errors",
        _FAILED,
        "failed statements, and messages of the error log that name it, without refused logins; only "
        "audit logs and some slow query logs contain the error of a statement",
    ),
    _ALERTS,
)
"""Of users, clients and sessions."""
OF_PSEUDONYMS = (
    OF_ACTORS[0],
    Measure(
        "refused",
        "Refused logins",
        _LOGINS,
        "refused logins, of audit and general logs; records of error logs have the name",
    ),
    OF_ACTORS[2],
    Measure(
        "errors",
        "Errors",
        _FAILED,
        "failed statements; only audit logs and some slow query logs contain the error of a statement, and "
        "records of error logs have the name",
    ),
    Measure(ALERTS, "Alerts", frozenset(), "alerts that name one of its records as evidence"),
)
"""Of users and clients that rows contain as pseudonyms; error logs and alerts have names."""
OF_DATA = (
    Measure("reads", "Reads", _STATEMENTS, "statements that read it"),
    Measure("changes", "Changes", _STATEMENTS, "statements that changed it"),
    Measure("denied", "Refused access", _FAILED, "statements that failed for lack of a privilege"),
    Measure("errors", "Errors", _FAILED, "statements that failed, those without privilege included"),
    _ALERTS,
)
"""Of tables and data classes."""


@dataclass(frozen=True)
class Entity:
    """What a page is about. `name` is empty for a session, which has a server and a connection id."""

    kind: str
    name: str
    cluster: str = ""
    """Restricts the records to a cluster, and `instance` to a server; empty: all."""
    instance: str = ""
    connection: int = 0
    filters: Mapping[str, str] = field(default_factory=dict)
    """The arguments `cluster` and `instance` of the address, for links."""

    @property
    def title(self) -> str:
        if self.kind == SESSION:
            return f"Session {self.connection} on {self.instance}"
        return f"{KINDS[self.kind]} {self.name}"

    @property
    def in_words(self) -> str:
        """The title within a sentence: `the table shop.cards`."""
        return f"the {self.title[:1].lower()}{self.title[1:]}"

    @property
    def is_data(self) -> bool:
        """Whether it is used, as a table is, and does not act, as a user does."""
        return self.kind in ("table", "class")

    @property
    def is_subject(self) -> bool:
        """Whether rows may contain a pseudonym instead of its name (docs/ERASURE.md)."""
        return self.kind in SUBJECTS

    @property
    def is_pseudonym(self) -> bool:
        return self.is_subject and is_pseudonym(self.name)

    @property
    def measures(self) -> tuple[Measure, ...]:
        if self.is_pseudonym:
            return OF_PSEUDONYMS
        return OF_DATA if self.is_data else OF_ACTORS

    def parameters(self) -> dict[str, object]:
        """Returns the parameters of sql/queries/parts/entity_where.sql."""
        return {
            "kind": self.kind,
            "name": self.name,
            "cluster": self.cluster,
            "instance": self.instance,
            "connection": self.connection,
        }
