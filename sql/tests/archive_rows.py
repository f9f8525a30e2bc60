"""Rows of event tables for tests of the archive, made by ClickHouse."""

from datetime import UTC, date, datetime, timedelta

from tailrace.clickhouse.client import ClickHouse

DAY = (datetime.now(UTC) - timedelta(days=3)).date()
"""A closed day within the retention of all tables."""
NEXT_DAY = DAY + timedelta(days=1)
HOSTILE = 'a"\\/\b\n\x00\x7f\u2028é\U0001f600'
QUERY_EVENTS = """
INSERT INTO tailrace.query_events (event_id, cluster, instance, source, log, generation, entry_offset,
    entry_bytes, format, event_time, connection_id, user, host, ip, database, query_id, rule_set, verb,
    query_time, lock_time, rows_sent, rows_examined, rows_affected, bytes_sent, weight, flags, attributes,
    tables_read, ingested_at)
WITH {first:UInt64} + number AS n, cityHash64(n) AS random, toDateTime64({day:String}, 6, 'UTC') AS start
SELECT reinterpretAsUUID(concat(reinterpretAsString(random), reinterpretAsString(cityHash64(n, 1)))),
    'shop', concat('db-', toString(n % 4)), 'slowlog', '/var/log/mysql/slow.log', 1, n * 611,
    500 + random % 300, 'mysql8', start + toIntervalMicrosecond(intDiv(n * 86400000000, {of:UInt64})),
    random % 5000,
    concat('app', toString(random % 20)), concat('web-', toString(random % 12)),
    concat('10.1.', toString(random % 4), '.', toString(random % 200)), concat('shop', toString(random % 3)),
    cityHash64(random % 800), 'rules', if(random % 7 = 0, 'UPDATE', 'SELECT'),
    exp((random % 10000) / 1500) / 100, (random % 97) / 100000, random % 1000, random % 1000 * 97,
    if(random % 7 = 0, toInt64(random % 9), NULL), NULL, 1, if(random % 50 = 0, ['full_scan'], []),
    if(random % 5 = 0, map('Rows_affected', toString(random % 9)), map()),
    [concat('shop.t', toString(random % 30))],
    start + toIntervalSecond(86400 + intDiv(n * 60, {of:UInt64}))
FROM numbers({rows:UInt64})
"""


def insert_query_events(clickhouse: ClickHouse, rows: int, day: date = DAY, step: int = 500_000) -> None:
    """Inserts rows with times all over a day, stored in the minute after it."""
    for first in range(0, rows, step):
        count = min(step, rows - first)
        parameters = {"first": first, "rows": count, "of": rows, "day": f"{day} 00:00:00"}
        clickhouse.execute(QUERY_EVENTS, parameters)


def hostile_rows() -> list[dict[str, object]]:
    """Rows at the ends of types, equal rows, and of several tables' types."""
    at = f"{DAY} 12:00:00.123456"
    stored = f"{NEXT_DAY} 00:00:30"
    common = {"event_time": at, "ingested_at": stored, "instance": "db-1"}
    return [
        {**common, "query_id": 2**64 - 1, "rows_sent": 2**64 - 1, "attributes": {"z": HOSTILE, "": ""}},
        {
            **common,
            "query_time": 1e-7,
            "weight": 1e21,
            "rows_affected": -(2**63),
            "tables_read": [HOSTILE, ""],
        },
        *[{**common, "user": "twice", "event_id": "00000000-0000-4000-8000-000000000001"}] * 2,
    ]


def insert_other_tables(admin: ClickHouse) -> None:
    at, stored = f"{DAY} 08:00:00.5", f"{DAY} 09:00:00"
    rows = {
        "audit_events": {"event_time": at, "query_id": None, "status": -1, "flags": ["x"]},
        "alerts": {"event_time": at, "window_from": at, "seen_at": at, "updated_at": at, "late": True,
                   "entity": {"user": "a"}, "alert_id": "00000000-0000-4000-8000-000000000002"},
        "ledger": {"at": at, "count": -5, "from_offset": 2**63, "kind": "ENTRY"},
        "signed_ranges": {"signed_at": at, "verified_at": at, "closed": True, "status": "unknown_key"},
        "data_access": {"event_time": at, "rows_sent": None, "data_class": ["pii"]},
    }  # fmt: skip
    for table, row in rows.items():
        admin.insert(f"tailrace.{table}", [{**row, "ingested_at": stored}])
