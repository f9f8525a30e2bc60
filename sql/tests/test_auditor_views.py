"""Tests the four questions of an auditor on planted rows."""

import uuid
from datetime import UTC, datetime, timedelta

NOW = datetime.now(UTC).replace(second=30, microsecond=0)


def ago(days: float = 0, minutes: float = 0) -> str:
    return f"{NOW - timedelta(days=days, minutes=minutes):%Y-%m-%d %H:%M:%S.%f}"


def stored(admin, table: str, *rows: dict) -> None:
    admin.insert(f"tailrace.{table}", list(rows))


def answer(user, view: str) -> list[dict]:
    return user("reader_compliance").rows(f"SELECT * FROM tailrace.{view} ORDER BY ALL")


def access(days: float, name: str, action: str, **more) -> dict:
    row = {"event_id": str(uuid.uuid4()), "action_id": action, "event_time": ago(days), "instance": "db1"}
    return {**row, "user": name, "data_class_read": ["pci"], "basis": ["log"], "outcome": "success", **more}


def test_who_has_read_cardholder_data(admin, user):
    stored(
        admin,
        "data_access",
        access(1, "app", "a1", rows_sent=3),
        access(1, "app", "a1"),  # the same action in another log
        access(2, "app", "a2", rows_sent=4, outcome="failure"),
        access(91, "app", "a3", rows_sent=100),
        access(3, "batch", "a4", data_class_read=[], basis=["unknown"]),
        access(3, "crm", "a5", data_class_read=["pii"]),
        access(3, "crm", "a6", data_class_read=[], data_class_written=["pci"]),
    )
    found = {
        (row["user"], row["access"]): (row["actions"], row["rows_sent"], row["refused_actions"])
        for row in answer(user, "cardholder_data_reads")
    }
    assert found == {("app", "read"): (2, 7, 1), ("batch", "may have read"): (1, 0, 0)}


def test_an_action_that_logs_record_differently_counts_once(admin, user):
    stored(
        admin,
        "data_access",
        access(1, "app", "a1", src_ip="10.0.0.7", host="web-1", program="mysql", rows_sent=3),
        access(1, "app", "a1", host="web-1"),
        access(1, "app", "a1", program="mysql", data_class_read=[], basis=["unknown"]),
    )
    (row,) = answer(user, "cardholder_data_reads")
    assert (row["origin"], row["program"], row["access"]) == ("10.0.0.7", "mysql", "read")
    assert (row["actions"], row["rows_sent"], row["basis"]) == (1, 3, ["log", "unknown"])


def account(name: str, host: str, instance: str = "db1", **more: str) -> dict:
    row = {"instance": instance, "kind": "accounts", "key": f"'{name}'@'{host}'", "since": ago(50)[:-3]}
    attributes = {"user": name, "host": host, "role": "no", **more}
    return {**row, "last_seen": ago(0, 1)[:-3], "attributes": attributes}


def seen(days: float, name: str, ip: str = "10.0.0.7", instance: str = "db1", **more) -> dict:
    row = {"event_id": str(uuid.uuid4()), "instance": instance, "source": "audit", "event_time": ago(days)}
    return {**row, "event_class": "query", "user": name, "ip": ip, **more}


def store_accounts_and_logins(admin) -> None:
    """Stores accounts of two servers, and logins of some of them."""
    for instance in ("db1", "db2"):
        snapshot = {"instance": instance, "kind": "accounts", "at": ago(0, 1)[:-3], "status": "ok"}
        stored(admin, "server_snapshots", snapshot)
    stored(
        admin,
        "server_facts",
        account("app", "10.%"),
        account("app", "192.168.%"),
        account("old", "%"),
        account("never", "%"),
        account("refused", "%"),
        account("slow", "localhost"),
        account("app", "localhost"),
        account("app", "web-1.example"),
        account("", "%"),
        account("odd", "ab\\"),
        account("auditors", "", role="yes"),
        account("never", "%", instance="db2"),
    )
    refused = {"event_class": "connection", "command": "FAILED_CONNECT", "status": 1045}
    stored(
        admin,
        "audit_events",
        seen(1, "app"),
        seen(120, "old"),
        seen(120, "odd"),
        seen(1, "refused", **refused),
        seen(30, "other", instance="db2"),
    )
    slow = {"event_id": str(uuid.uuid4()), "instance": "db1", "source": "slowlog", "event_time": ago(5)}
    stored(admin, "query_events", {**slow, "user": "slow", "host": "LOCALHOST"})


def test_which_accounts_are_unused(admin, user):
    store_accounts_and_logins(admin)
    found = {(row["instance"], row["account"]): row["state"] for row in answer(user, "accounts_unused")}
    assert found == {
        ("db1", "'app'@'192.168.%'"): "never used",
        ("db1", "'app'@'localhost'"): "never used",
        ("db1", "'old'@'%'"): "not for 90 days",
        ("db1", "'never'@'%'"): "never used",
        ("db1", "'refused'@'%'"): "never used",
        ("db1", "'odd'@'ab\\'"): "never used",
        ("db1", "''@'%'"): "not known",
        ("db2", "'never'@'%'"): "not known",
    }


def test_who_changed_rights(admin, user):
    texts = {
        1: "grant select on shop.* to `app`@`%`",
        2: "select ?",
        3: "/*!? create user `app`@`%` */",
        4: "alter user ?@? identified by ?",  # as tailrace-1 had it
        5: "alter table users add x int",
    }
    stored(
        admin,
        "fingerprints",
        *({"query_id": id_, "fingerprint": text, "seen_at": ago(1)} for id_, text in texts.items()),
    )
    stored(
        admin,
        "audit_events",
        *(seen(1, f"user{id_}", query_id=id_) for id_ in texts),
        seen(1, "by_class", command_class="drop_user"),
        seen(1, "by_table", tables_written=["mysql.user"]),
        seen(1, "by_own_table", tables_written=["user"], database="mysql"),
        seen(1, "other_table", tables_written=["user"], database="shop"),
        seen(1, "denied", query_id=1, status=1045),
    )
    change = {"instance": "db1", "kind": "grants_global", "key": "'eve'@'%' global *.*", "at": ago(1)[:-3]}
    stored(admin, "server_changes", {**change, "change": "added", "after": {"privileges": "SUPER"}})

    found = {row["user"]: (row["recorded_by"], row["outcome"]) for row in answer(user, "privilege_changes")}
    log = "audit log"
    assert found == {
        **dict.fromkeys(
            ("user1", "user3", "user4", "by_class", "by_table", "by_own_table"), (log, "success")
        ),
        "denied": (log, "error 1045"),
        "": ("server snapshot", "success"),
    }
    (granted,) = (row["operation"] for row in answer(user, "privilege_changes") if row["user"] == "user1")
    assert granted == "grant select on shop.* to `app`@`%`"
    (operation,) = (row["operation"] for row in answer(user, "privilege_changes") if not row["user"])
    assert operation == "grants_global: 'eve'@'%' global *.* added, privileges:  → SUPER"


def test_which_minutes_had_no_audit(admin, user):
    def posting(kind: str, minutes: float, **more) -> dict:
        file = {"instance": "db1", "source": "audit", "log": "/a.log", "generation": 1, "inode": 7}
        return {**file, "stage": "FRAMER", "kind": kind, "at": ago(minutes=minutes), **more}

    unseen = (20, 21, 22, 40)
    sizes = {minute: 100 * (60 - minute) for minute in range(60, -1, -1) if minute not in unseen}
    stored(
        admin,
        "ledger",
        *(posting("CENSUS", minute, size=size) for minute, size in sizes.items()),
        posting("FRONTIER", 0, from_offset=6000, to_offset=6000),
        posting("GAP", 29, from_offset=100 * 29, to_offset=100 * 30, bytes=100, detail="lost"),
    )
    stored(
        admin, "server_snapshots", {"instance": "db2", "kind": "server", "at": ago(1)[:-3], "status": "ok"}
    )

    rows = answer(user, "audit_coverage_gaps")
    found = [(row["instance"], row["state"], row["from_time"], row["minutes"]) for row in rows]

    def minute(number: int) -> str:
        return f"{NOW - timedelta(minutes=number):%Y-%m-%d %H:%M}:00"

    # While this test runs, more minutes without a census pass.
    first, *_ = sorted(row for row in found if row[0] == "db1" and row[1] == "unknown")
    (ended,) = (row["to_time"] for row in rows if row["from_time"] == first[2] and row["instance"] == "db1")
    assert ended in (minute(60), minute(59)), "minutes before the log was first watched are unknown"
    assert [row for row in found if row[0] == "db1" and row != first and row[2] < minute(0)] == [
        ("db1", "missing", minute(30), 1),
        ("db1", "unknown", minute(40), 1),
        ("db1", "unknown", minute(22), 3),
    ]
    assert [(row[0], row[1]) for row in found if row[0] != "db1"] == [("db2", "no audit log")]
