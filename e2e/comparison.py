"""Compares what is stored with the manifest: every difference is one line of text, none means exact."""

from collections.abc import Iterable, Iterator

from e2e.workload.manifest import LogManifest, Minute
from e2e.workload.statements import CLASSES
from tailrace.clickhouse.client import ClickHouse, Row

EVENT_TABLES = {
    "slowlog": "query_events",
    "audit": "audit_events",
    "general": "audit_events",
    "errorlog": "error_events",
}

LogKey = tuple[str, str, str]
"""Instance, source and path."""

OF_FRAMER = "stage = 'FRAMER' AND kind IN ('ENTRY', 'FRAMING', 'GAP', 'DEAD_LETTER')"
ENTRIES = "sumIf(ledger.count, kind = 'ENTRY') AS entries"
REJECTED = "sumIf(ledger.count, kind = 'DEAD_LETTER' AND stage = 'PARSER') AS rejected"
NOTHING_POSTED: Row = {"bytes": 0, "entries": 0, "rejected": 0}
NOTHING: Row = {"n": 0}

THIS_LOG = "instance = {instance:String} AND source = {source:String} AND log = {log:String}"


class Stored:
    """The stored data of one log."""

    def __init__(self, clickhouse: ClickHouse, log: LogManifest) -> None:
        self._clickhouse = clickhouse
        self._log = log
        self.events = f"tailrace.{EVENT_TABLES[log.source]}"

    def rows(self, statement: str) -> list[Row]:
        key = {
            "instance": self._log.instance,
            "source": self._log.source,
            "log": self._log.path,
        }
        return self._clickhouse.rows(statement, key)

    def row(self, statement: str) -> Row:
        (row,) = self.rows(statement)
        return row

    def event_count(self) -> int:
        return self.row(f"SELECT count() AS n FROM {self.events} WHERE {THIS_LOG}")["n"]

    def entry_count(self) -> int:
        """Returns the number of entries of the framer."""
        return self.row(f"SELECT sum(count) AS n FROM tailrace.ledger WHERE {THIS_LOG} AND kind = 'ENTRY'")[
            "n"
        ]

    def parser_rejections(self) -> int:
        """Returns the number of entries that are no events."""
        return self.row(
            f"SELECT sum(count) AS n FROM tailrace.ledger WHERE {THIS_LOG} AND kind = 'DEAD_LETTER'"
            " AND stage = 'PARSER'"
        )["n"]

    def bytes_by_kind(self) -> dict[str, int]:
        """Returns differences in the framer's postings: every byte of the log is in exactly one of them."""
        found = self.rows(
            f"SELECT kind, sum(bytes) AS n FROM tailrace.ledger WHERE {THIS_LOG} AND stage = 'FRAMER'"
            " AND kind IN ('ENTRY', 'FRAMING', 'GAP', 'DEAD_LETTER') GROUP BY kind HAVING n != 0"
        )
        return {row["kind"]: row["n"] for row in found}

    def dead_letter_codes(self) -> dict[str, int]:
        """Returns dead letters that are not superseded, by code."""
        found = self.rows(
            f"SELECT code, count() AS n FROM tailrace.dead_letters FINAL WHERE {THIS_LOG} AND NOT superseded"
            " GROUP BY code"
        )
        return {row["code"]: row["n"] for row in found}

    def gap_kinds(self) -> dict[str, int]:
        """Returns the missing bytes, by kind of gap."""
        found = self.rows(
            f"SELECT detail, sum(bytes) AS n FROM tailrace.ledger WHERE {THIS_LOG} AND kind = 'GAP'"
            " GROUP BY detail HAVING n != 0"
        )
        return {row["detail"]: row["n"] for row in found}


def incomplete(clickhouse: ClickHouse, logs: Iterable[LogManifest]) -> list[str]:
    """Returns the logs with an unaccounted byte, or an entry that is neither an event nor a dead letter."""
    logs = list(logs)
    postings = _by_log(
        clickhouse, logs, "ledger", f"sumIf(bytes, {OF_FRAMER}) AS bytes, {ENTRIES}, {REJECTED}"
    )
    events: dict[LogKey, Row] = {}
    for table in sorted({EVENT_TABLES[log.source] for log in logs}):
        events |= _by_log(clickhouse, logs, table, "count() AS n")
    return [
        f"{log.instance} {log.path}: {text}"
        for log in logs
        for text in _incomplete(log, postings.get(_key(log), NOTHING_POSTED), events.get(_key(log), NOTHING))
    ]


def _incomplete(log: LogManifest, posted: Row, stored: Row) -> Iterator[str]:
    if posted["bytes"] < log.bytes:
        yield f"{log.bytes} bytes in {len(log.files)} files, of which {posted['bytes']} are accounted for"
    known = stored["n"] + posted["rejected"]
    if known < posted["entries"]:
        yield f"{posted['entries']} entries cut, of which {known} are events or dead letters"


def gaps(clickhouse: ClickHouse, logs: Iterable[LogManifest]) -> list[str]:
    """Returns the logs with missing bytes."""
    logs = list(logs)
    found = _by_log(clickhouse, logs, "ledger", "sumIf(bytes, kind = 'GAP') AS bytes")
    missing = [(log, found.get(_key(log), NOTHING_POSTED)["bytes"]) for log in logs]
    return [f"{log.instance} {log.path}: {n} bytes are missing" for log, n in missing if n]


def _by_log(clickhouse: ClickHouse, logs: list[LogManifest], table: str, columns: str) -> dict[LogKey, Row]:
    """Runs one query for all logs, because waiting repeats it many times."""
    instances = ", ".join(f"'{name}'" for name in sorted({log.instance for log in logs}))
    rows = clickhouse.rows(
        f"SELECT instance, source, log, {columns} FROM tailrace.{table}"
        f" WHERE instance IN ({instances}) GROUP BY instance, source, log"
    )
    return {(row["instance"], row["source"], row["log"]): row for row in rows}


def _key(log: LogManifest) -> LogKey:
    return log.instance, log.source, log.path


def differences(clickhouse: ClickHouse, logs: Iterable[LogManifest]) -> list[str]:
    """Returns all differences of events, rollups, ledger and receipts from the manifest."""
    found: list[str] = []
    for log in logs:
        stored = Stored(clickhouse, log)
        checks = [_events(stored, log), _ledger(stored, log), _receipts(stored, log)]
        if log.source == "slowlog":
            checks += [
                _measures(stored, log),
                _classes(stored, log),
                *_rollups(stored, log),
            ]
        else:
            checks += [_commands(stored, log)]
        found += [f"{log.instance} {log.path}: {text}" for check in checks for text in check]
    return found


def _differ(what: str, expected: object, found: object) -> Iterator[str]:
    if expected != found:
        yield f"{what}: expected {expected}, found {found}"


def _events(stored: Stored, log: LogManifest) -> Iterator[str]:
    row = stored.row(
        f"SELECT count() AS n, uniqExact(event_id) AS ids, sum(entry_bytes) AS bytes,"
        f" uniqExact(generation) AS generations FROM {stored.events} WHERE {THIS_LOG}"
    )
    yield from _differ("events", log.entries, row["n"])
    yield from _differ("distinct event ids", log.distinct_entries, row["ids"])
    yield from _differ("bytes of events", log.bytes - log.framing_bytes, row["bytes"])
    yield from _differ(
        "generations with events",
        sum(f.entries > 0 for f in log.files),
        row["generations"],
    )
    yield from _differ("dead letters", {}, stored.dead_letter_codes())
    minutes = stored.rows(
        "SELECT toUnixTimestamp(toStartOfMinute(toDateTime(event_time, 'UTC'))) AS key, count() AS n"
        f" FROM {stored.events} WHERE {THIS_LOG} GROUP BY key"
    )
    yield from _by_key("events", {m: s.entries for m, s in log.minutes.items()}, _keyed(minutes))


def _measures(stored: Stored, log: LogManifest) -> Iterator[str]:
    row = stored.row(
        "SELECT toInt64(sum(round(query_time * 1000000))) AS us, sum(rows_sent) AS sent,"
        f" sum(rows_examined) AS examined, sum(weight) AS weight FROM {stored.events} WHERE {THIS_LOG}"
    )
    yield from _differ("query time, µs", _total(log, "query_time_us"), row["us"])
    yield from _differ("rows sent", _total(log, "rows_sent"), row["sent"])
    yield from _differ("rows examined", _total(log, "rows_examined"), row["examined"])
    yield from _differ("weight", _total(log, "weight"), row["weight"])


def _classes(stored: Stored, log: LogManifest) -> Iterator[str]:
    words = "[" + ", ".join(f"'{word}'" for word in CLASSES) + "]"
    for table, count in (
        ("query_events", "count()"),
        ("query_classes_1h", "sum(count)"),
    ):
        where = THIS_LOG if table == "query_events" else "instance = {instance:String}"
        rows = stored.rows(
            f"SELECT {words}[multiSearchFirstIndex(fingerprint, {words})] AS key, {count} AS n"
            f" FROM tailrace.{table} ANY LEFT JOIN tailrace.fingerprints USING (query_id, rule_set)"
            f" WHERE {where} GROUP BY key"
        )
        yield from _by_key(f"classes of {table}", log.classes, _keyed(rows))


def _rollups(stored: Stored, log: LogManifest) -> Iterator[Iterator[str]]:
    for table, time, width in (
        ("query_load_1m", "minute", 60),
        ("query_classes_1h", "hour", 3600),
        ("query_classes_1d", "day", 86_400),
    ):
        expected = _regrouped(log, width)
        sums = stored.rows(
            f"SELECT toUnixTimestamp({time}) AS key, sum(count) AS entries, sum(weight) AS weight,"
            " toInt64(round(sum(query_time) * 1000000)) AS us, sum(rows_examined) AS examined"
            f" FROM tailrace.{table} WHERE instance = {{instance:String}} GROUP BY key"
        )
        for column in ("entries", "weight", "us", "examined"):
            wanted = {start: _rolled_up(sum_, column) for start, sum_ in expected.items()}
            yield _by_key(f"{table}.{column}", wanted, _keyed(sums, column))


def _rolled_up(minute: Minute, column: str) -> int:
    weight = minute.weight // minute.entries  # the same for every entry of a log
    return {
        "entries": minute.entries,
        "weight": minute.weight,
        "us": minute.weighted_query_time_us,
        "examined": minute.rows_examined * weight,
    }[column]


def _regrouped(log: LogManifest, width: int) -> dict[int, Minute]:
    groups: dict[int, Minute] = {}
    for start, minute in log.minutes.items():
        group = groups.setdefault(start // width * width, Minute())
        for name, value in vars(minute).items():
            setattr(group, name, getattr(group, name) + value)
    return groups


def _commands(stored: Stored, log: LogManifest) -> Iterator[str]:
    rows = stored.rows(
        f"SELECT command AS key, count() AS n FROM {stored.events} WHERE {THIS_LOG} GROUP BY key"
    )
    yield from _by_key("commands", log.classes, _keyed(rows))


def _ledger(stored: Stored, log: LogManifest) -> Iterator[str]:
    expected = {"ENTRY": log.bytes - log.framing_bytes, "FRAMING": log.framing_bytes}
    yield from _differ(
        "bytes by posting",
        {k: n for k, n in expected.items() if n},
        stored.bytes_by_kind(),
    )
    counts = stored.rows(
        f"SELECT kind, sum(count) AS n FROM tailrace.ledger WHERE {THIS_LOG} AND kind IN ('ENTRY', 'EVENT')"
        " GROUP BY kind"
    )
    expected_counts = {"ENTRY": log.entries, "EVENT": log.entries}
    yield from _differ("entries by posting", expected_counts, {row["kind"]: row["n"] for row in counts})


def _receipts(stored: Stored, log: LogManifest) -> Iterator[str]:
    row = stored.row(
        f"SELECT sumIf(rows, kind = 'EVENT') AS events, sumIf(rows, kind = 'DEAD_LETTER') AS dead"
        f" FROM tailrace.receipts WHERE {THIS_LOG}"
    )
    yield from _differ("receipts of events", log.entries, row["events"])


def _total(log: LogManifest, name: str) -> int:
    return sum(getattr(minute, name) for minute in log.minutes.values())


def _keyed(rows: list[Row], column: str = "n") -> dict:
    return {row["key"]: row[column] for row in rows}


def _by_key(what: str, expected: dict, found: dict) -> Iterator[str]:
    for key in sorted(expected.keys() | found.keys()):
        yield from _differ(f"{what} of {key}", expected.get(key, 0), found.get(key, 0))
