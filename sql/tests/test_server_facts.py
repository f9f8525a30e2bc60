"""Tests the current state of facts that are inserted more than once."""

import time

from tailrace.snapshots.rows import rows_of

AT = 1_795_307_187.0


def record(at: float, **more) -> dict:
    return {
        "v": 1,
        "at": at,
        "cluster": "shop",
        "instance": "db-1",
        "product": "mysql",
        "version": "8.4",
        "kind": "accounts",
        "reason": "hourly",
        "status": "ok",
        "error": "",
        "truncated": False,
        "part": 1,
        "parts": 1,
        "facts": [],
        "changes": [],
        **more,
    }


def fact(key: str, since: float, **attributes: str) -> dict:
    return {"key": key, "since": since, "attributes": attributes}


def stored(user, *records: dict) -> None:
    for each in records:
        for table, row in rows_of(each):
            user("facts").insert(f"tailrace.{table}", [row])


def held(user) -> dict[str, dict[str, str]]:
    rows = user("reader_compliance").rows(
        "SELECT key, attributes FROM tailrace.server_facts_current WHERE instance = 'db-1'"
    )
    return {row["key"]: row["attributes"] for row in rows}


def test_the_last_complete_snapshot_is_valid(admin, user):
    first = record(AT, facts=[fact("a", AT, locked="no"), fact("b", AT, locked="no")])
    later = record(
        AT + 60,
        facts=[fact("a", AT + 60, locked="yes")],
        changes=[{"key": "b", "change": "removed", "before": {"locked": "no"}, "after": {}}],
    )
    stored(user, first, later, first, later)  # at least once, in any order

    assert held(user) == {"a": {"locked": "yes"}}
    stored(user, record(AT + 120, status="denied", error="no"))
    assert held(user) == {"a": {"locked": "yes"}}
    history = admin.rows(
        "SELECT key, attributes FROM tailrace.server_facts FINAL WHERE key = 'a' ORDER BY since"
    )
    assert [row["attributes"] for row in history] == [{"locked": "no"}, {"locked": "yes"}]
    assert len(admin.rows("SELECT * FROM tailrace.server_changes FINAL")) == 1
    assert len(admin.rows("SELECT * FROM tailrace.server_snapshots FINAL")) == 3


def test_of_gtid_sets_only_the_last_is_kept(admin, user):
    stored(user, *(record(AT + n, kind="gtid", facts=[fact("gtid", AT + n, n=str(n))]) for n in range(3)))

    rows = admin.rows("SELECT attributes FROM tailrace.server_facts FINAL WHERE kind = 'gtid'")
    assert [row["attributes"] for row in rows] == [{"n": "2"}]


def test_sizes_of_tables(admin, user):
    attributes = {"database": "shop", "table": "orders", "engine": "InnoDB", "rows": "3"}
    sizes = {"data_bytes": "16384", "index_bytes": "0", "free_bytes": "0"}
    snapshot = record(AT, kind="table_sizes", facts=[fact("shop.orders", AT, **attributes, **sizes)])
    stored(user, snapshot, snapshot)

    (row,) = user("reader_developer").rows("SELECT rows, data_bytes FROM tailrace.table_sizes FINAL")
    assert row == {"rows": 3, "data_bytes": 16384}


def capture_of(user, instance: str) -> dict:
    (row,) = user("reader_developer").rows(
        "SELECT state, error, not_seen, explain, explain_error FROM tailrace.server_capture "
        "WHERE instance = {instance:String}",
        {"instance": instance},
    )
    return row


def test_a_server_that_is_not_seen_says_why(user):
    now = time.time()

    def snapshot(instance: str, at: float, kind: str, status: str = "ok", error: str = "") -> dict:
        return record(at, instance=instance, kind=kind, status=status, error=error)

    stored(
        user,
        *(snapshot("well", now - 60, "server"), snapshot("well", now, "gtid")),
        *(snapshot("narrow", now, "server"), snapshot("narrow", now, "accounts", "denied", "1142")),
        *(
            snapshot("refused", now - 3600, "server"),
            snapshot("refused", now - 60, "server", "denied", "1045"),
        ),
        *(snapshot("dead", now - 1800, "server"), snapshot("dead", now - 1000, "gtid")),
        *(snapshot("away", now - 3600, "server", "gone", "2003"),),
        *(snapshot("well", now, "explain", "denied", "1142: shop"),),
    )
    states = {name: capture_of(user, name)["state"] for name in ("well", "narrow", "refused", "dead", "away")}
    assert states == {
        "well": "ok",
        "narrow": "partial",
        "refused": "denied",
        "dead": "silent",
        "away": "gone",
    }
    assert capture_of(user, "narrow")["not_seen"] == ["accounts"]
    assert capture_of(user, "refused")["error"] == "1045"
    assert capture_of(user, "well")["explain_error"] == "1142: shop"
