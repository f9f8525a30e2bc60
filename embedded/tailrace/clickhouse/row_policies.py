"""Reads access.yaml, which limits the rows of an audience, and derives conditions for tables and datasets.

    developer: {clusters: [shop], databases: [shop, "(none)"]}
    security: {instances: [shop-db-1]}

An audience that is not listed sees all rows; without the file all audiences do. A row is visible if it
matches every list. "(none)" in databases matches rows without a database. The same conditions are applied
twice: by table in ClickHouse (row policies of the audience's user) and by dataset in Superset (row-level
security of the role).

If a table or dataset lacks some of the columns, its other columns count, and also the statement, trace or
alert that the row refers to. Rows about whole servers have no database, so an audience that is restricted
only by databases sees none of them. A suppression is visible if its entity names a permitted value of each
restricted column: it hides no alert of another server. Rows about Tailrace itself are visible to all.
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
            *(
                "query_load_1m",
                "query_classes_1h",
                "query_classes_1d",
                "entities_1d",
                "plans",
                "plan_changes",
                "plan_captures",
            ),
            *(
                "table_sizes",
                "metadata_lock_waits",
                "digest_samples",
                "digest_histograms",
                "performance_schema_records",
                "canary_alerts",
            ),
        ),
        _ALL,
    ),
    **dict.fromkeys(
        (
            *("ledger", "gap_repairs", "dead_letters", "server_snapshots", "server_facts", "server_changes"),
            *("rule_coverage", "signed_ranges", "listed_logs", "pull_costs"),
        ),
        _SERVER,
    ),
    # Views with the privileges of their definer: their tables are not filtered.
    "effective_logging_settings": _SERVER,
    "log_days": _SERVER,
    "logging_in_force": _SERVER,
    "receipts": ("instance",),
    "fingerprints": ("query_id",),
    "otel_traces": ("database", "TraceId"),
    "otel_traces_trace_id_ts": ("TraceId",),
    "alert_actions": ("alert_id",),
    "alert_deliveries": ("alert_id",),
    "silences": ("entity",),
}
"""Tables with rows about servers, and the columns that identify these."""

OF_TAILRACE = {
    *("schema_migrations", "rule_pushes", "reviews", "evidence_exports", "unmasked_looks"),
    *("counted_events", "api_token_actions", "api_requests", "archived_days"),
    *("scheduled_searches", "search_runs", "delivery_channels", "legal_hold_actions"),
    *("subject_vault", "subject_arrivals", "name_reveals", "revealed_names"),
}
"""Tables with rows about Tailrace itself, which all readers of the table see completely."""

STATEMENTS_OF = {
    "developer": ("query_classes_1h",),
    "compliance": ("query_classes_1h", "audit_events"),
    "security": ("query_classes_1h", "audit_events"),
    "unmasked": ("query_samples",),
}
"""Tables by which an audience's user can determine the database of a statement."""


@dataclass(frozen=True)
class Restriction:
    """The visible rows of one audience: column → values, for the restricted columns."""

    values: Mapping[str, tuple[str, ...]]

    def condition(self, columns: Collection[str]) -> str:
        """Returns a condition in SQL on those of these columns that are restricted."""
        return " AND ".join(
            f"{column} IN ({', '.join(map(_quoted, values))})"
            for column, values in self.values.items()
            if column in columns
        )

    def entity_condition(self) -> str:
        """Returns a condition on the map `entity`: it names a permitted value of each restricted column."""
        return " AND ".join(
            f"mapContains(entity, '{column}') AND entity['{column}'] IN ({', '.join(map(_quoted, values))})"
            for column, values in self.values.items()
        )

    def table_filters(self, audience: str) -> dict[str, str]:
        """Returns the condition for the rows of every table, for the audience's user."""
        return {table: self._table_filter(table, STATEMENTS_OF[audience]) for table in COLUMNS}

    def _table_filter(self, table: str, statements_of: Collection[str]) -> str:
        columns = COLUMNS[table]
        if columns == ("entity",):
            return self.entity_condition()
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
            # The span of the request itself has no database.
            return f"(database = '' OR {self.condition(['database'])}) AND {keys['TraceId']}"
        key = next((keys[column] for column in columns if column in keys), None)
        return key or self.condition(columns) or "0"

    def dataset_filter(self, columns: Collection[str]) -> str:
        """Returns the condition for rows of a dataset with these columns."""
        conditions = [self.condition(columns)]
        if not self.values.keys() <= set(columns):
            conditions.append(self._by_key(columns))
        return " AND ".join(filter(None, conditions)) or "1 = 0"

    def _by_key(self, columns: Collection[str]) -> str:
        """Returns a condition for rows without the restricted columns, by the keys that the dashboards
        use."""
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
    """Returns restrictions by audience; none if the file is missing. Raises ConfigurationError with the
    key."""
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
    """Converts (none), as the dashboards write it, to the empty database of the tables."""
    with_none = {*names, ""} if column == "database" and NO_DATABASE in names else names
    return tuple(sorted(set(with_none)))


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
