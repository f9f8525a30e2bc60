"""The replicas of the vault of names: an erasure must reach each of them, and the files of each."""

import time
from collections.abc import Callable, Mapping, Sequence

from tailrace.clickhouse.client import ClickHouse, ClickHouseError
from tailrace.clickhouse.replica_progress import ReplicaProgress
from tailrace.erasure.columns import COVERED
from tailrace.erasure.pseudonyms import SubjectError

ENGINE = "SELECT engine FROM system.tables WHERE database = 'tailrace' AND name = 'subject_vault'"
ONE_SERVER, REPLICATED = "ReplacingMergeTree", "ReplicatedReplacingMergeTree"
REPLICAS = """
SELECT replica_name AS name, zookeeper_path AS path, total_replicas AS total FROM system.replicas
WHERE database = 'tailrace' AND table = 'subject_vault'
"""
RECORD_SECONDS = 60
WAKE_CLEANUP = "SYSTEM START CLEANUP tailrace.subject_vault"
"""Removes the old files of a replica soon, otherwise within five minutes."""
FILES_SECONDS = 30
POLL_SECONDS = 0.1


def require_all(servers: Sequence[ClickHouse]) -> None:
    """Raises SubjectError unless `servers` are all replicas of a vault on one shard, each once; ReplicaError
    if one lags. A server without the table has nothing to erase."""
    engines = {row["engine"] for server in servers for row in server.rows(ENGINE)}
    if engines <= {ONE_SERVER} and len(servers) == 1:
        return
    if engines != {REPLICATED}:
        raise SubjectError("pseudonyms are supported on one shard of ClickHouse, not on several")
    found = [row for server in servers for row in server.rows(REPLICAS)]
    total, names = max(row["total"] for row in found), {row["name"] for row in found}
    if len(names) != total or len({row["path"] for row in found}) > 1 or len(found) != len(servers):
        told = f"the vault has {total} replicas, and {len(names)} of them are named"
        raise SubjectError(f"{told}: name each once with --server")
    ReplicaProgress(servers, (*COVERED, "subject_vault", "legal_hold_actions")).require_no_delay()


def await_row(server: ClickHouse, query: str, parameters: Mapping[str, object]) -> None:
    """Waits until a server has the row of a record. Raises SubjectError."""
    if not _await(lambda: bool(server.rows(query, parameters)), RECORD_SECONDS):
        raise SubjectError(f"{server.url} has not received the record of the erasure: repeat the command")


def await_files(server: ClickHouse, old_files: str, remove: str) -> bool:
    """Waits until the files with the deleted row are gone, which ClickHouse keeps for old_parts_lifetime.

    `remove` makes a server without replication do it at once.
    """
    is_replicated = any(row["engine"] == REPLICATED for row in server.rows(ENGINE))

    def are_gone() -> bool:
        server.execute(WAKE_CLEANUP if is_replicated else remove)
        return server.rows(old_files)[0]["parts"] == 0

    try:
        return _await(are_gone, FILES_SECONDS)
    except ClickHouseError:
        return False


def _await(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
