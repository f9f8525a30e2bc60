"""Tests that the search names messages of error logs as the dashboard *Errors* does."""

import re
from datetime import UTC, datetime, timedelta

from tailrace.config.resources import REPOSITORY
from tailrace.search import SECURITY, Request, compiled, parse
from tailrace.search.compiler import searched_logs
from tailrace.search.fields import KINDS, MESSAGES
from tailrace.search.over_http import rows_of
from tailrace.search.sources import WIDER_NAMES

HOUR = timedelta(hours=1)
NOW = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=1)


def test_kinds_of_messages_have_the_names_of_the_dashboard_errors(admin, user, rendered):
    """In any case, with spaces or underscores; a deadlock and the message of its victim have two names."""
    messages = [
        {"kind": "deadlock", "message": "Transactions deadlock detected"},
        {"kind": "deadlock", "message": "InnoDB: Transaction was aborted due to deadlock"},
        {"kind": "connection_aborted", "message": "Aborted connection 14 to db: 'stock'"},
        {"kind": "connection_aborted", "message": "Could not read packet: fd: 49  state: 1"},
        {"kind": "replication_error", "message": "error connecting to master"},
        {"kind": "server_state", "details": {"state": "start"}},
        {"kind": "server_state", "details": {"state": "ready"}},
        {"kind": "out_of_memory", "level": "ERROR"},
    ]
    its = {"instance": "kinds", "event_time": f"{NOW:%F %T}"}
    ids = [f"{number:08}-0000-4000-8000-00000000ffff" for number in range(len(messages))]
    rows = [{**its, "event_id": id_, **row} for id_, row in zip(ids, messages, strict=True)]
    admin.insert("tailrace.error_events", rows)

    def found(command: str) -> int:
        text = f"instance:kinds {command} from:{NOW - HOUR:%FT%TZ} to:{NOW + HOUR:%FT%TZ}"
        statement = compiled(Request(parse(text), SECURITY, NOW + HOUR), 100)
        return len(rows_of(user(SECURITY.account))(statement.sql, statement.parameters))

    shown = admin.rows(rendered("errors", (NOW - HOUR).isoformat(), (NOW + HOUR).isoformat()))
    names = [row["what"] for row in shown if row["instance"] == "kinds"]
    assert len(names) == len(rows)
    for name in names:
        assert found(f'command:"{name}"') == found(f'command:"{name.title()}"') == 1, name
        assert found(f'kind:"{name}"') == found(f'kind:"{name.title()}"') == 1, name
    assert found("command:replication_error") == found("command:Victim_of_a_deadlock") == 1
    assert found("command:connection_aborted") == found("command:server_state") == 2
    assert found("kind:replication_error") == 1 and found("kind:other") == found("kind:statement") == 0
    assert found("kind:message") == len(rows) and found("kind:message,deadlock") == len(rows)
    assert found("kind:refused,deadlock,restart") == 2 and found("kind:!=deadlock") == len(rows) - 1
    assert found("command:*deadlock*") == 2 and found("-command:deadlock") == len(rows) - 1


def test_the_names_of_a_kind_are_all_stored_kinds_as_the_dashboard_names_them():
    (source,) = (REPOSITORY / "stream-jobs" / "query-core" / "src" / "main").rglob("ErrorKind.java")
    stored = {name.lower() for name in re.findall(r"^    ([A-Z_]+)[,;]$", source.read_text(), re.MULTILINE)}
    shown = {name for kind in stored for name in WIDER_NAMES.get(kind, (kind.replace("_", " "),))}
    assert {"deadlock", "other"} < shown
    assert {*MESSAGES, "other"} == shown | {"victim of a deadlock"}
    assert not {*MESSAGES} & KINDS.keys()


def test_a_kind_is_searched_in_its_logs_only():
    def logs(text: str) -> set[str]:
        return searched_logs(Request(parse(text), SECURITY, NOW))

    assert logs('kind:"replication error"') == {"error"}
    assert "error" not in logs("kind:statement,other")
