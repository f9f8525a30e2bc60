"""Replicated tables while servers are killed: each row counts once in events, rollups and receipts."""

import pytest
from replica_servers import CATCH_UP_SECONDS, Replica, Replicas, wait_until
from test_tables import EXACTLY_ONCE, events

from tailrace.clickhouse.client import ClickHouse, ClickHouseError

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

UNKNOWN_STATUS_OF_INSERT = 319
TOO_FEW_LIVE_REPLICAS = 285
SETTING_IS_READ_ONLY = 452
WITHOUT_KEEPER = (242, 999)
"""TABLE_IS_READ_ONLY, KEEPER_EXCEPTION"""
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


def await_each_row_once(replicas: Replicas, rows: int = ROWS) -> None:
    """Waits until every running server counts each row once; fails with what each has and waits for."""
    expected = dict.fromkeys(COUNTED, [rows] * len(replicas.running()))
    wait_until(
        lambda: counts(replicas) == expected,
        lambda: f"{rows} rows in each table: {counts(replicas)}, {replicas.queues()}",
        CATCH_UP_SECONDS,
    )


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
    await_each_row_once(replicas)

    replicas.revive()
    await_each_row_once(replicas)


def test_each_block_counts_once_when_its_server_is_killed_at_its_answer(replicas):
    for number, killed in enumerate(replicas.servers, 1):
        block = events(ROWS)
        insert(killed.user("writer"), block)
        killed.kill()
        for survivor in replicas.running():
            insert(survivor.user("writer"), block)
        await_each_row_once(replicas, ROWS * number)
        replicas.revive()

    await_each_row_once(replicas, ROWS * 3)


def stop_fetches(servers: list[Replica]) -> None:
    for each in servers:
        each.user("admin").execute(f"SYSTEM STOP FETCHES {ROLLUP}")


def start_fetches(servers: list[Replica]) -> None:
    for each in servers:
        each.user("admin").execute(f"SYSTEM START FETCHES {ROLLUP}")


def refusal(server: Replica, block: list[dict], **settings: object) -> int:
    """Returns the code with which the writer's insert is refused; 0 if it is stored."""
    try:
        insert(server.user("writer"), block, **settings)
    except ClickHouseError as error:
        return error.code
    return 0


def is_stored_by_repetition(server: Replica, block: list[dict], **settings: object) -> bool:
    """Repeats an insert as the committer does. Returns whether two attempts in a row succeed."""
    return not refusal(server, block, **settings) and not refusal(server, block, **settings)


def test_a_repetition_completes_an_insert_that_no_second_server_confirmed(replicas):
    block, (first, *others) = events(ROWS), replicas.servers
    stop_fetches(others)
    try:
        assert refusal(first, block, insert_quorum_timeout=2000) == UNKNOWN_STATUS_OF_INSERT
        assert refusal(others[0], block, insert_quorum_timeout=2000) == UNKNOWN_STATUS_OF_INSERT
    finally:
        start_fetches(others)
    wait_until(lambda: is_stored_by_repetition(others[0], block), "the insert is complete")
    await_each_row_once(replicas)


def test_an_insert_whose_server_is_lost_is_completed_by_the_others(replicas):
    """The others give up rows that only the lost server has when its session has ended: after 30 seconds.

    An attempt that waits at that moment is answered with success, and the next one stores the rows. So the
    committer sends each repetition until two in a row succeed (InsertTarget.insertAgain).
    """
    block, (first, *others) = events(ROWS), replicas.servers
    stop_fetches(others)
    try:
        assert refusal(first, block, insert_quorum_timeout=2000) == UNKNOWN_STATUS_OF_INSERT
        first.kill()
    finally:
        start_fetches(others)
    wait_until(lambda: is_stored_by_repetition(others[0], block, insert_quorum_timeout=2000), "two successes")
    await_each_row_once(replicas)

    replicas.revive()
    await_each_row_once(replicas)


def test_inserts_wait_while_only_one_server_is_alive(replicas):
    block, (first, second, third) = events(ROWS), replicas.servers
    second.kill()
    third.kill()
    short = {"insert_quorum_timeout": 2000}
    assert refusal(first, block, **short) in (UNKNOWN_STATUS_OF_INSERT, TOO_FEW_LIVE_REPLICAS)
    wait_until(lambda: refusal(first, block, **short) == TOO_FEW_LIVE_REPLICAS, "both sessions have ended")
    second.start()
    wait_until(
        lambda: is_stored_by_repetition(first, block, insert_quorum_timeout=10_000), "two servers are enough"
    )

    replicas.revive()
    await_each_row_once(replicas)


def test_inserts_wait_for_the_coordinator_and_reads_do_not(replicas):
    block, (first, second, _) = events(ROWS), replicas.servers
    insert(first.user("writer"), block)
    more = events(ROWS)
    replicas.zookeeper.pause()
    try:
        assert refusal(first, more, insert_keeper_max_retries=1) in WITHOUT_KEEPER
        assert second.number("SELECT count() FROM tailrace.query_events") == ROWS
    finally:
        replicas.zookeeper.resume()
    wait_until(lambda: is_stored_by_repetition(second, more), "inserts go on")
    await_each_row_once(replicas, ROWS * 2)


def test_nobody_who_inserts_can_leave_out_the_majority(replicas):
    first = replicas.servers[0]
    for user in ("writer", "analyst", "auditor", "delivery", "facts", "repair", "witness"):
        with pytest.raises(ClickHouseError) as error:
            first.user(user).execute("SELECT 1", insert_quorum=0)
        assert error.value.code == SETTING_IS_READ_ONLY, user
