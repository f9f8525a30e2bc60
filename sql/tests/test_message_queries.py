"""Tests the queries about messages of servers, failed statements and InnoDB on rows with known results."""

from datetime import timedelta

import pytest
from developer_rows import (
    DURING,
    NEW,
    NOW,
    RANGE,
    SLOWER,
    STEADY,
    asking,
    executions,
    insert_executions,
    message,
)

DEADLOCK = {
    "transaction_1_statement": "update a set b = ?",
    "transaction_1_query_id": f"{SLOWER:016X}",
    "transaction_1_thread_id": "20",
    "transaction_1_user": "app",
    "transaction_1_host": "10.0.0.1",
    "transaction_1_waits_for": "`r`.`a` index PRIMARY",
    "transaction_2_statement": "update c set d = ?",
    "transaction_2_query_id": f"{STEADY:016X}",
    "transaction_2_thread_id": "21",
    "rolled_back": "2",
}


def insert_first(user) -> None:
    insert_executions(user("writer"))


@pytest.fixture
def ask(admin, user, rendered):
    return asking(user, rendered)


def insert_errors(user) -> None:
    insert_first(user)
    captured = {f"deadlock_{name}": value for name, value in DEADLOCK.items()}
    user("writer").insert(
        "tailrace.error_events",
        [
            message("deadlock", 5, details=DEADLOCK),
            message("innodb_monitor", 5, details=captured),
            message("connection_aborted", 6, thread_id=77, user="app", ip="10.0.0.1"),
            message("server_state", 7, details={"state": "start"}),
            message("server_state", 8, details={"state": "ready"}),
            message("other", 9),
            message("other", 9, level="Warning"),
            message("crash", 600, level="ERROR", details={"query_id": f"{SLOWER:016X}"}),
        ],
    )
    failed = [
        *executions(SLOWER, timedelta(minutes=4), [51, 51], error_code=1205, connection_id=77, weight=2),
        *executions(STEADY, timedelta(minutes=4), [0.1], error_code=1003),
    ]
    user("writer").insert("tailrace.query_events", failed)


@pytest.fixture
def errors(ask):
    """Asks with the rows of insert_errors (FIRST_ROWS)."""
    return ask


def test_messages_have_a_subject_and_a_relevance(errors):
    found = errors("errors")

    assert sorted((row["what"], bool(row["notable"])) for row in found) == [
        ("aborted connection", True),
        ("deadlock", True),
        ("innodb monitor", False),
        ("other, note", False),
        ("other, warning", True),
        ("restart", True),
        ("server state", False),
    ]
    aborted = next(row for row in found if row["what"] == "aborted connection")
    assert (aborted["connection_id"], aborted["src_ip"]) == ("77", "10.0.0.1")
    assert "connection_id" in aborted["link"]
    assert all(not row["link"] for row in found if row["what"] != "aborted connection")


def test_the_end_of_a_replication_outage_is_listed_and_a_chosen_kind_has_all_its_messages(
    errors, user, rendered
):
    resumed = message("replication_state", 5, message="Slave I/O thread: connected to master")
    outage = message("replication_error", 6, level="ERROR", message="error connecting to master")
    user("writer").insert("tailrace.error_events", [outage, resumed])
    shown = {row["what"]: (bool(row["notable"]), bool(row["listed"])) for row in errors("errors")}
    assert shown["replication error"] == (True, True)
    assert shown["replication state"] == (False, True), "it says when the outage ended"
    assert shown["innodb monitor"] == (False, False)
    found = errors("errors")
    listed, notable = (sum(row[key] for row in found) for key in ("listed", "notable"))
    assert listed == notable + 1, "the list of Errors has the changes of replication, its number does not"
    (monitor,) = [row for row in errors("errors", what=["innodb monitor"]) if row["what"] == "innodb monitor"]
    assert monitor["notable"] and monitor["listed"]


def test_a_crash_leads_to_the_statement_that_it_names(errors):
    (crash,) = [row for row in errors("errors", (None, None)) if row["what"] == "crash"]

    assert f"{SLOWER:016X}" in crash["its_statement"]


def test_deadlocks_name_both_statements_from_either_source(errors):
    found = errors("deadlocks")

    assert len(found) == 2
    for row in found:
        assert (row["first_statement"], row["second_statement"]) == (
            "update a set b = ?",
            "update c set d = ?",
        )
        assert (row["connection_id"], row["other_connection"], row["rolled_back"]) == ("20", "21", "2")
        assert f"{STEADY:016X}" in row["second_link"]
        assert row["first_who"] == "app from 10.0.0.1, connection 20"
        assert (row["second_who"], row["victim"]) == ("unknown, connection 21", "second: unknown")


def test_what_mariadb_says_twice_counts_once(admin, user, rendered):
    ids = {"transaction_1_id": "38", "transaction_2_id": "37"}
    captured = {f"deadlock_{name}": value for name, value in {**DEADLOCK, **ids}.items()}
    said = [
        message("deadlock", 5, details={**DEADLOCK, **ids}),
        message("deadlock", 5, level="Error", message="InnoDB: Transaction was aborted due to Deadlock"),
        message("innodb_monitor", 4, details=captured),
        message("connection_aborted", 3, message="Could not read packet: fd: 49  state: 1"),
        message("connection_aborted", 3, message="Aborted connection 14 to db: 'stock'", user="app"),
    ]
    user("writer").insert("tailrace.error_events", said)

    messages = admin.rows(rendered("errors", *RANGE))
    assert sorted(row["what"] for row in messages if row["notable"]) == ["aborted connection", "deadlock"]
    assert len(admin.rows(rendered("deadlocks", *RANGE))) == 1
    assert sorted(row["message_type"] for row in admin.rows(rendered("innodb_messages", *RANGE))) == [
        "deadlock",
        "monitor",
    ]


@pytest.mark.parametrize(
    ("hours", "bars"), [(1, 60), (1.1, 66), (2, 60), (6, 72), (24, 48), (7 * 24, 56), (30 * 24, 60)]
)
def test_a_chart_has_some_60_bars_in_any_range_also_where_nothing_happened(errors, hours, bars):
    since = NOW - timedelta(hours=hours)
    drawn = errors("errors", (since.isoformat(), NOW.isoformat()), over_time=True)

    times = {row["time"] for row in drawn}
    assert bars <= len(times) <= bars + 1, "the first and the last may be shown in part"
    assert min(times) <= f"{since:%Y-%m-%d %H:%M:%S}"
    counted = [row for row in drawn if row["counted"]]
    assert counted == errors("errors", (since.isoformat(), NOW.isoformat()))
    assert {row["what"] for row in drawn} == {row["what"] for row in counted}, "no series is added"


def test_quiet_bars_pass_the_filters_and_are_not_drawn_where_nothing_does(errors):
    filtered = errors("errors", over_time=True, what=["crash", "restart"])
    assert {row["what"] for row in filtered if not row["counted"]} == {"restart"}
    nothing = errors("errors", over_time=True, what=["corruption"])
    assert [row for row in nothing if not row["counted"]] == []


def test_failed_statements_are_not_those_with_a_note(errors):
    found = errors("failed_statements")

    assert {(row["error"], row["weight"], row["connection_id"]) for row in found} == {
        ("1205 lock wait timeout", 2, "77")
    }


def test_a_connection_shows_what_the_slow_log_has_of_it(errors):
    assert errors("connection_statements") == []
    found = errors("connection_statements", connection_id=["77"])

    assert [row["error"] for row in found] == ["1205 lock wait timeout"] * 2
    assert {row["query"] for row in found} == {f"select {SLOWER}"}


COUNTERS = {
    "InnoDB_IO_r_ops": "2",
    "InnoDB_IO_r_bytes": "32768",
    "InnoDB_IO_r_wait": "0.25",
    "InnoDB_rec_lock_wait": "0.5",
    "InnoDB_queue_wait": "0.125",
    "InnoDB_pages_distinct": "7",
}


def insert_innodb(user) -> None:
    insert_first(user)
    ran = timedelta(minutes=5)
    user("writer").insert(
        "tailrace.query_events",
        [
            *executions(
                SLOWER, ran, [2, 2], attributes=COUNTERS, lock_time=0.75, weight=10, instance="percona"
            ),
            *executions(
                STEADY, ran, [1], attributes={"Pages_accessed": "30", "Pages_read": "3"}, instance="maria"
            ),
        ],
    )
    user("writer").insert(
        "tailrace.error_events",
        [
            message("innodb_pressure", 5, details={"loop_took_ms": "4500"}),
            message("innodb_pressure", 6, details={"wait_seconds": "241", "wait_place": "buf0buf.cc:1"}),
            message("innodb_monitor", 7, details={"history_list_length": "12000", "lock_waits": "3"}),
            message("other", 8),
        ],
    )


@pytest.fixture
def innodb(ask):
    """Asks with the rows of insert_innodb (FIRST_ROWS)."""
    return ask


FIRST_ROWS = {"errors": insert_errors, "innodb": insert_innodb, "ask": insert_first}


def test_counters_of_innodb_are_those_of_the_entry_for_each_execution(innodb):
    found = [row for row in innodb("innodb_statements") if row["instance"] == "percona"]

    assert len(found) == 2
    for row in found:
        assert (row["has_counters"], row["lock_time"], row["read_wait"]) == (1, 7.5, 2.5)
        assert (row["reads"], row["read_bytes"], row["pages"]) == (20, 327_680, 70)
        assert (row["row_lock_wait"], row["queue_wait"]) == (5, 1.25)
    (maria,) = [row for row in innodb("innodb_statements") if row["instance"] == "maria"]
    assert (maria["has_counters"], maria["pages"], maria["reads"], maria["read_wait"]) == (1, 30, 3, 0)


def test_beyond_a_week_the_lock_time_alone_is_shown(innodb):
    found = innodb("innodb_statements", ((NOW - timedelta(days=8)).isoformat(), NOW.isoformat()))

    assert sum(row["lock_time"] for row in found) == pytest.approx(15)
    assert {row["has_counters"] for row in found} == {0}


def test_servers_without_data_are_listed_with_the_reason(innodb):
    found = {row["instance"]: row for row in innodb("innodb_written")}

    assert (found["percona"]["counters"], found["percona"]["entries_with_counters"]) == ("yes", 2)
    assert found["db1"]["counters"].startswith("not written by this server")
    assert (found["db1"]["innodb_messages"], found["db1"]["innodb_monitors"]) == (2, 1)
    assert found["maria"]["error_log"] == "unknown: no message of its error log in this time"


def test_messages_of_innodb_have_their_numbers(innodb):
    found = {row["message_type"]: row for row in innodb("innodb_messages")}

    assert found.keys() == {"page cleaner is late", "long semaphore wait", "monitor"}
    assert found["page cleaner is late"]["loop_seconds"] == 4.5
    assert found["long semaphore wait"]["waited_seconds"] == 241
    assert (found["monitor"]["history_list_length"], found["monitor"]["lock_waits"]) == (12_000, 3)


@pytest.fixture
def shown(ask, user, metric, rendered):
    """Returns a number of a dashboard, computed by the metric of its dataset."""

    def run(name: str, dataset: str, **filters: list[str]) -> object:
        sql = rendered(dataset, *RANGE, **filters)
        (row,) = user("reader_developer").rows(
            f"SELECT {metric(dataset, name, **filters)} AS shown FROM ({sql})"
        )
        return row["shown"]

    return run


def test_errors_that_servers_do_not_log_are_not_none(shown, user):
    assert shown("cnt_failed", "failed_statements") is None
    assert shown("shown_failed", "failed_statements") == (
        "unknown<em>known on 0 of 1 server, unknown on db1</em>"
    )
    assert shown("cnt_crashes", "errors") is None
    assert shown("cnt_messages", "innodb_messages") is None
    of_new = {"query_id": [f"{NEW:016X}"]}
    assert shown("shown_failed", "query_executions", **of_new) == (
        "unknown<em>none of 2 executions is known</em>"
    )
    user("writer").insert("tailrace.error_events", [message("other", 5), message("deadlock", 5)])
    user("writer").insert("tailrace.query_events", executions(NEW, DURING, [0.1, 0.2, 0.3], error_code=0))
    assert shown("cnt_failed", "failed_statements") == 0
    assert shown("shown_failed", "failed_statements") == "0<em>known on 1 of 1 server</em>"
    assert shown("cnt_crashes", "errors") == 0
    assert shown("cnt_messages", "innodb_messages") == 1, "deadlocks are messages of InnoDB"
    assert shown("shown_failed", "query_executions", **of_new) == "0<em>of 3 known, 2 unknown</em>"
    user("writer").insert("tailrace.query_events", executions(NEW, DURING, [0.1], instance="db2"))
    assert shown("shown_failed", "failed_statements") == ("0<em>known on 1 of 2 servers, unknown on db2</em>")
    of_db2 = shown("shown_timeouts", "failed_statements", instance=["db2"])
    assert of_db2 == "unknown<em>known on 0 of 1 server, unknown on db2</em>"
    for name in ("<b>", "db4", "db5"):
        user("writer").insert("tailrace.query_events", executions(NEW, DURING, [0.1], instance=name))
    assert shown("shown_failed", "failed_statements") == (
        "0<em>known on 1 of 5 servers, unknown on &lt;b&gt;, db2, db4 and 1 more</em>"
    )


@pytest.mark.parametrize(
    "name", ["row_lock_wait_seconds", "sum_row_lock_wait", "read_wait_seconds", "sum_read_bytes"]
)
def test_waits_that_servers_do_not_log_are_not_none(shown, user, name):
    assert shown(name, "innodb_statements") is None
    user("writer").insert("tailrace.query_events", executions(NEW, DURING, [1], attributes=COUNTERS))
    assert shown(name, "innodb_statements") > 0
