"""An erasure reaches each replica of the vault of names, and its files."""

import os
from collections.abc import Sequence

import pytest
from replica_servers import Replicas, wait_until

from tailrace.clickhouse import replica_progress
from tailrace.erasure import erasing, replicas
from tailrace.erasure.erasing import Order
from tailrace.erasure.pseudonyms import KEY_BYTES, USER, Pseudonyms, Subject, SubjectError

pytestmark = [pytest.mark.replicas, pytest.mark.timeout(900)]

PSEUDONYMS = Pseudonyms(os.urandom(KEY_BYTES))
NAMED = "SELECT count() FROM tailrace.subject_vault WHERE pseudonym = '{}'"
ORDER = Order("ines", "a request", "2026-17")


@pytest.fixture
def cluster(three_replicas: Replicas, monkeypatch: pytest.MonkeyPatch) -> Replicas:
    monkeypatch.setattr(replica_progress, "PASS_SECONDS", 0)
    three_replicas.revive()
    three_replicas.empty_tables()
    return three_replicas


def arrive(cluster: Replicas, number: int, subject: Subject) -> None:
    """The job sends a name to one of the servers."""
    row = {"pseudonym": subject.pseudonym, "kind": USER, "wrapped_key": "k", "sealed_name": "n"}
    cluster.servers[number].user("writer").insert("tailrace.subject_arrivals", [row])


def erase(cluster: Replicas, subject: Subject, numbers: Sequence[int]) -> erasing.Erased:
    servers = [cluster.servers[number].user("admin") for number in numbers]
    return erasing.erase(servers, cluster.servers[0].user("auditor"), PSEUDONYMS, subject, ORDER)


def test_an_erasure_reaches_each_replica(cluster):
    subject = Subject(USER, PSEUDONYMS.of(USER, "etl"))
    named = NAMED.format(subject.pseudonym)
    arrive(cluster, 1, subject)
    wait_until(lambda: cluster.on_each(named) == [1, 1, 1], "the name on each replica")

    for some in ([0], [0, 1], [0, 1, 1]):
        with pytest.raises(SubjectError, match=r"has 3 replicas, and \d of them are named"):
            erase(cluster, subject, some)
    assert erase(cluster, subject, [0, 1, 2]).files_removed
    assert cluster.on_each(named) == [0, 0, 0]
    assert [row for server in cluster.each("admin") for row in server.rows(erasing.OLD_FILES)] == [
        {"parts": 0}
    ] * 3
    for number in range(3):
        arrive(cluster, number, subject)
    cluster.await_calm()
    assert cluster.on_each(named) == [0, 0, 0], "no replica accepts the name again"


def test_a_replica_that_does_not_get_the_record_stops_the_erasure(cluster, monkeypatch):
    monkeypatch.setattr(replicas, "RECORD_SECONDS", 1)
    subject = Subject(USER, PSEUDONYMS.of(USER, "app"))
    arrive(cluster, 0, subject)
    named = NAMED.format(subject.pseudonym)
    wait_until(lambda: cluster.on_each(named) == [1, 1, 1], "the name on each replica")
    third = cluster.servers[2].user("admin")
    third.execute("SYSTEM STOP FETCHES tailrace.legal_hold_actions")
    try:
        with pytest.raises(SubjectError, match="has not received the record"):
            erase(cluster, subject, [0, 1, 2])
        assert cluster.on_each(named) == [1, 1, 1]
    finally:
        third.execute("SYSTEM START FETCHES tailrace.legal_hold_actions")
    cluster.await_calm()
    assert erase(cluster, subject, [0, 1, 2]).subject == subject
    assert cluster.on_each(named) == [0, 0, 0]
