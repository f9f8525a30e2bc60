"""Which columns contain pseudonyms, and where names remain: what `tailrace erase` counts and states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailrace.erasure.pseudonyms import CLIENT, USER, Subject
from tailrace.retention.selectors import client_forms, quoted

COVERED: Mapping[str, Mapping[str, str]] = {
    "query_events": {"user": USER, "host": CLIENT, "ip": CLIENT},
    "audit_events": {
        **dict.fromkeys(("user", "priv_user", "proxy_user", "os_user"), USER),
        **dict.fromkeys(("host", "ip"), CLIENT),
    },
    "data_access": {"user": USER, "host": CLIENT, "src_ip": CLIENT},
}
"""Kinds of names by column. io.tailrace.flink.clickhouse.SubjectColumns has the same list."""
ROLLUPS: Mapping[str, Mapping[str, str]] = {
    "query_load_1m": {"user": USER},
    "query_classes_1h": {"user": USER},
}
"""Rollups of covered tables. `entities_1d` also has names of error logs."""


@dataclass(frozen=True)
class Place:
    """Where names may remain, and which texts contain them there."""

    name: str
    why: str


UNSEARCHED: Sequence[Place] = (
    Place(
        "query_samples, fingerprints, plans, dead_letters, otel_traces",
        "texts of statements, logs and traces",
    ),
    Place(
        "columns tags, attributes, connection_attributes, object and program_name of events",
        "what clients and applications write",
    ),
    Place(
        "alert_actions, reviews, scheduled_searches, api_requests, unmasked_looks",
        "what people searched for and wrote",
    ),
    Place("server_changes", "changes of accounts and grants of the servers"),
    Place("the archive", "rows from before pseudonyms were switched on"),
    Place(
        "backups, and before-restore-* of the home directory",
        "copies of the places above; with --with-names and in before-restore-* also of the vault",
    ),
    Place("tailrace.*.lines, tailrace.events, tailrace.alerts", "topics of Kafka, for their retention"),
    Place("checkpoints of the jobs, buffers of collectors", "until the next ones"),
    Place("log files, forwarded events, delivered alerts, exports", "outside of Tailrace"),
)
"""What `tailrace erase` does not search, and only lists."""


def values(subject: Subject) -> list[str]:
    """Returns the forms of a name in rows that were stored in clear."""
    return client_forms([subject.name]) if subject.kind == CLIENT else [subject.name]


def has(table: str, kind: str, names: Sequence[str]) -> str:
    """Returns the condition in SQL that a row of a covered table has one of these names or pseudonyms."""
    columns = [column for column, its in {**COVERED, **ROLLUPS}[table].items() if its == kind]
    among = f"IN ({', '.join(map(quoted, names))})"
    return " OR ".join(f"{column} {among}" for column in columns) or "0"


def in_clear(subject: Subject) -> dict[str, str]:
    """Returns by table the condition that a row contains the name of a subject. The name must be known."""
    names, is_user = values(subject), subject.kind == USER
    some, text = f"IN ({', '.join(map(quoted, names))})", quoted(subject.name)
    alert = f"{'user' if is_user else 'src_ip'} {some} OR arrayExists(its -> its {some}, mapValues(entity))"
    error = f"user {some}" if is_user else f"host {some} OR ip {some}"
    fact = f"attributes[{quoted('user' if is_user else 'host')}] {some}"
    return {
        **{table: has(table, subject.kind, names) for table in (*COVERED, *ROLLUPS)},
        "entities_1d": f"entity_kind = {quoted(subject.kind)} AND name {some}",
        "error_events": f"{error} OR position(message, {text}) > 0",
        "alerts": f"{alert} OR arrayExists(its -> position(its, {text}) > 0, mapValues(facts))",
        "canary_alerts": alert,
        "silences": f"arrayExists(its -> its {some}, mapValues(entity))",
        "server_facts": f"{fact} OR position(attributes['grantee'], {text}) > 0",
        "legal_hold_actions": f"position(selector, {text}) > 0",
    }
