"""Records of mysqlreceiver and of Grafana Alloy in ClickHouse: repeated, reordered and lost snapshots."""

import json
from datetime import UTC, datetime
from random import Random

import pytest

from tailrace.cli.commands import ledger
from tailrace.config.resources import ROOT
from tailrace.ledger import statement_records
from tailrace.ledger.balance import LedgerBalance
from tailrace.snapshots.loader import Loader, unpacked
from tailrace.snapshots.records import RECORDS, SAMPLE
from tailrace.snapshots.rows import RecordError, rows_of
from tailrace_pull import snapshots
from tailrace_pull.config import Entry
from tailrace_pull.reading import Gap, LineRun, Round
from tailrace_pull.state import LogState, PulledFile

AT = 1_795_000_000
DIGEST = "ab" * 32
KNOWN = {"digest": DIGEST, "database": "shop"}
QUERIES = ROOT / "sql" / "queries"
EMPTY = LedgerBalance(datetime.fromtimestamp(AT, UTC), (), (), (), (), ())
"""The ledger of a server without log files."""
SEEDS = 3
LONG_SEEDS = 100


def top_query(number: int, **more: str) -> dict[str, str]:
    found = {"tool": "mysqlreceiver", "kind": "top_query", "at": f"{AT + number}.000005", **KNOWN}
    return {**found, "digest_text": "SELECT ?", "seconds": "0.5", **more}


def finished(number: int, **more: str) -> dict[str, str]:
    found = {"tool": "alloy", "kind": "query_sample", "at": f"{AT + number}.000005", "state": "finished"}
    return {**found, **KNOWN, "thread_id": str(number), "seconds": "0.25", "rows_sent": "0", **more}


def wait(number: int) -> dict[str, str]:
    found = {"tool": "alloy", "kind": "wait_event", "at": f"{AT + number}.5"}
    return {**found, "ignored": "a wait of a statement"}


def unreadable(number: int) -> dict[str, str]:
    found = {"tool": "alloy", "kind": "query_sample", "at": f"{AT + number}.5"}
    return {**found, "ignored": "unreadable: it has no digest"}


class WrittenLog:
    """A log of an instance, as visits of a puller write it."""

    def __init__(self, instance: str) -> None:
        entry = Entry(instance, "shop", "performance_schema", "otlp", url="kafka://k:1/logs", match="a=b")
        self._log = entry.log()
        self._file = PulledFile(number=7, name=instance)
        self._visits = 0

    def visit(self, *found: dict[str, str] | int) -> list[bytes]:
        """Returns the snapshots of records and of gaps, of which only the size is given."""
        self._visits += 1
        done = Round(AT + 60.0 * self._visits, LogState([self._file]))
        for each in found:
            offset = self._file.offset
            if isinstance(each, int):
                done.gaps.append(Gap(offset, each, "retention deleted messages"))
                self._file.offset += each
                continue
            line = json.dumps(each, sort_keys=True).encode() + b"\n"
            done.runs.append(LineRun(self._file, offset, line))
            self._file.offset += len(line)
        return list(snapshots.envelopes(self._log, done))

    @property
    def size(self) -> int:
        return self._file.offset


@pytest.fixture
def store(user):
    def stored(*values: bytes) -> None:
        for value in values:
            for table, row in rows_of(unpacked(value)):
                assert table == RECORDS, "it is no snapshot of a server that capture reads"
                plain = {name: each for name, each in row.items() if name != SAMPLE}
                user("facts").insert(f"tailrace.{table}", [{**plain, "query_id": 7 if row[SAMPLE] else 0}])

    return stored


@pytest.fixture
def read(user):
    def rows(view: str, instance: str) -> list[dict]:
        return user("reader_developer").rows(
            f"SELECT * FROM tailrace.{view} WHERE instance = '{instance}' ORDER BY ALL"
        )

    return rows


def test_counters_and_samples_have_views_and_unknown_values_are_null(store, read):
    log = WrittenLog("views")
    store(*log.visit(top_query(1), top_query(2, statements="5", rows_sent="0"), finished(3), wait(4)))
    store(*log.visit(finished(9, cpu_seconds="0.1", sample="select 1")))
    first, second = read("digest_deltas", "views")
    assert (first["statements"], first["rows_sent"], first["seconds"]) == (None, None, 0.5)
    assert (int(second["statements"]), int(second["rows_sent"])) == (5, 0)
    assert (second["at"], second["digest_text"]) == ("2026-11-18 11:06:42.000005", "SELECT ?")
    first, second = read("statement_samples", "views")
    assert (first["state"], first["thread_id"], first["rows_sent"]) == ("finished", 3, 0)
    assert (first["cpu_seconds"], first["errors"], first["query_id"]) == (None, None, 0)
    assert (second["cpu_seconds"], second["query_id"]) == (0.1, 7)


def test_the_ledger_has_every_record(store, read):
    log = WrittenLog("sums")
    store(*log.visit(top_query(1), 100, wait(2), unreadable(3)), *log.visit(5))
    (sums,) = read("performance_schema_ledger", "sums")
    counts = ("records", "used", "ignored_records", "unreadable_records", "gaps", "gap_bytes")
    assert [int(sums[name]) for name in counts] == [3, 1, 1, 1, 2, 105]
    assert (int(sums["from_offset"]), int(sums["to_offset"])) == (0, log.size)
    assert int(sums["missing_bytes"]) == 0
    assert sums["path"] == "/otlp/logs/performance_schema/sums.events"


def test_a_snapshot_that_is_not_stored_is_missing_in_the_ledger(store, user, capsys):
    log, reader = WrittenLog("lost"), user("reader_compliance")
    begin, lost, end = log.visit(top_query(1)), log.visit(top_query(2)), log.visit(top_query(3))
    store(*begin, *end)
    (file,) = statement_records.read(reader, "lost")
    assert file.missing_bytes == sum(
        int(fact["attributes"]["bytes"]) for value in lost for fact in unpacked(value)["facts"]
    )
    assert (file.size, file.records, file.is_complete) == (log.size, 2, False)
    assert [ledger.is_good(EMPTY, [file], "lost", strict) for strict in (False, True)] == [False, False]
    statement_records.show([file])
    assert "1 log with missing or overlapping rows:" in capsys.readouterr().out
    store(*lost)
    (file,) = statement_records.read(reader, "lost")
    assert (file.missing_bytes, file.is_complete) == (0, True)
    assert [ledger.is_good(EMPTY, [file], "lost", strict) for strict in (False, True)] == [True, True]


def test_a_gap_balances_and_is_not_complete(store, user):
    store(*WrittenLog("gaps").visit(top_query(1), 5))
    found = statement_records.read(user("reader_compliance"), "gaps")
    assert [ledger.is_good(EMPTY, found, "gaps", strict) for strict in (False, True)] == [True, False]
    assert not ledger.is_good(EMPTY, [], "gaps", strict=False), "a server without records"


def test_a_statement_is_found_by_its_digest(store, user):
    digest = "cd" * 32
    store(*WrittenLog("found").visit(finished(1, digest=digest, sample="select 1"), finished(2)))
    times = {"from": "2026-11-18 11:00:00", "to": "2026-11-18 12:00:00"}
    query = (QUERIES / "page_query_digest.sql").read_text()
    assert user("reader_developer").rows(query, parameters={**times, "digest": digest}) == [
        {"id": 7, "entries": 1}
    ]


def test_a_row_that_is_stored_twice_is_one_entry_of_its_digest(admin, user):
    """Delivery is at least once. The rows are in separate parts, which are not merged before the query."""
    digest, at = "ef" * 32, "2026-11-18 11:30:00"
    its = {"cluster": "shop", "instance": "twice", "digest": digest, "query_id": 7, "at": at}
    place = {"path": "/p", "entry_offset": 1, "entry_bytes": 2, "file": 1}
    rows = {"digest_samples": its, "performance_schema_records": {**its, **place}}
    times = {"from": "2026-11-18 11:00:00", "to": "2026-11-18 12:00:00"}
    query = (QUERIES / "page_query_digest.sql").read_text()
    for table in rows:
        admin.execute(f"SYSTEM STOP MERGES tailrace.{table}")
    try:
        for table, row in rows.items():
            for _ in range(2):
                admin.append(f"tailrace.{table}", [row])
            (stored,) = admin.rows(f"SELECT count() AS rows FROM tailrace.{table} WHERE digest = '{digest}'")
            assert int(stored["rows"]) == 2, table
        found = user("reader_developer").rows(query, parameters={**times, "digest": digest})
    finally:
        for table in rows:
            admin.execute(f"SYSTEM START MERGES tailrace.{table}")
    assert found == [{"id": 7, "entries": 2}], "one of each table"


def check_order(seed: int, store, read) -> None:
    """Snapshots that are repeated and in any order give the rows of those in order."""
    chosen, log, instance = Random(seed), WrittenLog(f"order-{seed}"), f"order-{seed}"
    makers = (top_query, finished, wait, unreadable, lambda number: number)
    numbers = iter(range(1, 1000))
    written: list[bytes] = []
    used = 0
    for _ in range(8):
        found = [chosen.choice(makers)(next(numbers)) for _ in range(chosen.choice((1, 4)))]
        used += sum(isinstance(each, dict) and "ignored" not in each for each in found)
        written += log.visit(*found)
    stored = [*written, *chosen.sample(written, 3)]
    chosen.shuffle(stored)
    store(*stored)
    (sums,) = read("performance_schema_ledger", instance)
    assert (int(sums["missing_bytes"]), int(sums["used"])) == (0, used)
    assert int(sums["to_offset"]) == log.size
    assert len(read("digest_deltas", instance)) + len(read("statement_samples", instance)) == used


@pytest.mark.parametrize("seed", range(SEEDS))
def test_repeated_snapshots_in_any_order_are_stored_once(seed, store, read):
    check_order(seed, store, read)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEEDS, LONG_SEEDS))
def test_repeated_snapshots_in_any_order_are_stored_once_long(seed, store, read):
    check_order(seed, store, read)


@pytest.mark.parametrize(
    "wrong", [{"at": "1"}, {"at": "99999999999"}, {"statements": "-1"}, {"seconds": "nan"}, {"bytes": "x"}]
)
def test_a_value_that_clickhouse_would_refuse_is_no_record(wrong):
    (value,) = WrittenLog("wrong").visit(top_query(1))
    record = unpacked(value)
    record["facts"][0]["attributes"] |= wrong
    with pytest.raises(RecordError):
        rows_of(record)


def test_the_loader_computes_the_query_id_and_does_not_store_the_statement():
    asked: list[tuple[str, str, str]] = []

    class Ids:
        def of(self, instance: str, digest: str, sample: str) -> int:
            asked.append((instance, digest, sample))
            return 9

    (value,) = WrittenLog("ids").visit(finished(1, sample="select 4711"))
    ((_, row),) = rows_of(unpacked(value))
    assert SAMPLE in row
    found = Loader(None, None, None, print, Ids())._with_id(row)
    assert asked == [("ids", DIGEST, "select 4711")]
    assert found["query_id"] == 9 and "4711" not in json.dumps(found)
