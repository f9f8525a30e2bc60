"""Tests on a real engine that a backup contains rows with pseudonyms, and not the vault of their names."""

import pytest
from clickhouse_servers import Server
from test_erasure import Stack, arrive, event, names

from tailrace.erasure import vault
from tailrace_local import backup


@pytest.fixture(scope="module")
def server(own_server: Server) -> Server:
    return own_server


def sealed(admin) -> list[bytes]:
    rows = admin.rows("SELECT sealed_name FROM tailrace.subject_vault")
    return [row["sealed_name"].encode() for row in rows]


def is_anywhere(needles: list[bytes], directory) -> bool:
    files = [path for path in directory.rglob("*") if path.is_file() and not path.is_symlink()]
    return any(needle in path.read_bytes() for path in files for needle in needles)


def test_a_backup_has_the_rows_and_no_name(server, admin, user, tmp_path):
    vault.make_keys(server.home)
    stack = Stack(user, server.home)
    pseudonym = arrive(stack, "etl")
    admin.insert("tailrace.query_events", [event(pseudonym, query_time=1, weight=1)], async_insert=0)
    needles = sealed(admin)
    server.stop()
    assert is_anywhere(needles, server.home.root)
    backup.make(server.home, tmp_path / "with", with_names=True)
    assert is_anywhere(needles, tmp_path / "with")
    backup.make(server.home, tmp_path / "without")
    assert not is_anywhere(needles, tmp_path / "without")

    backup.restore(server.home, tmp_path / "without")
    server.start()
    assert admin.rows("SELECT user FROM tailrace.query_events") == [{"user": pseudonym}]
    assert names(admin, pseudonym) == 0
    assert arrive(stack, "etl") == pseudonym
    assert names(admin, pseudonym) == 1
