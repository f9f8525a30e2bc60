"""Tests the slow log settings of each server and the times of their changes."""

from tailrace.snapshots.rows import rows_of

AT = 1_795_307_187.0
HOUR = 3600
READER = "reader_developer"


def snapshot(user, at: float, since: float | dict[str, float], **values: str) -> None:
    """Inserts a snapshot of the settings; `since` is the time of the first snapshot with the same value."""
    seen = since if isinstance(since, dict) else dict.fromkeys(values, since)
    facts = [
        {"key": name, "since": seen[name], "attributes": {"value": value}} for name, value in values.items()
    ]
    record = {"v": 1, "at": at, "cluster": "shop", "instance": "db-1", "product": "mysql", "version": "8.4"}
    record |= {"kind": "settings", "reason": "hourly", "status": "ok", "error": "", "truncated": False}
    record |= {"part": 1, "parts": 1, "facts": facts, "changes": []}
    for table, row in rows_of(record):
        user("facts").insert(f"tailrace.{table}", [row])


def history(user) -> list[tuple]:
    rows = user(READER).rows(
        "SELECT toUnixTimestamp(since) AS since, toUnixTimestamp(until) AS until, threshold, sampled, logged "
        "FROM tailrace.effective_logging_settings WHERE instance = 'db-1' ORDER BY since"
    )
    return [tuple(row.values()) for row in rows]


def test_an_interval_lasts_until_a_setting_changes(admin, user):
    usual = {"slow_query_log": "ON", "log_slow_rate_limit": "1"}
    snapshot(user, AT, AT, long_query_time="1.000000", **usual)
    snapshot(user, AT + HOUR, AT, long_query_time="1.000000", **usual)
    changed = {"long_query_time": AT + 2 * HOUR, "slow_query_log": AT, "log_slow_rate_limit": AT}
    snapshot(user, AT + 2 * HOUR, changed, long_query_time="0.250000", **usual)

    (first, second) = history(user)
    assert first == (AT, AT + 2 * HOUR, 1, 1, "≥ 1 s")
    assert second[0] == AT + 2 * HOUR and second[1] > 4_000_000_000
    assert second[2:] == (0.25, 1, "≥ 0.25 s")


def test_what_the_collector_forgot_and_saw_again_is_no_change(admin, user):
    snapshot(user, AT, AT, long_query_time="2", slow_query_log="ON")
    snapshot(user, AT + HOUR, AT + HOUR, long_query_time="2", slow_query_log="ON")

    assert [row[0] for row in history(user)] == [AT]


def test_settings_have_readable_units(admin, user):
    sampled = {"log_slow_rate_limit": "10", "log_slow_rate_type": "query"}
    limited = {"min_examined_row_limit": "100", "log_queries_not_using_indexes": "ON"}
    snapshot(user, AT, AT, long_query_time="0.5", slow_query_log="ON", **sampled, **limited)
    (found,) = history(user)

    assert found[3:] == (10, "≥ 0.5 s, 1 statement of 10, ≥ 100 rows examined, or without an index")


def test_a_log_that_is_off_says_so(admin, user):
    snapshot(user, AT, AT, long_query_time="0.5", slow_query_log="OFF")
    assert history(user)[0][4] == "off"
