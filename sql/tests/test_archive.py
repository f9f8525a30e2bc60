"""The archive: days in Iceberg are those of ClickHouse, survive kills, and are restored once."""

import importlib.util
import json
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import boto3
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archive_rows import DAY, NEXT_DAY, hostile_rows, insert_other_tables, insert_query_events
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from moto.server import ThreadedMotoServer
from pyiceberg.io.pyarrow import PyArrowFile

from tailrace.archive import days, inserts, location, service, tables
from tailrace.archive.location import Location
from tailrace.archive.restore import RestoreError, Restorer
from tailrace.archive.runner import Sizes
from tailrace.archive.source import seconds as seconds_of
from tailrace.archive.verifier import ArchiveVerifier, verify_all
from tailrace.archive.warehouse import Warehouse
from tailrace.clickhouse.client import ClickHouse
from tailrace.transparency.collector import Collector
from tailrace.transparency.log import TransparencyLog
from tailrace_verify import archive, notes
from tailrace_verify.findings import Report, Status
from tailrace_verify.trust import Trust

ORIGIN = "tailrace/test"
KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
TRUST = Trust(notes.key_of(ORIGIN, KEY), (), {}, needs_witness=False)
ROWS = 400
SMALL = Sizes(slice_rows=90, file_rows=150)
KEPT = {"query_events": 92, "audit_events": 400}
VALUES = "count(*), sum(entry_bytes), max(rows_sent), min(query_id), count(DISTINCT user), sum(query_time)"


@pytest.fixture
def filled(admin: ClickHouse) -> ClickHouse:
    insert_query_events(admin, ROWS)
    admin.insert("tailrace.query_events", hostile_rows())
    admin.execute(
        f"INSERT INTO tailrace.query_events (event_time, user, ingested_at)"
        f" VALUES ('{DAY} 13:00:00', unhex('61FF62'), '{NEXT_DAY} 00:00:30')"
    )
    insert_other_tables(admin)
    return admin


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def extend_log(filled, user, home) -> Callable[[], None]:
    """Adds what ClickHouse has to the transparency log, and publishes its checkpoint."""
    log = TransparencyLog(home / "transparency", ORIGIN, KEY)
    (home / "transparency" / "log.vkey").write_text(TRUST.log.vkey())
    collector = Collector(user("auditor"), log.store, home / "hosts.json")

    def extend() -> None:
        log.append(collector.collect())
        log.publish(log.signed())

    extend()
    return extend


@pytest.fixture
def at(tmp_path: Path) -> Location:
    return location.opened(str(tmp_path / "archive"))


def run(admin: ClickHouse, at: Location, home: Path) -> dict[str, int]:
    """Archives all closed days; returns the rows by table of the days that are verified."""
    task = service.Task(admin, at, home, lambda _: None, SMALL)
    found = {day.table: day.rows for day, is_good in task.run(NEXT_DAY + timedelta(days=1)) if is_good}
    assert task.findings() == []
    return found


def verified(admin: ClickHouse, at: Location) -> Report:
    report = Report()
    list(verify_all(ArchiveVerifier(admin, at, Warehouse(at)), report))
    return report


def offline(at: Location) -> Report:
    return archive.verify(Path(at.root), TRUST)


def digest(admin: ClickHouse, table: str = "query_events") -> list[dict[str, object]]:
    return admin.rows(
        f"SELECT count() AS rows, sum(sipHash64(toString(tuple(*)))) AS sum FROM tailrace.{table}"
    )


def scanned(at: Location, values: str, table: str = "query_events") -> tuple:
    """What DuckDB reads."""
    (packages,) = importlib.util.find_spec("duckdb_ext").submodule_search_locations
    options = {"extension_directory": f"{packages}/extensions", "autoinstall_known_extensions": "false"}
    with duckdb.connect(config=options) as connection:
        connection.execute("LOAD avro; LOAD iceberg")
        query = f"SELECT {values} FROM iceberg_scan('{at.root}/tables/{table}')"
        return connection.execute(query).fetchone()


def test_a_closed_day_is_archived_once_and_read_by_duckdb(filled, at, home, extend_log):
    expected = dict.fromkeys(("audit_events", "alerts", "ledger", "signed_ranges", "data_access"), 1)
    assert run(filled, at, home) == {"query_events": ROWS + 5, **expected}
    assert run(filled, at, home) == {}, "nothing is archived twice"
    (row,) = filled.rows(f"SELECT {VALUES} FROM tailrace.query_events")
    assert [float(value) for value in scanned(at, VALUES)] == pytest.approx([float(v) for v in row.values()])
    report = verified(filled, at)
    assert (report.verdict, report.findings) == (Status.PROVEN, [])
    assert report.counts["rows equal in ClickHouse"] == ROWS + 10
    proven = offline(at)
    assert (proven.verdict, proven.findings) == (Status.PROVEN, [])
    assert proven.counts["rows"] == ROWS + 10
    assert len(proven.notes) == 5, "tables without proofs, and the end of the proofs, are named"
    states = days.states(filled, at)
    assert {state["state"] for state in states.values()} == {days.VERIFIED}
    assert states["query_events", NEXT_DAY.isoformat()]["rows"] == 0, "a day without rows does not wait"


def test_rows_that_come_later_are_a_further_part(filled, at, home, monkeypatch):
    seconds = iter([seconds_of(DAY) + hour * 3600 for hour in (30, 30, 60, 60)])
    monkeypatch.setattr(service.Archiver, "_until", lambda *_: next(seconds))
    chosen = [tables.BY_NAME["query_events"]]

    def archived() -> list[int]:
        task = service.Task(filled, at, home, lambda _: None, SMALL)
        return [len(day.parts) for day, is_good in task.run(NEXT_DAY, chosen) if is_good]

    assert (archived(), archived()) == ([1], [])
    filled.insert("tailrace.query_events", [{**hostile_rows()[0], "ingested_at": f"{NEXT_DAY} 20:00:00"}])
    assert (archived(), archived()) == ([2], [])
    assert scanned(at, "count(*)") == (ROWS + 6,)
    assert verified(filled, at).findings == []


class KilledError(BaseException):
    """The process ends here."""


def killing_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Lets the process end at the write with this number, of our files and of those of Iceberg."""
    left = [number]

    def count(function: Callable) -> Callable:
        def counted(*arguments, **more):
            left[0] -= 1
            if left[0] == 0:
                raise KilledError
            return function(*arguments, **more)

        return counted

    monkeypatch.setattr(Location, "written", count(Location.written))
    monkeypatch.setattr(Location, "delete", count(Location.delete))
    monkeypatch.setattr(PyArrowFile, "create", count(PyArrowFile.create))
    monkeypatch.setattr(days, "record", count(days.record))


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.long), 7])
def test_a_kill_at_any_write_leaves_whole_days_only(admin, at, home, monkeypatch, step):
    insert_query_events(admin, 200)
    chosen, number, kills = [tables.BY_NAME["query_events"]], 1, 0
    while True:
        shutil.rmtree(at.root, ignore_errors=True)
        admin.execute("TRUNCATE TABLE tailrace.archived_days")
        with monkeypatch.context() as patched:
            killing_at(patched, number)
            try:
                list(service.Task(admin, at, home, lambda _: None, SMALL).run(NEXT_DAY, chosen))
                break
            except KilledError:
                kills += 1
        found = days.read(at, "query_events", str(DAY))
        assert found is None or found.rows == 200, f"write {number}"
        list(service.Task(admin, at, home, lambda _: None, SMALL).run(NEXT_DAY, chosen))
        found = days.read(at, "query_events", str(DAY))
        listed = {file.path for part in found.parts for file in part.files}
        assert found.rows == 200, f"write {number}"
        assert listed == set(Warehouse(at).files("query_events")), f"write {number}"
        assert listed == {name for name in at.names("tables") if name.endswith(".parquet")}, f"write {number}"
        assert days.states(admin, at)["query_events", str(DAY)]["state"] == days.VERIFIED, f"write {number}"
        number += step
    assert kills > 12 // step


def receipts(admin: ClickHouse) -> list[dict[str, object]]:
    return admin.rows(
        "SELECT source, sum(rows) AS rows FROM tailrace.receipts GROUP BY source ORDER BY source"
    )


def restorer(admin: ClickHouse, at: Location, tmp_path: Path, **more) -> Restorer:
    return Restorer(admin, at, tmp_path / "restore.json", KEPT, **more)


def restore(*arguments, **more) -> tuple[int, int]:
    """Restores the day; returns the rows that were inserted and those that were there."""
    found = list(restorer(*arguments, **more).restore(DAY, NEXT_DAY))
    return sum(each.inserted for each in found), sum(each.present for each in found)


def test_restore_after_a_kill_inserts_each_row_once(
    filled, at, home, extend_log, server, tmp_path, monkeypatch
):
    run(filled, at, home)
    before = {table.name: digest(filled, table.name) for table in tables.TABLES}
    received = receipts(filled)
    server.empty_tables()
    with monkeypatch.context() as patched:
        calls = []

        def insert_and_die(*arguments):
            typed_rows(*arguments)
            calls.append(arguments)
            if len(calls) == 3:
                raise KilledError

        typed_rows = inserts.typed_rows
        patched.setattr(inserts, "typed_rows", insert_and_die)
        with pytest.raises(KilledError):
            restore(filled, at, tmp_path)
    restore(filled, at, tmp_path)
    assert {table.name: digest(filled, table.name) for table in tables.TABLES} == before
    assert restore(filled, at, tmp_path) == (0, ROWS + 10), "a second time adds nothing"
    assert receipts(filled) == received, "views count each row once, also those of the interrupted insert"
    assert verified(filled, at).findings == []


def test_expired_and_counted_rows_are_restored_as_a_copy(filled, at, home, tmp_path, monkeypatch):
    run(filled, at, home)
    with (
        monkeypatch.context() as patched,
        pytest.raises(RestoreError, match=r"would delete .* at once.*--copy"),
    ):
        patched.setitem(KEPT, "query_events", 2)
        restore(filled, at, tmp_path)
    expected = digest(filled)
    filled.execute("TRUNCATE TABLE tailrace.query_events SYNC")
    with pytest.raises(RestoreError, match=r"have counted rows that ClickHouse has lost.*--copy"):
        restore(filled, at, tmp_path)
    chosen = (tables.BY_NAME["query_events"],)
    copied = list(restorer(filled, at, tmp_path, is_copy=True).restore(DAY, NEXT_DAY, chosen))
    try:
        assert [each.inserted for each in copied] == [ROWS + 5]
        assert digest(filled, "restored_query_events") == expected
        assert filled.rows("SELECT count() AS rows FROM tailrace.query_events") == [{"rows": 0}]
    finally:
        filled.execute("DROP TABLE tailrace.restored_query_events SYNC")


@pytest.mark.parametrize(
    "rows", [pytest.param(10_000_000, marks=[pytest.mark.long, pytest.mark.timeout(21_600)])]
)
def test_a_day_is_restored_after_the_loss_of_all_data(admin, at, home, server, tmp_path, rows):
    insert_query_events(admin, rows)
    before = digest(admin), receipts(admin)
    list(service.Task(admin, at, home, lambda _: None).run(NEXT_DAY))
    assert scanned(at, VALUES)[0] == rows
    server.empty_tables()
    assert restore(admin, at, tmp_path) == (rows, 0)
    assert (digest(admin), receipts(admin)) == before
    assert verified(admin, at).counts["rows equal in ClickHouse"] == rows


def flip(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(bytes(data))


def change_a_value(file: Path, root: Path) -> None:
    """Writes the file again, with one other value and correct statistics and checksums."""
    found = pq.ParquetFile(file)
    groups = [found.read_row_group(number) for number in range(found.num_row_groups)]
    users = groups[1]["user"].to_pylist()
    users[7] = "nobody"
    index = groups[1].schema.get_field_index("user")
    groups[1] = groups[1].set_column(index, groups[1].schema.field(index), pa.array(users))
    with pq.ParquetWriter(file, found.schema_arrow, compression="zstd", store_schema=False) as writer:
        for group in groups:
            writer.write_table(group)


def change_a_page(file: Path, root: Path) -> None:
    flip(file, pq.read_metadata(file).row_group(1).column(8).data_page_offset + 40)


def change_statistics(file: Path, root: Path) -> None:
    """Hides rows from engines: the largest instance of a row group becomes a smaller one."""
    data, end = file.read_bytes(), pq.read_metadata(file).serialized_size
    footer = data[-8 - end :]
    file.write_bytes(data[: -8 - end] + footer.replace(b"db-3", b"db-1"))


def replace_by_an_older(file: Path, root: Path) -> None:
    other = sorted(file.parent.glob("*.parquet"))[0]
    file.write_bytes(other.read_bytes())


def delete(file: Path, root: Path) -> None:
    file.unlink()


def list_fewer_files(file: Path, root: Path) -> None:
    document = root / days.archive_days.file_name("query_events", str(DAY))
    day = json.loads(document.read_text())
    removed = [each for each in day["parts"][0]["files"] if not file.match(f"*/{Path(each['path']).name}")]
    day["parts"][0]["files"] = removed
    document.write_text(json.dumps(day))


def swap_columns(file: Path, root: Path) -> None:
    """Engines find columns by number: users become hosts. The names, and so the digests, stay."""
    table = pq.read_table(file, partitioning=None)
    user, host = (table.schema.field(name) for name in ("user", "host"))
    swapped = {"user": user.with_metadata(host.metadata), "host": host.with_metadata(user.metadata)}
    fields = [swapped.get(each.name, each) for each in table.schema]
    pq.write_table(pa.table(table.columns, schema=pa.schema(fields)), file, store_schema=False)


MANIPULATIONS = {
    change_a_value: (Status.TAMPERED, "row {row} was changed"),
    change_a_page: (Status.TAMPERED, "row group 2 cannot be read"),
    change_statistics: (Status.TAMPERED, "wrong statistics of instance"),
    replace_by_an_older: (Status.TAMPERED, "its bytes are not those"),
    delete: (Status.INCOMPLETE, "is missing"),
    list_fewer_files: (Status.INCOMPLETE, "does not list this file"),
    swap_columns: (Status.TAMPERED, "other columns as host, user"),
}


def test_every_manipulation_is_detected_and_located(filled, at, home, extend_log, tmp_path):
    run(filled, at, home)
    target = days.read(at, "query_events", str(DAY)).parts[0].files[1]
    row = 1 + pq.read_metadata(Path(at.root, target.path)).row_group(0).num_rows + 7
    shutil.copytree(at.root, honest := tmp_path / "honest")
    for manipulate, (status, message) in MANIPULATIONS.items():
        manipulate(Path(at.root, target.path), Path(at.root))
        proven = offline(at)
        assert proven.verdict is status, manipulate.__name__
        located = [each for each in proven.findings if each.place.get("file") == target.path]
        assert any(message.format(row=row) in each.message for each in located), (manipulate, proven.findings)
        if manipulate is not list_fewer_files:
            found = verified(filled, at)
            assert found.verdict is status, manipulate.__name__
            assert target.path in {each.place.get("file") for each in found.findings}, manipulate.__name__
        shutil.rmtree(at.root)
        shutil.copytree(honest, at.root)


def test_an_older_iceberg_snapshot_and_another_file_are_detected(filled, at, home):
    run(filled, at, home)
    file = Path(at.root, days.read(at, "ledger", str(DAY)).parts[0].files[0].path)
    added = file.with_name("00009-0.parquet")
    added.write_bytes(file.read_bytes())
    Warehouse(at).append("ledger", [added.relative_to(at.root).as_posix()], {})
    assert [each.message for each in verified(filled, at).findings if each.place["file"].endswith(added.name)]
    hint = Path(at.root, "tables/query_events/metadata/version-hint.text")
    first = next(hint.parent.glob("00000-*.metadata.json"))
    hint.write_text(first.name.removesuffix(".metadata.json"))
    report = verified(filled, at)
    assert report.verdict is Status.TAMPERED
    assert {each.check for each in report.findings} == {"Iceberg"}


@pytest.fixture
def bucket() -> Iterator[Location]:
    """A prefix of an S3 server."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    keys = {"aws_access_key_id": "id", "aws_secret_access_key": "key", "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=endpoint, **keys).create_bucket(Bucket="archive")
    yield location.opened("s3://archive/tailrace", location.S3Access(endpoint, "us-east-1", "id", "key"))
    server.stop()


def test_clickhouse_reads_an_archive_in_s3(filled, bucket, home, tmp_path, server):
    run(filled, bucket, home)
    assert verified(filled, bucket).verdict is Status.PROVEN
    table = f"icebergS3('{bucket.access.endpoint}/archive/tailrace/tables/query_events/', 'id', 'key')"
    values = "count() AS rows, sum(toUInt64(query_id)), sum(query_time), uniqExact(user), max(tables_read)"
    expected = filled.rows(f"SELECT {values} FROM tailrace.query_events")[0]
    found = filled.rows(f"SELECT {values} FROM {table}")[0]
    assert {**found, "sum(query_time)": 0} == {**expected, "sum(query_time)": 0}
    assert found["sum(query_time)"] == pytest.approx(expected["sum(query_time)"])
    server.empty_tables()
    assert restore(filled, bucket, tmp_path) == (ROWS + 10, 0)
