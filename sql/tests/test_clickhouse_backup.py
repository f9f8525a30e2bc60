"""Tests that BACKUP restores every table and row, but not the deduplication tokens (docs/BACKUP.md)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clickhouse_servers import Server

from tailrace.clickhouse.client import ClickHouse
from tailrace.migrations import runner as migration_runner

ALLOWED = "<backups><allowed_path>{}</allowed_path></backups></clickhouse>"
COUNTS = "SELECT name, total_rows FROM system.tables WHERE database = 'tailrace' AND engine LIKE '%MergeTree'"


@pytest.fixture(scope="module")
def server(own_server: Server) -> Server:
    return own_server


@pytest.fixture
def allowed(server, tmp_path: Path) -> Iterator[Path]:
    """A directory that the configuration allows the server to write backups to."""
    server.stop()
    prepare = server.part.prepare

    def prepare_with_backups() -> None:
        prepare()
        config = server.part._config()
        config.write_text(config.read_text().replace("</clickhouse>", ALLOWED.format(tmp_path)))

    server.part.prepare = prepare_with_backups
    server.start()
    yield tmp_path
    server.part.prepare = prepare


def insert(clickhouse: ClickHouse, token: str) -> None:
    row = {"instance": "db-1", "kind": "ENTRY", "count": 1, "at": "2026-11-22 10:00:00"}
    clickhouse.insert("tailrace.ledger", [row], insert_deduplication_token=token, async_insert=0)


def counts(clickhouse: ClickHouse) -> dict[str, int]:
    return {row["name"]: row["total_rows"] for row in clickhouse.rows(COUNTS)}


def test_rows_come_back_and_tokens_do_not(server, empty: ClickHouse, allowed: Path):
    admin = server.user("admin")
    migration_runner.apply(admin)
    for _ in range(2):
        insert(admin, "the same")
    before = counts(admin)
    assert before["ledger"] == 1

    admin.execute(f"BACKUP DATABASE tailrace TO File('{allowed}/saved')")
    admin.execute("DROP DATABASE tailrace SYNC")
    admin.execute(f"RESTORE DATABASE tailrace FROM File('{allowed}/saved')")

    assert counts(admin) == before
    assert migration_runner.apply(admin) == []
    insert(admin, "the same")
    assert counts(admin)["ledger"] == 2
