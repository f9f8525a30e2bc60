"""Which transactions of a replica are errant."""

from tailrace.snapshots.alert import alert_of
from tailrace.snapshots.errant_transactions import Comparison, Verdict
from tailrace.snapshots.rows import CHANGES, FACTS, SNAPSHOTS, rows_of_verdict

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


def test_a_transaction_that_the_source_lacks_later_is_errant():
    (verdict,) = compared(
        has("a", A, 1.0, f"{A}:1-10"),
        replica_of(A),
        has("b", B, 10.0, f"{A}:1-9,{B}:1-2"),
        has("a", A, 20.0, f"{A}:1-12"),
    )
    assert (verdict.member.instance, verdict.source) == ("b", "a")
    assert (verdict.errant, verdict.count, verdict.at) == (f"{B}:1-2", 2, 10.0)


def test_a_transaction_of_the_source_between_two_readings_is_not_errant():
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


def test_an_unreadable_set_is_not_compared():
    assert not compared(replica_of(A), has("b", B, 10.0, "what?"), has("a", A, 20.0, ""))


def test_it_is_reported_once_and_again_when_it_grows_or_ends():
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


def test_a_new_process_continues_after_the_last_one():
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


def alert_ids(verdicts: list[Verdict]) -> list[str]:
    return [str(alert_of(verdict)["alert_id"]) for verdict in verdicts if verdict.is_new]


def test_an_episode_is_one_alert_and_the_next_one_another():
    began, more, over, again = compared(
        replica_of(A),
        *(has("b", B, 10.0, f"{B}:1"), has("a", A, 20.0, f"{A}:1")),
        *(has("b", B, 30.0, f"{B}:1-2"), has("a", A, 40.0, f"{A}:1")),
        *(has("b", B, 50.0, f"{B}:1-2"), has("a", A, 60.0, f"{A}:1,{B}:1-2")),
        *(has("b", B, 70.0, f"{B}:1-3"), has("a", A, 80.0, f"{A}:1,{B}:1-2")),
    )
    ids = alert_ids([began, more, over, again])

    assert ids[0] == ids[1] == ids[2] != ids[3]
    assert alert_of(began)["facts"]["gtids"] == f"{B}:1"
    assert alert_of(more)["facts"]["gtids"] == f"{B}:1-2"
    assert alert_of(over)["facts"]["gtids"] == f"{B}:1-2"
    assert alert_of(over)["facts"]["over_at"] == "1970-01-01 00:00:50.000000"
    assert alert_of(more)["event_time"] == alert_of(began)["event_time"]
    assert alert_of(again)["facts"]["gtids"] == f"{B}:3"


def test_a_slow_reading_counts_from_the_time_of_its_sets():
    """The snapshot of the replica began first, and its sets were read last."""
    verdicts = compared(
        replica_of(A),
        has("b", B, 10.0, f"{A}:1-30", read_from="29.0", read_until="29.5"),
        has("a", A, 20.0, f"{A}:1-25", read_from="20.1", read_until="20.2"),
        has("a", A, 40.0, f"{A}:1-40", read_from="40.1", read_until="40.2"),
    )
    assert [(verdict.errant, verdict.at) for verdict in verdicts] == [("", 10.0)]


def channels(instance: str, at: float, *sources: str, read_only: str = "OFF") -> dict:
    facts = [{"key": "role", "attributes": {"role": "replica", "read_only": read_only}}]
    facts += [
        {"key": f"channel {number}", "attributes": {"channel": str(number), "source_uuid": uuid}}
        for number, uuid in enumerate(sources)
    ]
    return {**record(instance, at, "replication", "role"), "facts": facts}


C = "5e11fa47-71ca-11e1-9e33-c80aa9429562"


def test_all_of_several_sources_are_read_before_a_verdict():
    comparison = Comparison()
    for each in (
        channels("c", 1.0, A, B),
        has("a", A, 2.0, f"{A}:1-5"),
        has("b", B, 2.0, f"{B}:1-5"),
        has("c", C, 10.0, f"{A}:1-6,{B}:1-6,{C}:1"),
        has("a", A, 20.0, f"{A}:1-9"),
    ):
        assert comparison.take(each) == []
    (verdict,) = comparison.take(has("b", B, 30.0, f"{B}:1-9"))

    assert (verdict.errant, verdict.source) == (f"{C}:1", "a, b")


def test_a_source_that_is_not_polled_makes_the_result_unknown():
    assert not compared(
        channels("c", 1.0, A, "6e11fa47-71ca-11e1-9e33-c80aa9429562"),
        has("c", C, 10.0, f"{A}:1-6,{C}:1"),
        has("a", A, 20.0, f"{A}:1-9"),
    )


def test_members_of_a_ring_may_write_and_a_replica_of_it_may_not():
    ring = (channels("a", 1.0, B), channels("b", 1.0, A), channels("c", 1.0, A, read_only="ON"))
    verdicts = compared(
        *ring,
        has("a", A, 10.0, f"{A}:1-9,{B}:1-4"),
        has("c", C, 11.0, f"{A}:1-8,{B}:1-3,{C}:1"),
        has("b", B, 20.0, f"{A}:1-5,{B}:1-9"),
        has("a", A, 30.0, f"{A}:1-20,{B}:1-8"),
    )
    assert {verdict.member.instance: verdict.errant for verdict in verdicts} == {
        "a": "",
        "b": "",
        "c": f"{C}:1",
    }


def test_errant_transactions_of_a_replica_are_not_reported_for_its_replicas():
    verdicts = compared(
        *(channels("b", 1.0, A), channels("c", 1.0, B)),
        has("c", C, 10.0, f"{A}:1-5,{B}:1"),
        has("b", B, 20.0, f"{A}:1-5,{B}:1"),
        has("a", A, 30.0, f"{A}:1-5"),
    )
    assert {verdict.member.instance: verdict.errant for verdict in verdicts} == {"c": "", "b": f"{B}:1"}


def test_purged_and_reset_transactions_of_a_source_still_count():
    verdicts = compared(
        channels("b", 1.0, A),
        has("a", A, 5.0, f"{A}:1-50,{C}:1-7"),
        has("b", B, 10.0, f"{A}:1-50,{C}:1-7"),
        has("a", A, 20.0, "", gtid_purged=f"{A}:1-3"),  # RESET MASTER
    )
    assert [verdict.errant for verdict in verdicts] == [""]


def test_tags_are_compared_separately():
    (verdict,) = compared(
        channels("b", 1.0, A),
        has("b", B, 10.0, f"{A}:1-9:fix:1-3"),
        has("a", A, 20.0, f"{A}:1-9:fix:1-2:other:3"),
    )
    assert (verdict.errant, verdict.count) == (f"{A}:fix:3", 1)


GROUP = "7e11fa47-71ca-11e1-9e33-c80aa9429562"


def member(instance: str, uuid: str, at: float, executed: str) -> dict:
    return has(instance, uuid, at, executed, group_replication_group_name=GROUP)


def test_a_group_writes_under_its_name_and_a_members_own_uuid_is_errant():
    roles = [channels(name, 1.0, read_only=lock) for name, lock in (("a", "OFF"), ("b", "ON"))]
    verdicts = compared(
        *roles,
        member("b", B, 10.0, f"{GROUP}:1-9,{B}:1"),
        member("a", A, 20.0, f"{GROUP}:1-8"),
    )
    assert [(verdict.member.instance, verdict.errant) for verdict in verdicts] == [("b", f"{B}:1")]


def test_a_replica_of_a_group_may_have_followed_another_member_before():
    verdicts = compared(
        channels("a", 1.0, read_only="OFF"),
        channels("b", 1.0, read_only="ON"),
        member("a", A, 2.0, f"{GROUP}:1-9"),
        member("b", B, 2.0, f"{GROUP}:1-7"),
        channels("c", 3.0, B),
        has("c", C, 10.0, f"{GROUP}:1-9"),
        member("a", A, 20.0, f"{GROUP}:1-9"),
        member("b", B, 20.0, f"{GROUP}:1-8"),
    )
    assert {(each.member.instance, each.errant) for each in verdicts if each.member.instance == "c"} == {
        ("c", "")
    }


def test_identifiers_that_a_replica_assigns_to_anonymous_transactions_are_not_errant():
    assert not compared(
        has("a", A, 1.0, ""),
        replica_of(A),
        has("b", B, 10.0, f"{B}:1-900"),
        has("a", A, 20.0, ""),
    )


def test_nodes_of_galera_are_not_compared():
    assert not compared(
        channels("b", 1.0, A),
        has("b", B, 10.0, f"{C}:1", wsrep_on="ON"),
        has("a", A, 20.0, f"{A}:1"),
    )


def test_a_promoted_replica_has_no_errant_transactions():
    found, over = compared(
        *(channels("b", 1.0, A), has("b", B, 10.0, f"{B}:1"), has("a", A, 20.0, f"{A}:1")),
        *(channels("b", 30.0), has("b", B, 30.0, f"{B}:1-5")),
    )
    assert (found.errant, over.errant, over.before) == (f"{B}:1", "", f"{B}:1")


def logged(instance: str, server: int, at: float, state: str, applied: str = "") -> dict:
    sets = {"gtid_binlog_state": state, "gtid_slave_pos": applied}
    return record(instance, at, "gtid", "gtid", flavour="mariadb", server_id=str(server), **sets)


def follows(instance: str, at: float, *servers: int) -> dict:
    facts = [
        {"key": f"channel {server}", "attributes": {"channel": "", "source_server_id": str(server)}}
        for server in servers
    ]
    return {**record(instance, at, "replication", "role"), "facts": facts}


def test_mariadb_in_several_domains():
    (verdict,) = compared(
        follows("c", 1.0, 1, 2),
        logged("c", 3, 10.0, "1-1-10,2-2-20,1-3-11,3-3-1", "1-1-10,2-2-20"),
        *(logged("a", 1, 20.0, "1-1-12"), logged("b", 2, 21.0, "2-2-20,3-3-1")),
    )
    assert verdict.errant == "1-3-11"


def test_a_mariadb_that_does_not_log_what_it_applies():
    """Its binary log has only what was written to it alone."""
    clean, errant = compared(
        follows("b", 1.0, 1),
        *(logged("b", 2, 10.0, "", "0-1-10"), logged("a", 1, 20.0, "0-1-12")),
        *(logged("b", 2, 30.0, "0-2-13", "0-1-12"), logged("a", 1, 40.0, "0-1-14")),
    )
    assert (clean.errant, errant.errant) == ("", "0-2-13")


def test_a_mariadb_from_a_copy_includes_earlier_transactions():
    """The old source comes back under the new one, which has its transactions and never logged them."""
    verdicts = compared(
        follows("old", 1.0, 2),
        *(logged("old", 1, 10.0, "0-1-50", "0-2-60"), logged("new", 2, 20.0, "0-2-61", "0-1-50")),
    )
    assert [verdict.errant for verdict in verdicts] == [""]


def test_transactions_of_a_mariadb_from_before_a_change_of_its_source():
    """0-9 is of a source that is gone: a copy of it need not have it in its log."""
    verdicts = compared(
        follows("b", 1.0, 1), logged("b", 2, 10.0, "0-9-33,0-1-40"), logged("a", 1, 20.0, "0-1-41")
    )
    assert [verdict.errant for verdict in verdicts] == [""]
