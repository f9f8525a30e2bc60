"""Tests the comparisons and groupings of "Slow queries" on events with known results."""

from datetime import UTC, datetime, timedelta

import pytest

NOW = datetime.now(UTC).replace(microsecond=0)
HOUR = timedelta(hours=1)
RANGE = ((NOW - HOUR).isoformat(), NOW.isoformat())
SLOWER, STEADY, NOISY, NEW, OFTEN, RARE = 0xFFFF_0000_0000_0001, 2, 3, 4, 5, 6


def executions(query_id: int, ago: timedelta, seconds: list[float], **columns) -> list[dict]:
    """Inserts one entry for each of `seconds`, one second apart, from `ago` on."""
    return [
        {
            "cluster": "shop",
            "instance": "db1",
            "event_time": f"{NOW - ago + timedelta(seconds=number):%Y-%m-%d %H:%M:%S}",
            "query_id": query_id,
            "rule_set": "tailrace-1",
            "query_time": taken,
            "weight": 1,
            **columns,
        }
        for number, taken in enumerate(seconds)
    ]


BEFORE, DURING = timedelta(minutes=118), timedelta(minutes=50)


@pytest.fixture
def ask(admin, user, rendered):
    """Returns the rows of a query for the role of developers."""
    usual = [0.1 + number / 1000 for number in range(40)]
    events = [
        *executions(STEADY, 2.5 * HOUR, usual),  # the log has been read for longer than both ranges
        *(row for ago in (BEFORE, DURING) for row in executions(STEADY, ago, usual)),
        *executions(SLOWER, BEFORE, usual),
        *executions(SLOWER, DURING, [3 * seconds for seconds in usual]),
        *executions(NOISY, BEFORE, [0.1] * 38 + [0.2, 0.9]),
        *executions(NOISY, DURING, [0.1] * 36 + [0.2, 0.8, 0.8, 0.9]),
        *executions(NEW, DURING, [0.5, 0.25], tags={"application": "shop", "route": "/cart"}),
        *executions(OFTEN, BEFORE, usual[:20]),
        *executions(OFTEN, DURING, usual + usual[:20]),
        *executions(RARE, BEFORE, [0.1]),
        *executions(RARE, DURING, [9, 9, 9]),
    ]
    user("writer").insert("tailrace.query_events", events)
    first_seen = {NEW: DURING}
    user("writer").insert(
        "tailrace.fingerprints",
        [
            {
                "query_id": query_id,
                "rule_set": "tailrace-1",
                "fingerprint": f"select {query_id}",
                "seen_at": f"{NOW:%Y-%m-%d %H:%M:%S}",
                "first_seen_at": f"{NOW - first_seen.get(query_id, 3 * HOUR):%Y-%m-%d %H:%M:%S}",
            }
            for query_id in (SLOWER, STEADY, NOISY, NEW, OFTEN, RARE)
        ],
    )

    def run(name: str, time_range: tuple[str | None, str | None] = RANGE, **asked) -> list[dict]:
        return user("reader_developer").rows(rendered(name, *time_range, **asked))

    return run


def verdicts(found: list[dict]) -> dict[int, str]:
    return {int(row["query_id"], 16): row["verdict"] for row in found}


def test_what_is_new_slower_or_more_often_is_told_and_noise_is_not(ask):
    found = ask("slow_compared")

    assert verdicts(found) == {SLOWER: "slower", NEW: "new", OFTEN: "more often"}
    slower = next(row for row in found if row["verdict"] == "slower")
    assert slower["ratio"] == pytest.approx(3)
    assert (slower["executions_before"], slower["executions_now"]) == (40, 40)
    assert slower["p95_before"] == pytest.approx(0.137)  # the 38th of 40
    assert slower["total_now"] == pytest.approx(3 * 1000 * sum(0.1 + n / 1000 for n in range(40)))
    assert "threshold unknown; fastest entry" in slower["reason"]
    new = next(row for row in found if row["verdict"] == "new")
    assert (new["ratio"], new["p95_before"], new["executions_now"]) == (None, None, 2)


def test_filters_are_of_executions_that_are_compared(ask):
    assert verdicts(ask("slow_compared", instance=["db2"])) == {}
    assert verdicts(ask("slow_compared", user=["(none)"])) == verdicts(ask("slow_compared"))


def test_nothing_is_compared_across_a_change_of_the_threshold(ask, settings):
    settings(NOW - 3 * HOUR, long_query_time="1", slow_query_log="ON")
    settings(NOW - timedelta(minutes=30), long_query_time="0.1", slow_query_log="ON")
    found = ask("slow_compared")

    assert set(verdicts(found).values()) == {"not comparable"}
    assert {row["ratio"] for row in found} == {None}
    assert {row["reason"] for row in found} == {
        f"the server logs differently since {NOW - timedelta(minutes=30):%Y-%m-%d %H:%M} UTC: ≥ 1 s → ≥ 0.1 s"
    }


def test_a_known_threshold_that_stays_is_said(ask, settings):
    settings(NOW - 3 * HOUR, long_query_time="0.1", slow_query_log="ON")
    found = ask("slow_compared")

    assert verdicts(found)[SLOWER] == "slower"
    assert {(row["logged"], row["reason"]) for row in found} == {("≥ 0.1 s", "")}


def test_nothing_is_compared_across_a_change_of_the_sampling_that_the_log_shows(ask, user):
    sampled = executions(STEADY, timedelta(minutes=10), [0.1], weight=10)
    user("writer").insert("tailrace.query_events", sampled)

    assert {row["reason"] for row in ask("slow_compared")} == {
        "sampling changed: an entry stood for 1 executions, now for 10"
    }


def test_nothing_is_compared_with_a_time_whose_log_nobody_read(ask):
    since = (NOW - 2 * HOUR).isoformat(), NOW.isoformat()
    found = ask("slow_compared", since)  # compares with the two hours before, of which half an hour was read

    assert set(verdicts(found).values()) == {"not comparable"}
    assert {row["reason"].partition(" since ")[0] for row in found} == {"its log is read"}
    assert {(row["executions_before"], row["total_before"]) for row in found} == {(None, None)}


def test_endpoints_are_those_that_comments_name(ask):
    found = [row for row in ask("slow_origins") if row["endpoint"] != "(no tag)"]

    assert {(row["application"], row["endpoint"]) for row in found} == {("shop", "/cart")}
    assert sum(row["query_time"] for row in found) == 0.75


def test_what_is_logged_is_shown_beside_what_the_log_shows(ask, settings):
    (unknown,) = ask("logging_by_server")
    assert (unknown["logged"], unknown["executions_each"], unknown["changed"]) == ("unknown", "1", 0)
    settings(NOW - 3 * HOUR, long_query_time="1", slow_query_log="ON")
    settings(NOW - timedelta(minutes=30), long_query_time="0.1", slow_query_log="ON")
    (known,) = ask("logging_by_server")

    assert (known["logged"], known["changed"]) == ("≥ 1 s → ≥ 0.1 s", 1)
    assert known["fastest"] == pytest.approx(0.1, rel=0.0101)


def test_stretches_of_what_is_logged_fill_the_range(ask, settings):
    (unknown,) = ask("logging_intervals")
    assert unknown["logged"] == "unknown"
    settings(NOW - timedelta(minutes=30), long_query_time="1", slow_query_log="ON")
    found = sorted(ask("logging_intervals"), key=lambda row: row["from_time"])

    assert [row["logged"] for row in found] == ["unknown", "≥ 1 s"]
    assert found[0]["to_time"] == found[1]["from_time"] == f"{NOW - timedelta(minutes=30):%Y-%m-%d %H:%M:%S}"
    assert found[1]["to_time"] == f"{NOW:%Y-%m-%d %H:%M:%S}"


def test_percentiles_know_the_bucket_in_which_logging_changed(ask, settings):
    settings(NOW - 3 * HOUR, long_query_time="1", slow_query_log="ON")
    settings(NOW - timedelta(minutes=30), long_query_time="0.1", slow_query_log="ON")
    marked = {row["time"] for row in ask("load") if row["changed"]}

    assert marked == {f"{NOW - timedelta(minutes=30):%Y-%m-%d %H:%M}:00"}


@pytest.mark.parametrize(
    "query", ["slow_compared", "slow_origins", "logging_by_server", "logging_intervals", "load"]
)
def test_without_a_time_range_every_query_answers(ask, query):
    assert ask(query, (None, None))


ALSO_LOGGED = 7


@pytest.fixture
def retuned(admin, user, settings, ask):
    """A server whose threshold was lowered half an hour ago, with entries before, at and after that time."""
    settings(NOW - 3 * HOUR, long_query_time="1", slow_query_log="ON")
    settings(NOW - timedelta(minutes=30), long_query_time="0.1", slow_query_log="ON")
    user("writer").insert(
        "tailrace.query_events",
        [
            *executions(ALSO_LOGGED, timedelta(minutes=45), [5] * 40),
            *executions(ALSO_LOGGED, timedelta(minutes=30), [9]),
            *executions(ALSO_LOGGED, timedelta(minutes=20), [0.2] * 40),
            *executions(ALSO_LOGGED, timedelta(minutes=45), [3], instance="db2"),
        ],
    )
    name = {"query_id": ALSO_LOGGED, "rule_set": "tailrace-1", "fingerprint": "select 7"}
    seen = f"{NOW:%Y-%m-%d %H:%M:%S}"
    user("writer").insert("tailrace.fingerprints", [{**name, "seen_at": seen, "first_seen_at": seen}])
    return ask


@pytest.mark.parametrize("dataset", ["load", "query_executions", "heaviest_queries", "slow_origins"])
def test_a_percentile_is_of_the_time_since_logging_was_changed(retuned, user, rendered, metric, dataset):
    asked = rendered(dataset, *RANGE, query_id=[f"{ALSO_LOGGED:016X}"])
    (measured,) = user("reader_developer").rows(
        f"SELECT {metric(dataset, 'p95')} AS p95, count() AS entries FROM ({asked}) "
        f"WHERE instance = 'db1' AND query_id = '{ALSO_LOGGED:016X}' AND seconds > 0"
    )
    assert measured == {"p95": 0.2, "entries": 81}


@pytest.mark.parametrize("dataset", ["load", "query_executions"])
def test_percentiles_by_time_are_of_either_side_and_not_of_the_moment_between(
    retuned, user, rendered, metric, dataset
):
    asked = rendered(dataset, *RANGE, query_id=[f"{ALSO_LOGGED:016X}"], instance=["db1"])
    measured = user("reader_developer").rows(
        f"SELECT time, {metric(dataset, 'p95', over_time=True)} AS p95 FROM ({asked}) "
        f"WHERE query_id = '{ALSO_LOGGED:016X}' AND instance = 'db1' GROUP BY time ORDER BY time"
    )
    drawn = {row["time"]: row["p95"] for row in measured}
    assert [shown for shown in drawn.values() if shown is not None][:1] == [5]
    assert [shown for shown in drawn.values() if shown is not None][-1:] == [0.2]
    assert drawn[f"{NOW - timedelta(minutes=30):%Y-%m-%d %H:%M:00}"] is None


def test_a_statement_shows_what_its_servers_log_and_no_others(retuned):
    found = retuned("query_logging", query_id=[f"{ALSO_LOGGED:016X}"])

    assert {(row["instance"], row["logged"]) for row in found} == {
        ("db1", "≥ 1 s"),
        ("db1", "≥ 0.1 s"),
        ("db2", "unknown"),
    }
    assert {row["instance"] for row in retuned("query_logging", query_id=[f"{RARE:016X}"])} == {"db1"}


def message(kind: str, minutes_ago: int, **columns) -> dict:
    at = NOW - timedelta(minutes=minutes_ago)
    said = {
        "cluster": "shop",
        "instance": "db1",
        "level": "Note",
        "kind": kind,
        "message": f"something of {kind}",
    }
    return {**said, "event_time": f"{at:%Y-%m-%d %H:%M:%S}", **columns}


DEADLOCK = {
    "transaction_1_statement": "update a set b = ?",
    "transaction_1_query_id": f"{SLOWER:016X}",
    "transaction_1_thread_id": "20",
    "transaction_1_waits_for": "`r`.`a` index PRIMARY",
    "transaction_2_statement": "update c set d = ?",
    "transaction_2_query_id": f"{STEADY:016X}",
    "transaction_2_thread_id": "21",
    "rolled_back": "2",
}


@pytest.fixture
def errors(ask, user):
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
    return ask


def test_messages_say_what_they_are_about_and_which_matter(errors):
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
    told = [row for row in drawn if row["counted"]]
    assert told == errors("errors", (since.isoformat(), NOW.isoformat()))
    assert {row["what"] for row in drawn} == {row["what"] for row in told}, "no series is added"


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


@pytest.fixture
def innodb(ask, user):
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
    return ask


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


def test_servers_that_tell_nothing_are_named_with_the_reason(innodb):
    found = {row["instance"]: row for row in innodb("innodb_written")}

    assert (found["percona"]["counters"], found["percona"]["entries_with_counters"]) == ("yes", 2)
    assert found["db1"]["counters"].startswith("not written by this server")
    assert (found["db1"]["innodb_messages"], found["db1"]["innodb_monitors"]) == (2, 1)
    assert found["maria"]["error_log"].startswith("none in this time")


def test_messages_of_innodb_have_their_numbers(innodb):
    found = {row["message_type"]: row for row in innodb("innodb_messages")}

    assert found.keys() == {"page cleaner is late", "long semaphore wait", "monitor"}
    assert found["page cleaner is late"]["loop_took_ms"] == 4500
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
    assert shown("cnt_crashes", "errors") is None
    assert shown("cnt_messages", "innodb_messages") is None
    of_new = {"query_id": [f"{NEW:016X}"]}
    assert shown("shown_failed", "query_executions", **of_new) == (
        "unknown<em>none of 2 executions is known</em>"
    )
    user("writer").insert("tailrace.error_events", [message("other", 5), message("deadlock", 5)])
    user("writer").insert("tailrace.query_events", executions(NEW, DURING, [0.1, 0.2, 0.3], error_code=0))
    assert shown("cnt_failed", "failed_statements") == 0
    assert shown("cnt_crashes", "errors") == 0
    assert shown("cnt_messages", "innodb_messages") == 1, "deadlocks are messages of InnoDB"
    assert shown("shown_failed", "query_executions", **of_new) == "0<em>of 3 known, 2 unknown</em>"


@pytest.mark.parametrize("name", ["sum_row_lock_wait", "sum_read_wait", "sum_read_bytes"])
def test_waits_that_servers_do_not_log_are_not_none(shown, user, name):
    assert shown(name, "innodb_statements") is None
    user("writer").insert("tailrace.query_events", executions(NEW, DURING, [1], attributes=COUNTERS))
    assert shown(name, "innodb_statements") > 0


NAMED, ALSO_NAMED, CLASS_OF_BOTH, CLASS_OF_ONE = 0xFFFF_0000_0000_0011, 12, 0xFFFF_0000_0000_0013, 14


@pytest.fixture
def renamed(admin, user, rendered):
    """Executions with ids of two rule sets: one old id became two, another belongs to one statement."""
    user("writer").insert(
        "tailrace.query_events",
        [
            *executions(CLASS_OF_BOTH, BEFORE, [0.1] * 3),
            *executions(CLASS_OF_ONE, BEFORE, [0.1] * 5),
            *executions(NAMED, DURING, [0.1] * 7, rule_set="tailrace-2"),
            *executions(ALSO_NAMED, DURING, [0.1] * 11, rule_set="tailrace-2"),
        ],
    )
    texts = {
        NAMED: ("drop user `a`", [CLASS_OF_BOTH, CLASS_OF_ONE]),
        ALSO_NAMED: ("drop user `b`", [CLASS_OF_BOTH]),
    }
    rows = [
        {
            "query_id": query_id,
            "rule_set": "tailrace-2",
            "fingerprint": text,
            "seen_at": f"{NOW:%Y-%m-%d %H:%M:%S}",
            "previous_query_ids": [previous],
        }
        for query_id, (text, earlier) in texts.items()
        for previous in earlier
    ]
    user("writer").insert("tailrace.fingerprints", rows)

    def ask(query: str, query_id: int) -> list[dict]:
        asked = rendered(query, (NOW - 3 * HOUR).isoformat(), NOW.isoformat(), query_id=[f"{query_id:016X}"])
        return user("reader_developer").rows(f"SELECT * FROM ({asked})")

    return ask


@pytest.mark.parametrize(
    ("query_id", "entries"),
    [(NAMED, 7 + 5), (ALSO_NAMED, 11), (CLASS_OF_BOTH, 3 + 7 + 11), (CLASS_OF_ONE, 5 + 7)],
)
def test_a_statement_is_found_under_its_ids_by_both_rules(renamed, query_id, entries):
    """Executions with an old id of several statements are not attributed to one of them."""
    found = renamed("query_executions", query_id)
    assert sum(row["entries"] for row in found) == entries
    assert {row["query_id"] for row in found} == {f"{query_id:016X}"}


def test_a_statement_names_its_ids_by_the_former_rules(renamed):
    (told,) = renamed("query_statement", NAMED)
    assert f"{CLASS_OF_BOTH:016X}</a>" in told["elsewhere"]
    assert f"{CLASS_OF_ONE:016X}</a>" in told["elsewhere"]
