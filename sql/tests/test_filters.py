"""Tests the values of dashboard filters with the users of their charts."""

from datetime import UTC, datetime, timedelta

import pytest

NOW = datetime.now(UTC).replace(microsecond=0)


def at(**ago: float) -> str:
    return f"{NOW - timedelta(**ago):%Y-%m-%d %H:%M:%S}"


def insert_people(user) -> None:
    """Inserts a user of each kind of log, and an account of a server."""
    place = {"cluster": "shop", "instance": "db1", "connection_id": 7, "ip": "10.1.2.3"}
    writer = user("writer")
    writer.insert(
        "tailrace.audit_events",
        [
            {**place, "event_time": at(hours=1), "event_class": "query", "user": "ann", "verb": "SELECT"},
            {**place, "event_time": at(hours=1), "event_class": "query", "user": "dba", "verb": "GRANT"},
            {**place, "event_time": at(hours=1), "event_class": "connection", "user": "", "status": 1045},
            {**place, "event_time": at(days=30), "event_class": "query", "user": "gone", "verb": "SELECT"},
        ],
    )
    slow = {**place, "instance": "db2", "event_time": at(hours=1), "user": "batch", "query_id": 1}
    writer.insert("tailrace.query_events", [slow])
    refused = {"cluster": "shop", "instance": "db3", "event_time": at(hours=1), "user": "eve", "thread_id": 9}
    writer.insert("tailrace.error_events", [{**refused, "kind": "access_denied", "host": "far"}])
    touched = {"cluster": "shop", "instance": "db1", "event_time": at(hours=1), "user": "ann"}
    classes = {"data_class_read": ["pci"], "data_class_written": ["pii"], "basis": ["unknown"]}
    writer.insert("tailrace.data_access", [{**touched, **classes}])
    account = {"kind": "accounts", "key": "'ann'@'%'", "cluster": "shop", "instance": "db1"}
    user("facts").insert(
        "tailrace.server_facts",
        [{**account, "since": at(hours=2), "last_seen": at(hours=1), "attributes": {"user": "ann"}}],
    )


FIRST_ROWS = {"offered": insert_people}


@pytest.fixture
def offered(admin, user, rendered):
    """Returns the values of a column of a filter query, queried like Superset, with the rows of insert_people
    (FIRST_ROWS)."""

    def run(query: str, column: str, reader: str) -> set[str]:
        asked = f"SELECT {column} FROM ({rendered(query, None, None)}) GROUP BY {column}"
        return {row[column] for row in user(reader).rows(asked)}

    return run


@pytest.mark.parametrize("reader", ["reader_compliance", "reader_security"])
def test_filters_of_logins_and_refusals(offered, reader):
    assert offered("filters_audited", "user", reader) == {"ann", "dba", "(none)", "eve"}
    assert offered("filters_audited", "instance", reader) == {"db1", "db3"}
    assert offered("filters_audited", "src_ip", reader) == {"10.1.2.3", "far"}
    assert offered("filters_audited", "network", reader) == {"10.1.2.0/24", "far"}


def test_filters_of_sessions_are_of_all_logs(offered):
    assert offered("filters_sessions", "user", "reader_security") == {"ann", "dba", "", "batch", "eve"}
    assert offered("filters_sessions", "instance", "reader_security") == {"db1", "db2", "db3"}


def test_filters_of_privileged_activity_leave_out_who_only_reads(offered):
    assert offered("filters_privileged", "user", "reader_compliance") == {"dba"}
    kinds = {
        "administrators",
        "schema changes",
        "accounts and privileges",
        "audit log",
        "servers and plugins",
    }
    assert offered("filters_privileged", "kind", "reader_compliance") == kinds


@pytest.mark.parametrize("reader", ["reader_compliance", "reader_security"])
def test_filters_of_access_to_data(offered, reader):
    assert offered("filters_data_access", "data_class", reader) == {"pci", "pii", "(unknown)"}
    assert offered("filters_data_access", "access", reader) == {"read", "changed", "may have touched"}


def test_filters_of_accounts_offer_every_state(offered):
    assert offered("filters_accounts", "user", "reader_compliance") == {"ann"}
    states = {"used", "not for 90 days", "never used", "not known", "role"}
    assert offered("filters_accounts", "state", "reader_compliance") == states
