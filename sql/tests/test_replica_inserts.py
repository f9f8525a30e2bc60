"""Replicated tables while servers are killed: each row counts once in events, rollups and receipts."""

import pytest
from replica_servers import Replica, Replicas, wait_until
from test_tables import EXACTLY_ONCE, events

from tailrace.clickhouse.client import ClickHouse

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

UNKNOWN_STATUS_OF_INSERT = 319
TOO_FEW_LIVE_REPLICAS = 285
SETTING_IS_READ_ONLY = 452
ROWS = 5000
COUNTED = {
    "events": "SELECT count() FROM {}.query_events",
    "ids": "SELECT uniqExact(event_id) FROM {}.query_events",
    "load": "SELECT sum(count) FROM {}.query_load_1m",
    "classes": "SELECT sum(count) FROM {}.query_classes_1h",
    "receipts": "SELECT sum(rows) FROM {}.receipts",
}
ROLLUP = "tailrace.query_load_1m"


@pytest.fixture
def replicas(three_replicas: Replicas) -> Replicas:
    three_replicas.empty_tables()
    return three_replicas


def counts(replicas: Replicas) -> dict[str, list[int]]:
    """Returns the rows of each running server."""
    return {name: replicas.on_each(sql.format(replicas.database)) for name, sql in COUNTED.items()}


def insert(user: ClickHouse, block: list[dict], **settings: object) -> None:
    """Inserts a block as the committer does: always with the same token."""
    token = f"token of {block[0]['event_id']}"
    user.insert("tailrace.query_events", block, insert_deduplication_token=token, **EXACTLY_ONCE, **settings)


def insert_without_quorum(server: Replica, block: list[dict]) -> None:
    insert(server.user("admin"), block, insert_quorum=0, insert_deduplicate=1)


def are_equal(found: dict[str, list[int]]) -> bool:
    return len({number for numbers in found.values() for number in numbers}) == 1


def assert_each_row_once(replicas: Replicas, rows: int = ROWS) -> None:
    expected = [rows] * len(replicas.running())
    assert counts(replicas) == dict.fromkeys(COUNTED, expected)


def test_without_a_quorum_a_killed_server_leaves_rollups_short_and_a_repetition_changes_nothing(replicas):
    """The fault. The kill comes before the others have fetched the rows of one view."""
    block, (first, second, third) = events(ROWS), replicas.servers
    for survivor in (second, third):
        survivor.user("admin").execute(f"SYSTEM STOP FETCHES {ROLLUP}")
    insert_without_quorum(first, block)
    first.kill()
    for survivor in (second, third):
        survivor.user("admin").execute(f"SYSTEM START FETCHES {ROLLUP}")
    for survivor in (second, third):
        insert_without_quorum(survivor, block)

    found = counts(replicas)
    assert found["events"] == [ROWS, ROWS]
    assert found["load"] == [0, 0]


def test_the_writer_gets_no_answer_before_a_second_server_has_the_rows(replicas):
    block, (first, second, third) = events(ROWS), replicas.servers
    third.user("admin").execute(f"SYSTEM STOP FETCHES {ROLLUP}")
    try:
        insert(first.user("writer"), block)
        first.kill()
    finally:
        third.user("admin").execute(f"SYSTEM START FETCHES {ROLLUP}")
    insert(second.user("writer"), block)
    insert(third.user("writer"), block)
    wait_until(lambda: counts(replicas)["load"] == [ROWS, ROWS], "the third server has the rows of the view")

    assert_each_row_once(replicas)
    replicas.revive()
    replicas.await_calm()
    assert_each_row_once(replicas)


def test_each_block_counts_once_when_its_server_is_killed_at_its_answer(replicas):
    for killed in replicas.servers:
        block = events(ROWS)
        insert(killed.user("writer"), block)
        killed.kill()
        for survivor in replicas.running():
            insert(survivor.user("writer"), block)
        wait_until(lambda: are_equal(counts(replicas)), "all tables have the same rows")
        replicas.revive()
        replicas.await_calm()

    assert counts(replicas)["load"] == [ROWS * 3] * 3
