"""Compares stored data with the manifest. Each difference is one line of text."""

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
Difference = tuple[LogManifest, str]
"""A log, and what is different."""

OF_FRAMER = "stage = 'FRAMER' AND kind IN ('ENTRY', 'FRAMING', 'GAP', 'DEAD_LETTER')"
ENTRIES = "sumIf(ledger.count, kind = 'ENTRY') AS entries"
REJECTED = "sumIf(ledger.count, kind = 'DEAD_LETTER' AND stage = 'PARSER') AS rejected"
NOTHING_POSTED: Row = {"bytes": 0, "entries": 0, "rejected": 0}
NOTHING: Row = {"n": 0}
NO_EVENTS: Row = {"n": 0, "ids": 0, "bytes": 0, "generations": 0}
NO_MEASURES: Row = {"us": 0, "sent": 0, "examined": 0, "weight": 0}

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


def gap_kinds(clickhouse: ClickHouse, logs: Iterable[LogManifest]) -> dict[str, int]:
    """Returns the missing bytes of all logs together, by kind of gap."""
    kinds = Tables(clickhouse, logs).sums("ledger", "detail", "sum(bytes) AS n", "kind = 'GAP'")
    missing: dict[str, int] = {}
    for rows in kinds.values():
        for row in rows:
            missing[row["key"]] = missing.get(row["key"], 0) + row["n"]
    return {kind: lost for kind, lost in missing.items() if lost}


def _by_log(clickhouse: ClickHouse, logs: list[LogManifest], table: str, columns: str) -> dict[LogKey, Row]:
    return {key: row for key, (row,) in Tables(clickhouse, logs).sums(table, "''", columns).items()}


def _key(log: LogManifest) -> LogKey:
    return log.instance, log.source, log.path


class Tables:
    """The stored data of several logs: one query for all of them, because waiting repeats it many times."""

    def __init__(self, clickhouse: ClickHouse, logs: Iterable[LogManifest]) -> None:
        self._clickhouse = clickhouse
        self._logs = {_key(log) for log in logs}
        self._instances = ", ".join(f"'{name}'" for name in sorted({name for name, _, _ in self._logs}))

    def sums(self, table: str, key: str, columns: str, where: str = "1") -> dict[LogKey, list[Row]]:
        """Returns the columns by log and by the expression `key`, which each row has as `key`."""
        found: dict[LogKey, list[Row]] = {}
        for row in self._rows("instance, source, log", table, key, columns, where):
            log = row["instance"], row["source"], row["log"]
            if log in self._logs:
                found.setdefault(log, []).append(row)
        return found

    def sums_of_instances(self, table: str, key: str, columns: str) -> dict[str, list[Row]]:
        """Returns the columns by instance and by the expression `key`."""
        found: dict[str, list[Row]] = {}
        for row in self._rows("instance", table, key, columns, "1"):
            found.setdefault(row["instance"], []).append(row)
        return found

    def _rows(self, place: str, table: str, key: str, columns: str, where: str) -> list[Row]:
        return self._clickhouse.rows(
            f"SELECT {place}, {key} AS key, {columns} FROM tailrace.{table}"
            f" WHERE instance IN ({self._instances}) AND {where} GROUP BY {place}, key"
        )


def differences(clickhouse: ClickHouse, logs: Iterable[LogManifest]) -> list[str]:
    """Returns all differences of events, rollups, ledger and receipts from the manifest."""
    logs = list(logs)
    checks = [_letters(clickhouse, logs), _ledger(clickhouse, logs), _receipts(clickhouse, logs)]
    for table in sorted({EVENT_TABLES[log.source] for log in logs}):
        checks.append(_events(clickhouse, [log for log in logs if EVENT_TABLES[log.source] == table], table))
    slow = [log for log in logs if log.source == "slowlog"]
    if slow:
        checks += [_measures(clickhouse, slow), _classes(clickhouse, slow), _rollups(clickhouse, slow)]
    others = [log for log in logs if log.source != "slowlog"]
    if others:
        checks.append(_commands(clickhouse, others))
    return [f"{log.instance} {log.path}: {text}" for check in checks for log, text in check]


def _differ(log: LogManifest, what: str, expected: object, found: object) -> Iterator[Difference]:
    if expected != found:
        yield log, f"{what}: expected {expected}, found {found}"


def _events(clickhouse: ClickHouse, logs: list[LogManifest], table: str) -> Iterator[Difference]:
    tables = Tables(clickhouse, logs)
    columns = (
        "count() AS n, uniqExact(event_id) AS ids, sum(entry_bytes) AS bytes,"
        " uniqExact(generation) AS generations"
    )
    totals = tables.sums(table, "''", columns)
    minutes = tables.sums(
        table, "toUnixTimestamp(toStartOfMinute(toDateTime(event_time, 'UTC')))", "count() AS n"
    )
    for log in logs:
        (row,) = totals.get(_key(log), [NO_EVENTS])
        yield from _differ(log, "events", log.entries, row["n"])
        yield from _differ(log, "distinct event ids", log.distinct_entries, row["ids"])
        yield from _differ(log, "bytes of events", log.bytes - log.framing_bytes, row["bytes"])
        yield from _differ(
            log, "generations with events", sum(f.entries > 0 for f in log.files), row["generations"]
        )
        expected = {start: minute.entries for start, minute in log.minutes.items()}
        yield from _by_key(log, "events", expected, _keyed(minutes.get(_key(log), [])))


def _letters(clickhouse: ClickHouse, logs: list[LogManifest]) -> Iterator[Difference]:
    found = Tables(clickhouse, logs).sums("dead_letters FINAL", "code", "count() AS n", "NOT superseded")
    for log in logs:
        yield from _differ(log, "dead letters", {}, _keyed(found.get(_key(log), [])))


def _measures(clickhouse: ClickHouse, logs: list[LogManifest]) -> Iterator[Difference]:
    columns = (
        "toInt64(sum(round(query_time * 1000000))) AS us, sum(rows_sent) AS sent,"
        " sum(rows_examined) AS examined, sum(weight) AS weight"
    )
    found = Tables(clickhouse, logs).sums("query_events", "''", columns)
    for log in logs:
        (row,) = found.get(_key(log), [NO_MEASURES])
        yield from _differ(log, "query time, µs", _total(log, "query_time_us"), row["us"])
        yield from _differ(log, "rows sent", _total(log, "rows_sent"), row["sent"])
        yield from _differ(log, "rows examined", _total(log, "rows_examined"), row["examined"])
        yield from _differ(log, "weight", _total(log, "weight"), row["weight"])


def _classes(clickhouse: ClickHouse, logs: list[LogManifest]) -> Iterator[Difference]:
    words = "[" + ", ".join(f"'{word}'" for word in CLASSES) + "]"
    classes = f"{words}[multiSearchFirstIndex(fingerprint, {words})]"
    join = "ANY LEFT JOIN tailrace.fingerprints USING (query_id, rule_set)"
    tables = Tables(clickhouse, logs)
    events = tables.sums(f"query_events {join}", classes, "count() AS n")
    hours = tables.sums_of_instances(f"query_classes_1h {join}", classes, "sum(count) AS n")
    for log in logs:
        yield from _by_key(log, "classes of query_events", log.classes, _keyed(events.get(_key(log), [])))
        yield from _by_key(
            log, "classes of query_classes_1h", log.classes, _keyed(hours.get(log.instance, []))
        )


def _rollups(clickhouse: ClickHouse, logs: list[LogManifest]) -> Iterator[Difference]:
    columns = (
        "sum(count) AS entries, sum(weight) AS weight, toInt64(round(sum(query_time) * 1000000)) AS us,"
        " sum(rows_examined) AS examined"
    )
    for table, time, width in (
        ("query_load_1m", "minute", 60),
        ("query_classes_1h", "hour", 3600),
        ("query_classes_1d", "day", 86_400),
    ):
        found = Tables(clickhouse, logs).sums_of_instances(table, f"toUnixTimestamp({time})", columns)
        for log in logs:
            expected, sums = _regrouped(log, width), found.get(log.instance, [])
            for column in ("entries", "weight", "us", "examined"):
                wanted = {start: _rolled_up(sum_, column) for start, sum_ in expected.items()}
                yield from _by_key(log, f"{table}.{column}", wanted, _keyed(sums, column))


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


def _commands(clickhouse: ClickHouse, logs: list[LogManifest]) -> Iterator[Difference]:
    found = Tables(clickhouse, logs).sums("audit_events", "command", "count() AS n")
    for log in logs:
        yield from _by_key(log, "commands", log.classes, _keyed(found.get(_key(log), [])))


def _ledger(clickhouse: ClickHouse, logs: list[LogManifest]) -> Iterator[Difference]:
    columns = f"sumIf(bytes, {OF_FRAMER}) AS framed, sum(ledger.count) AS n"
    found = Tables(clickhouse, logs).sums("ledger", "kind", columns)
    for log in logs:
        postings = found.get(_key(log), [])
        expected = {"ENTRY": log.bytes - log.framing_bytes, "FRAMING": log.framing_bytes}
        bytes_by_kind = {row["key"]: row["framed"] for row in postings if row["framed"]}
        yield from _differ(
            log, "bytes by posting", {kind: n for kind, n in expected.items() if n}, bytes_by_kind
        )
        counts = {row["key"]: row["n"] for row in postings if row["key"] in ("ENTRY", "EVENT")}
        yield from _differ(log, "entries by posting", {"ENTRY": log.entries, "EVENT": log.entries}, counts)


def _receipts(clickhouse: ClickHouse, logs: list[LogManifest]) -> Iterator[Difference]:
    columns = "sumIf(rows, kind = 'EVENT') AS events"
    found = Tables(clickhouse, logs).sums("receipts", "''", columns)
    for log in logs:
        (row,) = found.get(_key(log), [{"events": 0}])
        yield from _differ(log, "receipts of events", log.entries, row["events"])


def _total(log: LogManifest, name: str) -> int:
    return sum(getattr(minute, name) for minute in log.minutes.values())


def _keyed(rows: list[Row], column: str = "n") -> dict:
    return {row["key"]: row[column] for row in rows}


def _by_key(log: LogManifest, what: str, expected: dict, found: dict) -> Iterator[Difference]:
    for key in sorted(expected.keys() | found.keys()):
        yield from _differ(log, f"{what} of {key}", expected.get(key, 0), found.get(key, 0))
