"""Tests the comparisons and groupings of "Slow queries" on events with known results."""

from datetime import timedelta

import pytest
from client_forms import CLIENTS
from developer_rows import (
    BEFORE,
    DURING,
    HOUR,
    NEW,
    NOW,
    OFTEN,
    RANGE,
    RARE,
    SLOWER,
    STEADY,
    asking,
    executions,
    insert_executions,
)
from ledger_fixture import LedgerRows


def insert_first(user) -> None:
    insert_executions(user("writer"))


FIRST_ROWS = {"ask": insert_first}


@pytest.fixture
def ask(admin, user, rendered):
    return asking(user, rendered)


def verdicts(found: list[dict]) -> dict[int, str]:
    return {int(row["query_id"], 16): row["verdict"] for row in found}


def test_new_slower_and_more_frequent_statements_are_listed_and_noise_is_not(ask):
    found = ask("slow_compared")

    assert verdicts(found) == {SLOWER: "slower", NEW: "new", OFTEN: "more often"}
    slower = next(row for row in found if row["verdict"] == "slower")
    assert slower["ratio"] == pytest.approx(3)
    assert (slower["executions_before"], slower["executions_now"]) == (40, 40)
    assert slower["p95_before"] == pytest.approx(0.137)  # the 38th of 40
    seconds = 3 * sum(0.1 + n / 1000 for n in range(40))
    assert (slower["seconds_now"], slower["total_now"]) == pytest.approx((seconds, 1000 * seconds))
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


def test_a_known_threshold_that_stays_is_shown(ask, settings):
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

    (row,) = found  # once for the server, not for each of its statements
    assert (row["verdict"], row["instance"], row["query"][:4]) == ("not comparable", "db1", "all ")
    assert row["reason"].partition(" since ")[0] == "its log is read"
    assert (row["executions_before"], row["seconds_before"], row["p95_now"]) == (None, None, None)
    assert row["executions_now"] > 0 and f"all {row['statement_count']} statement" in row["query"]


def test_endpoints_are_those_that_comments_name(ask):
    found = [row for row in ask("slow_origins") if row["endpoint"] != "(no tag)"]

    assert {(row["application"], row["endpoint"]) for row in found} == {("shop", "/cart")}
    assert sum(row["query_time"] for row in found) == 0.75


def test_the_program_without_a_tag_is_the_client_in_one_form(ask, user):
    sent_from = 8
    executed = [
        row
        for number, (form, *_) in enumerate(CLIENTS)
        for row in executions(sent_from, DURING, [0.1], database=f"db{number}", **form)
    ]
    user("writer").insert("tailrace.query_events", executed)
    rows = ask("query_executions", query_id=[f"{sent_from:016X}"])

    shown = {row["database"]: row["program"] for row in rows if row["entries"]}
    assert shown == {
        f"db{number}": host or address or "(unknown)" for number, (_, address, host) in enumerate(CLIENTS)
    }


def test_a_program_names_up_to_three_of_its_hosts(ask, user, metric, rendered):
    seconds = {"10.0.0.1": 0.1, "10.0.0.2": 0.4, "10.0.0.3": 0.2, "10.0.0.4": 0.3}
    for address, each in seconds.items():
        its = executions(9, DURING, [each], ip=address, tags={"application": "web"})
        user("writer").insert("tailrace.query_events", its)
    asked = {"query_id": [f"{9:016X}"]}
    sql = rendered("query_executions", *RANGE, **asked)
    hosts = metric("query_executions", "its_hosts", **asked)
    (row,) = user("reader_developer").rows(
        f"SELECT program, {hosts} AS hosts FROM ({sql}) WHERE entries > 0 GROUP BY program"
    )
    assert row == {"program": "web", "hosts": "10.0.0.2, 10.0.0.4, 10.0.0.3 and 1 more"}


def test_what_is_logged_is_shown_beside_what_the_log_shows(ask, settings):
    (unknown,) = ask("logging_by_server")
    assert (unknown["logged"], unknown["executions_each"], unknown["changed"]) == ("unknown", "1", 0)
    settings(NOW - 3 * HOUR, long_query_time="1", slow_query_log="ON")
    settings(NOW - timedelta(minutes=30), long_query_time="0.1", slow_query_log="ON")
    (known,) = ask("logging_by_server")

    assert (known["logged"], known["changed"]) == ("≥ 1 s → ≥ 0.1 s", 1)
    assert known["fastest"] == pytest.approx(0.1, rel=0.0101)


def test_intervals_of_settings_fill_the_range(ask, settings):
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
    (statement,) = renamed("query_statement", NAMED)
    assert f"{CLASS_OF_BOTH:016X}</a>" in statement["elsewhere"]
    assert f"{CLASS_OF_ONE:016X}</a>" in statement["elsewhere"]


def test_executions_of_a_time_without_any_entry_are_unknown_and_not_zero(user, rendered, metric):
    user("writer").insert("tailrace.query_events", executions(1, HOUR / 2, [5]))

    def shown(dataset: str, name: str, since: float, until: float) -> float | None:
        span = tuple(f"{NOW - each * HOUR:%Y-%m-%dT%H:%M:%S}" for each in (since, until))
        number = metric(dataset, name, time_range=span)
        (row,) = user("reader_developer").rows(f"SELECT {number} AS shown FROM ({rendered(dataset, *span)})")
        return row["shown"]

    for dataset, name in (
        ("load", "executions"),
        ("load", "total_seconds"),
        ("heaviest_queries", "distinct_queries"),
    ):
        assert shown(dataset, name, 400, 300) is None, name
        assert shown(dataset, name, 1, 0) > 0, name


def test_a_load_before_the_first_entry_or_without_a_census_is_unknown_and_not_zero(
    admin, user, rendered, metric
):
    """One server with entries at both ends of three hours, and a census of the second hour only."""
    user("writer").insert(
        "tailrace.query_events", [*executions(1, timedelta(minutes=170), [5]), *executions(1, HOUR / 10, [5])]
    )
    log = LedgerRows(instance="db1", at=NOW - 2 * HOUR).reached(0)
    for minute in range(60):
        log.census(0, at=NOW - 2 * HOUR + timedelta(minutes=minute, seconds=5))
    log.store(admin)
    span = tuple(f"{NOW - each * HOUR:%Y-%m-%dT%H:%M:%S}" for each in (4, -1))
    busy = metric("load", "busy", over_time=True)
    shown = user("reader_developer").rows(
        f"SELECT time, {busy} AS busy FROM ({rendered('load', *span, over_time=True)}) GROUP BY time"
    )

    def between(begin: float, end: float) -> set[float | None]:
        times = [f"{NOW - each * HOUR:%Y-%m-%d %H:%M:%S}" for each in (begin, end)]
        return {row["busy"] for row in shown if times[0] <= row["time"] < times[1]}

    assert between(4, 3) <= {None}, "before the first entry"
    assert between(2.5, 2.1) == {0} and between(1.9, 1.1) == {0}
    assert between(0.9, 0.2) == {None}, "no census since the first one"
    assert between(-0.2, -1) == {None}, "after the last entry and census"
    assert max(each for each in between(3, 0) if each) > 0
