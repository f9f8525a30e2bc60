"""The detect job on two JobManagers and two TaskManagers, killed while it counts logins: every alert once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.flink_cluster import FlinkCluster, prepared
from e2e.stack import PARTS, Stack, wait_until
from e2e.test_detection import AuditLog, brute_force, events
from e2e.test_flink_cluster import CLUSTER_PORT, FIRST_PORT
from tailrace.kafka.client import KafkaClient
from tailrace.rules import push as rule_push

CONFIG = {"checkpoint.interval.ms": 2000, "kafka.from": "latest"}
"""A job that lost its state would not read the first logins of a test again."""
LOGINS = 10
"""So many refused logins of one user from one host raise an alert."""
USERS = 8

pytestmark = [pytest.mark.flink_cluster, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def stack(tmp_path_factory) -> Iterator[Stack]:
    """All components but the detect job."""
    made = Stack(tmp_path_factory.mktemp("detection") / "home", FIRST_PORT, PARTS)
    made.up()
    rule_push.push_first(KafkaClient(made.status("kafka").address), made.home.run)
    yield made
    made.down()


@pytest.fixture(scope="module")
def cluster(stack: Stack, tmp_path_factory) -> Iterator[FlinkCluster]:
    """The running job."""
    with prepared(stack, tmp_path_factory.mktemp("cluster"), CLUSTER_PORT) as made:
        made.configure("detect", {**CONFIG, "parallelism": 2})
        made.start()
        made.await_completed()
        yield made


@pytest.fixture
def audit(stack: Stack, tmp_path: Path, request) -> AuditLog:
    return AuditLog(stack, tmp_path, request.node.name.removeprefix("test_"))


def refuse(stack: Stack, audit: AuditLog, name: str, count: int) -> None:
    """Refuses so many logins of each of USERS users, and returns when their events are stored."""
    before = events(stack, audit.instance)
    for number in range(USERS):
        audit.refuse(f"{name}-{number}", count)
    wait_until(lambda: events(stack, audit.instance) == before + USERS * count, "the events of the logins")


def assert_one_alert_each(stack: Stack, name: str) -> None:
    """Waits for the alerts of all users. Each must be stored once, with all events that it counts."""
    users = [f"{name}-{number}" for number in range(USERS)]
    wait_until(lambda: all(brute_force(stack, user) for user in users), "an alert of each user")
    for user in users:
        (alert,) = brute_force(stack, user)
        assert (alert["count"], alert["metric"], alert["events"]) == (1, LOGINS, LOGINS), alert


def test_managers_are_killed_while_logins_are_counted(stack: Stack, cluster: FlinkCluster, audit: AuditLog):
    """The state of the job has six logins of each user when its JobManager and a TaskManager are killed."""
    refuse(stack, audit, "mallory", 6)
    before = cluster.await_completed(cluster.completed() + 1)
    worker, leader = cluster.busy_first()[0], cluster.leader()
    leader.kill()
    worker.kill()
    refuse(stack, audit, "mallory", 4)
    cluster.start_ended()
    cluster.await_restored(before)
    assert_one_alert_each(stack, "mallory")


def test_a_savepoint_is_read_with_another_parallelism(stack: Stack, cluster: FlinkCluster, audit: AuditLog):
    for parallelism in (1, 2):
        name = f"trent-{parallelism}"
        refuse(stack, audit, name, 6)
        cluster.await_completed(cluster.completed() + 1)
        savepoint = cluster.stop_with_savepoint()
        refuse(stack, audit, name, 4)
        assert not [found for n in range(USERS) for found in brute_force(stack, f"{name}-{n}")]
        cluster.configure("detect", {**CONFIG, "parallelism": parallelism})
        cluster.start(savepoint)
        assert_one_alert_each(stack, name)
