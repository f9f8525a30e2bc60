"""Which transactions of a replica are errant, and which only look so."""

from tailrace.facts.alert import alert_of
from tailrace.facts.errant import Comparison, Verdict
from tailrace.facts.rows import CHANGES, FACTS, SNAPSHOTS, rows_of_verdict

A = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
B = "4e11fa47-71ca-11e1-9e33-c80aa9429562"


def record(instance: str, at: float, kind: str, key: str, cluster: str = "shop", **attributes: str) -> dict:
    return {
        "cluster": cluster,
        "instance": instance,
        "product": "mysql",
        "version": "8.4.2",
        "kind": kind,
        "status": "ok",
        "at": at,
        "facts": [{"key": key, "since": at, "attributes": attributes}],
    }


def has(instance: str, uuid: str, at: float, executed: str, **more: str) -> dict:
    return record(
        instance, at, "gtid", "gtid", flavour="mysql", server_uuid=uuid, gtid_executed=executed, **more
    )


def replica_of(uuid: str) -> dict:
    return record("b", 1.0, "replication", "channel", source_uuid=uuid, source_server_id="0")


def compared(*records: dict) -> list[Verdict]:
    comparison = Comparison()
    return [verdict for each in records for verdict in comparison.take(each)]


def test_what_the_source_does_not_have_later_either_is_errant():
    (verdict,) = compared(
        has("a", A, 1.0, f"{A}:1-10"),
        replica_of(A),
        has("b", B, 10.0, f"{A}:1-9,{B}:1-2"),
        has("a", A, 20.0, f"{A}:1-12"),
    )
    assert (verdict.member.instance, verdict.source) == ("b", "a")
    assert (verdict.errant, verdict.count, verdict.at) == (f"{B}:1-2", 2, 10.0)


def test_what_the_source_wrote_between_two_looks_is_not():
    verdicts = compared(
        has("a", A, 1.0, f"{A}:1-10"),
        replica_of(A),
        has("b", B, 10.0, f"{A}:1-15"),
        has("a", A, 11.0, f"{A}:1-14"),  # too close: the clocks may differ
        has("a", A, 20.0, f"{A}:1-20"),
    )
    assert [verdict.errant for verdict in verdicts] == [""]


def test_only_replicas_of_the_same_cluster_are_compared():
    other = record("b", 1.0, "replication", "channel", cluster="other", source_uuid=A)
    assert not compared(other, {**has("b", B, 10.0, f"{B}:1"), "cluster": "other"}, has("a", A, 20.0, ""))
    assert not compared(has("b", B, 10.0, f"{B}:1"), has("a", A, 20.0, ""))


def test_what_cannot_be_read_is_compared_with_nothing():
    assert not compared(replica_of(A), has("b", B, 10.0, "what?"), has("a", A, 20.0, ""))


def test_it_is_told_once_and_again_when_it_is_more_or_over():
    verdicts = compared(
        replica_of(A),
        *(has("b", B, 10.0, f"{B}:1"), has("a", A, 20.0, f"{A}:1")),
        *(has("b", B, 30.0, f"{B}:1"), has("a", A, 40.0, f"{A}:1")),
        *(has("b", B, 50.0, f"{B}:1-2"), has("a", A, 60.0, f"{A}:1")),
        *(has("b", B, 70.0, f"{B}:1-2"), has("a", A, 80.0, f"{A}:1,{B}:1-2")),
    )
    rows = [dict(rows_of_verdict(verdict)) for verdict in verdicts]

    assert [row[CHANGES]["change"] if CHANGES in row else "" for row in rows] == [
        "added",
        "",
        "changed",
        "removed",
    ]
    assert [FACTS in row for row in rows] == [True, True, True, False]
    assert [row[SNAPSHOTS]["facts"] for row in rows] == [1, 1, 1, 0]
    assert rows[1][FACTS]["since"] == "1970-01-01 00:00:10.000"


def test_a_new_process_goes_on_where_the_last_one_ended():
    comparison = Comparison()
    whose = {"cluster": "shop", "instance": "b"}
    comparison.restore(
        [
            {
                **whose,
                "kind": "replication",
                "key": "channel",
                "attributes": {"source_uuid": A},
                "last_seen": 1,
            },
            {**whose, "kind": "errant", "key": "errant", "attributes": {"gtids": f"{B}:1"}, "since": 5.0},
        ]
    )
    comparison.take(has("b", B, 10.0, f"{B}:1"))
    (verdict,) = comparison.take(has("a", A, 20.0, f"{A}:1"))

    assert not verdict.is_new
    assert verdict.since == 5.0


def test_the_same_transactions_are_the_same_alert():
    first = compared(replica_of(A), has("b", B, 10.0, f"{B}:1"), has("a", A, 20.0, f"{A}:1"))
    later = compared(replica_of(A), has("b", B, 30.0, f"{B}:1"), has("a", A, 40.0, f"{A}:1"))

    assert alert_of(first[0])["alert_id"] == alert_of(later[0])["alert_id"]
    assert alert_of(first[0])["facts"]["gtids"] == f"{B}:1"
