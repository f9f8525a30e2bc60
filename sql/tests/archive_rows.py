"""Rows of event tables for tests of the archive, made by ClickHouse."""

from datetime import UTC, date, datetime, timedelta

from tailrace.clickhouse.client import ClickHouse

DAY = (datetime.now(UTC) - timedelta(days=3)).date()
"""A closed day within the retention of all tables."""
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
