"""Tests ClickHouse with a full disk, where it buffers results until they are complete."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from clickhouse_servers import Server

from tailrace.clickhouse.client import ClickHouse
from tailrace.evidence import results
from tailrace.evidence.framework import Result
from tailrace.evidence.results import ResultError

DISK_MEBIBYTES = 300
MANY = "SELECT number, toString(number) AS text FROM numbers(100000)"


class Many(Result):
    """A result that does not fit into memory."""

    def statement(self) -> str:
        return MANY


@pytest.fixture(scope="module")
def server(own_server: Server) -> Server:
    return own_server


@pytest.fixture(scope="module")
def disk(tmp_path_factory, request) -> Iterator[Path]:
    """A small disk with the data of the server."""
    directory = tmp_path_factory.mktemp("small")
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MEBIBYTES}m,mode=0700", "tailrace", directory]
    done = subprocess.run(mount, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted: {done.stderr.strip()}")
    server = request.getfixturevalue("server")
    server.stop()
    data = server.home.data("clickhouse")
    data.rename(data.with_name("before"))
    data.symlink_to(directory)
    server.is_migrated = False
    server.start()
    yield directory
    subprocess.run(["umount", "--lazy", directory], check=True)


@pytest.fixture
def asked(server, disk: Path) -> Iterator[ClickHouse]:
    """A server whose disk is full."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(bytes(4096))
    yield server.user("admin")
    filler.unlink()


def test_few_rows_come(asked: ClickHouse):
    assert asked.rows("SELECT 1 AS one") == [{"one": 1}]


def test_rows_that_are_missing_are_an_error(asked: ClickHouse):
    with pytest.raises(ConnectionError, match=r"sent \d+ of 100000 rows; is its disk full\?"):
        asked.rows(MANY)


def test_evidence_is_whole_or_an_error(asked: ClickHouse, tmp_path: Path):
    with pytest.raises(ResultError, match=r"many\.csv: ClickHouse .*is its disk full"):
        results.store(asked, Many("many", "Many", ("number",), "none"), {}, tmp_path)


@pytest.mark.parametrize("converted_bytes", [0, results.CONVERTED_BYTES], ids=["asked again", "converted"])
def test_a_parquet_file_is_whole_or_an_error(asked: ClickHouse, tmp_path: Path, monkeypatch, converted_bytes):
    def whole(_clickhouse, _statement, _parameters, path: Path) -> tuple[int, dict[str, str]]:
        path.write_text("number,text\n" + "".join(f'{number},"{number}"\n' for number in range(100_000)))
        return 100_000, {"number": "UInt64", "text": "String"}

    monkeypatch.setattr(results, "_copy_csv", whole)
    monkeypatch.setattr(results, "CONVERTED_BYTES", converted_bytes)
    with pytest.raises(ResultError, match=r"many\.parquet: ClickHouse sent a truncated file"):
        results.store(asked, Many("many", "Many", ("number",), "none"), {}, tmp_path)
