"""Which rows an audience may see: access.yaml, and the conditions that it means for tables and datasets.

    developer: {clusters: [shop], databases: [shop, "(none)"]}
    security: {instances: [shop-db-1]}

Who is not named sees all; without the file everybody does. A row is seen if it meets every list. "(none)" in
databases stands for rows that name no database. The same conditions are set twice: by table in ClickHouse
(row policies of the audience's user) and by dataset in Superset (row-level security of the role).

A table or dataset need not have every column: then what it has counts, and further the statement, trace or
alert that the row belongs to, if it names one. Rows about whole servers cannot be told by database, so who is
restricted by nothing but databases sees none of them. What is about Tailrace itself is seen by all.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tailrace.config.yaml_reader import Section, listed, read, text

AUDIENCES = ("developer", "compliance", "security", "unmasked")

NO_DATABASE = "(none)"
DIMENSIONS = {"clusters": "cluster", "instances": "instance", "databases": "database"}
"""Key of access.yaml → column."""

_SERVER = ("cluster", "instance")
_ALL = (*_SERVER, "database")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            *("query_events", "audit_events", "error_events", "query_samples", "data_access", "alerts"),
            *("query_load_1m", "query_classes_1h", "plans", "plan_changes", "plan_captures", "table_sizes"),
        ),
        _ALL,
    ),
    **dict.fromkeys(
        ("ledger", "dead_letters", "server_snapshots", "server_facts", "server_changes", "rule_coverage"),
        _SERVER,
    ),
    "logging_in_force": _SERVER,  # a view with the rights of who made it: what it reads is not filtered
    "receipts": ("instance",),
    "fingerprints": ("query_id",),
    "otel_traces": ("database", "TraceId"),
    "otel_traces_trace_id_ts": ("TraceId",),
    "alert_actions": ("alert_id",),
    "alert_deliveries": ("alert_id",),
}
"""Tables with rows of servers, and by which columns those are told."""

OF_TAILRACE = {
    *("schema_migrations", "rule_pushes", "silences", "reviews", "evidence_exports", "unmasked_looks"),
}
"""Tables with rows about Tailrace itself, which every reader of the table sees whole."""

STATEMENTS_OF = {
    "developer": ("query_classes_1h",),
    "compliance": ("query_classes_1h", "audit_events"),
    "security": ("query_classes_1h", "audit_events"),
    "unmasked": ("query_samples",),
}
"""Tables by which an audience's user can tell whose a statement is."""


@dataclass(frozen=True)
class Restriction:
    """What one audience may see: column → values, for the columns that count."""

    values: Mapping[str, tuple[str, ...]]

    def condition(self, columns: Collection[str]) -> str:
        """A condition in SQL on the values of these columns, where they are there."""
        return " AND ".join(
            f"{column} IN ({', '.join(map(_quoted, values))})"
            for column, values in self.values.items()
            if column in columns
        )

    def table_filters(self, audience: str) -> dict[str, str]:
        """The condition for the rows of every table, as the audience's user needs it."""
        return {table: self._table_filter(table, STATEMENTS_OF[audience]) for table in COLUMNS}

    def _table_filter(self, table: str, statements_of: Collection[str]) -> str:
        columns = COLUMNS[table]
        its = self.condition(_ALL)
        keys = {
            "query_id": self._statements(statements_of),
            "TraceId": f"TraceId IN (SELECT trace_id FROM tailrace.query_events WHERE {its})",
            "alert_id": f"alert_id IN (SELECT alert_id FROM tailrace.alerts WHERE {its})",
        }
        if table == "receipts" and "cluster" in self.values:
            servers = f"SELECT instance FROM tailrace.ledger WHERE {self.condition(_SERVER)}"
            return f"instance IN ({servers})"
        if table == "otel_traces" and "database" in self.values:
            # A span of the request itself names no database.
            return f"(database = '' OR {self.condition(['database'])}) AND {keys['TraceId']}"
        key = next((keys[column] for column in columns if column in keys), None)
        return key or self.condition(columns) or "0"

    def dataset_filter(self, columns: Collection[str]) -> str:
        """The condition for rows of a dataset with these columns."""
        conditions = [self.condition(columns)]
        if not self.values.keys() <= set(columns):
            conditions.append(self._by_key(columns))
        return " AND ".join(filter(None, conditions)) or "1 = 0"

    def _by_key(self, columns: Collection[str]) -> str:
        """For rows that do not name all that counts: by what they belong to, as the dashboards write it."""
        if "trace_id" in columns:
            return f"trace_id IN (SELECT trace_id FROM tailrace.query_events WHERE {self.condition(_ALL)})"
        if "query_id" in columns:
            return self._statements(["query_classes_1h"], "leftPad(hex(query_id), 16, '0')")
        return ""

    def _statements(self, tables: Iterable[str], written: str = "query_id") -> str:
        its = self.condition(_ALL)
        either = [f"query_id IN (SELECT {written} FROM tailrace.{table} WHERE {its})" for table in tables]
        return f"({' OR '.join(either)})"


def load(file: Path) -> dict[str, Restriction]:
    """Restrictions by audience; none if there is no such file. Raises ConfigurationError, naming the key."""
    if not file.exists():
        return {}
    content = read(file)
    restricted = {role: content.take(role, _lists, None) for role in AUDIENCES}
    content.close()
    return {
        role: _restriction(Section(its, f"{file}: {role}", file.parent))
        for role, its in restricted.items()
        if its is not None
    }


def _lists(value: object) -> object:
    if not isinstance(value, dict) or not value:
        raise ValueError(f"at least one of {', '.join(DIMENSIONS)}, not {value!r}")
    return value


def _restriction(section: Section) -> Restriction:
    lists = {column: section.take(key, _names, None) for key, column in DIMENSIONS.items()}
    section.close()
    return Restriction({column: _values(column, names) for column, names in lists.items() if names})


def _names(value: object) -> list[str]:
    return [text(each) for each in listed(value)]


def _values(column: str, names: Iterable[str]) -> tuple[str, ...]:
    """Tables leave a database out that is none; the dashboards write (none)."""
    with_none = {*names, ""} if column == "database" and NO_DATABASE in names else names
    return tuple(sorted(set(with_none)))


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
